"""How texts are spelled: missing, whole numbers, decimals, dates, identifiers."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.arrays import Bits

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
