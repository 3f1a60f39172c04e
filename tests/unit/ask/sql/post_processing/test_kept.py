"""What steps would drop is refused: every argument of every node, not those that somebody thought of."""

from __future__ import annotations

import pytest
from sqlglot import exp

from asking import catalog
from discreet.ask.sql.parse import READ, read_checked
from discreet.ask.sql.post_processing import split as splitting
from discreet.ask.sql.post_processing.split import split
from discreet.ask.sql.post_processing.steps import KEPT, STEPS, only_kept
from discreet.errors import QueryRefused

KINDS = sorted(STEPS | set(KEPT), key=lambda kind: kind.__name__)


def parts_of(kind):
    return READ.get(kind, frozenset()) | KEPT.get(kind, frozenset())


def test_every_node_of_a_step_has_its_list_of_parts():
    assert set(READ) | set(KEPT) >= STEPS


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_part_that_is_not_listed_is_refused(kind):
    unknown = [name for name in (*kind.arg_types, "invented") if name not in parts_of(kind)]
    assert unknown
    called = {"this": "f"} if kind is exp.Anonymous else {}
    for name in unknown:
        with pytest.raises(QueryRefused):
            only_kept(exp.Paren(this=kind(**called, **{name: exp.Var(this="x")})))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_what_is_listed_is_a_part_of_the_node(kind):
    """A name that the parser no longer uses would let nothing through, and mean nothing."""
    assert set(KEPT.get(kind, ())) <= set(kind.arg_types)


DROPPED = [
    (
        "SELECT COUNT(*) AS n FROM ((SELECT sex FROM (SELECT DISTINCT sex FROM people) a) s "
        "JOIN people v ON s.sex = v.sex)"
    ),
    (
        "SELECT n FROM (SELECT sex, COUNT(*) AS n FROM people GROUP BY sex) t "
        "PIVOT (MAX(n) FOR sex IN ('Female', 'Male'))"
    ),
    "SELECT t.* REPLACE (0 AS n) FROM (SELECT sex, COUNT(*) AS n FROM people GROUP BY sex) t",
    "SELECT t.* EXCLUDE (n) FROM (SELECT sex, COUNT(*) AS n FROM people GROUP BY sex) t",
    "SELECT * FROM (SELECT sex, COUNT(*) AS n FROM people GROUP BY sex) t(a, b)",
    "SELECT n FROM (SELECT sex, COUNT(*) AS n FROM people GROUP BY sex) t WINDOW w AS (ORDER BY n)",
    "SELECT n FROM ((SELECT COUNT(*) AS n FROM people) LIMIT 0) t",
    (
        "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex UNION ALL BY NAME "
        "SELECT COUNT(*) AS n, sex FROM people GROUP BY sex"
    ),
    "SELECT DISTINCT ON (n) sex, n FROM (SELECT sex, COUNT(*) AS n FROM people GROUP BY sex) t",
    "SELECT n FROM (SELECT COUNT(*) AS n FROM people) t TABLESAMPLE 10%",
    "SELECT n FROM (SELECT COUNT(*) AS n FROM people) t, LATERAL (SELECT 1 AS x) l",
]


@pytest.mark.parametrize("sql", DROPPED)
def test_statements_that_steps_would_shorten_are_refused(sql):
    with pytest.raises(QueryRefused):
        split(read_checked(sql), catalog())


def test_without_the_list_they_were_answered_wrongly(monkeypatch):
    monkeypatch.setattr(splitting, "only_kept", lambda _tree: None)
    shortened = []
    for sql in DROPPED:
        try:
            program = split(read_checked(sql), catalog())
        except QueryRefused:
            continue
        shortened.append(program)
    assert len(shortened) >= 5


@pytest.mark.parametrize(
    "sql",
    [
        (
            "SELECT sex, RANK() OVER (PARTITION BY sex ORDER BY COUNT(*) DESC) AS r "
            "FROM people GROUP BY sex"
        ),
        (
            "SELECT SUM(n) OVER (ORDER BY n ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s "
            "FROM (SELECT sex, COUNT(*) AS n FROM people GROUP BY sex) t"
        ),
        (
            "SELECT LAG(n, 1, 0) OVER (ORDER BY n) AS s "
            "FROM (SELECT sex, COUNT(*) AS n FROM people GROUP BY sex) t"
        ),
        (
            "(SELECT COUNT(*) AS n FROM people) UNION ALL (SELECT COUNT(*) FROM people) "
            "ORDER BY n LIMIT 1 OFFSET 0"
        ),
        "SELECT sex, COUNT(*) AS n FROM people GROUP BY ROLLUP (sex)",
        (
            "WITH t AS (SELECT sex, COUNT(*) AS n FROM people GROUP BY sex) "
            "SELECT DISTINCT n FROM t QUALIFY ROW_NUMBER() OVER (ORDER BY n) = 1"
        ),
    ],
)
def test_what_steps_know_is_still_split(sql):
    assert split(read_checked(sql), catalog()) is not None
