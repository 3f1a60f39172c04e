"""What a hostile reading of the kernel's first version found; each was a script before it was a test."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from asking import catalog, engine, memory, people, plan
from curator_kit import exact_of
from discreet.ask.plan.evaluate import is_like
from discreet.ask.plan.ir import Filter
from discreet.ask.release.desk import Request
from discreet.ask.release.sealing import seal
from discreet.base.numbers import Epsilon
from discreet.base.schema import IntegerDomain
from discreet.base.unit import Neighbours, PrivacyUnit
from discreet.data.catalog.axes import axis_name
from discreet.data.catalog.policy_file import loads
from discreet.errors import CatalogError, InvalidInput
from discreet.privacy.kernel.nodes import Unfit
from permits import of_engine

TOML = """
[datasets.d]
epsilon = 10
[datasets.d.tables.v]
source = "v.csv"
unit = "{unit}"
max_rows = 3
[datasets.d.tables.v.columns]
person = {{ type = "{kind}"{more} }}
house = {{ type = "identifier" }}
sex = {{ type = "category", values = ["F", "M"], constant = true }}
"""


def axis(unit: str = "person", kind: str = "identifier", more: str = "") -> str | None:
    known = loads(TOML.format(unit=unit, kind=kind, more=more), base=Path())
    dataset = known.dataset("d")
    table = known.table("v")
    return axis_name(dataset, table, table.column("sex"), "1")


def test_an_axis_says_whose_positions_it_holds():
    """Otherwise a person asked about as themselves and as their household is billed once for both."""
    bounds = ", lower = 0, upper = 9"
    names = {axis(), axis("house"), axis(kind="integer", more=bounds)}
    assert len(names) == 3
    assert axis() == axis()


def lied(found, **changes):
    """Return a plan whose own copy of the table says something else than the catalog."""
    source = found.question.statement.source
    scan = source.source if isinstance(source, Filter) else source
    changed = replace(scan, **changes)
    statement = replace(found.question.statement, source=changed)
    return replace(found, question=replace(found.question, statement=statement))


def test_the_plans_word_about_the_catalog_counts_nothing():
    found = plan("SELECT SUM(cost) FROM visits", neighbours="replace-one")
    scan = found.question.statement.source
    honest = seal(found, catalog(neighbours="replace-one"), engine())
    dataset = replace(scan.dataset, neighbours=Neighbours.ADD_REMOVE)
    table = replace(scan.table, unit=PrivacyUnit(), max_rows=1)
    for lie in (lied(found, dataset=dataset), lied(found, table=table)):
        try:
            sealed = seal(lie, catalog(neighbours="replace-one"), engine())
        except (Unfit, AssertionError, KeyError):
            continue
        assert [read.stability for read in sealed.reads] == [r.stability for r in honest.reads]


def test_keys_outside_their_domain_are_no_group_and_join_none():
    table = people(2, 2, age=[1, 2, 3, 4])
    found = plan("SELECT age, COUNT(*) FROM people WHERE age <= 4 GROUP BY age")
    attached = memory(people=table)
    sealed = seal(found, catalog(), attached)
    key = replace(found.question.statement.keys[0], domain=IntegerDomain(1, 2))
    narrow = replace(found.question, statement=replace(found.question.statement, keys=(key,)))
    exact = exact_of(narrow, sealed, of_engine(attached))
    counts = dict(zip(exact.groups, exact.measures["m0"], strict=True))
    assert (counts.get((1,)), counts.get((2,)), counts.get((None,), 0)) == (1, 1, 0)


def test_a_pattern_of_many_stars_ends_at_once():
    begun = time.process_time()
    assert not is_like("Accommodation and food services" * 30, "%" * 200 + "x%_%" * 50 + "!")
    assert time.process_time() - begun < 5
    assert is_like("abcabd", "%ab_")
    assert is_like("", "%%")
    assert not is_like("", "_")
    assert is_like("a%b", "a_b")


@pytest.mark.parametrize("written", ["1e400", "1e-400", "1e31"])
def test_no_epsilon_is_endless(written):
    with pytest.raises(InvalidInput):
        Epsilon.of(written)


@pytest.mark.parametrize("rows", [1.5, "2", True, 0])
def test_max_rows_is_a_whole_number(rows):
    with pytest.raises(InvalidInput):
        Request.of("SELECT COUNT(*) FROM people", epsilon=1, max_rows=rows)


def test_a_missing_column_does_not_show_the_first_line(tmp_path):
    """A CSV without its header has somebody's cells for names."""
    from discreet.curator import open as open_curator

    (tmp_path / "p.csv").write_text("Jane Doe,1985-03-04\nJohn Roe,1990-01-01\n")
    (tmp_path / "discreet.toml").write_text(
        '[datasets.d]\nepsilon = 1\n[datasets.d.tables.p]\nsource = "p.csv"\nunit = "row"\n'
        '[datasets.d.tables.p.columns]\nage = { type = "integer", lower = 0, upper = 9 }\n'
    )
    with open_curator(tmp_path / "discreet.toml") as curator:
        with pytest.raises(CatalogError) as caught:
            curator.query("SELECT COUNT(*) FROM p", epsilon=1)
        assert "Jane" not in str(caught.value)
        assert curator.ledger.spent("d").epsilon == 0


def test_a_huge_epsilon_does_not_poison_what_follows():
    from discreet.ask.release.answer import _estimates
    from discreet.ask.release.stored_answers import PaidValue, cells_of
    from discreet.privacy.noise.laws import LaplaceLaw

    found = plan("SELECT COUNT(*) FROM people", epsilon="1")
    cells = cells_of(found.question)
    item = PaidValue(
        cells.table,
        "rows",
        cells.boxes[0],
        7,
        LaplaceLaw(pa.scalar(1).as_py() * Epsilon.of(1).value / 10**9),
    )
    (estimate,) = _estimates(cells, [item], 0.95)
    assert estimate.value == 7
