"""Releases end to end: from files and a spec to a signed package, and every way of going wrong."""

from __future__ import annotations

import csv
import io
import json
import os
import random
import shutil
import zipfile
from fractions import Fraction
from functools import partial
from pathlib import Path

import pytest

from discreet.cli.app import run
from discreet.curator import Curator
from discreet.data.catalog.policy_file import loads
from discreet.errors import (
    AnswerLost,
    DiscreetError,
    InvalidInput,
    NotAllowed,
    RequestConflict,
)
from discreet.lab.attacks.package import load_target, lone_people, secret_bits
from discreet.work.publish import run as publish_run
from discreet.work.publish.recheck import verify_package
from discreet.work.publish.specification import parse_spec, spec_of
from ledger_kit import forked
from publish_kit import (
    COUNTY,
    catalog_of,
    priced_once,
    random_rows,
    toml_text,
    write_public,
    write_tables,
)

SPEC = """
[release]
name = "county-2026"
dataset = "d"
epsilon = 1.0
delta = 1e-7
[tables.nation]
sql = "SELECT sex, age_group, COUNT(*) AS people FROM people GROUP BY sex, age_group"
[tables.by_county]
sql = "SELECT r.county, p.sex, p.age_group, COUNT(*) AS people, SUM(p.pay) AS pay FROM people p JOIN regions r ON p.region = r.region GROUP BY r.county, p.sex, p.age_group"
share = 0.5
[tables.by_state]
sql = "SELECT c.state, COUNT(*) AS people, SUM(p.pay) AS pay FROM people p JOIN regions r ON p.region = r.region JOIN counties c ON r.county = c.county GROUP BY c.state"
[tables.old]
sql = "SELECT r.county, COUNT(*) AS people FROM people p JOIN regions r ON p.region = r.region WHERE p.age >= 8 GROUP BY r.county"
[cuts]
age_group = { column = "age", edges = [0, 4, 8, 12] }
[[exact]]
fact = "SELECT r.county, COUNT(*) AS people FROM people p JOIN regions r ON p.region = r.region GROUP BY r.county"
reason = "published by the register every January"
approver = "owner"
[[rules]]
zero = "county = 'c3' AND age_group = '0-3'"
"""
ROWS = [
    row
    for row in random_rows(3000, random.Random(1))
    if not (row[0] in ("r6", "r7") and row[3] < 4)
]


@pytest.fixture(scope="module", autouse=True)
def prices():
    with priced_once():
        yield


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    """Return the county's folder with its snapshots made, so that no test makes them again."""
    base = tmp_path_factory.mktemp("county")
    write_tables(base, ROWS)
    with curator_of(base) as curator:
        curator.draft_release(parse_spec(SPEC.replace("county-2026", "warm"), base=base))
    return base


def curator_of(base: Path, **options) -> Curator:
    return Curator(catalog_of(base, **options))


@pytest.fixture
def place(files: Path, tmp_path: Path) -> Path:
    # Also the ledger and its head: a copy of a ledger is a ledger.
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    return tmp_path


def spec_at(place: Path, text: str = SPEC) -> Path:
    path = place / "SPEC.toml"
    path.write_text(text)
    return path


def read_digest(place: Path) -> str:
    return spec_of(place / "SPEC.toml").digest


def table(package: Path, name: str, folder: str = "tables") -> list[dict[str, str]]:
    with zipfile.ZipFile(package) as archive:
        text = archive.read(f"{folder}/{name}.csv").decode()
    return list(csv.DictReader(io.StringIO(text)))


def test_a_release_is_consistent_signed_and_verified(place: Path):
    out = place / "R.zip"
    with curator_of(place) as curator:
        found = curator.publish(spec_at(place), out=out)
        key = curator.release_key()
        spent = curator.budget_report()["datasets"]["d"]
    said = found.to_json()
    assert {"release", "out", "tables", "cost", "budget", "seconds"} <= said.keys()
    rows = {"nation": 6, "by_county": 24, "by_state": 2, "old": 4}
    assert said["tables"] == {name: {"rows": n} for name, n in rows.items()}
    assert said["cost"] == {"epsilon": 1.0, "delta": 1e-7}
    assert spent["epsilon"]["spent"] == 1.0
    assert spent["charges"] == 1
    verdict = verify_package(out, key=key)
    assert verdict["valid"], verdict["problems"]
    assert {"sums", "pld", "scales", "signature", "ledger"} <= set(verdict["checks"])
    with zipfile.ZipFile(out) as archive:
        manifest = json.loads(archive.read("manifest.json"))
    # Nation and states are sums of counties, the old ones of their age group, pay of pay.
    assert len(manifest["agreements"]) == 4
    fine = table(out, "by_county")
    assert list(fine[0]) == [
        *("county", "sex", "age_group", "people", "people_low", "people_high"),
        *("pay", "pay_low", "pay_high"),
    ]
    assert {(r["sex"], r["age_group"]) for r in table(out, "nation")} == {
        (s, a) for s in "FM" for a in ("0-3", "4-7", "8-11")
    }
    truth = {c: sum(COUNTY[r[0]] == c for r in ROWS) for c in ("c0", "c1", "c2", "c3")}
    for county, people in truth.items():
        mine = [r for r in fine if r["county"] == county]
        assert sum(int(r["people"]) for r in mine) == people
    assert all(r["people"] == "0" for r in fine if (r["county"], r["age_group"]) == ("c3", "0-3"))


def test_the_same_release_again_is_the_stored_package_and_free(place: Path):
    one, two = place / "one.zip", place / "two.zip"
    with curator_of(place) as curator:
        first = curator.publish(spec_at(place), out=one)
        again = curator.publish(spec_at(place), out=two)
        assert not first.free
        assert again.free
        assert again.cost.epsilon == 0
        assert one.read_bytes() == two.read_bytes()
        with pytest.raises(InvalidInput, match="another spec"):
            curator.publish(spec_at(place, SPEC.replace("share = 0.5", "share = 0.4")), out=two)
        assert curator.budget_report()["datasets"]["d"]["charges"] == 1
    write_tables(place, ROWS[:-1])
    with curator_of(place) as curator, pytest.raises(RequestConflict):
        curator.publish(spec_at(place), out=two)


def test_a_rehearsal_and_a_refused_draft_cost_nothing(place: Path):
    with curator_of(place, second=True) as curator:
        seen = curator.rehearse_release(spec_at(place), who="ann")
        assert seen.to_json()["spends"] is False
        assert {t.table for t in seen.tables} >= {"nation", "old", "by_county.people"}
        # Least squares is a projection towards tables that hold the truth: always nearer, weighted.
        fitted, noisy = (
            sum(t.cells * t.share * getattr(t, way) ** 2 for t in seen.tables)
            for way in ("fitted", "noisy")
        )
        assert 0 < fitted <= noisy * (1 + 1e-6)
        assert "<svg" in __import__("discreet.show", fromlist=["to_html"]).to_html(seen.document())
        with pytest.raises(NotAllowed, match="second person"):
            curator.publish(spec_at(place), out=place / "R.zip", who="ann")
        with pytest.raises(NotAllowed, match="second person"):
            curator.approve_release(spec_at(place), who="ann", digest=read_digest(place))
        assert not (place / "R.zip").exists()
        assert curator.budget_report()["datasets"]["d"]["charges"] == 0
        with pytest.raises(InvalidInput, match="names its digest"):
            curator.approve_release(spec_at(place), who="bob")
        seen_digest = read_digest(place)
        approved = curator.approve_release(spec_at(place), who="bob", digest=seen_digest)
        assert approved["approved_by"] == "bob"
        # Another spec under the name is another draft: the approval was not for it.
        other = spec_at(place, SPEC.replace("share = 0.5", "share = 0.6"))
        with pytest.raises(NotAllowed):
            curator.publish(other, out=place / "R.zip", who="ann")
        with pytest.raises(RequestConflict, match="changed since"):
            curator.approve_release(other, who="bob", digest=seen_digest)
        curator.approve_release(other, who="bob", digest=spec_of(other).digest)
        curator.publish(other, out=place / "R.zip", who="ann")
        assert verify_package(place / "R.zip")["valid"]
        history = [e for e in curator.history() if e["kind"] == "release"]
        states = [e["state"] for e in history if e["release"] == "county-2026"]
        assert states[::-1] == [
            *("draft", "rehearsed", "approved", "draft", "approved", "released"),
        ]


def test_superseded_and_withdrawn_releases_stay_paid(place: Path):
    small = SPEC.split("[[exact]]", maxsplit=1)[0]
    with curator_of(place) as curator:
        curator.publish(spec_at(place, small), out=place / "one.zip")
        newer = small.replace("county-2026", "county-2027")
        curator.publish(spec_at(place, newer), out=place / "two.zip", supersedes="county-2026")
        found = {each["release"]: each["state"] for each in curator.releases()}
        found.pop("warm")
        assert found == {"county-2026": "superseded", "county-2027": "released"}
        curator.withdraw_release(spec_at(place, newer), reason="a wrong file")
        with pytest.raises(InvalidInput, match="withdrawn"):
            curator.publish(spec_at(place, newer), out=place / "two.zip")
        assert curator.budget_report()["datasets"]["d"]["charges"] == 2


BAD = {
    "no valid TOML": "[release\n",
    "must say epsilon": '[release]\nname = "r"\ndataset = "d"\n[tables.t]\nsql = "SELECT 1"\n',
    "no dataset": SPEC.replace('dataset = "d"', 'dataset = "nowhere"'),
    "unknown key": SPEC.replace("share = 0.5", "shares = 0.5"),
    "waits for the owner's review": SPEC.replace(
        "GROUP BY c.state", "GROUP BY c.state, p.raw"
    ).replace("SELECT c.state,", "SELECT c.state, p.raw,"),
    "one name": SPEC.replace("[tables.old]", "[tables.NATION]"),
    "two tables or keys have one name": SPEC.replace("[tables.old]", "[tables.nation]"),
    "HAVING, ORDER BY": SPEC.replace("GROUP BY c.state", "GROUP BY c.state ORDER BY c.state"),
    "COUNT and SUM only": SPEC.replace(
        "SUM(p.pay) AS pay FROM people p JOIN regions r ON p.region = r.region JOIN",
        "AVG(p.pay) AS pay FROM people p JOIN regions r ON p.region = r.region JOIN",
    ),
    "no declared list of values": SPEC.replace(
        "WHERE p.age >= 8 GROUP BY r.county", "GROUP BY p.note"
    ).replace(
        "SELECT r.county, COUNT(*) AS people FROM people p JOIN regions r ON p.region = r.region GROUP BY p.note",
        "SELECT p.note, COUNT(*) AS people FROM people p GROUP BY p.note",
    ),
    "does not allow": SPEC.replace("epsilon = 1.0", "epsilon = 50.0"),
    "infeasible: needs epsilon": SPEC.replace(
        "share = 0.5", 'accuracy = "95% of cells over 100 within 1%"'
    ),
    "not understood": SPEC.replace("share = 0.5", 'accuracy = "good"'),
    "no table groups by": SPEC.replace("zero = \"county = 'c3'", "zero = \"job = 'a'"),
    "leave nothing": SPEC.replace("share = 0.5", "share = 1.0"),
    "cannot be read": SPEC.replace('approver = "owner"', 'file = "register.csv"'),
    "has the name of a column": SPEC.replace("age_group", "job"),
    "Two cuts have one name": SPEC.replace(
        "[cuts]", '[cuts]\nAGE_GROUP = { column = "age", edges = [0, 12] }'
    ),
    "leave nobody to count": SPEC.replace(
        "zero = \"county = 'c3'", "zero = \"county <> 'c9'"
    ).replace(" AND age_group = '0-3'", ""),
    "part of cells must be a number": SPEC.replace(
        "share = 0.5", 'accuracy = "9.5.5% of cells over 100 within 1%"'
    ),
    "must ascend": SPEC.replace("[0, 4, 8, 12]", "[0, 8, 4, 12]"),
    "finer than every table": SPEC.replace(
        'SELECT r.county, COUNT(*) AS people FROM people p JOIN regions r ON p.region = r.region GROUP BY r.county"\nreason',
        'SELECT p.region, COUNT(*) AS people FROM people p GROUP BY p.region"\nreason',
    ),
    "one private table": SPEC.replace(
        "FROM people p JOIN regions r ON p.region = r.region WHERE p.age >= 8 GROUP BY r.county",
        "FROM (SELECT * FROM people WHERE age > 3) p GROUP BY p.region",
    ).replace(
        "SELECT r.county, COUNT(*) AS people FROM (", "SELECT p.region, COUNT(*) AS people FROM ("
    ),
}


def test_bad_specs_get_one_sentence_and_cost_nothing(place: Path):
    with curator_of(place) as curator:
        for words, text in BAD.items():
            assert text != SPEC, words
            with pytest.raises(DiscreetError, match=words) as found:
                curator.publish(spec_at(place, text), out=place / "R.zip")
            assert "\n" not in found.value.message, words
        assert not (place / "R.zip").exists()
        assert curator.budget_report()["datasets"]["d"]["charges"] == 0


def test_a_hierarchy_with_an_orphan_is_refused(place: Path):
    write_public(place, {region: COUNTY[region] for region in list(COUNTY)[:-1]})
    with curator_of(place) as curator, pytest.raises(InvalidInput, match="orphan"):
        curator.publish(spec_at(place), out=place / "R.zip")


def test_facts_from_files_are_kept_and_contradictions_refused(place: Path):
    truth = {c: sum(COUNTY[r[0]] == c for r in ROWS) for c in ("c0", "c1", "c2", "c3")}
    lines = [f"{c},{n}" for c, n in truth.items()]
    (place / "register.csv").write_text("\n".join(["county,people", *lines]) + "\n")
    text = SPEC.replace('approver = "owner"', 'file = "register.csv"')
    second = """
    [[exact]]
    fact = "SELECT COUNT(*) AS people FROM people"
    reason = "the census"
    file = "total.csv"
    """
    with curator_of(place) as curator:
        (place / "total.csv").write_text(f"people\n{sum(truth.values()) + 1}\n")
        with pytest.raises(InvalidInput, match="contradict"):
            curator.publish(spec_at(place, text + second), out=place / "R.zip")
        (place / "register.csv").write_text("county,people\nc0,1\n")
        with pytest.raises(InvalidInput, match="lacks 3 of 4"):
            curator.publish(spec_at(place, text), out=place / "R.zip")
        (place / "register.csv").write_text("\n".join(["county,people", *lines]) + "\n")
        (place / "total.csv").write_text(f"people\n{sum(truth.values())}\n")
        found = curator.publish(spec_at(place, text + second), out=place / "R.zip")
        assert not found.notices  # published facts change no guarantee
        assert curator.budget_report()["datasets"]["d"].get("exposures", 0) == 0
    assert verify_package(place / "R.zip")["valid"]


def test_an_approval_is_for_the_files_of_facts_too(place: Path):
    total = (
        '[[exact]]\nfact = "SELECT COUNT(*) AS people FROM people"\nreason = "r"\nfile = "t.csv"\n'
    )
    text = SPEC.split("[[exact]]", maxsplit=1)[0] + total
    (place / "t.csv").write_text(f"people\n{len(ROWS)}\n")
    with curator_of(place, second=True) as curator:
        spec = spec_at(place, text)
        digest = curator.draft_release(spec, who="ann")["digest"]
        (place / "t.csv").write_text("people\n123456\n")
        with pytest.raises(RequestConflict, match="changed since"):
            curator.approve_release(spec, who="bob", digest=digest)
        (place / "t.csv").write_text(f"people\n{len(ROWS)}\n")
        curator.approve_release(spec, who="bob", digest=digest)
        (place / "t.csv").write_text("people\n123456\n")
        with pytest.raises(NotAllowed, match="second person"):
            curator.publish(spec, out=place / "R.zip", who="ann")
        read = spec_of(spec)
        (place / "t.csv").write_text("people\n7\n")
        with pytest.raises(RequestConflict, match="while the release was planned"):
            curator.draft_release(read, who="ann")
        assert curator.budget_report()["datasets"]["d"]["charges"] == 0


@pytest.mark.parametrize("file", ["people.csv", "link.csv", ".discreet/x.csv", "ledger.db"])
def test_a_fact_may_not_name_what_is_private(place: Path, file: str):
    toml = toml_text(second=False).replace("people.parquet", "people.csv")
    (place / "people.csv").write_text("people\nSECRET-77\n")
    (place / "link.csv").symlink_to("people.csv")
    (place / ".discreet").mkdir(exist_ok=True)
    (place / ".discreet" / "x.csv").write_text("people\nSECRET-77\n")
    total = '[[exact]]\nfact = "SELECT COUNT(*) AS people FROM people"\nreason = "r"\n'
    text = SPEC.split("[[exact]]", maxsplit=1)[0] + total + f'file = "{file}"\n'
    with (
        Curator(loads(toml, base=place)) as curator,
        pytest.raises(InvalidInput, match="no published file"),
    ):
        curator.draft_release(spec_at(place, text))


def test_no_cell_of_a_file_of_facts_is_quoted(place: Path):
    text = SPEC.replace('approver = "owner"', 'file = "register.csv"')
    with curator_of(place) as curator:
        for row in ("SECRET,5", "c0,SECRET"):
            (place / "register.csv").write_text(f"county,people\n{row}\n")
            with pytest.raises(InvalidInput, match=r"Row 1 of 'register\.csv'") as found:
                curator.draft_release(spec_at(place, text))
            assert "SECRET" not in str(found.value)


def test_pure_epsilon_releases_have_laplace_noise(place: Path):
    text = SPEC.split("[[exact]]", maxsplit=1)[0].replace("delta = 1e-7\n", "")
    with curator_of(place, delta="0") as curator:
        found = curator.publish(spec_at(place, text), out=place / "R.zip")
        assert found.to_json()["cost"] == {"epsilon": 1.0, "delta": 0.0}
    assert verify_package(place / "R.zip")["valid"]
    with zipfile.ZipFile(place / "R.zip") as archive:
        events = json.loads(archive.read("manifest.json"))["events"]
    assert sum(Fraction(e["l1"]) / Fraction(e["scale"]) for e in events) <= 1


def crash(place: Path, _say) -> None:
    """Publish, and die when the package is written."""
    real = publish_run.write_package

    def dies(*args, **more):
        real(*args, **more)
        os._exit(9)

    publish_run.write_package = dies
    curator_of(place).publish(place / "SPEC.toml", out=place / "R.zip")


def test_a_crash_in_the_middle_is_charged_once_and_publishes_nothing(place: Path):
    spec_at(place)
    child = forked(partial(crash, place))
    assert child.lines() == []
    assert os.waitstatus_to_exitcode(child.status) == 9
    assert not (place / "R.zip").exists()
    with curator_of(place) as curator:
        for _ in range(2):
            with pytest.raises(AnswerLost, match="never ended; the charge stands") as found:
                curator.publish(spec_at(place), out=place / "R.zip")
            assert "give it another one" in found.value.hint
        assert curator.budget_report()["datasets"]["d"]["charges"] == 1
    assert not (place / "R.zip").exists()


def test_the_command_on_a_strangers_own_file(tmp_path: Path, monkeypatch, capsys):
    rows = ["age,sex,town"] + [f"{20 + i % 60},{'FM'[i % 2]},{'xyz'[i % 3]}" for i in range(600)]
    (tmp_path / "people.csv").write_text("\n".join(rows) + "\n")
    monkeypatch.chdir(tmp_path)
    assert (
        run(
            ["init", "people.csv", "--accept", "--epsilon", "2", "--delta", "1e-6", "--unit", "row"]
        )
        == 0
    )
    (tmp_path / "SPEC.toml").write_text(
        """
[release]
name = "mine"
dataset = "people"
epsilon = 1
delta = 1e-7
[tables.whole]
sql = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
[tables.towns]
sql = "SELECT town, sex, COUNT(*) AS n FROM people GROUP BY town, sex"
"""
    )
    capsys.readouterr()
    assert run(["publish", "SPEC.toml", "--rehearse", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["spends"] is False
    assert run(["publish", "SPEC.toml", "--out", "R.zip", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["release"] == "mine"
    assert said["out"] == "R.zip"
    assert said["tables"] == {"whole": {"rows": 2}, "towns": {"rows": 6}}
    assert run(["verify", "R.zip", "--key", said["key"], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["valid"] is True
    assert run(["publish", "--key"]) == 0
    assert capsys.readouterr().out.strip() == said["key"]
    assert run(["publish", "SPEC.toml", "--out", "nowhere/R.zip"]) == 1
    assert "no folder" in capsys.readouterr().err


FINE = """
[release]
name = "fine"
dataset = "d"
epsilon = 1.0
delta = 1e-7
[tables.nation]
sql = "SELECT sex, COUNT(*) AS people FROM people GROUP BY sex"
[tables.fine]
sql = "SELECT region, sex, job, age, COUNT(*) AS people FROM people GROUP BY region, sex, job, age"
[[exact]]
fact = "SELECT region, COUNT(*) AS people FROM people GROUP BY region"
reason = "published by the register"
approver = "owner"
"""


def test_the_red_team_fails_against_a_package(place: Path, monkeypatch, capsys):
    write_tables(place, ROWS[:900])
    (place / "discreet.toml").write_text(toml_text())
    monkeypatch.chdir(place)
    with curator_of(place) as curator:
        curator.publish(spec_at(place, FINE), out=place / "R.zip")
    target = load_target("R.zip", "discreet.toml")
    for scores in (lone_people(target), secret_bits(target)):
        # Exact tables single people out; noisy ones do no better than the facts alone.
        # Noise alone fails this less than once in a billion runs: the margins are 7 deviations.
        assert scores.exact.success > 0.7
        assert scores.package.low <= scores.package.baseline + 0.15
        assert scores.package.success < scores.exact.success
    assert run(["attack", "census", "--package", "R.zip", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["details"]["claims"] > 0
    assert run(["attack", "census", "--package", "SPEC.toml", "--config", "discreet.toml"]) == 1
    assert "no release package" in capsys.readouterr().err


def test_a_spec_given_as_text(place: Path):
    spec = parse_spec(SPEC.split("[[exact]]", maxsplit=1)[0], base=place)
    with curator_of(place) as curator:
        assert curator.publish(spec).out is None


def test_noise_that_is_zero_to_a_float_is_no_accident(place: Path):
    """At a huge epsilon the variance of Gaussian noise is 0 to a float, and was divided by."""
    text = SPEC.replace("epsilon = 1.0", "epsilon = 1e5").replace("delta = 1e-7", "delta = 0.01")
    out = place / "R.zip"
    with curator_of(place, epsilon="1e8", delta="0.1") as curator:
        curator.publish(spec_at(place, text), out=out)
    found = {row["state"]: int(row["people"]) for row in table(out, "by_state")}
    assert sum(found.values()) == len(ROWS)
