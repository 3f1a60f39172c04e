"""No text promises more than is proved: what may not be said of one person, looked for in docs, pages, lessons and code."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PERSON = r"(?:(?:one|a|any|any one|any single|a single|each|an|specific) (?:person|individual)|individuals|you|anyone|anybody)"
FALSE = [
    rf"\b(?:no ?body|no one|no attacker|nobody else) (?:can |will |ever )*(?:learns?|finds? out|tells?|knows?) (?:anything|something)[^.]* about {PERSON}\b",
    rf"\b(?:learns?|tells?|reveals?|says?|discloses?|shows?) nothing (?:\w+ )?about {PERSON}\b",
    rf"\bnothing (?:\w+ )?(?:is|can be) (?:learnt|learned|revealed|told|known|found out) about {PERSON}\b",
    rf"\b(?:any|no|some)thing specific (?:about|to|of) {PERSON}\b",
    r"\bfacts about (?:one|a single) person (?:may|can|do) not\b",
    r"\b(?:even chance|likely) that something is true of you\b",
    r"\bodds about (?:you|one person|a person)\b",
    r"\b[Ww]hatever (?:somebody|someone|anybody|anyone) believed (?:of|about) you\b",
]
"""Promises of what is learned about a person, or of odds without their two worlds; docs/notes/0105."""
ELSEWHERE = {
    "docs/notes": "records; 0105 quotes what was said",
    "docs/reference": "written from docstrings, which are read here",
}
KINDS = {".md", ".py", ".html", ".js", ".json", ".ipynb", ".toml"}


def false_in(text):
    """Return what a text promises too much, across its line breaks."""
    flat = re.sub(r'\\n|["\s]+', " ", text)
    return [found[0] for each in FALSE for found in re.finditer(each, flat, re.IGNORECASE)]


def texts():
    """Return every text that somebody may read."""
    for top in ("README.md", "docs", "src"):
        here = ROOT / top
        for path in [here] if here.is_file() else sorted(here.rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            if path.suffix in KINDS and not name.startswith(tuple(ELSEWHERE)) and path.is_file():
                yield name, path.read_text(encoding="utf-8")


def test_no_text_promises_what_nobody_can_keep():
    found = {name: said for name, text in texts() if (said := false_in(text))}
    assert found == {}


def test_many_texts_are_read():
    names = [name for name, _ in texts()]
    assert len(names) > 700
    assert {"README.md", "src/discreet/lab/course/lessons/promise/lesson.md"} <= set(names)


@pytest.mark.parametrize(
    "said",
    [
        "Nobody learns anything specific about one person, whatever else they know.",
        "No one can\n learn anything about a single person.",
        "the answer reveals nothing about any individual",
        "nothing specific can be learned about you",
        "facts about people in general may come out, facts about one person may not.",
        "Somebody who thought it an even chance that something is true of you may",
        "nobody's odds about you change by more than 2.7 times",
        "Whatever somebody believed of you before, their odds change by at most",
    ],
)
def test_each_variant_is_noticed(said):
    """The broken twins: what stood here before, and its kin."""
    assert false_in(said)


@pytest.mark.parametrize(
    "said",
    [
        "Compared with you not taking part, anyone's odds change by at most 2.72 times.",
        "What is learned about groups is not limited.",
        "nobody can be right more often about which of the two it was",
    ],
)
def test_what_is_true_may_be_said(said):
    assert false_in(said) == []
