"""One donation at a time: taken, or refused for one of a few stated reasons."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from discreet.errors import InvalidInput
from discreet.survey.device.cbor import decoded
from discreet.survey.device.donation import (
    VERSION,
    Donation,
    donation_from_cbor,
    donation_from_json,
)
from discreet.survey.spec.plan import SurveyPlan

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
