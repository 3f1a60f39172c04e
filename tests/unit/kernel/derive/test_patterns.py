"""The grammar of patterns: what it accepts, every RE2 does; what could fail or split a letter, it refuses."""

from __future__ import annotations

from itertools import product

import duckdb
import pytest

from discreet.kernel.derive.patterns import Odd, check_replacement, pattern_of


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
    with pytest.raises(Odd):
        pattern_of(pattern)


def test_replacements_name_groups_that_are_there() -> None:
    assert check_replacement(r"a\0\1\\", 1) == (2, 2)
    for other in (r"\2", r"\9", r"\q", "\\", "\0", "a" * 1001, "\\٣"):
        with pytest.raises(Odd):
            check_replacement(other, 1)


def test_duckdb_knows_every_short_pattern_of_the_grammar() -> None:
    """All texts of up to four signs: an error of DuckDB on an accepted one would be a leak."""
    base, known = duckdb.connect(":memory:", config={"threads": 1}), 0
    for size in range(5):
        for letters in product(r"a(|)*?[^\]", repeat=size):
            pattern = "".join(letters)
            try:
                groups = pattern_of(pattern).groups
            except Odd:
                continue
            known += 1
            rewrite = "".join(f"\\{i}" for i in range(min(groups, 9) + 1))
            base.execute("SELECT regexp_replace('éab', ?, ?, 'g')", [pattern, rewrite]).fetchall()
    assert known > 500
