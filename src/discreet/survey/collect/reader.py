"""Fast parser for well-formed donations: their bytes compared with the only layout that a survey's have.

Whatever does not fit is read again by `check`, which says why it is refused; so this decides nothing
but speed, and a test holds the two against each other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from discreet.survey.device.cbor import encoded
from discreet.survey.randomizers.base import Report, ReportShape
from discreet.survey.spec.plan import SurveyPlan

Read = Callable[[bytes, int], tuple[Report | None, int]]
"""Return the report at a place and where it ends; -1 stands for one that does not fit."""

_NULL = 0xF6
_ID = 16
_WIDTHS = {0x18: 1, 0x19: 2, 0x1A: 4}
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
