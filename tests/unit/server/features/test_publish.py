"""The Publish pages' own parts: drafts on the disk, and tables as grids and bars."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pyarrow as pa
import pytest

from discreet.errors import DiscreetError, InvalidInput, UnknownName
from discreet.server.features.publish import views
from discreet.server.features.publish.in_child import Drafts, read_text
from discreet.server.features.publish.views import ShownTable, manifest, member, table
from package_kit import package

SPEC = '[release]\nname = "a"\ndataset = "d"\nepsilon = 1\n[tables.t]\nsql = "SELECT 1"\n'


def test_drafts_are_kept_and_found_by_their_name(tmp_path: Path) -> None:
    drafts = Drafts(tmp_path)
    spec = read_text(SPEC, tmp_path, state=tmp_path / ".discreet")
    drafts.keep(spec)
    drafts.keep_pictures("a", "<p>picture</p>")
    drafts.keep(spec)
    assert drafts.text("a") == SPEC
    assert drafts.pictures("a") == "<p>picture</p>"
    changed = SPEC.replace("epsilon = 1", "epsilon = 2")
    drafts.keep(read_text(changed, tmp_path, state=tmp_path / ".discreet"))
    assert drafts.pictures("a") == ""  # of another spec
    for name in ("b", "../a", "a/../a", "", "a" * 100, "a.toml"):
        assert drafts.text(name) is None
        with pytest.raises(UnknownName):
            drafts.spec(name, tmp_path)


def test_files_of_facts_stay_in_the_folder(tmp_path: Path) -> None:
    fact = '[[exact]]\nfact = "SELECT 1"\nreason = "r"\nfile = "{}"\n'
    assert read_text(
        SPEC + fact.format("register.csv"), tmp_path, state=tmp_path / ".discreet"
    ).facts
    for path in ("../register.csv", "/etc/passwd", "a/../../b.csv", ".discreet/b.csv"):
        with pytest.raises(InvalidInput):
            read_text(SPEC + fact.format(path), tmp_path, state=tmp_path / ".discreet")


def test_the_starter_is_a_spec_that_leaves_most_of_the_budget() -> None:
    columns = [
        {"name": "sex", "values": ["F", "M"]},
        {"name": "region", "values": ["a", "b", "c"]},
        {"name": "age", "values": []},
    ]
    tables = [{"name": "people", "public": False, "columns": columns}]
    text = views.starter([{"name": "town", "limit": 1.0, "spent": 0.2, "tables": tables}])
    found = tomllib.loads(text)
    assert found["release"]["epsilon"] == 0.2
    assert list(found["tables"]) == ["by_sex", "by_region"]
    assert views.starter([]) == ""
    spent = views.starter([{"name": "town", "limit": 1000.0, "spent": 0.0, "tables": tables}])
    assert tomllib.loads(spent)["release"]["epsilon"] == 250


def test_a_draft_says_what_it_holds(tmp_path: Path) -> None:
    more = (
        '[tables.u]\nsql = "SELECT 2"\nshare = 0.25\n'
        '[tables.v]\nsql = "SELECT 3"\naccuracy = "95% of cells over 500 within 5%"\n'
        '[[exact]]\nfact = "SELECT 1"\nreason = "r"\napprover = "owner"\n'
        '[[exact]]\nfact = "SELECT 1"\nreason = "r"\nfile = "register.csv"\n'
        "[[rules]]\nzero = \"a = 'b'\"\n"
    )
    found = views.spec_view(read_text(SPEC + more, tmp_path, state=tmp_path / ".discreet"))
    assert [each["weight"] for each in found["tables"]] == [
        "its best share",
        "25% of the budget",
        "95% of cells over 500 within 5%",
    ]
    assert (found["files"], found["from_data"]) == (["register.csv"], 1)


def test_the_way_shows_what_is_behind() -> None:
    assert [step["done"] for step in views.way("rehearsed")] == [True, True, False, False]
    assert [step["here"] for step in views.way("released")] == [False, False, False, True]
    assert all(step["done"] for step in views.way("withdrawn"))
    assert not any(step["done"] for step in views.way(None))


def test_a_package_is_shown_as_grid_and_bars(tmp_path: Path) -> None:
    path = package(tmp_path)
    seen = views.package_view(manifest(path), "town-2026")
    assert [each["name"] for each in seen["tables"]] == ["nation", "by_region"]
    assert seen["epsilon"] == "2.27"
    grid = views.table_view(_shown(path, "nation", {}), name="town-2026", chosen={})["grid"]
    assert (grid["down"], grid["across"]) == ("sex", "age_group")
    assert [[cell["value"] for cell in line["cells"]] for line in grid["lines"]] == [
        [56, 105],
        [84, 147],
    ]
    chosen = {"region": "North", "sex": "Male", "page": "2"}
    one = views.table_view(_shown(path, "by_region", chosen), name="town-2026", chosen=chosen)
    assert [bar["name"] for bar in one["bars"]] == ["0-17", "18-34"]
    assert [crumb["key"] for crumb in one["crumbs"]] == ["region", "sex"]
    three = views.table_view(_shown(path, "by_region", {}), name="town-2026", chosen={})
    assert three["grid"] is None
    assert {choice["key"] for choice in three["choices"]} == {"region", "sex", "age_group"}
    none = views.table_view(
        _shown(path, "nation", {"sex": "Nobody"}), name="x", chosen={"sex": "Nobody"}
    )
    assert none["bars"] == []


def test_every_count_and_sum_of_a_table_is_shown() -> None:
    columns = {"sex": ["F", "M"], "n": [5, 7], "n_low": [3, 5], "n_high": [7, 9]}
    columns |= {"pay": [1250, -40], "pay_low": [900, -90], "pay_high": [1600, 10]}
    facts = {
        "keys": [{"name": "sex", "values": ["F", "M"]}],
        "measures": [{"name": "n", "step": "1"}, {"name": "pay", "step": "1/100"}],
    }
    shown = ShownTable("t", facts, pa.table(columns))
    first = views.table_view(shown, name="r", chosen={}, measure="nothing")
    assert (first["measure"], first["step"]) == ("n", "")
    assert [each["path"] for each in first["measures"]] == [
        "/releases/r?table=t&measure=n",
        "/releases/r?table=t&measure=pay",
    ]
    second = views.table_view(shown, name="r", chosen={"sex": "F"}, measure="pay")
    assert [bar["text"] for bar in second["bars"]] == ["1,250", "-40"]
    assert (second["measure"], second["step"]) == ("pay", "0.01")
    assert [each["path"] for each in second["crumbs"]] == ["/releases/r?table=t&measure=pay"]


def _shown(path: Path, name: str, chosen: dict[str, str]) -> ShownTable:
    found = table(path, name, chosen)
    assert found is not None
    assert isinstance(found.rows, pa.Table)
    return found


def test_only_listed_members_are_handed_out(tmp_path: Path) -> None:
    path = package(tmp_path)
    assert member(path, "tables/nation.csv")
    for name in ("manifest.json", "signature", "../ledger.db", "tables/", "nothing"):
        assert member(path, name) is None
    assert table(path, "nothing", {}) is None
    with pytest.raises((DiscreetError, OSError)):
        manifest(tmp_path / "nothing.zip")
