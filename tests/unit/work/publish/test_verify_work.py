"""What the stand-alone verifier does with packages that are made to take it long, or much memory."""

from __future__ import annotations

import io
import json
import random
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.work.publish import recheck, zip_form
from discreet.work.publish import verify as verifier
from discreet.work.publish.package import Archive, add_csv, add_parquet
from discreet.work.publish.zip_form import PackageProblem, read_directory
from package_kit import members_of, package, resigned
from patience import quickest, slowness


def rows(text: bytes) -> list[list[str]]:
    return list(verifier._rows(io.BytesIO(text), "name"))


def test_a_key_of_newlines_is_read_in_linear_time() -> None:
    key = "\n" * (1 << 17)  # the largest cell that Python's csv reads
    text = f'sex,value\n"{key}",1\nMale,1\n'.encode()
    assert rows(text) == [["sex", "value"], [key, "1"], ["Male", "1"]]
    # Put together line by line it took 6 seconds.
    assert quickest(lambda _: rows(text)) < 0.6 * slowness()


@pytest.mark.parametrize("text", [b'a\n"\n', b'a\n"b""\nc', b'a\n"b"\n', b'"a\n'])
def test_rows_over_several_lines_have_one_spelling(text: bytes) -> None:
    with pytest.raises(verifier.PackageProblem):
        rows(text)


def test_quotes_over_several_lines_are_read_as_they_are_written() -> None:
    assert rows(b'a,b\n"x\ny""\n""z",1\n"",2\n') == [["a", "b"], ['x\ny"\n"z', "1"], ["", "2"]]


def packed(path: Path, manifest: bytes) -> list[str]:
    """Return the problems of an archive whose manifest is packed."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (("manifest.json", manifest), ("signature", bytes(64))):
            member = zipfile.ZipInfo(name)
            member.external_attr, member.compress_type = 0o600 << 16, zipfile.ZIP_DEFLATED
            with archive.open(member, "w") as target:
                target.write(content)
    problems: list[str] = verifier.verify(str(path))["problems"]
    return problems


def test_a_packed_manifest_is_never_read_unless_it_is_an_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError("the manifest was read")

    monkeypatch.setattr(verifier, "plain_json", fail)
    bomb = b'{"a":[' + b"[]," * 2_000_000 + b"[]]}"
    said = "archive: manifest.json holds more than 4 MB; raise the limit with --max-gb"
    assert packed(tmp_path / "bomb.zip", bomb) == [said]
    assert len((tmp_path / "bomb.zip").read_bytes()) < 20_000
    (problem,) = packed(tmp_path / "small.zip", b'{\n "format": "discreet-release/2"\n}')
    assert "not packed as the owner's program" in problem


def test_each_mapping_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = package(tmp_path)
    read: list[str] = []
    honest = verifier.Package.rows

    def counted(self, name, *more):
        read.append(name)
        return honest(self, name, *more)

    monkeypatch.setattr(verifier.Package, "rows", counted)
    assert verifier.verify(str(path))["valid"]
    mappings = [name for name in members_of(path) if name.startswith("mappings/")]
    assert mappings
    assert sorted(n for n in read if n.startswith("mappings/")) == sorted(mappings)


# What a stranger's Parquet file takes to be read.

ROWS = 2_000
LETTERS = 20_000


def rows_of(labels: list[str]) -> pa.Table:
    """Return a table of one key and one measure, its labels as places in a dictionary."""
    places = pa.array([i % len(labels) for i in range(ROWS)], pa.int32())
    numbers = pa.array(range(ROWS))
    columns = [pa.DictionaryArray.from_arrays(places, pa.array(labels)), *[numbers] * 3]
    return pa.table(columns, names=["k", "n", "n_low", "n_high"])


def opened(labels: list[str], parquet: bytes | None = None) -> Any:
    """Return as much of a package as is read for its Parquet file, which may be another one."""
    held = io.BytesIO()
    with Archive(held) as archive:
        add_csv(archive, "tables/t.csv", rows_of(labels))
        if parquet is None:
            add_parquet(archive, "tables/t.parquet", rows_of(labels))
        else:
            archive.add("tables/t.parquet", parquet)
    table = {
        "keys": [{"name": "k", "values": labels}],
        "measures": [{"name": "n"}],
        "rows": ROWS,
    }
    members = read_directory(held, 1 << 20)
    manifest = {"tables": {"t": table}}
    return SimpleNamespace(
        archive=zipfile.ZipFile(held), file=held, members=members, manifest=manifest
    )


def written(table: pa.Table, **more: Any) -> bytes:
    held = io.BytesIO()
    pq.write_table(table, held, compression="zstd", store_schema=False, **more)
    return held.getvalue()


@contextmanager
def held_bytes() -> Iterator[list[int]]:
    """Lend a list that gets the most bytes that Arrow held meanwhile."""
    before, found = pa.default_memory_pool(), list[int]()
    pool = pa.proxy_memory_pool(before)
    pa.set_memory_pool(pool)
    try:
        yield found
    finally:
        found.append(pool.max_memory())
        pa.set_memory_pool(before)


@pytest.mark.parametrize(
    "labels",
    [["a", "b"], [f"{i} " + "x" * 2_000 for i in range(1_000)], ["", "a,b", "new\nline"]],
    ids=["short", "long", "odd"],
)
def test_what_a_package_holds_is_the_same_table(labels: list[str]) -> None:
    recheck._parquet(opened(labels))


BOMB = [("x" * LETTERS)]


def peak(found: Any) -> int:
    with held_bytes() as held, pytest.raises(PackageProblem, match="same table"):
        recheck._parquet(found)
    return held[0]


def test_a_label_that_is_repeated_is_held_once(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = written(rows_of(BOMB))
    assert len(bomb) < ROWS * LETTERS / 1_000
    assert peak(opened(["a"], bomb)) < ROWS * LETTERS / 4
    assert peak(opened(["a"], written(rows_of(BOMB).rename_columns([*"abcd"])))) < LETTERS
    # The twin: labels are unpacked in every row.
    plain = pq.ParquetFile
    monkeypatch.setattr(recheck.pq, "ParquetFile", lambda file, **_: plain(file))
    assert peak(opened(["a"], bomb)) > ROWS * LETTERS


def test_values_that_are_told_by_those_before_are_refused() -> None:
    how = {"k": "DELTA_BYTE_ARRAY"}
    numbers = [(name, pa.int64()) for name in ("n", "n_low", "n_high")]
    table = rows_of(BOMB).cast(pa.schema([("k", pa.string()), *numbers]))
    bomb = written(table, use_dictionary=False, column_encoding=how)
    with held_bytes() as held, pytest.raises(PackageProblem, match="owner's program writes"):
        recheck._parquet(opened(["a"], bomb))
    assert held[0] < ROWS * LETTERS / 4


def test_pages_that_unpack_to_much_are_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recheck, "LARGEST_PIECE", 1 << 20)
    bomb = written(rows_of(["x" * (4 << 20)]))
    assert peak(opened(["a"], bomb)) < 1 << 20
    # The twin: headers of pages are not read.
    monkeypatch.setattr(recheck, "_held", lambda *_: 0)
    assert peak(opened(["a"], bomb)) > 4 << 20


# What a price takes to be added up.


def test_every_noisy_vector_has_a_measurement_of_its_own(tmp_path: Path) -> None:
    members = members_of(package(tmp_path))
    events = json.loads(members["manifest.json"])["events"]
    path = tmp_path / "false.zip"
    for more in ([events[0]], [events[0] | {"measurement": "nowhere"}]):
        path.write_bytes(resigned(members, events=[*events, *more]))
        (problem,) = verifier.verify(str(path))["problems"]
        assert problem.startswith("price: a noisy table that was paid for is missing")


def test_noise_of_too_many_digits_is_not_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    dice = random.Random(1)

    def event(number: int) -> dict[str, Any]:
        size = Fraction(dice.getrandbits(3_200) | 1, dice.getrandbits(3_200) | 1)
        return {
            "measurement": f"m{number}",
            "law": "gaussian",
            "l2_squared": "1",
            "sigma_squared": str(size),
            "cells": 1,
        }

    found = SimpleNamespace(
        manifest={
            "events": [event(number) for number in range(200)],
            "privacy": {"epsilon": "2", "delta": "1/1000", "rho": "9" * 900},
        },
        laws=verifier.LAWS,
        members={f"measurements/m{number}.csv": None for number in range(200)},
    )
    with pytest.raises(PackageProblem, match="more digits"):
        verifier.check_price(found)  # type: ignore[arg-type]
    found.manifest["events"] = found.manifest["events"][:20]
    verifier.check_price(found)  # type: ignore[arg-type]


# What agreements, facts and rules ask for.


def false_problem(path: Path, members: dict[str, bytes], **changed: Any) -> list[str]:
    path.write_bytes(resigned(members, **changed))
    problems: list[str] = verifier.verify(str(path))["problems"]
    return problems


def test_tables_agree_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    members = members_of(package(tmp_path))
    told = json.loads(members["manifest.json"])["agreements"]
    again = {"left": told[0]["right"], "right": told[0]["left"]}
    itself = {"left": told[0]["left"], "right": told[0]["left"]}
    for more in (told[0], again, itself):
        said = false_problem(tmp_path / "false.zip", members, agreements=[*told, more])
        assert said == ["sums: two tables are said to agree more than once"]
    # The twin, which every further agreement takes longer.
    monkeypatch.setattr(verifier, "check_work", lambda *_: None)
    assert not false_problem(tmp_path / "false.zip", members, agreements=[*told, itself])


def test_work_is_planned_before_rows_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    members = members_of(package(tmp_path))
    manifest = json.loads(members["manifest.json"])
    table, facts = next(iter(manifest["tables"])), manifest["tables"]
    group = [{"key": facts[table]["keys"][0]["name"], "values": ["no"], "mapping": None}]
    measure = facts[table]["measures"][0]["name"]
    rule = {"text": "r", "table": table, "measure": measure, "cells": [group] * 200}
    more = {"rules": [*manifest["rules"], rule]}
    path = tmp_path / "false.zip"
    assert not false_problem(path, members, **more)
    honest, least = verifier.check_tables, zip_form.MOST_READS
    monkeypatch.setattr(zip_form, "MOST_READS", 200 * facts[table]["rows"])
    read: list[int] = []
    monkeypatch.setattr(verifier, "check_tables", lambda *_: read.append(1))
    (problem,) = false_problem(path, members, **more)
    assert "raise the limit with --max-gb" in problem
    assert not read
    monkeypatch.setattr(verifier, "check_tables", honest)
    assert not false_problem(path, members)
    monkeypatch.setattr(zip_form, "MOST_READS", least)
    # Sums and labels of mappings that are held.
    monkeypatch.setattr(zip_form, "MOST_HELD", 1)
    (problem,) = false_problem(path, members)
    assert "raise the limit with --max-gb" in problem


# What is said of files that are nearly packages.


def test_what_is_wrong_with_an_archive_is_said(tmp_path: Path) -> None:
    whole = package(tmp_path).read_bytes()
    comment = whole[:-2] + b"\x05\x00hello"
    named = whole.replace(b"sheet.html", b"sheet\xff html")
    for text in (whole + b"more", whole + bytes(4), comment, whole[:-1], b"", b"PK", named):
        (tmp_path / "false.zip").write_bytes(text)
        (problem,) = verifier.verify(str(tmp_path / "false.zip"))["problems"]
        assert "canonical form" in problem
    texts = members_of(tmp_path / "RELEASE.zip")
    texts["tables/nation.csv"] = texts["tables/nation.csv"].replace(b"Male", b"M\xe4nn")
    (tmp_path / "false.zip").write_bytes(resigned(texts))
    (problem,) = verifier.verify(str(tmp_path / "false.zip"))["problems"]
    assert problem == "sums: a text is not in the canonical form, which is UTF-8"
