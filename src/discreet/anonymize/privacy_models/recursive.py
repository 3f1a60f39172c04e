"""Recursive (c, l)-diversity: no value of a class is much more frequent than the rarer ones together."""

from __future__ import annotations

import math
from dataclasses import dataclass

from discreet.anonymize.privacy_models.measures import Histogram, tops_and_tails
from discreet.anonymize.privacy_models.model import PrivacyModel, check_count, whole
from discreet.core.arrays import Bits
from discreet.core.requests.unpaid import LocalAnonymizeFields
from discreet.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class RecursiveDiversity(PrivacyModel):
    """Recursive (c, l): the most frequent value is rarer than c times all from the l-th on."""

    c: float
    l: int  # noqa: E741 the model's own name

    def __post_init__(self) -> None:
        check_count(self.l, "l of recursive diversity")
        if not math.isfinite(self.c) or self.c <= 0:
            raise InvalidInput("c of recursive diversity must be above 0.")

    @property
    def smallest(self) -> int:
        """Return l: the l-th value must be there."""
        return self.l

    def holds(self, histogram: Histogram) -> Bits:
        """Return which classes have r_1 < c (r_l + ... + r_m)."""
        top, tail = tops_and_tails(histogram, self.l)
        return top < self.c * tail

    def words(self) -> str:
        """Return the condition in plain words."""
        return (
            f"the most frequent sensitive value of a class is rarer than {self.c:g} times all "
            f"values from the {self.l}. on together"
        )


def asked(fields: LocalAnonymizeFields) -> RecursiveDiversity | None:
    """Return the model that a request asks for."""
    return None if fields.l is None else RecursiveDiversity(fields.c, whole(fields.l))
