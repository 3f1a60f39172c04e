"""Packages: the same bytes again, whole or not at all, read by other tools, keys kept to oneself."""

from __future__ import annotations

import csv
import io
import json
import os
import stat
import subprocess
import zipfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.cli.app import run
from discreet.errors import InvalidInput
from discreet.work.publish import package as writing
from discreet.work.publish.contents import MeasureColumn, Measurement, PublishedTable
from discreet.work.publish.package import OwnerKey, owner_key, write_package
from discreet.work.publish.recheck import verify_package
from package_kit import (
    KEY,
    contents,
    key_column,
    members_of,
    package,
    repacked,
    resigned,
    with_table,
)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return package(tmp_path_factory.mktemp("package"))


def test_the_same_contents_are_the_same_bytes(release: Path, tmp_path: Path) -> None:
    assert package(tmp_path).read_bytes() == release.read_bytes()


def test_every_member_that_was_promised_is_there(release: Path) -> None:
    assert set(members_of(release)) == {
        *("tables/nation.csv", "tables/nation.parquet"),
        *("tables/by_region.csv", "tables/by_region.parquet"),
        *("measurements/nation.csv", "measurements/by_region.csv"),
        *("codebook.csv", "sheet.html", "spec.toml", "ledger.json", "verify.py"),
        *("datapackage.json", "csv-metadata.json", "manifest.json", "signature"),
        *("mappings/counties.csv", "facts/fact-1.csv"),
    }
    assert len(members_of(release)["signature"]) == 64


def test_tables_are_plain_csv_and_the_same_in_parquet(release: Path) -> None:
    members = members_of(release)
    text = members["tables/by_region.csv"].decode()
    assert text.startswith("region,sex,age_group,people,people_low,people_high\n")
    rows = list(csv.DictReader(io.StringIO(text)))
    packed = pq.read_table(io.BytesIO(members["tables/by_region.parquet"])).to_pylist()
    assert [{k: str(v) for k, v in row.items()} for row in packed] == rows
    assert rows[-1]["region"] == "West, Old"
    noisy = members["measurements/nation.csv"].decode().splitlines()
    assert noisy[0] == "sex,age_group,value,scale"


def test_odd_texts_are_quoted_as_csv_wants_it(tmp_path: Path) -> None:
    odd = ("", 'say "no"', "a,b", "two\nlines", "plain", "ö")
    keys = (key_column("kind", odd),)
    counts = list(range(len(odd)))
    rows = pa.table(
        {"kind": list(odd), "people": counts, "people_low": counts, "people_high": counts}
    )
    table = PublishedTable("nation", "SELECT", keys, (MeasureColumn("people", "COUNT(*)"),), rows)
    noisy = pa.table({"kind": list(odd), "value": counts, "scale": [2.0] * len(odd)})
    found = contents()
    found = replace(
        found,
        tables=(table,),
        measurements=(Measurement("nation", "nation", "people", noisy),),
        events=(replace(found.events[0], scale=Fraction(4), cells=len(odd)),),
        agreements=(),
        facts=(),
        rules=(),
    )
    path = package(tmp_path, found)
    text = members_of(path)["tables/nation.csv"].decode()
    assert [row["kind"] for row in csv.DictReader(io.StringIO(text, newline=""))] == list(odd)


def test_dictionary_columns_and_pieces_are_written_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from discreet.work.publish import package as writing_rows

    found = contents()
    nation = found.tables[0]
    coded = nation.rows.to_batches()[0]  # type: ignore[index]
    columns = [c.dictionary_encode() if pa.types.is_string(c.type) else c for c in coded.columns]
    again = replace(nation, rows=pa.table(columns, names=coded.schema.names))
    monkeypatch.setattr(writing_rows, "PIECE", 3)
    path = package(tmp_path, with_table(found, again))
    plain = package(tmp_path / "..", found)
    assert members_of(path)["tables/nation.csv"] == members_of(plain)["tables/nation.csv"]


def test_other_tools_find_schemas(release: Path) -> None:
    members = members_of(release)
    frictionless = json.loads(members["datapackage.json"])
    assert {r["path"] for r in frictionless["resources"]} >= {"tables/nation.csv"}
    (nation,) = [r for r in frictionless["resources"] if r["path"] == "tables/nation.csv"]
    assert nation["schema"]["primaryKey"] == ["sex", "age_group"]
    fields = [field["name"] for field in nation["schema"]["fields"]]
    assert fields == ["sex", "age_group", "people", "people_low", "people_high"]
    web = json.loads(members["csv-metadata.json"])
    assert web["@context"] == "http://www.w3.org/ns/csvw"
    assert all(table["url"] in members for table in web["tables"])
    codebook = list(csv.DictReader(io.StringIO(members["codebook.csv"].decode())))
    values = [row["value"] for row in codebook if row["column"] == "sex"]
    assert {"Female", "Male"} <= set(values)


def test_the_sheet_says_what_is_promised(release: Path) -> None:
    sheet = members_of(release)["sheet.html"].decode()
    for words in ("each row of people", "add-remove", "epsilon 2.27", "register", "Badly"):
        assert words in sheet
    assert "<script" not in sheet


def test_beside_exact_facts_from_the_rows_the_sheet_promises_less(tmp_path: Path) -> None:
    found = contents()
    facts = (replace(found.facts[0], source="data", approver="owner"),)
    sheet = members_of(package(tmp_path, replace(found, facts=facts)))["sheet.html"].decode()
    assert "not taking part" not in sheet
    assert "94 times" in sheet  # e^(2 x 2.27) = 93.7
    assert "without" in sheet or "no guarantee" in sheet


def test_a_crash_leaves_nothing_under_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> bytes:
        raise KeyboardInterrupt

    monkeypatch.setattr(writing, "manifest_of", fail)
    with pytest.raises(KeyboardInterrupt):
        package(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_writer_left_is_swept_away(tmp_path: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    dead, alive = tmp_path / f".RELEASE.zip.{ended.pid}", tmp_path / f".RELEASE.zip.{os.getppid()}"
    other = tmp_path / ".RELEASE.zip.notes"
    elsewhere = tmp_path / f".another-1.zip.{ended.pid}"
    for file in (dead, alive, other, elsewhere):
        file.write_bytes(b"half a package")
    package(tmp_path)
    assert not dead.exists()
    assert not elsewhere.exists()
    assert alive.exists()
    assert other.exists()


def test_names_that_are_no_files_are_refused(tmp_path: Path) -> None:
    found = contents()
    for name in ("../up", "a/b", "", ".hidden", "x" * 200):
        tables = (replace(found.tables[0], name=name), found.tables[1])
        with pytest.raises(InvalidInput):
            package(tmp_path, replace(found, tables=tables))
    doubled = (replace(found.tables[0], name="By_Region"), found.tables[1])
    with pytest.raises(InvalidInput):
        package(tmp_path, replace(found, tables=doubled))
    with pytest.raises(InvalidInput, match="written"):
        write_package(found, tmp_path / "nowhere" / "out.zip", KEY)


def test_the_key_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    first = owner_key(tmp_path / "state")
    assert owner_key(tmp_path / "state") == first
    (file,) = (tmp_path / "state").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert first.secret.hex() not in repr(first)
    file.write_bytes(b"short")
    with pytest.raises(InvalidInput, match="signing key"):
        owner_key(tmp_path / "state")


def test_discreet_verify_adds_the_price_by_pld_and_parquet(
    release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["verify", str(release), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["valid"] is True
    assert said["problems"] == []
    assert said["checks"][-2:] == ["pld", "parquet"]
    key = tmp_path / "key.txt"
    key.write_text(KEY.public.hex() + "\n")
    assert run(["verify", str(release), "--key", str(key)]) == 0
    assert "by the key that was given" in capsys.readouterr().out
    assert run(["verify", str(release), "--key", OwnerKey(bytes(32)).public.hex()]) == 1
    assert "NOT VALID" in capsys.readouterr().out
    assert run(["verify", str(release), "--key", "nonsense"]) == 1
    assert run(["verify", str(tmp_path / "nothing.zip"), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["valid"] is False


def test_an_epsilon_that_pld_does_not_prove_is_a_problem(tmp_path: Path) -> None:
    found = contents()
    cheap = Fraction("0.9")
    from package_kit import excerpt

    cost = {"epsilon": str(cheap), "delta": str(found.delta), "rho": str(found.rho)}
    path = package(tmp_path, replace(found, epsilon=cheap, ledger=excerpt(cost)))
    said = verify_package(path)
    assert [problem.split(":")[0] for problem in said["problems"]] == ["pld"]


def test_parquet_that_says_something_else_is_a_problem(release: Path, tmp_path: Path) -> None:
    members = members_of(release)
    rows = pq.read_table(io.BytesIO(members["tables/nation.parquet"]))
    held = io.BytesIO()
    pq.write_table(rows.slice(0, 3), held)
    members["tables/nation.parquet"] = held.getvalue()
    path = tmp_path / "other.zip"
    path.write_bytes(resigned(members))
    assert verify_package(path)["problems"][0].startswith("parquet")
    assert zipfile.is_zipfile(path)
    path.write_bytes(repacked(list(members.items())))
    assert verify_package(path)["problems"][0].startswith("members")
