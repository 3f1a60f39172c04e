"""Nothing decides for the first time after the charge whether a release can be made, packed and verified."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.curator import Curator
from discreet.data.catalog.policy_file import loads
from discreet.errors import DiscreetError, FactsContradict, InternalError, InvalidInput
from discreet.work.publish import facts, rehearse, run, workflow
from discreet.work.publish.recheck import verify_package
from discreet.work.publish.reconcile import least_squares, solve
from discreet.work.publish.shortened import shortened
from discreet.work.publish.specification import parse_spec
from publish_kit import Made, priced_once, random_rows, spec_text
from publish_memory_kit import plan_in_memory

TOML = """
[engine]
url = "duckdb:"
[ledger]
url = "sqlite:ledger.db"
[datasets.d]
epsilon = 10
delta = 1e-6
[datasets.d.tables.p]
source = "p.parquet"
unit = "row"
[datasets.d.tables.p.columns]
a = { type = "integer", lower = 0, upper = 199 }
b = { type = "integer", lower = 0, upper = 199 }
c = { type = "integer", lower = 0, upper = 59 }
z = { type = "integer", lower = 0, upper = 0 }
s = { type = "category", values = ["F", "M"] }
t = { type = "category", values = ["x", "", 'q"q', "a longer one"] }
x = { type = "number", lower = 100000000000, upper = 100000000001, step = 0.1 }
"""
HEAD = '[release]\nname = "r"\ndataset = "d"\nepsilon = 1\ndelta = 1e-7\n'
CUTS = (
    f"[cuts]\nga = {{ column = 'a', edges = {list(range(0, 201, 10))} }}\n"
    f"gb = {{ column = 'b', edges = {list(range(0, 201, 10))} }}\n"
)
WHOLE_GRID = 2_400_000


@pytest.fixture(scope="module", autouse=True)
def prices():
    with priced_once():
        yield


@pytest.fixture
def base(tmp_path: Path) -> Path:
    rows = [(i % 200, i % 150, i % 60, 0, "FM"[i % 2], "x", 100000000000.0) for i in range(50)]
    columns = dict(zip("abczstx", zip(*rows, strict=True), strict=True))
    pq.write_table(pa.table(columns), tmp_path / "p.parquet")
    return tmp_path


def table(name: str, sql: str) -> str:
    return f'[tables.{name}]\nsql = """{sql}"""\n'


def fact(sql: str) -> str:
    return f'[[exact]]\nfact = "{sql}"\nreason = "known"\napprover = "owner"\n'


def released(base: Path, text: str) -> tuple[str, int]:
    """Return why a release fails, '' where it does not, and how many charges there are then."""
    said, out = "", base / "R.zip"
    with Curator(loads(TOML, base=base)) as curator:
        try:
            curator.publish(parse_spec(HEAD + text, base=base), out=out)
        except (DiscreetError, InternalError) as refused:
            said = str(refused)
        else:
            said = "".join(verify_package(out)["problems"])
        return said, curator.budget_report()["datasets"]["d"]["charges"]


def counted(*keys: str) -> str:
    return f"SELECT {', '.join(keys)}, COUNT(*) AS n FROM p GROUP BY {', '.join(keys)}"


def test_facts_that_cross_too_much_are_refused_on_grids_of_every_size(base: Path) -> None:
    text = table("one", counted("a", "gb", "c")) + table("two", counted("ga", "b", "c")) + CUTS
    assert 200 * 200 * 60 == WHOLE_GRID > rehearse.MOST_CELLS
    text += fact(counted("a", "gb")) + fact(counted("ga", "b"))
    said, charges = released(base, text)
    assert "cross each other in 8,000 numbers, more than 4,000" in said
    assert charges == 0


SMALL = table("t", counted("s", "t")) + fact(counted("s")) + fact(counted("t"))


def test_a_twin_that_asks_on_small_grids_alone_charges(base: Path, monkeypatch) -> None:
    monkeypatch.setattr(rehearse, "MOST_CELLS", 0)
    monkeypatch.setattr(rehearse, "MOST_SHORTENED", 1)
    monkeypatch.setattr(least_squares, "MOST_EXACT", 5)
    said, charges = released(base, SMALL)
    assert "cross each other in 6 numbers" in said
    assert charges == 0
    monkeypatch.setattr(facts, "check_crossing", lambda kept: None)
    said, charges = released(base, SMALL)
    assert "cross each other in 6 numbers" in said
    assert charges == 1


def test_only_a_contradiction_is_called_one(base: Path, monkeypatch) -> None:
    def broken(*_: object) -> None:
        raise InvalidInput("No solution was found in time.")

    monkeypatch.setattr(run, "reconciled", broken)
    said, charges = released(base, SMALL)
    assert said == "No solution was found in time. Nothing was released; the charge stands."
    assert charges == 1
    assert issubclass(FactsContradict, InvalidInput)
    assert isinstance(solve.contradiction(), FactsContradict)


def test_facts_of_large_grids_are_settled_before_the_charge(base: Path, monkeypatch) -> None:
    monkeypatch.setattr(rehearse, "MOST_CELLS", 0)
    settled: list[tuple[int, ...]] = []
    honest = facts.settle_facts

    def late(problem, *more):
        settled.append(problem.leaf)
        return honest(problem, *more)

    monkeypatch.setattr(facts, "settle_facts", late)
    assert released(base, SMALL) == ("", 1)
    assert settled == [(2, 4)]


BAD_NAMES = {
    "no file": f"SELECT s, t, COUNT(*) AS n, COUNT(z) AS {'m' * 40} FROM p GROUP BY s, t",
    "a key of measurements": "SELECT s AS scale, t, COUNT(*) AS n FROM p GROUP BY s, t",
    "a key that was lost": 'SELECT s AS "Value", t, COUNT(*) AS n FROM p GROUP BY s, t',
    "invisible key": 'SELECT s AS "\ufeffs", t, COUNT(*) AS n FROM p GROUP BY s, t',
    "invisible measure": 'SELECT COUNT(*) AS "\ufeffn" FROM p',
    "labels alike": "SELECT x, s, COUNT(*) AS n FROM p GROUP BY x, s",
}


@pytest.mark.parametrize("name", BAD_NAMES)
@pytest.mark.parametrize("cells", [0, 10**6])
def test_names_that_no_package_has_are_free(name: str, cells: int, base: Path, monkeypatch) -> None:
    monkeypatch.setattr(rehearse, "MOST_CELLS", cells)
    said, charges = released(base, table("t" * 64, BAD_NAMES[name]))
    assert said
    assert "our own mistake" not in said
    assert charges == 0


@pytest.mark.parametrize("name", [*list(BAD_NAMES)[:2], *list(BAD_NAMES)[3:5]])
def test_the_shortened_package_finds_what_names_do_not(name: str, base: Path, monkeypatch) -> None:
    """The twins: without a look at the names, and without one at the package of a large release."""
    monkeypatch.setattr(rehearse, "MOST_CELLS", 0)
    for where in (rehearse, workflow):
        monkeypatch.setattr(where, "check_column_names", lambda tables: None)
    said, charges = released(base, table("t" * 64, BAD_NAMES[name]))
    assert said
    assert charges == 0
    monkeypatch.setattr(rehearse, "_check_package", lambda *_: None)
    said, charges = released(base, table("t" * 64, BAD_NAMES[name]))
    assert said
    assert charges == 1


@pytest.mark.parametrize("delta", ["delta = 1e-7\n", ""])
def test_a_sum_that_is_always_zero_is_refused(delta: str, base: Path, monkeypatch) -> None:
    monkeypatch.setitem(globals(), "HEAD", HEAD.replace("delta = 1e-7\n", delta))
    said, charges = released(base, table("t", "SELECT SUM(z) AS n FROM p"))
    assert "'n' is always 0" in said
    assert charges == 0


def test_a_folder_that_holds_no_packages_is_found_before_the_charge(base: Path) -> None:
    with Curator(loads(TOML, base=base)) as curator:
        store = curator.catalog.state_folder / workflow.RELEASES
    store.parent.mkdir(exist_ok=True)
    store.write_text("a file")
    said, charges = released(base, SMALL)
    assert "Packages cannot be kept" in said
    assert charges == 0


def test_a_shortened_plan_keeps_every_kind_of_class(tmp_path: Path) -> None:
    made = [
        Made("a", ("region", "third"), "r.county IN ('c0', 'c2') AND p.age < 4", "COUNT(*)"),
        Made("b", ("county", "half", "sex"), "", "COUNT(*)"),
        Made("d", ("third", "half"), "p.sex = 'F'", "SUM(p.pay)"),
    ]
    rule = "[[rules]]\nzero = \"county = 'c0' AND half = '0-5'\"\n"
    rows = random_rows(20, random.Random(1))
    plan = plan_in_memory([], tmp_path, rows, text=spec_text(made, more=rule)).plan
    for most in (1, 6, 24, 10**6):
        short = shortened(plan, most)
        for whole, family, zero in zip(plan.families, short.families, short.zeros, strict=True):
            members = [*family.members, *family.facts]
            assert family.cells <= max(most, 4)
            assert all(member.cells for member in members)
            assert zero is None or (zero.shape == family.shape and not zero.all())
            for member, own in zip(members, [*whole.members, *whole.facts], strict=True):
                assert [key.name for key in member.keys] == [key.name for key in own.keys]
                for key, other in zip(member.keys, own.keys, strict=True):
                    places = [other.labels.index(label) for label in key.labels]
                    assert places == sorted(places)
        assert [each.member.cells for each in shortened(plan, 10**6).wanted] == [
            each.member.cells for each in plan.wanted
        ]
