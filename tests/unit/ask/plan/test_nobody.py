"""A condition that no declared value satisfies touches nobody, whichever column it is about."""

from __future__ import annotations

import pytest

import asking
from asking import question

JOINED = "patients AS p JOIN visits AS v ON p.person = v.person"
ZZ = "SELECT * FROM visits WHERE ward = 'zz'"
EMPTY = [
    "SELECT COUNT(*) AS n FROM visits WHERE ward = 'zz'",
    "SELECT COUNT(*) AS n FROM visits AS v WHERE v.ward = 'zz'",
    "SELECT COUNT(*) AS n FROM (SELECT * FROM visits WHERE ward = 'zz') AS t",
    f"SELECT COUNT(*) AS n FROM {JOINED} WHERE v.ward = 'zz'",
    "SELECT COUNT(*) AS n FROM visits WHERE 1 = 0",
    "SELECT COUNT(*) AS n FROM visits WHERE ward IS NULL AND NULL",
    "SELECT COUNT(*) AS n FROM (SELECT person FROM visits WHERE FALSE GROUP BY person) AS t",
]
SOMEBODY = [
    "SELECT COUNT(*) AS n FROM visits WHERE 1 = 1",
    "SELECT COUNT(*) AS n FROM visits WHERE ward IS NULL OR FALSE",
    "SELECT COUNT(*) AS n FROM visits WHERE ward = 'zz' OR ward IS NULL",
    "SELECT COUNT(*) AS n FROM visits WHERE NOT (ward = 'zz')",
    f"SELECT COUNT(*) AS n FROM patients AS p LEFT JOIN ({ZZ}) AS v ON p.person = v.person",
]


@pytest.mark.parametrize("sql", EMPTY)
def test_nobody(sql):
    assert question(sql).region.empty


@pytest.mark.parametrize("sql", SOMEBODY)
def test_somebody(sql):
    assert not question(sql).region.empty


@pytest.mark.parametrize("sql", [sql for sql in EMPTY if "JOIN" not in sql])
def test_it_is_free_and_reads_nothing(sql, tmp_path):
    with asking.curator(tmp_path) as asked:
        answer = asked.query(sql, epsilon=1)
        assert (answer.free, answer.rows, answer.cost.epsilon) == (True, ((0,),), 0)
        assert asked.engine.ran == []
        assert asked.ledger.spent("clinic").epsilon == 0
