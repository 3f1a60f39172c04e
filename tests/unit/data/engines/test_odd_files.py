"""Files that are not what they seem: one sentence each, and nothing about their cells."""

from __future__ import annotations

import gzip

import pytest

from discreet.data.catalog.policy_file import loads
from discreet.data.engines.files import column_names, delimiter
from discreet.errors import CatalogError, InvalidInput

GOOD = b"age,sex\n1,CANARY\n2,M\n"
ODD = {
    "marked as packed": (b"\x1f\x8b" + GOOD, "cannot be unpacked"),
    "packed and cut": (gzip.compress(GOOD)[:12], "cannot be unpacked"),
    "packed and damaged": (gzip.compress(GOOD * 99)[:30] + b"x" * 30, "cannot be unpacked"),
}


@pytest.mark.parametrize("name", ODD)
def test_an_odd_file_is_one_sentence(tmp_path, name):
    content, words = ODD[name]
    path = tmp_path / "odd.csv"
    path.write_bytes(content)
    for look in (delimiter, lambda path: column_names("t", path)):
        with pytest.raises(InvalidInput, match=words) as caught:
            look(path)
        assert "CANARY" not in str(caught.value)
        assert "odd.csv" in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [GOOD, GOOD.replace(b"\n", b"\r\n"), GOOD.replace(b"\n", b"\r"), gzip.compress(GOOD)],
    ids=["plain", "two characters a line's end", "carriage returns", "packed"],
)
def test_a_plain_one_is_read(tmp_path, content):
    path = tmp_path / "plain.csv"
    path.write_bytes(content)
    assert column_names("t", path) == ["age", "sex"]


def test_a_category_with_a_nul_is_refused_at_load(tmp_path):
    text = """
[datasets.d]
epsilon = 1
[datasets.d.tables.t]
source = "t.csv"
unit = "row"
[datasets.d.tables.t.columns]
sex = { type = "category", values = ["F", "M\\u0000x"] }
"""
    with pytest.raises(CatalogError, match="column 'sex': a value holds a NUL"):
        loads(text, base=tmp_path)
