"""The grammar of patterns: what it accepts, every RE2 does; what could fail or split a letter, it refuses."""

from __future__ import annotations

from itertools import chain, product

import duckdb
import pytest

from discreet.privacy.kernel.patterns import (
    Pattern,
    PatternRefused,
    check_replacement,
    pattern_of,
    plain_text,
)


@pytest.mark.parametrize(
    "pattern",
    [
        *(
            "",
            "abc",
            "^a.*b$",
            "a|b|",
            "(a)(?:b)",
            r"\d{3}-\d{4}",
            r"[\w.-]+@[\w.-]+",
            "(?i)ß",
            "x*?",
        ),
        *(
            "[[:alpha:]_]",
            "[^a-z]",
            r"^https?://(?:www\.)?([^/]+)/.*$",
            r"\bword\b",
            "[-a]",
            "(|a)*",
        ),
        *("a{2,}", "[a-z]{1,100}", "é+", r"\$5"),
    ],
)
def test_everyday_patterns_are_accepted(pattern: str) -> None:
    assert pattern_of(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        *(
            r"\C",
            r"\B",
            r"\p{L}",
            r"\Qa\E",
            r"\x41",
            r"\1",
            "\\",
            r"\A",
            r"\z",
            "(?<n>a)",
            "(?P<n>a)",
        ),
        *(
            "(?=a)",
            "(?!a)",
            "(?m)a",
            "a(?i)b",
            "a**",
            "a{2000}",
            "a{3,2}",
            "a{0}",
            "a{",
            "^*",
            r"\b+",
        ),
        *(
            "(",
            ")",
            "a)",
            "[",
            "[]",
            "[]a]",
            "[z-a]",
            "[[:word:]]",
            "[a",
            "*",
            "\0",
            "\ud800",
            "a" * 1001,
        ),
        *("((a{1,30}){1,30}){1,30}", "(" * 30 + ")" * 30),
    ],
)
def test_everything_else_is_refused(pattern: str) -> None:
    with pytest.raises(PatternRefused):
        pattern_of(pattern)


def test_replacements_name_groups_that_are_there() -> None:
    assert check_replacement(r"a\0\1\\", 1) == (2, 2)
    for other in (r"\2", r"\9", r"\q", "\\", "\0", "a" * 1001, "\\٣"):
        with pytest.raises(PatternRefused):
            check_replacement(other, 1)


def test_duckdb_knows_every_short_pattern_of_the_grammar() -> None:
    """All texts of up to four signs: an error of DuckDB on an accepted one would be a leak."""
    base, known = duckdb.connect(":memory:", config={"threads": 1}), list[tuple[str, str]]()
    for size in range(5):
        for letters in product(r"a(|)*?[^\]", repeat=size):
            pattern = "".join(letters)
            try:
                groups = pattern_of(pattern).groups
            except PatternRefused:
                continue
            known.append((pattern, "".join(f"\\{i}" for i in range(min(groups, 9) + 1))))
    assert len(known) > 500
    for start in range(0, len(known), 40):  # many in one statement: each is a constant of its own
        part = known[start : start + 40]
        asked = ", ".join(["regexp_replace('éab', ?, ?, 'g')"] * len(part))
        try:
            base.execute(f"SELECT {asked}", list(chain(*part))).fetchall()
        except duckdb.Error as error:
            raise AssertionError(part) from error


@pytest.mark.parametrize(
    ("pattern", "groups", "steps"),
    [
        ("", 0, 0),
        ("abc", 0, 3),
        ("é", 0, 2),
        ("👨", 0, 4),
        (".", 0, 12),
        ("^a$", 0, 3),
        (r"\d\w\s", 0, 12),
        (r"\D\W\S", 0, 36),
        (r"\n\t\r\.\b", 0, 5),
        ("a|b", 0, 3),
        ("a|b|cd", 0, 6),
        ("|", 0, 1),
        ("(a)", 1, 3),
        ("(?:a)", 0, 3),
        ("((a)(b))", 3, 8),
        ("()", 1, 2),
        ("a*", 0, 4),
        ("a+?b", 0, 5),
        ("ab?", 0, 5),
        ("a{3}", 0, 6),
        ("a{3}?", 0, 6),
        ("a{2,5}", 0, 10),
        ("a{0,5}", 0, 10),
        ("a{2,}", 0, 6),
        ("a{007}", 0, 14),
        ("(ab){3}c", 1, 16),
        ("[abc]", 0, 5),
        ("[a-c]", 0, 3),
        ("[a-cx-z]", 0, 4),
        ("[^abc]", 0, 24),
        ("[é]", 0, 16),
        ("[a-é]", 0, 16),
        ("[-a]", 0, 4),
        ("[a-]", 0, 4),
        ("[^-a]", 0, 20),
        ("[-]", 0, 3),
        ("[a-a]", 0, 3),
        (r"[\-a]", 0, 4),
        (r"[\d.]", 0, 4),
        (r"[+-\.]", 0, 3),
        (r"[\+-\.]", 0, 3),
        ("[[:alpha:]_]", 0, 4),
        ("[_[:xdigit:]]b", 0, 5),
        ("[^[:digit:]]", 0, 16),
        ("(?i)ab", 0, 2),
        ("(?is)a.", 0, 13),
        ("(?si)a", 0, 1),
    ],
)
def test_groups_are_counted_and_steps_written_out(pattern: str, groups: int, steps: int) -> None:
    assert pattern_of(pattern) == Pattern(groups, steps)


_DEEP = "(" * 20 + ")" * 20


@pytest.mark.parametrize(
    "pattern",
    [
        "a" * 1000,
        "a{1,100}",
        "a{100}",
        "a{99,}",
        "[a-z]{100}" + "é" * 550,  # 400 steps and 1,100
        _DEEP,
        _DEEP + _DEEP,
        "é" * 750,
        "a{1}",
        "a{0,1}",
        "a{2,2}",
    ],
)
def test_just_as_much_as_is_allowed(pattern: str) -> None:
    assert pattern_of(pattern).steps <= 1500


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("a" * 1001, "more than 1,000 letters"),
        ("a\0", "letter that no text has"),
        ("\udfff", "letter that no text has"),
        ("a)", "nothing opens"),
        ("(?i)a)", "nothing opens"),
        ("(a", "nothing closes"),
        ("(a|b", "nothing closes"),
        ("(" * 21 + ")" * 21, "nested too deeply"),
        ("()" * 30 + "(" * 21 + ")" * 21, "nested too deeply"),
        ("(?a)", "a name, a flag"),
        ("(?i:a)", "a name, a flag"),
        ("a(?s)", "a name, a flag"),
        ("(?im)a", "a name, a flag"),
        ("*a", "stands for nothing"),
        ("a|*", "stands for nothing"),
        ("(+)", "stands for nothing"),
        ("?", "stands for nothing"),
        ("]", "stands for nothing"),
        ("}", "stands for nothing"),
        ("{2}", "stands for nothing"),
        ("a{1,101}", "more than 100"),
        ("a{101}", "more than 100"),
        ("a{100,}", "more than 100"),
        ("a{0}", "no times"),
        ("a{0,0}", "no times"),
        ("a{3,2}", "no times"),
        ("a{", "counts nothing"),
        ("a{}", "counts nothing"),
        ("a{,3}", "counts nothing"),
        ("a{x}", "counts nothing"),
        ("a{1,x}", "counts nothing"),
        ("a{-1}", "counts nothing"),
        ("a{0001}", "counts nothing"),
        ("a{٣}", "counts nothing"),
        ("a**", "cannot be repeated"),
        ("a{2}{3}", "cannot be repeated"),
        ("a+?+", "cannot be repeated"),
        ("^*", "cannot be repeated"),
        ("$+", "cannot be repeated"),
        (r"\b?", "cannot be repeated"),
        (r"a\b{2}", "cannot be repeated"),
        ("\\", "backslash before"),
        (r"\q", "backslash before"),
        (r"\é", "backslash before"),
        (r"[\b]", "backslash before"),
        (r"[\q]", "backslash before"),
        ("[\\", "backslash before"),
        ("[]", "class of nothing"),
        ("[^]", "class of nothing"),
        ("[b-a]", "no beginning or no end"),
        (r"[\d-z]", "no beginning or no end"),
        (r"[a-\d]", "no beginning or no end"),
        ("[[:alpha:]-z]", "no beginning or no end"),
        ("[a-[:alpha:]]", "no beginning or no end"),
        ("[[:word:]]", "unknown name"),
        ("[[:alpha]]", "unknown name"),
        ("[[]", "without a backslash"),
        ("[a[]", "without a backslash"),
        ("[a", "without a backslash"),
        ("[a^]", "without a backslash"),
        ("[--a]", "without a backslash"),
        ("[+--a]", "without a backslash"),
        ("[a-z-9]", "without a backslash"),
        ("[a--]", "without a backslash|no beginning"),
        ("(" + "a{1,99}" * 3 + "){3}", "written out"),
        ("é" * 750 + "a", "written out"),
        ("(é{100}|é{100}){3}", "written out"),
    ],
)
def test_what_is_outside_the_grammar_is_said(pattern: str, why: str) -> None:
    with pytest.raises(PatternRefused, match=why):
        pattern_of(pattern)


@pytest.mark.parametrize(
    ("text", "groups", "letters", "repeats"),
    [
        ("", 0, 0, 0),
        ("abc", 0, 3, 0),
        (r"\0", 0, 0, 1),
        (r"a\0b\0c", 0, 3, 2),
        (r"\\\\", 0, 2, 0),
        (r"\\1", 0, 2, 0),
        (r"x\9", 9, 1, 1),
        ("a" * 1000, 0, 1000, 0),
    ],
)
def test_a_replacement_has_letters_and_repeats(
    text: str, groups: int, letters: int, repeats: int
) -> None:
    assert check_replacement(text, groups) == (letters, repeats)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a" * 1001, "1,000"),
        ("\0", "1,000"),
        ("\ud9ab", "1,000"),
        (r"\1", "a group's number"),
        ("a\\", "a group's number"),
        (r"\a", "a group's number"),
        ("\\٣", "a group's number"),
    ],
)
def test_other_replacements_are_refused(text: str, why: str) -> None:
    with pytest.raises(PatternRefused, match=why):
        check_replacement(text, 0)


def test_a_text_has_no_zero_byte_and_no_half_of_a_pair() -> None:
    assert plain_text("aé👨\ud7ff\ue000")
    for other in ("\0", "\ud800", "\udfff", "a\udabc"):
        assert not plain_text(other)
