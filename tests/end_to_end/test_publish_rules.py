"""Rules and exact facts of a release: what they say holds, and what cannot hold costs nothing."""

from __future__ import annotations

import csv
import io
import json
import random
import shutil
import sys
import zipfile
from pathlib import Path

import pytest

from discreet.api import Curator
from discreet.attack.package import attack_package
from discreet.errors import DiscreetError, InvalidInput, MissingExtra
from discreet.publish.assemble import contents
from discreet.publish.contents import KeyFilter
from discreet.publish.recheck import verify_package
from discreet.publish.reconcile import exact_cells
from discreet.publish.specification.spec import parse_spec
from publish_kit import CUTS, catalog_of, priced_once, random_rows, toml_text, write_tables

HEAD = '[release]\nname = "r"\ndataset = "d"\nepsilon = 1.0\ndelta = 1e-7\n'
BY_SEX = '[tables.t]\nsql = "SELECT sex, job, COUNT(*) AS n FROM people GROUP BY sex, job"\n'
TWO_CUTS = '[tables.t]\nsql = "SELECT third, half, sex, COUNT(*) AS n FROM people GROUP BY third, half, sex"\n'


@pytest.fixture(scope="module", autouse=True)
def prices():
    with priced_once():
        yield


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    base = tmp_path_factory.mktemp("county")
    write_tables(base, random_rows(1000, random.Random(3)))
    (base / "discreet.toml").write_text(toml_text())
    with Curator(catalog_of(base)) as curator:
        curator.draft_release(parse_spec(HEAD.replace('"r"', '"warm"') + BY_SEX, base=base))
    return base


@pytest.fixture
def place(files: Path, tmp_path: Path) -> Path:
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    return tmp_path


def rule(zero: str) -> str:
    return f'[[rules]]\nzero = "{zero}"\n'


def fact(sql: str, more: str = 'approver = "owner"') -> str:
    return f'[[exact]]\nfact = "{sql}"\nreason = "published every January"\n{more}\n'


def published(place: Path, text: str) -> list[dict[str, str]]:
    """Return the table t of a release that verifies."""
    out = place / "R.zip"
    with Curator(catalog_of(place)) as curator:
        found = curator.publish(parse_spec(HEAD + text, base=place), out=out)
    verdict = verify_package(out, key=found.key)
    assert verdict["valid"], verdict["problems"]
    with zipfile.ZipFile(out) as archive:
        return list(csv.DictReader(io.StringIO(archive.read("tables/t.csv").decode())))


def refused(place: Path, text: str, words: str, kind: type[DiscreetError] = InvalidInput) -> None:
    """Require that a release is refused with these words and costs nothing."""
    with Curator(catalog_of(place)) as curator:
        with pytest.raises(kind, match=words):
            curator.publish(parse_spec(HEAD + text, base=place), out=place / "R.zip")
        assert curator.budget_report()["datasets"]["d"]["charges"] == 0
    assert not (place / "R.zip").exists()


EITHER = rule("third = '0-3' OR half = '6-11'")


def test_a_rule_over_two_cuts_of_one_column_is_about_its_own_cells_only(place: Path):
    rows = published(place, TWO_CUTS + EITHER + CUTS)
    cells = {(r["third"], r["half"]) for r in rows}
    assert cells == {("0-3", "0-5"), ("4-7", "0-5"), ("4-7", "6-11"), ("8-11", "6-11")}
    left = [int(r["n"]) for r in rows if (r["third"], r["half"]) == ("4-7", "0-5")]
    assert sum(left) > 50
    assert sum(int(r["n"]) for r in rows) == sum(left)


def test_labels_of_each_cut_on_its_own_would_not_verify(place: Path, monkeypatch):
    def apart(keys, inside):
        return [
            tuple(KeyFilter(k.name, tuple({k.labels[c] for c in k.codes[inside]})) for k in keys)
        ]

    monkeypatch.setattr(contents, "_axis_labels", apart)
    with pytest.raises(InvalidInput, match="its rehearsal on made-up rows failed"):
        published(place, TWO_CUTS + EITHER + CUTS)


def test_an_implication_is_a_zero_of_its_contrary(place: Path):
    rows = published(place, BY_SEX + rule("job = 'a' AND NOT sex = 'F'"))
    assert [r["n"] for r in rows if (r["job"], r["sex"]) == ("a", "M")] == ["0"]
    assert all(int(r["n"]) > 0 for r in rows if (r["job"], r["sex"]) != ("a", "M"))


def test_a_rule_about_no_cell_is_told_before_it_is_paid_for(place: Path):
    spec = parse_spec(HEAD + BY_SEX + rule("job = 'pilot'"), base=place)
    with Curator(catalog_of(place)) as curator:
        rehearsed = curator.rehearse_release(spec)
        found = curator.publish(spec, out=place / "R.zip")
    assert rehearsed.notices == found.notices
    assert rehearsed.to_json()["notices"] == list(found.notices)
    (said,) = found.notices
    assert "about no cell" in said
    assert said in json.dumps(found.to_json())


def test_rows_that_contradict_a_rule_are_charged_once_and_published_never(place: Path):
    text = BY_SEX + fact("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex") + rule("sex = 'M'")
    with Curator(catalog_of(place)) as curator:
        for _ in range(2):
            with pytest.raises(DiscreetError, match=r"[Tt]he charge stands"):
                curator.publish(parse_spec(HEAD + text, base=place), out=place / "R.zip")
        assert curator.budget_report()["datasets"]["d"]["charges"] == 1
    assert not list(place.rglob("*.zip"))


CROSSED = (
    BY_SEX
    + fact("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex")
    + fact("SELECT job, COUNT(*) AS n FROM people GROUP BY job")
)


def test_crossed_facts_that_cannot_be_settled_are_refused_before_the_charge(
    place: Path, monkeypatch
):
    monkeypatch.setattr(exact_cells, "MOST_CELLS", 5)
    refused(place, CROSSED, "tell 6 cells apart")
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    refused(place, CROSSED, "scipy", MissingExtra)
    monkeypatch.undo()
    rows = published(place, CROSSED)
    assert sum(int(r["n"]) for r in rows) == 1000


def test_a_published_sum_may_be_negative(place: Path):
    (place / "debt.csv").write_text("sex,w\nF,-1234.50\nM,70\n")
    sums = '[tables.t]\nsql = "SELECT sex, job, SUM(wealth) AS w FROM people GROUP BY sex, job"\n'
    own = fact("SELECT sex, SUM(wealth) AS w FROM people GROUP BY sex", 'file = "debt.csv"')
    rows = published(place, sums + own)
    assert sum(int(r["w"]) for r in rows if r["sex"] == "F") == -123_450
    with zipfile.ZipFile(place / "R.zip") as archive:
        assert "12345 stands for 123.45" in archive.read("sheet.html").decode()
        book = archive.read("codebook.csv").decode()
    assert book.count("in steps of 0.01") == 4
    (place / "debt.csv").write_text("sex,w\nF,0.001\nM,70\n")
    (place / "R.zip").unlink()
    renamed = (sums + own).replace("debt", "other")
    (place / "other.csv").write_text("sex,w\nF,0.001\nM,70\n")
    with Curator(catalog_of(place)) as curator, pytest.raises(InvalidInput, match=r"of 0\.01"):
        curator.publish(parse_spec(HEAD.replace('"r"', '"s"') + renamed, base=place))
    (place / "few.csv").write_text("sex,n\nF,-1\nM,70\n")
    counts = BY_SEX + fact("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", 'file = "few.csv"')
    with Curator(catalog_of(place)) as curator, pytest.raises(InvalidInput, match="whole number"):
        curator.publish(parse_spec(HEAD.replace('"r"', '"q"') + counts, base=place))


def test_where_no_group_is_small_there_is_nothing_to_guess(place: Path, monkeypatch):
    published(place, BY_SEX)
    monkeypatch.chdir(place)
    for kind in ("census", "reconstruction"):
        assert "nothing to guess" in attack_package(kind, "R.zip", "").private_words
