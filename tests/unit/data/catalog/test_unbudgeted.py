"""A bare file that is remembered without a budget, until one comes."""

import pytest

from discreet.base.numbers import Delta, Epsilon
from discreet.data.catalog.bare_file import bare_table, recorded_table
from discreet.data.catalog.policy_file import load
from discreet.data.catalog.writer import fill_in, find_declared
from discreet.errors import CatalogError

BUDGET = {"epsilon": Epsilon.of("0.5"), "delta": Delta.of("1e-9")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two files that were remembered without a budget, in one discreet.toml."""
    folder = tmp_path_factory.mktemp("remembered")
    for name in ("one", "two"):
        (folder / f"{name}.csv").write_text("age,sex\n3,F\n4,M\n", encoding="utf-8")
        found = recorded_table(folder / f"{name}.csv")
        assert (found.created, found.table) == (True, f"{name}.{name}")
    return folder


def test_what_is_remembered_has_no_budget_and_no_unit(folder):
    catalog = load(folder / "discreet.toml")
    assert set(catalog.unfinished) == {"one", "two"}
    assert "epsilon" in catalog.unfinished["one"]
    assert "unit" in catalog.unfinished["one"]


def test_it_is_found_again(folder):
    again = recorded_table(folder / "one.csv")
    assert (again.created, again.table) == (False, "one.one")
    assert find_declared(folder / "discreet.toml", folder / "three.csv") is None


def test_the_first_budget_fills_in_its_own_gap_only(folder, tmp_path):
    place = tmp_path / "discreet.toml"
    place.write_text((folder / "discreet.toml").read_text())
    path = tmp_path / "one.csv"
    path.write_text("age,sex\n3,F\n")
    fill_in(place, path, epsilon=BUDGET["epsilon"], delta=Delta.of("2e-9"), unit="row")
    catalog = load(place)
    assert list(catalog.unfinished) == ["two"]
    assert str(catalog.budgets["one"].epsilon) == "0.5"
    assert "delta = 0.000000002" in place.read_text()
    before = place.read_text()
    fill_in(place, path, epsilon=Epsilon.of("9"), delta=None, unit="sex")
    assert place.read_text() == before, "a budget that is there is never changed"


def test_a_command_with_a_budget_completes_it(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("who,age\na,3\nb,4\n")
    recorded_table(path)
    found = bare_table(path, **BUDGET, unit="who")
    assert not found.created
    table = load(found.config).table("people")
    assert table.unit is not None
    assert table.unit.column == "who"


def test_a_proposal_that_waits_for_its_owner_keeps_waiting(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age\n3\n")
    place = tmp_path / "discreet.toml"
    text = (
        '[datasets.people]\n# epsilon = 1\n[datasets.people.tables.people]\nsource = "people.csv"\n'
    )
    place.write_text(text)
    fill_in(place, path, epsilon=BUDGET["epsilon"], delta=None, unit="row")
    assert place.read_text() == text
    place.write_text("not toml =")
    with pytest.raises(CatalogError, match="cannot be read"):
        find_declared(place, path)
