"""Nothing that somebody else wrote steers a terminal."""

import sys
import unicodedata

import pytest

from discreet.base.display import visible

STEERING = [
    *(chr(code) for code in range(0x20)),
    *(chr(code) for code in range(0x7F, 0xA0)),
    *"\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
    *"\u2028\u2029\ufeff\u00ad",
    "\ud800",
]


@pytest.mark.parametrize("letter", STEERING, ids=ascii)
def test_what_steers_is_shown_as_an_escape(letter):
    shown = visible(f"a{letter}b")
    assert letter not in shown
    assert shown.isprintable()
    assert shown.startswith("a\\")


@pytest.mark.parametrize(
    "text", ["", "plain", "zoë", "C:\\new", "名前", "a\u200cb", "👩\u200d🔬", "a\u00a0b"]
)
def test_what_is_for_reading_stays(text):
    assert visible(text) == text


def test_line_breaks_pass_only_where_they_are_wanted():
    assert visible("a\nb\r\n") == "a\\nb\\r\\n"
    assert visible("a\nb\r\n", keep="\n") == "a\nb\\r\n"


def test_no_character_of_all_passes_that_is_not_for_reading():
    steering = (
        chr(code)
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in {"Cc", "Cf", "Cs", "Zl", "Zp"}
    )
    assert {c for c in steering if visible(c) == c} == {"\u200c", "\u200d"}
