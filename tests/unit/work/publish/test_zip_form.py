"""One file for each signed manifest: whatever is changed around the members, no two programs may differ."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import random
import struct
import subprocess
import sys
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.cli.app import run
from discreet.work.publish import verify as verifier
from discreet.work.publish import zip_form
from discreet.work.publish.package import Archive
from discreet.work.publish.recheck import verify_package
from package_kit import KEY, members_of, package, resigned, spelled_manifest
from sittings import FULL
from zip_kit import (
    READERS,
    SLOW_READERS,
    TakenApart,
    earlier_verifier,
    mutated_zip,
    other,
    put_together,
    taken_apart,
)

EARLIER = Path(__file__).parents[3] / "fixtures" / "package_form_1"
FIXTURES = ["small", "wide", "released"]
COUNT = 4_000 if FULL else 400


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return package(tmp_path_factory.mktemp("package"))


def earlier(name: str) -> Path:
    return EARLIER / f"{name}.zip"


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile warns of doubled names
        yield


def shown_alike(data: bytes, folder: Path) -> bool:
    """Return whether all programs show the members that `zipfile` shows."""
    with quiet():
        shown = []
        for read in READERS.values():
            try:
                shown.append(read(data, folder))
            except Exception:  # what a program cannot read, it does not show
                shown.append({})
    return all(each == shown[0] for each in shown)


@pytest.mark.parametrize("name", FIXTURES)
def test_packages_of_earlier_versions_are_valid_and_marked(name: str) -> None:
    said = verify_package(earlier(name))
    assert said["problems"] == []
    assert said["format"] == "discreet-release/1"
    assert any("earlier form" in note for note in said["notes"])
    assert "earlier form" in "\n".join(verifier.words(said))


def test_packages_of_this_version_are_not_marked(release: Path) -> None:
    said = verify_package(release)
    assert said["problems"] == []
    assert said["format"] == "discreet-release/2"
    assert not any("earlier form" in note for note in said["notes"])


def test_the_kit_puts_together_what_it_took_apart(release: Path) -> None:
    for path in (release, *map(earlier, FIXTURES)):
        assert put_together(taken_apart(path.read_bytes())) == path.read_bytes()


def test_every_program_shows_the_same_of_what_is_written(release: Path, tmp_path: Path) -> None:
    for path in (release, *map(earlier, FIXTURES)):
        data = path.read_bytes()
        for read in (READERS | SLOW_READERS).values():
            assert read(data, tmp_path / "out") == members_of(path)


@pytest.mark.parametrize("seed", range(2))
def test_one_file_alone_is_valid(release: Path, tmp_path: Path, seed: int) -> None:
    chance, whole, path = random.Random(seed), release.read_bytes(), tmp_path / "damaged.zip"
    for _ in range(COUNT):
        with quiet():
            path.write_bytes(mutated_zip(whole, chance))
        if verifier.verify(str(path), KEY.public)["valid"]:
            assert path.read_bytes() == whole


@pytest.mark.parametrize("name", FIXTURES)
def test_what_is_valid_of_the_earlier_form_is_shown_alike(name: str, tmp_path: Path) -> None:
    accepted = differing(earlier(name), verifier.verify, tmp_path, COUNT)
    assert accepted["differing"] == 0
    assert accepted["other bytes"] > 0, "other ways to pack are accepted, and were compared"


def test_the_earlier_verifier_fails_this_test(tmp_path: Path) -> None:
    path = earlier("small")
    accepted = differing(path, earlier_verifier(path).verify, tmp_path, 150)
    assert accepted["differing"] > 5


def differing(path: Path, verify: Any, folder: Path, count: int) -> dict[str, int]:
    """Return how many mutations `verify` accepts, and how many of them programs show differently."""
    chance, whole = random.Random(7), path.read_bytes()
    found = {"other bytes": 0, "differing": 0}
    damaged = folder / "damaged.zip"
    for _ in range(count):
        with quiet():
            made = mutated_zip(whole, chance)
            damaged.write_bytes(made)
            valid = verify(str(damaged))["valid"]
        if valid and made != whole:
            found["other bytes"] += 1
            found["differing"] += not shown_alike(made, folder / "shown")
    return found


def every_field(path: Path) -> Iterator[bytes]:
    """Yield the archive once for each field of its structures, with that field's bits changed."""
    whole = path.read_bytes()
    found = taken_apart(whole)
    for place in range(len(found.members)):
        for side in ("local", "entry"):
            for name in getattr(found.members[place], side):
                if name in ("name", "extra", "comment_length"):
                    continue
                changed = taken_apart(whole)
                fields = getattr(changed.members[place], side)
                fields[name] ^= 1
                yield put_together(changed)
    for bit in range(8 * 22):
        end = bytearray(whole)
        end[-1 - bit // 8] ^= 1 << bit % 8
        yield bytes(end)


def test_no_field_of_any_header_is_free(release: Path, tmp_path: Path) -> None:
    for path in (release, earlier("wide")):
        damaged = tmp_path / "damaged.zip"
        for made in every_field(path):
            damaged.write_bytes(made)
            if made != path.read_bytes():
                assert not verifier.verify(str(damaged))["valid"]


def in_front(whole: bytes) -> bytes:
    """Return two archives in one file: programs that read from the front see the first."""
    found = taken_apart(whole)
    found.front = put_together_listed([other(m.name, b"other\n", m) for m in found.members])
    found.moved = False
    return put_together(found)


def put_together_listed(members: list[TakenApart]) -> bytes:
    found = taken_apart(b"PK\5\6" + bytes(18))
    found.members = members
    return put_together(found)


def hidden(whole: bytes) -> bytes:
    found = taken_apart(whole)
    (table,) = (m for m in found.members if m.name == b"tables/nation.csv")
    false = other(table.name, b"sex,people\n", table)
    false.listed = False
    found.members.append(false)
    return put_together(found)


def unicode_path(whole: bytes) -> bytes:
    found = taken_apart(whole)
    for each in found.members:
        if each.name.startswith(b"tables/"):
            path = b"\1" + struct.pack("<L", zlib.crc32(each.name)) + each.name.replace(b"n", b"m")
            each.entry_extra = each.local_extra = struct.pack("<2H", 0x7075, len(path)) + path
    return put_together(found)


@pytest.mark.parametrize("attack", [in_front, hidden, unicode_path])
def test_what_the_reviewers_found_is_refused(attack: Any, release: Path, tmp_path: Path) -> None:
    path = tmp_path / "two.zip"
    for known in (release, earlier("small")):
        path.write_bytes(attack(known.read_bytes()))
        assert not verifier.verify(str(path), KEY.public)["valid"]
    assert earlier_verifier(earlier("small")).verify(str(path), KEY.public)["valid"]


@pytest.mark.skipif(
    sys.version_info < (3, 11, 4),
    reason="its zipfile names version 2.0 before entries that need 4.5",
)
def test_headers_are_those_of_zipfile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Beyond 2 GB, too: both take small sizes for large ones here.
    for narrow in (zip_form.NARROW, 300):
        monkeypatch.setattr(zip_form, "NARROW", narrow)
        monkeypatch.setattr(zipfile, "ZIP64_LIMIT", narrow)
        ours, theirs = io.BytesIO(), io.BytesIO()
        names = ["sheet.html", "tables/a.csv", "tables/a.parquet", "signature"]
        with Archive(ours) as archive, zipfile.ZipFile(theirs, "w") as known:
            known.compresslevel = 6
            for count, name in enumerate(
                ["sheet.html", "tables/a.csv", "tables/a.parquet", "signature"]
            ):
                content = random.Random(count).randbytes(900 if "/" in name else 64)
                archive.add(name, content)
                stored = name.endswith("parquet") or name == "signature"
                known.compression = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
                with known.open(name, "w", force_zip64="/" in name) as target:
                    target.write(content)
        assert ours.getvalue() == theirs.getvalue()
        assert (ours.getvalue()[-98:-94] == b"PK\6\6") is (narrow == 300)
        assert list(zip_form.read_directory(ours, 1 << 20)) == names


# Sizes.


def test_nothing_is_unpacked_that_is_too_large(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verifier, "GIGABYTE", 1 << 20)
    read: list[str] = []
    content = verifier.Package.content
    monkeypatch.setattr(
        verifier.Package, "content", lambda self, name: read.append(name) or content(self, name)
    )
    path = tmp_path / "large.zip"
    path.write_bytes(resigned(members_of(release) | {"sheet.html": b" " * (3 << 20)}))
    problems = verifier.verify(str(path))["problems"]
    assert "holds 3.1 GB, more than the 2 GB" in problems[0]
    assert "--max-gb" in problems[0]
    assert read == ["manifest.json", "signature"]
    assert verifier.verify(str(path), gigabytes=4)["valid"]
    # A manifest of which nothing is read: in an archive of the earlier form it is packed.
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("manifest.json", "signature"):
            with archive.open(name, "w") as target:
                target.write(b" " * (1 << 20))
    path.write_bytes(held.getvalue())
    read.clear()
    problems = verifier.verify(str(path))["problems"]
    assert problems == [
        "archive: manifest.json holds more than 0 MB; raise the limit with --max-gb"
    ]
    assert read == []


def test_a_member_that_unpacks_to_more_than_it_says_is_stopped(tmp_path: Path) -> None:
    whole = taken_apart(earlier("small").read_bytes())
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    bomb = packer.compress(bytes(1 << 28)) + packer.flush()
    sheet = whole.members[0]
    sheet.packed = bomb
    for which in (sheet.local, sheet.entry):
        which["packed"] = len(bomb)
    path = tmp_path / "bomb.zip"
    path.write_bytes(put_together(whole))
    with path.open("rb") as file:
        content = verifier.Package(file, verifier.LAWS).content("sheet.html")
        with pytest.raises(verifier.PackageProblem):
            next(content)
    assert not verifier.verify(str(path))["valid"]


def test_limits_are_raised_by_one_option(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", str(release), "--max-gb", "5"]) == 0
    assert run(["verify", str(release), "--max-gb", "0"]) == 2
    assert verifier.main([str(release), "--max-gb", "5"]) == 0
    for wrong in ("0", "1.5", "٣", "1_0", "-1"):
        assert verifier.main([str(release), "--max-gb", wrong]) == 2
    capsys.readouterr()


def test_with_a_key_nothing_is_read_that_it_did_not_sign(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError("the manifest was read")

    monkeypatch.setattr(verifier, "plain_json", fail)
    said = verifier.verify(str(release), bytes(range(32)))
    assert said["problems"] == [
        "signature: it is signed by another key, or was changed after it was signed"
    ]


# One spelling of everything.

SPELLINGS = st.one_of(
    st.integers().map(str),
    st.text("0123456789_+-. eE/\t\n٣\uff13²", max_size=8),
    st.tuples(st.sampled_from(["", "+", " ", "0", "-", "-0", "_"]), st.integers().map(str)).map(
        "".join
    ),
)


@given(SPELLINGS)
def test_a_whole_number_has_one_spelling(text: str) -> None:
    try:
        found = verifier.whole(text)
    except (ValueError, verifier.PackageProblem):
        return
    assert text == f"{found:d}"


@given(SPELLINGS)
def test_an_amount_has_one_spelling(text: str) -> None:
    try:
        found = verifier.number(text)
    except verifier.PackageProblem:
        return
    assert text == str(found)


@given(st.one_of(SPELLINGS, st.floats(min_value=5e-324, allow_infinity=False).map(repr)))
def test_a_scale_has_one_spelling(text: str) -> None:
    try:
        found = verifier.decimal(text)
    except (ValueError, verifier.PackageProblem):
        return
    assert text == pa.array([found]).cast(pa.string())[0].as_py()


@given(st.floats(min_value=5e-324, allow_infinity=False))
def test_scales_are_spelled_as_they_are_written(scale: float) -> None:
    assert verifier.decimal(pa.array([scale]).cast(pa.string())[0].as_py()) == scale


def test_numbers_of_a_table_have_one_spelling(release: Path, tmp_path: Path) -> None:
    members = members_of(release)
    alone = tmp_path / "verify.py"
    alone.write_bytes(members["verify.py"])
    table = members["tables/nation.csv"].decode()
    line = table.splitlines()[1]
    *head, value, low, high = line.split(",")
    for spelled in (
        *(f"{value[:-1]}_{value[-1]}", f"+{value}", f"0{value}", f" {value}", f"{value} "),
        *(f'"{value}"', "".join(chr(0xFF10 + int(d)) for d in value)),
        "".join(chr(0x660 + int(d)) for d in value),
    ):
        changed = table.replace(line, ",".join([*head, spelled, low, high]))
        path = tmp_path / "spelled.zip"
        path.write_bytes(resigned(members | {"tables/nation.csv": changed.encode()}))
        ended = subprocess.run(
            [sys.executable, "-I", "-S", str(alone), str(path), "--json"],
            capture_output=True,
            check=False,
        )
        said = json.loads(ended.stdout)
        assert not said["valid"], spelled
        assert said["problems"][0].startswith("sums"), said
    old = earlier_verifier(earlier("small"))
    with zipfile.ZipFile(path) as archive:
        assert archive.read("tables/nation.csv") == changed.encode()
    assert int(spelled) == int(value)
    assert old.number("٣") == 3  # the earlier verifier read such digits


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("tables/nation.csv", "\n", "\r\n"),
        ("tables/nation.csv", "Female", '"Female"'),
        ("tables/by_region.csv", '"West, Old"', '"West, Old" '),
        ("measurements/nation.csv", "2.82842712474619", "2.828427124746190"),
        ("ledger.json", '"charge": 1', '"charge": 1,\n "charge": 1'),
        ("ledger.json", '"charge": 1', '"charge":1'),
        ("facts/fact-1.csv", "Hill,42", "Hill,4_2"),
        ("mappings/counties.csv", "North,Hill", 'North,"Hill"'),
    ],
)
def test_files_have_one_spelling(
    name: str, old: str, new: str, release: Path, tmp_path: Path
) -> None:
    members = members_of(release)
    text = members[name].decode()
    assert old in text
    path = tmp_path / "spelled.zip"
    path.write_bytes(resigned(members | {name: text.replace(old, new).encode()}))
    assert not verifier.verify(str(path))["valid"]


CELLS = st.text('a"\n\r, é', max_size=4)


@given(st.lists(st.lists(CELLS, min_size=1, max_size=3), max_size=5), st.integers(1, 9), st.data())
def test_a_csv_file_has_one_spelling(rows: list[list[str]], block: int, data: Any) -> None:
    spelled = "".join(",".join(map(verifier._field, row)) + "\n" for row in rows)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(verifier, "BLOCK", block)
        assert list(verifier._rows(io.BytesIO(spelled.encode()), "x")) == rows
        place = data.draw(st.integers(0, len(spelled)))
        changed = spelled[:place] + data.draw(CELLS) + spelled[place + data.draw(st.booleans()) :]
        try:
            found = list(verifier._rows(io.BytesIO(changed.encode()), "x"))
        except (csv.Error, verifier.PackageProblem):
            return
    assert "".join(",".join(map(verifier._field, row)) + "\n" for row in found) == changed


def test_the_manifest_has_one_spelling(release: Path, tmp_path: Path) -> None:
    members, path = members_of(release), tmp_path / "spelled.zip"

    def spelled(change: Any) -> bytes:
        return resigned(members, spelled=lambda m: change(spelled_manifest(m)))

    path.write_bytes(spelled(lambda text: text))
    assert verifier.verify(str(path))["valid"]
    for change in (
        lambda text: text.replace(b'"release"', b'"release": "other",\n "release"', 1),
        lambda text: text.replace(b'"release": ', b'"release":', 1),
        lambda text: text.replace(b'"rows": 4', b'"rows": 4.0', 1),
        lambda text: text.replace(b'"cells": 4', b'"cells": 4e0', 1),
        lambda text: text.replace(b"nation", b"n\\u0061tion", 1),
        lambda text: text + b"\n",
        lambda text: text.replace(b'"format"', b'"more": NaN,\n "format"', 1),
    ):
        path.write_bytes(spelled(change))
        assert verifier.verify(str(path))["problems"][0].startswith("signature")


def test_members_have_names_that_packages_have(release: Path, tmp_path: Path) -> None:
    members, path = members_of(release), tmp_path / "named.zip"
    for name in ("../up.csv", "tables/../up.csv", "/etc/passwd", "tables/a b.csv", "Sheet.html"):
        path.write_bytes(resigned({**members, name: b"x"}))
        assert "name that no package has" in verifier.verify(str(path))["problems"][0]
    path.write_bytes(resigned({**members, "tables/Nation.csv": b"x"}))
    assert "name that no package has" in verifier.verify(str(path))["problems"][0]
