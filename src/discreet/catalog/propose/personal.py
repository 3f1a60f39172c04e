"""Personal data (PII): columns that name, reach or describe one person: names, e-mails, phone numbers, free text.

They are proposed hidden, never as lists of values: a list would publish them.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from discreet.catalog.propose.profile import Profile
from discreet.catalog.propose.spelling import matches, words_of

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
