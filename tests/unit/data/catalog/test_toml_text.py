import tomllib
from decimal import Decimal
from fractions import Fraction

import pytest

from discreet.data.catalog.toml_text import comment, key, number, text
from discreet.errors import InvalidInput


def test_keys_are_bare_where_they_may_be():
    assert key("marital-status") == "marital-status"
    assert key("two words") == '"two words"'
    assert key("") == '""'


def test_texts_escape_what_does_not_print():
    assert text('a"b\\c\n\x00\x7f') == '"a\\"b\\\\c\\n\\u0000\\u007F"'
    with pytest.raises(InvalidInput, match="half a character"):
        text("\ud800")


def test_numbers_read_back_exactly():
    for written in ("0.01", "1E-9", "500000", "-1.50", "1E+30", "0", "1E-30", "123456789.125"):
        value = Decimal(written)
        assert tomllib.loads(f"x = {number(value)}", parse_float=Decimal)["x"] == value
    assert number(Fraction(1, 8)) == "0.125"
    with pytest.raises(InvalidInput, match="no short decimal"):
        number(Fraction(1, 3))


def test_a_comment_stays_a_comment():
    lines = comment("first\nx = 1\r\x00 " + "long " * 50)
    assert all(line.startswith("# ") and line.isprintable() for line in lines)
    assert len(lines) > 1
