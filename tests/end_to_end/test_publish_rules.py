"""Rules and exact facts of a release: what they say holds, and what cannot hold costs nothing."""

from __future__ import annotations

import csv
import io
import json
import random
import re
import shutil
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from discreet.curator import Curator
from discreet.errors import DiscreetError, InvalidInput, MissingExtra
from discreet.lab.attacks.package import attack_package
from discreet.work.publish import assemble, bound_tables
from discreet.work.publish.contents import KeyFilter
from discreet.work.publish.recheck import verify_package
from discreet.work.publish.reconcile import solve
from discreet.work.publish.specification import parse_spec
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

    monkeypatch.setattr(assemble, "_axis_labels", apart)
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
    monkeypatch.setattr(solve, "MOST_CELLS", 5)
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


def test_a_package_that_the_ledger_does_not_know_was_not_released(place: Path):
    published(place, BY_SEX)
    with Curator(catalog_of(place)) as curator:
        kept = curator.package("r")
        assert kept.is_file()
        # Its writer was killed before the ledger knew of it.
        shutil.copy(kept, kept.with_name("s.zip"))
        with pytest.raises(InvalidInput, match="No package was released under the name 's'"):
            curator.package("s")


def test_where_no_group_is_small_there_is_nothing_to_guess(place: Path, monkeypatch):
    published(place, BY_SEX)
    monkeypatch.chdir(place)
    for kind in ("census", "reconstruction"):
        assert "nothing to guess" in attack_package(kind, "R.zip", "").private_words


BY_B = "SELECT sex, job, COUNT(*) AS n FROM people GROUP BY sex, job"
WITHIN = "SELECT sex, job, COUNT(*) AS n FROM people WHERE sex = 'F' GROUP BY sex, job"


def every_table(place: Path, text: str) -> dict[str, list[dict[str, str]]]:
    """Return all tables of a release that verifies, by name."""
    published(place, text)
    with zipfile.ZipFile(place / "R.zip") as archive:
        names = [n for n in archive.namelist() if re.fullmatch(r"tables/.*\.csv", n)]
        return {
            name[7:-4]: list(csv.DictReader(io.StringIO(archive.read(name).decode())))
            for name in names
        }


def tables(*selects: str) -> str:
    names = ("t", *(f"t{i}" for i in range(1, len(selects))))
    return "".join(f'[tables.{n}]\nsql = "{s}"\n' for n, s in zip(names, selects, strict=True))


@pytest.mark.parametrize(
    "selects",
    [
        (WITHIN, BY_B),
        (BY_B, WITHIN),
        (WITHIN, "SELECT job, COUNT(*) AS n FROM people GROUP BY job"),
        (WITHIN, WITHIN.replace("'F'", "'M'")),
        (WITHIN, BY_B.replace("COUNT(*)", "SUM(pay)")),
        (WITHIN.replace("SELECT sex, job", "SELECT job").replace("BY sex, job", "BY job"),),
        (
            "SELECT job AS b, COUNT(*) AS n FROM people WHERE age < 6 GROUP BY job",
            "SELECT job, COUNT(*) AS n FROM people GROUP BY job",
        ),
    ],
)
def test_a_rule_holds_in_every_table_whatever_its_where(place: Path, selects: tuple[str, ...]):
    found = every_table(place, tables(*selects) + rule("job = 'a'"))
    assert len(found) == len(selects)
    for rows in found.values():
        cells = [r for r in rows if r.get("job", r.get("b")) == "a"]
        assert cells
        assert {(r["n"], r["n_low"], r["n_high"]) for r in cells} == {("0", "0", "0")}
        assert all(int(r["n"]) > 0 for r in rows if r not in cells)


def test_a_condition_of_a_join_is_no_part_of_a_rule(place: Path):
    joined = (
        "SELECT g.county, p.job, COUNT(*) AS n FROM people p JOIN regions g ON p.region = g.region"
    )
    some = f"{joined} AND p.sex = 'F' GROUP BY g.county, p.job"
    whole = f"{joined} GROUP BY g.county, p.job"
    found = every_table(place, tables(some, whole) + rule("job = 'a'"))
    assert {r["n"] for rows in found.values() for r in rows if r["job"] == "a"} == {"0"}
    assert sum(int(r["n"]) for r in found["t1"] if r["job"] == "b") > 200


def test_a_rule_of_classes_that_a_where_leaves_out_holds_where_it_can(place: Path):
    young = "SELECT third, job, COUNT(*) AS n FROM people WHERE age < 4 GROUP BY third, job"
    both = rule("NOT third = '4-7' AND job = 'a'")
    found = every_table(
        place, tables(young, "SELECT job, COUNT(*) AS n FROM people GROUP BY job") + both + CUTS
    )
    assert {r["n"] for r in found["t"] if r["job"] == "a"} == {"0"}
    assert all(int(r["n"]) > 0 for r in found["t1"])


KEYS = ("sex", "job", "third", "half", "county", "region")
WHERES = ("", "sex = 'F'", "age < 6", "NOT job = 'b'", "region = 'r1'", "age > 3 AND sex = 'M'")
RULES: dict[str, Callable[[dict[str, str]], bool]] = {
    "sex = 'F'": lambda r: r["sex"] == "F",
    "job = 'a' AND NOT sex = 'M'": lambda r: r["job"] == "a" and r["sex"] != "M",
    "third = '0-3' OR half = '6-11'": lambda r: r["third"] == "0-3" or r["half"] == "6-11",
    "county = 'c0'": lambda r: r["county"] == "c0",
    "region IN ('r1', 'r5') AND third <> '0-3'": lambda r: (
        r["region"] in {"r1", "r5"} and r["third"] != "0-3"
    ),
    "job <> 'c'": lambda r: r["job"] != "c",
}
BROKEN = "of the rule"


def _random_release(dice: random.Random) -> tuple[str, list[str]]:
    """Return the text of a release and its rules; each rule is about columns of one table at least."""
    selects, shown = [], []
    for _ in range(dice.randint(1, 3)):
        keys = dice.sample(KEYS, dice.randint(1, 3))
        own = ", ".join(f"g.{k}" if k == "county" else f"p.{k}" for k in keys)
        where = dice.choice(WHERES)
        selects.append(
            f"SELECT {own}, COUNT(*) AS n FROM people p JOIN regions g ON p.region = g.region"
            + (f" WHERE {where}".replace(" region", " p.region") if where else "")
            + f" GROUP BY {own}"
        )
        shown.append(set(keys))
    rules = [r for r in RULES if any(set(re.findall("|".join(KEYS), r)) <= s for s in shown)]
    rules = dice.sample(rules, min(len(rules), 2))
    return tables(*selects) + "".join(map(rule, rules)) + CUTS, rules


def _checked(place: Path, seed: int) -> int:
    """Return how many cells of random releases rules are about, all of them zero."""
    dice, count = random.Random(seed), 0
    for number in range(24):
        text, rules = _random_release(dice)
        if not rules:
            continue
        text = HEAD.replace('"r"', f'"r{number}"').replace("delta = 1e-7\n", "") + text
        out = place / f"R{number}.zip"
        try:
            with Curator(catalog_of(place, epsilon="1000")) as curator:
                curator.publish(parse_spec(text, base=place), out=out)
        except InvalidInput as error:
            said = error.message
        else:
            said = ""
        assert not said or re.search("leave nobody|is empty", said), (text, said)
        if said:
            continue
        assert verify_package(out)["valid"]
        with zipfile.ZipFile(out) as archive:
            for name in archive.namelist():
                if not re.fullmatch(r"tables/.*\.csv", name):
                    continue
                for row in csv.DictReader(io.StringIO(archive.read(name).decode())):
                    for each in rules:
                        if set(re.findall("|".join(KEYS), each)) <= row.keys() and RULES[each](row):
                            assert row["n"] == row["n_high"] == "0", f"{BROKEN} {each}: {text}"
                            count += 1
    return count


def test_in_random_releases_all_cells_of_rules_are_zero(place: Path):
    assert _checked(place, 17) > 100


def test_a_rule_within_the_where_of_one_table_would_not_hold(place: Path, monkeypatch):
    honest = bound_tables._with_rule

    def within(text, trees):
        (name, (bare, ruled)), *_ = honest(text, trees).items()
        own = trees[name].args.get("where")
        changed = ruled if own is None else ruled.where(own.this.copy())
        return {name: (bare, changed)}

    monkeypatch.setattr(bound_tables, "_with_rule", within)
    with pytest.raises(AssertionError, match=f"{BROKEN}|rehearsal on made-up rows failed"):
        _checked(place, 17)


def test_the_expected_error_of_published_numbers_contains_their_rounding(place: Path):
    crossed = tables(
        "SELECT region, job, COUNT(*) AS n FROM people GROUP BY region, job",
        "SELECT age, sex, COUNT(*) AS n FROM people GROUP BY age, sex",
        "SELECT job, age, COUNT(*) AS n FROM people GROUP BY job, age",
    )
    head = HEAD.replace("delta = 1e-7\n", "").replace("epsilon = 1.0", "epsilon = 30.0")
    with Curator(catalog_of(place, epsilon="1000")) as curator:
        found = curator.rehearse_release(parse_spec(head + crossed, base=place)).to_json()
    errors = [each["error"] for each in found["tables"].values()]
    # Noise is below 0.2 here; that 576 cells are whole and add up moves a cell by more than that.
    assert max(e["least_squares"] for e in errors) < 0.3
    assert max(e["whole"] / e["least_squares"] for e in errors) > 2
