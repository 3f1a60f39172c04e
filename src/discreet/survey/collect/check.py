"""One donation at a time: taken, or refused for one of a few stated reasons."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

from discreet.errors import InvalidInput
from discreet.survey.device.cbor import decoded, read_item
from discreet.survey.device.donation import (
    ID_BYTES,
    Donation,
    donation_from_cbor,
    donation_from_json,
)
from discreet.survey.randomizers.base import ReportShape
from discreet.survey.spec.plan import VERSION, SurveyPlan

_OVERHEAD = 64


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


@dataclass(frozen=True)
class DonationCheck:
    """What donations to one survey must look like."""

    plan: SurveyPlan

    @cached_property
    def shapes(self) -> tuple[ReportShape, ...]:
        """Return which reports each question can have."""
        return tuple(choice.randomizer.shape for choice in self.plan.choices)

    @cached_property
    def largest(self) -> int:
        """Return how many bytes of CBOR a donation can have."""
        return _OVERHEAD + sum(9 + shape.length for shape in self.shapes)

    @cached_property
    def beginning(self) -> bytes:
        """Return how every donation to this survey begins, up to the bytes of its own id."""
        return Donation(self.plan.id, bytes(ID_BYTES), ()).to_cbor()[: -ID_BYTES - 1]

    def from_cbor(self, data: bytes) -> Donation | Refusal:
        """Return the donation that these bytes are, or why they are refused."""
        if len(data) > self.largest:
            return Refusal.TOO_LARGE
        try:
            if data.startswith(self.beginning):  # the usual case, read without a detour
                reports, end = read_item(data, len(self.beginning) + ID_BYTES, 1)
                one_use = data[len(self.beginning) : len(self.beginning) + ID_BYTES]
                if end != len(data) or not isinstance(reports, list):
                    return Refusal.MALFORMED
                return self.possible(Donation(self.plan.id, one_use, tuple(reports)))  # type: ignore[arg-type]  # checked there
            return self.examined(donation_from_cbor(data))
        except InvalidInput:
            return Refusal.VERSION if _other_version(data) else Refusal.MALFORMED

    def from_json(self, stated: Any) -> Donation | Refusal:
        """Return the donation that a JSON twin states, or why it is refused."""
        try:
            return self.examined(donation_from_json(stated))
        except InvalidInput:
            version = stated.get("version") if isinstance(stated, dict) else None
            other = isinstance(version, int) and version != VERSION
            return Refusal.VERSION if other else Refusal.MALFORMED

    def examined(self, donation: Donation) -> Donation | Refusal:
        """Return a donation whose reports are possible ones of this survey, or why it is refused."""
        if donation.survey != self.plan.id:
            return Refusal.SURVEY
        return self.possible(donation)

    def possible(self, donation: Donation) -> Donation | Refusal:
        """Return a donation whose reports could come from the randomizers, or why it is refused."""
        shapes, empty = self.shapes, True
        if len(donation.reports) != len(shapes):
            return Refusal.SHAPE
        for report, shape in zip(donation.reports, shapes, strict=True):
            if report is None:
                continue
            empty = False
            if not shape.accepts(report):
                return Refusal.SHAPE
        return Refusal.EMPTY if empty else donation


def _other_version(data: bytes) -> bool:
    """Return whether these bytes are an array that begins with another version's number."""
    try:
        item = decoded(data)
    except InvalidInput:
        return False
    return isinstance(item, list) and bool(item) and isinstance(item[0], int) and item[0] != VERSION
