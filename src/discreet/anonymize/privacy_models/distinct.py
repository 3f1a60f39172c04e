"""Distinct l-diversity: at least l different sensitive values in every class."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.anonymize.privacy_models.measures import Histogram, distinct_values
from discreet.anonymize.privacy_models.model import PrivacyModel, check_count, whole
from discreet.core.arrays import Bits
from discreet.core.requests.unpaid import LocalAnonymizeFields


@dataclass(frozen=True, slots=True)
class DistinctDiversity(PrivacyModel):
    """At least l different sensitive values in every class."""

    l: int  # noqa: E741 the model's own name
    superset_closed = True

    def __post_init__(self) -> None:
        check_count(self.l, "l of distinct diversity")

    @property
    def smallest(self) -> int:
        """Return l: each value needs a row."""
        return self.l

    def holds(self, histogram: Histogram) -> Bits:
        """Return which classes have l values."""
        return distinct_values(histogram) >= self.l

    def words(self) -> str:
        """Return the condition in plain words."""
        return f"every class has at least {self.l} different sensitive values"


def asked(fields: LocalAnonymizeFields) -> DistinctDiversity | None:
    """Return the model that a request asks for."""
    return None if fields.l is None else DistinctDiversity(whole(fields.l))
