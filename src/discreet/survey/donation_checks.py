"""Donations as a collector takes them: a batch split, each one parsed, checked, and taken or refused.

A batch is split into its members without reading them, so that a bad one spoils no other. A donation is taken, or
refused for one of a few stated reasons. The fast parser of well-formed donations compares their bytes with the only
layout that a survey's have; whatever does not fit is read again by `DonationCheck`, which says why it is refused.
So the parser decides nothing but speed, and a test holds the two against each other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from discreet.errors import InvalidInput
from discreet.survey.device import (
    VERSION,
    Donation,
    decoded,
    donation_from_cbor,
    donation_from_json,
    encoded,
)
from discreet.survey.plan import SurveyPlan
from discreet.survey.randomizers.base import Report, ReportShape

MOST = 65_535
"""Donations in a batch."""
_BYTES, _ARRAY = 2, 4
_WIDTHS = {24: 1, 25: 2, 26: 4}


def donations_of(batch: bytes) -> list[bytes]:
    r"""Return the byte strings of a CBOR array, each of which may hold a donation.

    >>> donations_of(bytes.fromhex("82410142aabb"))
    [b'\x01', b'\xaa\xbb']
    """
    count, at = _head(batch, 0, _ARRAY)
    if count > MOST:
        raise InvalidInput(f"A batch holds at most {MOST:,} reports.")
    found = []
    for _ in range(count):
        size, at = _head(batch, at, _BYTES)
        found.append(batch[at : at + size])
        at += size
    if at != len(batch):
        raise InvalidInput("The bytes of a batch end too early or too late.")
    return found


def count_said(batch: bytes) -> int:
    """Return how many byte strings a batch says that it has, without reading them; 0 where it says nothing."""
    try:
        return _head(batch, 0, _ARRAY)[0]
    except InvalidInput:
        return 0


def twins_of(stated: Any) -> list[Any]:
    """Return the members of a JSON list, each of which may be a donation's twin."""
    if not isinstance(stated, list) or len(stated) > MOST:
        raise InvalidInput(f"A batch is a list of at most {MOST:,} reports.")
    return stated


def _head(data: bytes, at: int, kind: int) -> tuple[int, int]:
    """Return the size that stands at a place, and where its content begins."""
    if at >= len(data) or data[at] >> 5 != kind:
        raise InvalidInput("A batch is an array of byte strings.")
    size = data[at] & 31
    at += 1
    if size < 24:
        return size, at
    width = _WIDTHS.get(size, 0)
    if not width:
        raise InvalidInput("A length of a batch is not a plain one.")
    return int.from_bytes(data[at : at + width], "big"), at + width


_OVERHEAD = 64
_SPARE = 8
"""Reports that a donation may have too many and is read all the same, so that it is told what is wrong."""


class Refusal(StrEnum):
    """Why a donation is refused; each kind is counted."""

    MALFORMED = "malformed"
    TOO_LARGE = "too large"
    VERSION = "another version"
    SURVEY = "another survey"
    SHAPE = "impossible report"
    EMPTY = "nothing answered"
    REPLAYED = "seen before"
    CLOSED = "survey closed"
    FULL = "survey full"


@dataclass(frozen=True, slots=True)
class DonationCheck:
    """What donations to one survey must look like."""

    plan: SurveyPlan

    @property
    def largest(self) -> int:
        """Return how many bytes of CBOR a donation can have."""
        shapes = [choice.randomizer.shape for choice in self.plan.choices]
        return _OVERHEAD + sum(9 + shape.length for shape in shapes)

    @property
    def most(self) -> int:
        """Return how many reports a donation may have: what has more would take work that nobody charged."""
        return len(self.plan.choices) + _SPARE

    def from_cbor(self, data: bytes) -> Donation | Refusal:
        """Return the donation that these bytes are, or why they are refused."""
        if len(data) > self.largest:
            return Refusal.TOO_LARGE
        try:
            return self.examined(donation_from_cbor(data, most=self.most))
        except InvalidInput:
            return Refusal.VERSION if _other_version(data, self.most) else Refusal.MALFORMED

    def from_json(self, stated: Any) -> Donation | Refusal:
        """Return the donation that a JSON twin states, or why it is refused."""
        try:
            return self.examined(donation_from_json(stated, most=self.most))
        except InvalidInput:
            version = stated.get("version") if isinstance(stated, dict) else None
            other = isinstance(version, int) and version != VERSION
            return Refusal.VERSION if other else Refusal.MALFORMED

    def examined(self, donation: Donation) -> Donation | Refusal:
        """Return a donation whose reports are possible ones of this survey, or why it is refused."""
        if donation.survey != self.plan.id:
            return Refusal.SURVEY
        if len(donation.reports) != len(self.plan.choices):
            return Refusal.SHAPE
        for report, choice in zip(donation.reports, self.plan.choices, strict=True):
            if report is not None and not choice.randomizer.shape.accepts(report):
                return Refusal.SHAPE
        if all(report is None for report in donation.reports):
            return Refusal.EMPTY
        return donation


def _other_version(data: bytes, most: int) -> bool:
    """Return whether these bytes are an array that begins with another version's number."""
    try:
        item = decoded(data, most=most)
    except InvalidInput:
        return False
    return isinstance(item, list) and bool(item) and isinstance(item[0], int) and item[0] != VERSION


Read = Callable[[bytes, int], tuple[Report | None, int]]
"""Return the report at a place and where it ends; -1 stands for one that does not fit."""

_NULL = 0xF6
_ID = 16
_MISFIT = (None, -1)


class DonationReader:
    """Reads the donations of one survey into rows of its table."""

    def __init__(self, plan: SurveyPlan) -> None:
        shapes = [choice.randomizer.shape for choice in plan.choices]
        self._start = encoded([1, plan.id, bytes(_ID), []])[: -_ID - 1]
        self._id_at = len(self._start)
        self._count = encoded([None] * len(shapes))[: -len(shapes)]
        self._reads = tuple(_number(each.cells) if each.cells else _bits(each) for each in shapes)

    def row(self, data: bytes) -> tuple[Any, ...] | None:
        """Return the one-use id and the reports of a right donation, else None."""
        at = self._id_at + _ID
        if not data.startswith(self._start) or not data.startswith(self._count, at):
            return None
        row: list[Any] = [data[self._id_at : at]]
        at += len(self._count)
        answered = False
        for read in self._reads:
            report, at = read(data, at)
            if at < 0:
                return None
            answered = answered or report is not None
            row.append(report)
        return tuple(row) if answered and at == len(data) else None


def _number(cells: int) -> Read:
    def read(data: bytes, at: int) -> tuple[Report | None, int]:
        first = data[at] if at < len(data) else 0xFF
        if first < 24:
            return (first, at + 1) if first < cells else _MISFIT
        if first == _NULL:
            return None, at + 1
        width = _WIDTHS.get(first, 0)
        if not width or at + 1 + width > len(data):
            return _MISFIT
        value = int.from_bytes(data[at + 1 : at + 1 + width], "big")
        shortest = value >= (24 if width == 1 else 1 << (4 * width))
        return (value, at + 1 + width) if shortest and value < cells else _MISFIT

    return read


def _bits(shape: ReportShape) -> Read:
    head = encoded(bytes(shape.length))[: -shape.length]

    def read(data: bytes, at: int) -> tuple[Report | None, int]:
        if data.startswith(head, at):
            start = at + len(head)
            report = data[start : start + shape.length]
            return (report, start + shape.length) if shape.accepts(report) else _MISFIT
        return (None, at + 1) if data[at : at + 1] == b"\xf6" else _MISFIT

    return read
