"""A respondent's device: coins thrown once for each wave of a survey, and the donation that carries its report.

Nothing is kept of the answer. A donation is one report of all questions, as deterministic CBOR and as its JSON
twin. The collector's side takes the donation's bytes from here, and nothing else.

Donations need little of CBOR (RFC 8949), in its one deterministic form: unsigned integers, byte strings, arrays and
null, each with the shortest length. Whatever is anything else, or longer than it says, is refused without being
read further.
"""

from __future__ import annotations

import base64
import binascii
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from discreet.errors import InvalidInput
from discreet.survey.plan import SurveyPlan, value_of
from discreet.survey.randomizers.base import ByteSource, Draws, Report

Item: TypeAlias = "int | bytes | list[Item] | None"

_UNSIGNED, _BYTES, _ARRAY = 0, 2, 4
_NULL = 0xF6
DEEPEST = 3


def encoded(item: Item) -> bytes:
    """Return an item in deterministic CBOR.

    >>> encoded([1, None, b"a", 500]).hex()
    '8401f641611901f4'
    """
    if item is None:
        return bytes([_NULL])
    if isinstance(item, bytes):
        return _head(_BYTES, len(item)) + item
    if isinstance(item, list):
        return _head(_ARRAY, len(item)) + b"".join(encoded(each) for each in item)
    return _head(_UNSIGNED, item)


def decoded(data: bytes, *, most: int | None = None) -> Item:
    """Return the one item that `data` is, or refuse it, also where its arrays have more than `most` members in all."""
    item, end = _read(data, 0, 0, _Members(len(data) if most is None else most))
    if end != len(data):
        raise InvalidInput("There are bytes after the end.")
    return item


class _Members:
    """How many members arrays may still have."""

    def __init__(self, left: int) -> None:
        self.left = left

    def take(self, count: int) -> None:
        """Take so many, or refuse them before any is read."""
        self.left -= count
        if self.left < 0:
            raise InvalidInput("A report has fewer members.")


def _head(kind: int, size: int) -> bytes:
    if size < 24:
        return bytes([kind << 5 | size])
    for code, width in ((24, 1), (25, 2), (26, 4), (27, 8)):
        if size < 1 << (8 * width):
            return bytes([kind << 5 | code]) + size.to_bytes(width, "big")
    raise InvalidInput("A number of a report has at most 64 bits.")


def _read(data: bytes, at: int, depth: int, members: _Members) -> tuple[Item, int]:
    if at >= len(data) or depth > DEEPEST:
        raise InvalidInput("The bytes end too early, or are nested too deeply.")
    first = data[at]
    if first == _NULL:
        return None, at + 1
    kind, size = first >> 5, first & 31
    at += 1
    if size >= 24:
        size, at = _long_size(data, at, size)
    if kind == _UNSIGNED:
        return size, at
    if size > len(data) - at:  # every member has at least one byte
        raise InvalidInput("The bytes end too early.")
    if kind == _BYTES:
        return data[at : at + size], at + size
    if kind != _ARRAY:
        raise InvalidInput("A report holds numbers, bytes and nulls only.")
    members.take(size)
    items: list[Item] = []
    for _ in range(size):
        item, at = _read(data, at, depth + 1, members)
        items.append(item)
    return items, at


def _long_size(data: bytes, at: int, code: int) -> tuple[int, int]:
    width = {24: 1, 25: 2, 26: 4, 27: 8}.get(code, 0)
    if not width or at + width > len(data):
        raise InvalidInput("A length is missing.")
    size = int.from_bytes(data[at : at + width], "big")
    if size < (24 if width == 1 else 1 << (4 * width)):
        raise InvalidInput("A length is not written in its shortest form.")
    return size, at + width


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


Value = int | float | str


class SystemCoins:
    """Random bytes of the operating system, each given once."""

    def take(self, count: int) -> bytes:
        """Return the next `count` bytes."""
        return secrets.token_bytes(count)


_SYSTEM = SystemCoins()


class Device:
    """One device. The answer stays here and is not kept; only `Donation`s leave.

    Guarantee: for each wave of a survey one donation leaves at most, made with coins of its own, whatever
        was answered before; so all that leaves in `waves` waves is epsilon-DP for its respondent. After a
        donation the device knows that it gave one, and nothing else: no answer, no coins, no secret.
        Whether a question is answered at all is not hidden.
    """

    def __init__(self) -> None:
        self._answered: set[bytes] = set()

    def donate(
        self,
        plan: SurveyPlan,
        answers: Mapping[str, str | None],
        *,
        coins: ByteSource = _SYSTEM,
    ) -> Donation | None:
        """Return what may leave for this wave, or None if it was answered on this device already.

        An answer that is None or empty is left out. Nothing answered: nothing is sent.
        """
        values = [_answer(plan, index, answers) for index in range(len(plan.choices))]
        if plan.id in self._answered or all(each is None for each in values):
            return None
        self._answered.add(plan.id)
        one_use, draws = coins.take(ID_BYTES), Draws(coins)
        reports = tuple(
            None if value is None else choice.randomizer.encode(value, draws)
            for value, choice in zip(values, plan.choices, strict=True)
        )
        return Donation(plan.id, one_use, reports)

    def forget(self) -> None:
        """Know nothing of any survey any more: whoever answers next counts as somebody new."""
        self._answered.clear()


def _answer(plan: SurveyPlan, index: int, answers: Mapping[str, Any]) -> Value | None:
    question = plan.survey.questions[index]
    answer = answers.get(question.name)
    return None if answer is None or not answer.strip(" \t\r\n") else value_of(question, answer)
