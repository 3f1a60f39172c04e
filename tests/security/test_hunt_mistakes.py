"""Statements of the hunt that ended in an error of our own, before any charge: each now has an answer or a sentence."""

from __future__ import annotations

import random

import pytest

from curator_kit import MemoryEngine, arrow, catalog_of, planned, world_rows
from discreet.errors import QueryRefused

NEVER = "(SELECT NULLIF(FLOOR(age), age) AS x FROM people) AS t"
EACH = "(SELECT person, {} AS n FROM visits GROUP BY person) AS t"


@pytest.fixture(scope="module")
def catalog(tmp_path_factory):
    return catalog_of(tmp_path_factory.mktemp("hunt"))


def exact(sql, catalog, seed=3):
    rows = {name: arrow(name, found) for name, found in world_rows(random.Random(seed)).items()}
    engine = MemoryEngine(rows)
    (found,) = planned(sql, catalog).exact(engine).measures.values()
    return found, engine


@pytest.mark.parametrize("aggregate", ["SUM(x)", "SUM(x + 1)", "SUM(CASE WHEN x > 3 THEN 1 END)"])
def test_what_is_never_anything_but_null_adds_up_to_nothing(aggregate, catalog):
    assert exact(f"SELECT {aggregate} FROM {NEVER}", catalog)[0] == [0]


@pytest.mark.parametrize("aggregate", ["AVG(x)", "MEDIAN(x)", "COUNT(x)"])
def test_it_can_be_asked_for_in_other_ways_too(aggregate, catalog):
    planned(f"SELECT {aggregate} FROM {NEVER}", catalog)


@pytest.mark.parametrize("call", ["COS(code)", "RADIANS(code)"])
def test_a_count_for_each_person_is_refused_like_any_other(call, catalog):
    for sql in (f"SELECT COUNT({call}) FROM visits", f"SELECT SUM(n) FROM {EACH}"):
        with pytest.raises(QueryRefused, match="so many values"):
            planned(sql.format(f"COUNT({call})"), catalog)


def test_the_sign_of_a_wide_column_is_its_comparison_with_zero(catalog):
    signs, engine = exact("SELECT SUM(SIGN(balance)) FROM people", catalog)
    kept = "balance BETWEEN -1000000 AND 1000000"
    truth = f"SELECT COALESCE(SUM(SIGN(balance)), 0) FROM people WHERE {kept}"
    ((wanted,),) = engine.connection.execute(truth).fetchall()
    assert signs == [wanted]
    assert wanted != 0
    planned(f"SELECT SUM(n) FROM {EACH.format('COUNT(SIGN(code))')}", catalog)
    planned("SELECT SIGN(balance - 5), COUNT(*) FROM people GROUP BY 1", catalog)
