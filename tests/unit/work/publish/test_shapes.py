"""Every shape of release, of 0 to 3 keys, with and without exact facts: a rehearsal makes what a release makes."""

from __future__ import annotations

import random
from itertools import combinations, count, product
from pathlib import Path

import numpy as np
import pytest

from discreet.curator import Curator
from discreet.errors import InvalidInput
from discreet.testing import SeededRng
from discreet.work.publish import rehearse
from discreet.work.publish.assemble import contents_of, exact_facts, noisy_tables, reconciled
from discreet.work.publish.contents import Contents
from discreet.work.publish.measure import count_cells
from discreet.work.publish.package import OwnerKey, write_package
from discreet.work.publish.recheck import verify_package
from discreet.work.publish.reconcile import solve
from discreet.work.publish.specification import parse_spec
from permits import paid
from publish_kit import Made, catalog_of, priced_once, random_rows, spec_text, write_tables
from publish_memory_kit import InMemory, plan_in_memory
from sittings import FULL

KEYS = ("sex", "third", "county")
GROUPINGS = [keys for size in range(4) for keys in combinations(KEYS, size)]
COUNT, SUM = "COUNT(*)", "SUM(p.pay)"
ROWS = random_rows(300, random.Random(1))


@pytest.fixture(scope="module", autouse=True)
def prices():
    with priced_once():
        yield


def shapes() -> list[tuple[Made, ...]]:
    """Return releases of one table, and of every pair of groupings, of one measure or of two."""
    alone = [(Made("a", keys, "", measure),) for keys, measure in product(GROUPINGS, (COUNT, SUM))]
    pairs = [
        (Made("a", one, "", COUNT), Made("b", two, "", measure))
        for (one, two), measure in product(combinations(GROUPINGS, 2), (COUNT, SUM))
    ]
    narrower = [
        (Made("a", keys, "", COUNT), Made("b", (), "p.age >= 6 AND p.sex = 'F'", COUNT))
        for keys in GROUPINGS
    ]
    found = alone + pairs + narrower
    return found if FULL else found[::3]


def facts_of(tables: tuple[Made, ...]) -> list[str]:
    """Return specs of exact facts that a release may keep: none, its total, its first grouping."""
    first = tables[0]
    wanted = [Made("f", (), first.condition, first.measure), first]
    texts = [
        f'[[exact]]\nfact = """{made.sql}"""\nreason = "known"\napprover = "owner"\n'
        for made in wanted
    ]
    return ["", *dict.fromkeys(texts)]


def released(found: InMemory, folder: Path) -> Contents:
    """Return what a release says, made of rows as a release makes it."""
    plan = found.plan
    everything = range(len(plan.families))

    def counted(number, read):
        return count_cells(read, plan.families[number], paid(found.held))

    facts = exact_facts(plan, everything, counted, published={})
    noisy = noisy_tables(plan, everything, counted, rng=SeededRng(1))
    measured = reconciled(plan, noisy, facts)
    ledger = rehearse._excerpt(plan)
    contents = contents_of(plan, measured, ledger=ledger, created="", private=False)
    write_package(contents, folder / "R.zip", rehearse.NOBODYS_KEY)
    return contents


def shape_of(contents: Contents) -> list[object]:
    """Return everything that a package says beside its numbers."""
    return [
        [(t.name, t.keys, t.measures, t.rows.num_rows, t.rows.schema) for t in contents.tables],
        [(m.name, m.rows.num_rows, m.rows.schema) for m in contents.measurements],
        [(f.name, f.side, f.rows.num_rows, f.rows.schema) for f in contents.facts],
        contents.agreements,
        contents.events,
        contents.mappings,
        contents.warnings,
    ]


def test_a_rehearsal_has_the_shape_of_the_release(tmp_path: Path, monkeypatch):
    rehearsed: list[Contents] = []

    def kept(contents, *where):
        rehearsed.append(contents)
        return write_package(contents, *where)

    monkeypatch.setattr(rehearse, "write_package", kept)
    made = 0
    for tables in shapes():
        for facts in facts_of(tables):
            text = spec_text(list(tables), more=facts)
            found = plan_in_memory([], tmp_path, ROWS, text=text)
            rehearse.check_by_rehearsal(found.plan)
            assert shape_of(rehearsed.pop()) == shape_of(released(found, tmp_path)), text
            said = verify_package(tmp_path / "R.zip")
            assert said["valid"], (said["problems"], text)
            made += 1
    assert made > 60


GRAND_TOTALS = {
    "alone": "SELECT COUNT(*) AS n FROM people",
    "beside": "SELECT SUM(pay) AS n FROM people",
}


def releases_of_grand_totals() -> dict[str, str]:
    head = '[release]\nname = "{}"\ndataset = "d"\nepsilon = 1\ndelta = 1e-7\n'
    total = '[tables.total]\nsql = "{}"\n'
    by_sex = '[tables.sexes]\nsql = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"\n'
    return {
        "alone": head.format("alone") + total.format(GRAND_TOTALS["alone"]),
        "beside": head.format("beside") + by_sex + total.format(GRAND_TOTALS["beside"]),
    }


@pytest.mark.parametrize("name", GRAND_TOTALS)
def test_a_family_that_is_only_a_grand_total_is_released(name: str, tmp_path: Path):
    write_tables(tmp_path, ROWS)
    spec = parse_spec(releases_of_grand_totals()[name], base=tmp_path)
    with Curator(catalog_of(tmp_path)) as curator:
        found = curator.publish(spec, out=tmp_path / "R.zip")
        assert found.tables["total"] == 1
        assert curator.rehearse_release(spec).tables[-1].cells == 1
    assert verify_package(tmp_path / "R.zip")["valid"]


def test_a_twin_that_fails_on_grand_totals_fails_before_the_charge(tmp_path: Path, monkeypatch):
    """The broken twin of what a release does after its charge: it needs a dimension."""
    whole = solve.intervals

    def broken(estimate, cells, **more):
        cells.shape[0]
        return whole(estimate, cells, **more)

    monkeypatch.setattr(solve, "intervals", broken)
    write_tables(tmp_path, ROWS)
    spec = parse_spec(releases_of_grand_totals()["alone"], base=tmp_path)
    with Curator(catalog_of(tmp_path)) as curator:
        with pytest.raises(InvalidInput, match=r"cannot be made.*IndexError") as refused:
            curator.publish(spec, out=tmp_path / "R.zip")
        assert "Nothing was charged" in refused.value.hint
        assert curator.budget_report()["datasets"]["d"]["charges"] == 0
        monkeypatch.undo()
        curator.publish(spec, out=tmp_path / "R.zip")  # the name is still free
        assert curator.budget_report()["datasets"]["d"]["charges"] == 1


def test_a_package_that_nobody_could_verify_is_refused_before_the_charge(
    tmp_path: Path, monkeypatch
):
    """The broken twin of the writer: it signs with another key than the one it is given."""

    def broken(contents, out, _key):
        return write_package(contents, out, OwnerKey(b"x" * 32))

    monkeypatch.setattr(rehearse, "write_package", broken)
    write_tables(tmp_path, ROWS)
    spec = parse_spec(releases_of_grand_totals()["beside"], base=tmp_path)
    with Curator(catalog_of(tmp_path)) as curator:
        with pytest.raises(InvalidInput, match="cannot be made"):
            curator.publish(spec, out=tmp_path / "R.zip")
        assert curator.budget_report()["datasets"]["d"]["charges"] == 0


def rehearsed_errors(folder: Path, monkeypatch) -> np.ndarray:
    """Return by how much the expected errors of rehearsals of small tables that cross differ from each other."""
    seeds = count()
    monkeypatch.setattr(rehearse, "SystemRng", lambda: SeededRng(next(seeds)))
    made = [Made("a", ("sex", "third"), "", COUNT), Made("b", ("third", "county"), "", COUNT)]
    plan = plan_in_memory([], folder, ROWS, text=spec_text(made, epsilon="10")).plan
    drawn = [rehearse.rehearse(plan) for _ in range(10)]
    whole = np.array([[table.whole for table in found.tables] for found in drawn])
    return whole.std(axis=0) / whole.mean(axis=0)


def test_rehearsals_of_small_tables_agree(tmp_path: Path, monkeypatch):
    assert (rehearsed_errors(tmp_path, monkeypatch) < 0.04).all()


def test_the_twin_of_one_draw_says_what_chance_made_of_few_cells(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(rehearse, "MOST_DRAWS", 1)
    assert (rehearsed_errors(tmp_path, monkeypatch) > 0.04).any()
