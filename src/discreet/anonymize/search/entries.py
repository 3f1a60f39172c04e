"""Rows grouped by quasi-identifiers while Mondrian and local recoding split classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.anonymize.groups import Groups
from discreet.anonymize.privacy_models.measures import make_histogram
from discreet.anonymize.privacy_models.model import Conditions
from discreet.core.arrays import Bits, Floats, Integers


@dataclass(frozen=True, slots=True)
class Entries:
    """Rows that may still be told apart: combination, sensitive value (or -1), how many, which part."""

    combination: Integers
    sensitive: Integers
    rows: Integers
    part: Integers

    def some(self, places: Integers | Bits, part: Integers) -> Entries:
        """Return those at these places, in these parts."""
        return Entries(self.combination[places], self.sensitive[places], self.rows[places], part)


def start_entries(groups: Groups, conditions: Conditions) -> Entries:
    """Return all rows in one part, sensitive values apart only where a model looks at them."""
    beside = groups.sensitive
    if beside is None or not conditions.needs_sensitive:
        count = groups.combinations
        nothing = np.full(count, -1, dtype=np.int64)
        return Entries(np.arange(count), nothing, groups.rows, np.zeros(count, dtype=np.int64))
    return Entries(beside.group, beside.codes, beside.rows, np.zeros(len(beside.rows), np.int64))


def judge(entries: Entries, conditions: Conditions, whole: Floats, parts: int) -> Bits:
    """Return which parts satisfy all models."""
    sizes = np.bincount(entries.part, weights=entries.rows, minlength=parts).astype(np.int64)
    histogram = None
    if conditions.needs_sensitive:
        histogram = make_histogram(
            entries.part, entries.sensitive, entries.rows, classes=parts, whole=whole
        )
    return conditions.judge(sizes, histogram).kept
