"""Patterns of texts: missing values, numbers, dates, identifiers, personal data (PII), as people write them.

Reads texts by the very patterns by which they are read later (base/spelling.py). Columns that name, reach or describe
one person (names, e-mails, phone numbers, free text) are proposed hidden, never as lists of values: a list would
publish them.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.base.arrays import Bits
from discreet.base.spelling import (
    MONTHS,
    SPACES,
    Spelling,
    date_pattern,
    number_pattern,
    removed_from_numbers,
)
from discreet.data.catalog.profile import Profile
from discreet.data.engines.declared import folded

MISSING = ("", "?", "-", ".", "na", "n/a", "#n/a", "nan", "null", "nil", "missing")
"""Spellings of "no value here", in lower case. "none" and "unknown" are often answers: not here."""

# Without leading zeros, which make a code, and without spaces, which engines read as NULL.
WHOLE = r"^[-+]?(0|[1-9][0-9]{0,17})$"
DECIMAL = r"^[-+]?((0|[1-9][0-9]{0,29})(\.[0-9]{0,30})?|\.[0-9]{1,30})([eE][-+]?[0-9]{1,2})?$"
BOOLEAN = r"^(?i:true|false)$"
UUID = r"^\{?[0-9a-fA-F]{8}(-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}\}?$"


@dataclass(frozen=True, slots=True)
class DateSpelling:
    """One way to write a date: a pattern that every text must match, and its strptime code."""

    pattern: str
    format: str
    timestamp: bool = False


DATES = (
    DateSpelling(r"^\d{4}-\d{2}-\d{2}$", "%Y-%m-%d"),
    DateSpelling(r"^\d{1,2}\.\d{1,2}\.\d{4}$", "%d.%m.%Y"),
    DateSpelling(r"^\d{1,2}/\d{1,2}/\d{4}$", "%d/%m/%Y"),
    DateSpelling(r"^\d{1,2}/\d{1,2}/\d{4}$", "%m/%d/%Y"),
    DateSpelling(r"^\d{1,2}-\d{1,2}-\d{4}$", "%d-%m-%Y"),
    DateSpelling(r"^\d{4}/\d{1,2}/\d{1,2}$", "%Y/%m/%d"),
    DateSpelling(r"^\d{1,2} [A-Za-z]{3} \d{4}$", "%d %b %Y"),
    DateSpelling(r"^[A-Za-z]{3} \d{1,2}, \d{4}$", "%b %d, %Y"),
    DateSpelling(r"^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$", "%Y-%m-%d %H:%M:%S", timestamp=True),
    DateSpelling(r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}$", "%Y-%m-%dT%H:%M:%S", timestamp=True),
)
ISO = frozenset({"%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S"})


def matches(texts: pa.Array, pattern: str) -> Bits:
    """Return which texts match `pattern`."""
    return np.asarray(pc.match_substring_regex(texts, pattern=pattern), dtype=bool)


def is_missing(texts: pa.Array) -> Bits:
    """Return which texts only say that there is no value."""
    plain = pc.utf8_lower(pc.utf8_trim_whitespace(texts))
    return np.asarray(pc.is_in(plain, value_set=pa.array(MISSING)), dtype=bool)


def days(texts: pa.Array, spelling: DateSpelling) -> pa.Array:
    """Return the times that the texts spell, NULL where one does not."""
    fits = pc.match_substring_regex(texts, pattern=spelling.pattern)
    texts = pc.if_else(fits, texts, pa.scalar(None, texts.type))
    return pc.strptime(texts, format=spelling.format, unit="s", error_is_null=True)


_WORDS_OF_IDENTIFIERS = {
    "id", "ids", "uuid", "guid", "key", "ssn", "nin", "mrn", "iban", "email", "e-mail", "mail",
    "phone", "telephone", "passport", "serial",
}  # fmt: skip


_PERSONS = {
    "person", "patient", "customer", "client", "user", "member", "employee", "student", "subject",
    "respondent", "participant", "citizen", "resident", "donor", "pupil", "worker", "account",
}  # fmt: skip


def sounds_like_identifier(name: str) -> bool:
    """Return whether a column's name says that it names persons or things: person_id, userId."""
    return bool(words_of(name) & _WORDS_OF_IDENTIFIERS)


def names_a_person(name: str) -> bool:
    """Return whether a column's name says that it names people: patient_id, customerNo."""
    words = words_of(name)
    return bool(words & _PERSONS) and bool(words & (_WORDS_OF_IDENTIFIERS | {"no", "nr", "number"}))


def words_of(name: str) -> set[str]:
    """Return the words of a column's name: patientId and PATIENT_ID have two."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


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


EMAIL = r"^[^@\s]+@[^@\s]+\.[A-Za-z]{2,}$"
PHONE = r"^(\+|00|\()?[0-9][0-9 ()/.\-]{5,}[0-9]$"
_PUNCTUATED = r"[()/\-+]|^0"
_PERSON_NAME = r"^\p{Lu}[\p{L}'.\-]+,? (\p{Lu}\.? )?\p{Lu}[\p{L}'\-]+$"
MOST = 0.8
"""The share of the distinct texts that must look so."""
WORDS_OF_A_TEXT = 4.0
_BY_NAME = {
    "names of people": {
        "surname", "forename", "firstname", "lastname", "fullname", "nickname", "username", "login",
    },
    "e-mail addresses": {"email", "mail"},
    "phone numbers": {"phone", "telephone", "tel", "mobile", "cellphone", "fax"},
    "addresses": {"address", "street", "addr"},
    "free text": {"note", "notes", "comment", "comments", "remark", "remarks", "freetext", "memo"},
}  # fmt: skip
_OF_A_PERSON = {
    "first", "last", "full", "given", "family", "middle", "maiden", "patient", "person",
    "customer", "client", "employee", "student", "member", "user", "mother", "father", "contact",
}  # fmt: skip


def personal(profile: Profile) -> str:
    """Return what a column gives away about single people, in words; empty if nothing."""
    named = _by_name(profile.name)
    if not pa.types.is_string(profile.values.type):
        return named if named == "phone numbers" else ""
    if named and not (named == "names of people" and _reads_as_numbers(profile.values)):
        return named
    return _by_values(profile)


def _by_name(name: str) -> str:
    words = words_of(name)
    joined = "".join(sorted(words))
    for what, listed in _BY_NAME.items():
        if words & listed or joined in listed:
            return what
    if "name" in words and (words == {"name"} or words & _OF_A_PERSON):
        return "names of people"
    return ""


def _by_values(profile: Profile) -> str:
    texts = profile.values
    if not profile.distinct:
        return ""
    if matches(texts, EMAIL).mean() >= MOST:
        return "e-mail addresses"
    numbers = matches(texts, PHONE) & matches(texts, _PUNCTUATED)
    dated = matches(texts, r"^\d{1,4}[-/. ]\d{1,2}[-/. ]\d{1,4}([ T].*)?$")
    many = profile.distinct > 20 and profile.distinct >= 0.5 * profile.present
    if many and (numbers & ~dated).mean() >= MOST:
        return "phone numbers"
    if many and matches(texts, _PERSON_NAME).mean() >= MOST:
        return "names of people"
    words = pc.add(pc.count_substring_regex(texts, pattern=r"\S\s+\S"), 1)
    long = pc.mean(words.cast(pa.float64())).as_py() or 0.0
    if long >= WORDS_OF_A_TEXT and profile.distinct > 20:
        return "free text"
    return ""


def _reads_as_numbers(texts: pa.Array) -> bool:
    return bool(len(texts)) and bool(matches(texts, r"^[0-9.,\s]+$").all())
