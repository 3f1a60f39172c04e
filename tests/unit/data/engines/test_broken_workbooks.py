"""Whatever is wrong with a workbook, it is read or refused with a sentence; its own texts are never in it."""

from __future__ import annotations

import datetime as dt
import io
import random
import re
import zipfile

import pytest
from openpyxl import Workbook, load_workbook

import discreet
from discreet.data.engines import formats
from discreet.data.engines.formats import first_line, is_plain, rows_of, write_plain
from discreet.errors import CatalogError, DiscreetError, InvalidInput
from sittings import examples

CANARY = "CANARY-7f3a"
VALUES = (b"", b"-1", b"99999999999999999999", b"ZZZZZ9", b"a\xff", b"&#xD800;", b"&#1;", b"1e999")
NESTED = b"<a>" * 20_000
ENTITIES = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "b">]><x>&a;&nope;</x>'


def workbook() -> bytes:
    book, out = Workbook(), io.BytesIO()
    book.active.append(["a", "name", "day"])
    for number in range(1, 6):
        book.active.append([number, f"{CANARY} é{number}", dt.datetime(2020, 1, number)])
    book.create_sheet("two").append(["x"])
    book.save(out)
    return out.getvalue()


WHOLE = workbook()


def spoiled_bytes(rng: random.Random) -> bytes:
    """Return the archive with bytes changed, put in or cut off."""
    found = bytearray(WHOLE)
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(4, len(found))
        match rng.randrange(4):
            case 0:
                found[at:at] = rng.randbytes(rng.randint(1, 9))
            case 1 if len(found) > 1000:
                del found[-rng.randrange(1, 500) :]
            case _:
                found[at] = rng.randrange(256)
    return bytes(found)


def spoiled_part(rng: random.Random, content: bytes) -> bytes | None:
    """Return a part of the workbook with something wrong in it; None: it is missing."""
    match rng.randrange(8):
        case 0:
            return None
        case 1:
            return b""
        case 2:
            return re.sub(
                rb"<(v|t)>", rng.choice([rb"<\1>&#x1;", rb"<\1>&#0;", rb"<\1>&#xFFFF;"]), content
            )
        case 3:
            return content[: rng.randrange(len(content) + 1)]
        case 4:
            return bytes(rng.randrange(256) if rng.random() < 0.01 else byte for byte in content)
        case 5:
            return NESTED
        case 6:
            return ENTITIES
    quoted = list(re.finditer(rb'"[^"]*"', content))
    if not quoted:
        return b"<x/>"
    where = rng.choice(quoted)
    return content[: where.start() + 1] + rng.choice(VALUES) + content[where.end() - 1 :]


def spoiled(seed: int) -> bytes:
    rng = random.Random(seed)
    if seed % 4 == 0:
        return spoiled_bytes(rng)
    source, out = zipfile.ZipFile(io.BytesIO(WHOLE)), io.BytesIO()
    which = rng.choice(source.namelist())
    with zipfile.ZipFile(out, "w") as made:
        for name in source.namelist():
            content = source.read(name)
            part = spoiled_part(rng, content) if name == which else content
            if part is not None:
                made.writestr(name, part)
    return out.getvalue()


def outcomes(path) -> list[str]:
    """Return how each way of reading a file ends; anything but a refusal of ours is raised."""
    target, said = path.with_name("plain.csv"), []
    for read in (
        is_plain,
        rows_of,
        first_line,
        lambda path: write_plain(path, target),
        lambda path: write_plain(path, target, part="two"),
    ):
        try:
            read(path)
            said.append("read")
        except DiscreetError as error:
            assert CANARY not in str(error)  # noqa: PT017  # many end here
            said.append(type(error).__name__)
    return said


def test_whatever_is_wrong_is_read_or_refused(tmp_path):
    path, said = tmp_path / "a.xlsx", []
    for seed in range(examples(400)):
        path.write_bytes(spoiled(seed))
        said += outcomes(path)
    assert said.count("InvalidInput") > len(said) / 8
    assert said.count("read") > len(said) / 8


def test_an_invalid_character_is_named_as_damage(tmp_path):
    path, source = tmp_path / "a.xlsx", zipfile.ZipFile(io.BytesIO(WHOLE))
    with zipfile.ZipFile(path, "w") as made:
        for name in source.namelist():
            made.writestr(name, source.read(name).replace(b"<v>", b"<v>&#x1;"))
    with pytest.raises(InvalidInput, match=r"The workbook 'a\.xlsx' is damaged\. Open it in a"):
        write_plain(path, tmp_path / "plain.csv")


WRONG = {
    "a row": (b'<row r="3"', b'<row r="x"'),
    "a cell": (b'r="A3"', b'r="?3"'),
    "a cell far away": (b'r="A3"', b'r="ZZZZZ99999999"'),
    "a shared text": (rb'<c r="A3"[^>]*>.*?</c>', b'<c r="A3" t="s"><v>999</v></c>'),
}


@pytest.mark.parametrize("what", WRONG)
def test_init_calls_a_workbook_damaged_whose_references_are_wrong(tmp_path, what, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found, wrong = WRONG[what]
    with zipfile.ZipFile(io.BytesIO(WHOLE)) as whole, zipfile.ZipFile("a.xlsx", "w") as made:
        for name in whole.namelist():
            content = whole.read(name)
            if name.endswith("sheet1.xml"):
                content, times = re.subn(found, wrong, content, count=1)
                assert times == 1
            made.writestr(name, content)
    with pytest.raises(
        CatalogError, match=r"The workbook 'a\.xlsx' is damaged\. Open it"
    ) as caught:
        discreet.init("a.xlsx", epsilon=1, unit="row")
    assert "CSV file in UTF-8" not in str(caught.value)


def test_the_twin_that_foresees_its_errors_meets_others(tmp_path):
    """As it was: errors of a list were put into words, and whatever else a reader raised came through."""
    foreseen = (*formats.BROKEN, UnicodeError, ValueError, RecursionError)
    path, raw = tmp_path / "a.xlsx", 0
    for seed in range(60):
        path.write_bytes(spoiled(seed))
        with path.open("rb") as file:
            try:
                book = load_workbook(file, read_only=True, data_only=True)
                list(book.active.iter_rows(values_only=True))
            except foreseen:
                pass
            except Exception:
                raw += 1
    assert raw > 3
