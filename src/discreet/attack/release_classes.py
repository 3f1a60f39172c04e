"""Classes of a k-anonymous release, and what they say about the sensitive value of their members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from discreet.anonymize.groups import group_table, packed
from discreet.anonymize.privacy_models.distinct import DistinctDiversity
from discreet.anonymize.privacy_models.model import PrivacyModel
from discreet.anonymize.recode import entries
from discreet.anonymize.search import AnonymizeMethod, anonymize
from discreet.core.arrays import Floats, Integers
from discreet.errors import InvalidInput
from discreet.report import Figure, lines

SIZES = (2, 3, 5, 10, 20, 50)
"""The sweep over k in the pictures."""
SURE = 0.9
"""Confidence from which a value counts as all but known."""


@dataclass(frozen=True, slots=True, eq=False)
class ClassRelease:
    """A release: the class of each row (-1: left out), its sensitive value, and counts by class."""

    klass: Integers
    value: Integers
    values: tuple[str, ...]
    counts: Integers

    @classmethod
    def of(cls, klass: Integers, value: Integers, values: Sequence[str]) -> ClassRelease:
        """Return the release with these classes."""
        kept = klass >= 0
        classes = int(klass.max(initial=-1)) + 1
        cells = klass[kept] * len(values) + value[kept]
        counts = np.bincount(cells, minlength=classes * len(values))
        return cls(klass, value, tuple(values), counts.reshape(classes, len(values)))

    @property
    def smallest(self) -> int:
        """Return k: the size of the smallest class."""
        return int(self.counts.sum(axis=1).min()) if len(self.counts) else 0

    def shares(self, rows: Integers) -> Floats:
        """Return for each row how its class's sensitive values are distributed."""
        counts = self.counts[self.klass[rows]].astype(np.float64)
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))


@dataclass(frozen=True, slots=True)
class ClassKnowledge:
    """How much is known of some people: guessed right, known for sure, known to 90%; of how many."""

    people: int
    right: int
    certain: int
    nearly: int

    @classmethod
    def of(cls, beliefs: Floats, truth: Integers) -> ClassKnowledge:
        """Return what beliefs (rows that add up to 1, over values) amount to."""
        guess = beliefs.argmax(axis=1)
        best = beliefs.max(axis=1, initial=0.0)
        return cls(
            people=len(truth),
            right=int((guess == truth).sum()),
            certain=int((best >= 1 - 1e-12).sum()),
            nearly=int((best >= SURE).sum()),
        )

    def shares(self) -> dict[str, float]:
        """Return the shares under their names."""
        many = max(1, self.people)
        return {
            "guessed right": self.right / many,
            "known for certain": self.certain / many,
            "known with 90% confidence": self.nearly / many,
        }


def release_of(
    table: pa.Table,
    quasi: Sequence[str],
    sensitive: str,
    *,
    values: Sequence[str],
    k: int,
    diversity: int = 1,
) -> ClassRelease:
    """Return the release that `discreet anonymize` makes of a table, one row a person."""
    models: tuple[PrivacyModel, ...] = (DistinctDiversity(diversity),) if diversity > 1 else ()
    groups = group_table(table, quasi, sensitive=sensitive)
    made = anonymize(groups, {}, k=k, models=models, method=AnonymizeMethod.MONDRIAN)
    klass = made.recoding.klass[entries(table, groups, made.recoding)]
    return ClassRelease.of(klass, codes_of(table[sensitive], values), values)


def codes_of(column: pa.ChunkedArray, values: Sequence[str]) -> Integers:
    """Return the place of each cell among the values."""
    place = {value: i for i, value in enumerate(values)}
    try:
        return np.array([place[str(cell)] for cell in column.to_pylist()], dtype=np.int64)
    except KeyError:
        raise InvalidInput("A sensitive value is not among the listed ones.") from None


def read_release(
    table: pa.Table, quasi: Sequence[str], sensitive: str, *, values: Sequence[str] | None = None
) -> ClassRelease:
    """Return a release as its file shows it: rows that read the same in `quasi` are one class."""
    cells = [str(cell) for cell in table[sensitive].to_pylist()]
    known = tuple(sorted(set(cells))) if values is None else tuple(values)
    found = [table[n].combine_chunks().dictionary_encode(null_encoding="encode") for n in quasi]
    codes = [each.indices.to_numpy(zero_copy_only=False).astype(np.int64) for each in found]
    key, _ = packed(codes, [len(each.dictionary) for each in found])
    klass = np.unique(key, return_inverse=True)[1]
    return ClassRelease.of(klass, codes_of(pa.chunked_array([cells]), known), known)


def picture_by_k(
    title: str, swept: Mapping[int, Mapping[str, float]], baseline: float, caption: str
) -> tuple[Figure, ...]:
    """Return the picture of shares of people by k, beside guessing; none where nothing was swept."""
    if not swept:
        return ()
    names = next(iter(swept.values()))
    spec = lines(
        {name: [(float(k), shares[name]) for k, shares in swept.items()] for name in names},
        threshold=baseline,
        mark="guessing",
        title="share of people",
        across="k",
        scale="log",
    )
    return (Figure(title, spec, caption),)


def without(
    beliefs: Floats, truth: Integers, *, excluded: int, dice: np.random.Generator
) -> Floats:
    """Return beliefs after the adversary rules out values that the person is known not to have.

    Background knowledge: `excluded` of the wrong values that the class still allows, drawn at
    random ("she is not the one with the broken arm").
    """
    possible = beliefs > 0
    possible[np.arange(len(truth)), truth] = False
    lots = np.where(possible, dice.random(beliefs.shape), 2.0)
    order = lots.argsort(axis=1)[:, :excluded]
    left = beliefs.copy()
    np.put_along_axis(
        left,
        order,
        np.where(np.take_along_axis(possible, order, 1), 0.0, np.take_along_axis(left, order, 1)),
        1,
    )
    return np.asarray(left / left.sum(axis=1, keepdims=True))
