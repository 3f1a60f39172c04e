"""A donation: one report of all questions, as deterministic CBOR and as its JSON twin."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.errors import InvalidInput
from discreet.survey.device.cbor import Item, decoded, encoded
from discreet.survey.randomizers.base import Report

VERSION = 1
ID_BYTES = 16
PARTS = 4
"""Version, survey, one-use id and reports."""


@dataclass(frozen=True, slots=True)
class Donation:
    """What leaves a device: the survey's id, a one-use id, and a report (or None) a question."""

    survey: bytes
    id: bytes
    reports: tuple[Report | None, ...]

    def to_cbor(self) -> bytes:
        """Return the array [version, survey, id, [report, ...]] in deterministic CBOR."""
        reports: list[Item] = list(self.reports)
        return encoded([VERSION, self.survey, self.id, reports])

    def to_json(self) -> dict[str, Any]:
        """Return the JSON twin: ids in hexadecimal, bits in unpadded base64url."""
        return {
            "version": VERSION,
            "survey": self.survey.hex(),
            "id": self.id.hex(),
            "reports": [_text(each) if isinstance(each, bytes) else each for each in self.reports],
        }


def donation_from_cbor(data: bytes, *, most: int | None = None) -> Donation:
    """Return the donation that these bytes are, or refuse them with a sentence: unread where there are more than `most` reports."""
    item = decoded(data, most=None if most is None else PARTS + most)
    if not isinstance(item, list) or not item:
        raise InvalidInput("A donation is an array.")
    if not _is_ours(item[0]):
        raise InvalidInput(f"This collector reads version {VERSION} only.")
    if len(item) != PARTS:
        raise InvalidInput("A donation has four parts.")
    return _checked(item[1], item[2], item[3])


def donation_from_json(stated: Any, *, most: int | None = None) -> Donation:
    """Return the donation that a JSON twin states, or refuse it with a sentence: unread where there are more than `most` reports."""
    if not isinstance(stated, Mapping) or set(stated) != {"version", "survey", "id", "reports"}:
        raise InvalidInput("A donation has version, survey, id and reports.")
    if not _is_ours(stated["version"]):
        raise InvalidInput(f"This collector reads version {VERSION} only.")
    reports = stated["reports"]
    if not isinstance(reports, list):
        raise InvalidInput("The reports of a donation are a list.")
    if most is not None and len(reports) > most:
        raise InvalidInput("A donation has fewer reports.")
    read = [_bits(each) if isinstance(each, str) else each for each in reports]
    return _checked(_hexadecimal(stated["survey"]), _hexadecimal(stated["id"]), read)


def _is_ours(version: Any) -> bool:
    return type(version) is int and version == VERSION  # neither true nor 1.0


def _checked(survey: Any, one_use: Any, reports: Any) -> Donation:
    for part in (survey, one_use):
        if not isinstance(part, bytes) or len(part) != ID_BYTES:
            raise InvalidInput("An id has 16 bytes.")
    if not isinstance(reports, list):
        raise InvalidInput("The reports of a donation are a list.")
    for each in reports:
        whole = isinstance(each, int) and not isinstance(each, bool)
        if not (each is None or whole or isinstance(each, bytes)):
            raise InvalidInput("A report is a number, bytes or null.")
    return Donation(survey, one_use, tuple(reports))


def _text(bits: bytes) -> str:
    return base64.urlsafe_b64encode(bits).decode().rstrip("=")


def _bits(text: str) -> bytes:
    try:
        found = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise InvalidInput("Bits are written in base64url.") from None
    if _text(found) != text:
        raise InvalidInput("Bits are written in base64url, in one way only.")
    return found


def _hexadecimal(text: Any) -> bytes:
    try:
        found = bytes.fromhex(text)
    except (TypeError, ValueError):
        raise InvalidInput("An id is written in hexadecimal.") from None
    if found.hex() != text:
        raise InvalidInput("An id is written in hexadecimal, in small letters.")
    return found
