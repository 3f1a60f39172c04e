"""k-anonymity: at least k rows in every class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.anonymize.privacy_models.measures import Histogram
from discreet.anonymize.privacy_models.model import PrivacyModel, check_count
from discreet.core.arrays import Bits, Integers
from discreet.core.requests.unpaid import LocalAnonymizeFields


@dataclass(frozen=True, slots=True)
class KAnonymity(PrivacyModel):
    """At least k rows in every class."""

    k: int
    needs_sensitive = False
    superset_closed = True

    def __post_init__(self) -> None:
        check_count(self.k, "k")

    @property
    def smallest(self) -> int:
        """Return k."""
        return self.k

    def satisfied(self, sizes: Integers, histogram: Histogram | None) -> Bits:  # noqa: ARG002 protocol
        """Return which classes have k rows."""
        return np.asarray(sizes >= self.k)

    def words(self) -> str:
        """Return the condition in plain words."""
        return f"every class has at least {self.k} rows"


def asked(fields: LocalAnonymizeFields) -> KAnonymity | None:
    """Return the model that a request asks for."""
    return None if fields.k is None else KAnonymity(fields.k)
