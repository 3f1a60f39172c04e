"""Entropy l-diversity: the values of every class as uncertain as l equally likely ones."""

from __future__ import annotations

import math
from dataclasses import dataclass

from discreet.anonymize.privacy_models.measures import Histogram, entropies
from discreet.anonymize.privacy_models.model import SLACK, PrivacyModel
from discreet.core.arrays import Bits
from discreet.core.requests.unpaid import LocalAnonymizeFields
from discreet.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class EntropyDiversity(PrivacyModel):
    """Sensitive values of every class at least as uncertain as l equally likely ones."""

    l: float  # noqa: E741 the model's own name

    def __post_init__(self) -> None:
        if not math.isfinite(self.l) or self.l < 1:
            raise InvalidInput("l of entropy diversity must be a number of at least 1.")

    @property
    def smallest(self) -> int:
        """Return l rounded up: so many values are needed."""
        return math.ceil(self.l - SLACK)

    def holds(self, histogram: Histogram) -> Bits:
        """Return which classes have an entropy of at least log l."""
        return entropies(histogram) >= math.log(self.l) - SLACK

    def words(self) -> str:
        """Return the condition in plain words."""
        return (
            "the sensitive values of every class are at least as uncertain as "
            f"{self.l:g} equally likely ones"
        )


def asked(fields: LocalAnonymizeFields) -> EntropyDiversity | None:
    """Return the model that a request asks for."""
    return None if fields.l is None else EntropyDiversity(fields.l)
