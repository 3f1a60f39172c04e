"""How the texts of a column seem to be spelled: spaces, case, numbers and dates that people write.

Reads texts by the very patterns by which they are read later (core/spelling.py).
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from discreet.core.spelling import (
    MONTHS,
    SPACES,
    Spelling,
    date_pattern,
    number_pattern,
    removed_from_numbers,
)
from discreet.engine.declared import folded

MARKS = (
    "$", "€", "£", "¥", "₹", "%", "USD", "EUR", "GBP", "CHF", "JPY", "INR", "SEK", "NOK", "DKK",
    "PLN", "kr", "zł", "Fr.",
)  # fmt: skip
_GROUPINGS = ((",", "."), (".", ","), ("'", "."), (" ", "."), (" ", ","), ("\u00a0", ","))
_DATES = (
    "%Y-%m-%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%Y/%m/%d", "%d %b %Y",
    "%d-%b-%Y", "%b %d, %Y", "%d/%m/%y", "%m/%d/%y", "%d.%m.%y", "%d-%b-%y", "%Y%m%d",
)  # fmt: skip
_SAMPLE = 2_000
ENOUGH = 0.99
_MEANINGS = (("f", "female"), ("m", "male"), ("w", "woman"), ("y", "yes"), ("n", "no"))
"""Letters that are short for a word, where both occur."""


@dataclass(frozen=True, slots=True)
class Counted:
    """Distinct texts with how often each occurs."""

    texts: tuple[str, ...]
    counts: tuple[int, ...]

    @property
    def rows(self) -> int:
        """Return how many rows have one of these texts."""
        return sum(self.counts)


def trimmed(found: Counted) -> tuple[Counted, bool]:
    """Return the texts without spaces around them, and whether any had some."""
    sums: dict[str, int] = {}
    for text, count in zip(found.texts, found.counts, strict=True):
        bare = text.strip(SPACES)
        sums[bare] = sums.get(bare, 0) + count
    padded = any(text != text.strip(SPACES) for text in found.texts)
    return Counted(tuple(sums), tuple(sums.values())), padded


def number_spelling(found: Counted) -> Spelling | None:
    """Return how these texts write numbers, None where hardly all of them do."""
    few = found.texts[:_SAMPLE]
    signs = tuple(mark for mark in MARKS if any(mark in text for text in few))
    digits = sum(any(letter.isdigit() for letter in text) for text in few)
    if not digits or digits < ENOUGH * len(few):
        return None
    tries = [Spelling(thousands=t, decimal=d, signs=signs) for t, d in _GROUPINGS]
    # Ties go to the first: a comma between three digits and three groups them.
    best = max(tries, key=lambda spelling: _fitting(found, number_pattern(spelling)))
    if _fitting(found, number_pattern(best)) < ENOUGH * found.rows:
        return None
    return _needed(best, found.texts)


def ambiguous(spelling: Spelling, texts: Iterable[str]) -> bool:
    """Return whether another reading of comma and point fits all texts as well."""
    swapped = {",": ".", ".": ","}
    other = Spelling(thousands="", decimal=swapped[spelling.decimal], signs=spelling.signs)
    pattern = re.compile(number_pattern(other))
    return spelling.thousands == other.decimal and all(pattern.fullmatch(text) for text in texts)


def read_number(text: str, spelling: Spelling) -> Decimal | None:
    """Return the number that a text spells."""
    if not re.fullmatch(number_pattern(spelling), text):
        return None
    for part in removed_from_numbers(spelling):
        text = text.replace(part, "")
    return Decimal(text.replace(spelling.decimal, "."))


def date_spellings(found: Counted) -> tuple[str, ...]:
    """Return the spellings of dates that together read nearly all texts; nothing where none do."""
    left = dict(zip(found.texts, found.counts, strict=True))
    chosen: list[str] = []
    while sum(left.values()) > (1 - ENOUGH) * found.rows:
        gains = {s: _gain(left, s) for s in _DATES if s not in chosen}
        best = max(gains, key=lambda spelled: gains[spelled])
        if gains[best] < max(1, (1 - ENOUGH) * found.rows):
            return ()
        chosen.append(best)
        left = {t: n for t, n in left.items() if read_date(t, best) is None}
    return tuple(chosen)


def either_way(found: Counted, chosen: Sequence[str]) -> bool:
    """Return whether days and months could be exchanged in every text."""
    swapped = {"%d/%m/%Y": "%m/%d/%Y", "%m/%d/%Y": "%d/%m/%Y"}
    for spelled, other in swapped.items():
        if spelled in chosen:
            mine = [text for text in found.texts if read_date(text, spelled)]
            return all(read_date(text, other) for text in mine)
    return False


def read_date(text: str, spelled: str) -> dt.date | None:
    """Return the day that a text spells."""
    pattern, codes = date_pattern(spelled)
    match = re.fullmatch(pattern, text)
    if match is None:
        return None
    parts = dict(zip(codes, match.groups(), strict=True))
    try:
        return dt.date(_year(parts), _month(parts), int(parts["%d"]))
    except ValueError:
        return None


def merged(found: Counted) -> tuple[tuple[str, ...], bool, dict[str, tuple[str, ...]]]:
    """Return the values of a category, whether only case told some apart, and short forms of others."""
    groups: dict[str, list[tuple[int, str]]] = {}
    for text, count in zip(found.texts, found.counts, strict=True):
        groups.setdefault(folded(text), []).append((count, text))
    chosen = {said: _shown(forms) for said, forms in groups.items()}
    same: dict[str, tuple[str, ...]] = {}
    for short, word in _MEANINGS:
        if short in chosen and word in chosen:
            same[chosen[word]] = (chosen.pop(short),)
    return tuple(sorted(chosen.values())), len(groups) < len(found.texts), same


def _shown(forms: list[tuple[int, str]]) -> str:
    """Return the spelling that stands for all: Like This where it is not rare, else the most frequent."""
    most = max(count for count, _ in forms)
    titled = [form for form in forms if form[1].istitle() and form[0] * 10 >= most]
    return max(titled or forms)[1]


def _fitting(found: Counted, pattern: str) -> int:
    compiled = re.compile(pattern)
    pairs = zip(found.texts, found.counts, strict=True)
    return sum(count for text, count in pairs if compiled.fullmatch(text))


def _needed(spelling: Spelling, texts: Iterable[str]) -> Spelling:
    """Return the spelling without a group separator that no text has."""
    grouped = any(spelling.thousands in text for text in texts)
    if grouped or not spelling.thousands:
        return spelling
    return Spelling(decimal=spelling.decimal, signs=spelling.signs)


def _gain(left: dict[str, int], spelled: str) -> int:
    return sum(count for text, count in left.items() if read_date(text, spelled) is not None)


def _year(parts: dict[str, str]) -> int:
    if "%Y" in parts:
        return int(parts["%Y"])
    short = int(parts["%y"])
    return short + (1900 if short >= 69 else 2000)


def _month(parts: dict[str, str]) -> int:
    if "%m" in parts:
        return int(parts["%m"])
    return MONTHS.index(parts["%b"].lower()) + 1
