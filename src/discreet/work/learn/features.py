"""Features of a model: columns as fine public cells, groups of codes, and shrinkage of their weights.

Cells come from the catalog alone. Which codes are told apart, and how far an estimate is believed, is decided
from noisy counts by class, so it costs nothing more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from discreet.ask.plan.ir import Scan
from discreet.base.arrays import Floats, Integers
from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    DateDomain,
    IdentifierDomain,
    IntegerDomain,
    NumberDomain,
    TextDomain,
    TimestampDomain,
)
from discreet.errors import InvalidInput, UnknownName
from discreet.measure.columns import (
    MOST_CODES,
    Coded,
    Encoding,
    Item,
    MadeUpIdentifier,
    Outline,
    too_many,
)
from discreet.measure.shape import merge_counts

MOST_CLASSES = 256

EQUAL_CELLS = 40
"""Cells of equal width, beside those that grow with the distance from zero."""


def chosen_items(outline: Outline, target: str, features: Sequence[str]) -> tuple[Item, ...]:
    """Return the columns that are read: the features, and last the target."""
    known = {
        item.name.lower(): item for item in outline.items if not isinstance(item, MadeUpIdentifier)
    }
    for name in (target, *features):
        if name.lower() not in known:
            raise UnknownName(
                f"Column '{name[:60]}' of table '{outline.table.name}' is not declared, or cannot be "
                "learned from.",
                hint=f"Columns: {', '.join(item.name for item in known.values())}.",
            )
    wanted = [name.lower() for name in features] or [n for n in known if n != target.lower()]
    if not wanted:
        raise InvalidInput("There is no column to predict from beside the target.")
    items = [known[name] for name in wanted]
    read = [feature_column(item) if isinstance(item, Coded) else item for item in items]
    return (*read, known[target.lower()])


def plain_columns(scan: Scan) -> dict[str, Coded]:
    """Return the columns of a table with declared values, each value a code; by name in small letters.

    What identifies, is hidden, waits for a review or is free text is not among them.
    """
    readable = {f.origin.column.name for f in scan.fields if f.origin is not None}
    unit = None if scan.table.unit is None else scan.table.unit.column
    found = {}
    for column in scan.table.columns:
        open_ = column.reviewed and not column.hidden and column.name != unit
        if not open_ or column.name not in readable:
            continue
        if not isinstance(column.domain, IdentifierDomain | TextDomain):
            found[column.name.lower()] = Coded(column.name, column.domain)
    return found


def plain_column(scan: Scan, name: str, for_what: str = "") -> Coded:
    """Return one of these columns by its name, or refuse it."""
    known = plain_columns(scan)
    if name.lower() not in known:
        raise UnknownName(
            f"Column '{name[:60]}' has no declared values{for_what}.",
            hint=f"Columns: {', '.join(each.name for each in known.values())}."
            if known
            else "Declare them in discreet.toml; of a bare file, --accept says that its values are public.",
        )
    return known[name.lower()]


def is_ordered(column: Coded) -> bool:
    """Return whether neighbouring codes are alike."""
    return not isinstance(column.domain, BooleanDomain | CategoryDomain)


def feature_column(item: Coded) -> Coded:
    """Return a feature whose gaps have a code, and whose numbers are divided finely."""
    column = replace(item, missing=True)
    if isinstance(item.domain, BooleanDomain | CategoryDomain):
        if column.size > MOST_CODES:
            raise too_many(column.name, column.values)
        return column
    if column.positions <= EQUAL_CELLS:
        return column
    return replace(column, edges=fine_cells(column))


def fine_cells(column: Coded) -> tuple[int, ...]:
    """Return the first positions of public cells: equal ones, and two to each doubling from zero.

    So both 36.0 to 42.0 degrees and incomes from nothing to millions are divided well. Not finer:
    a group of many cells has the noise of all of them.
    """
    positions = column.positions
    equal = set(range(0, positions, -(-positions // EQUAL_CELLS)))
    if isinstance(column.domain, DateDomain | TimestampDomain):
        return tuple(sorted(equal))
    assert isinstance(column.domain, IntegerDomain | NumberDomain)
    step = column.domain.step if isinstance(column.domain, NumberDomain) else 1
    zero = -int(Fraction(column.domain.lower) / step)
    away = _distances(max(abs(zero), abs(positions - zero)))
    near = {zero + d for d in away} | {zero + 1 - d for d in away}
    return tuple(sorted({0} | equal | {place for place in near if 0 <= place < positions}))


def _distances(far: int) -> list[int]:
    """Return distances from zero: 0, 1, 2, 3, 4, 6, 8, 12, 16, 24 and so on.

    >>> _distances(20)
    [0, 1, 2, 3, 4, 6, 8, 12, 16]
    """
    found, power = [0, 1], 2
    while power <= far:
        found += [power, 3 * power // 2]
        power *= 2
    return [distance for distance in found if distance <= far]


def check_target(item: Item) -> None:
    """Refuse, before anything is paid, a target whose classes cannot be told."""
    if not isinstance(item, Coded):
        if isinstance(getattr(item, "domain", None), IntegerDomain | NumberDomain):
            raise _numbers(item.name)
        return
    if isinstance(item.domain, NumberDomain | DateDomain | TimestampDomain) or item.edges:
        raise _numbers(item.name)
    if item.values < 2:
        raise InvalidInput(
            f"The target '{item.name}' has one declared value only: there is nothing to predict.",
            hint="Declare all the values that it can have. Nothing was charged.",
        )
    if item.values > MOST_CLASSES:
        raise InvalidInput(
            f"The target '{item.name}' has {item.values:,} declared values; at most "
            f"{MOST_CLASSES} classes can be learned.",
            hint="Group the values in the source, or use discreet learn regress for a number.",
        )


def _numbers(name: str) -> InvalidInput:
    return InvalidInput(
        f"The target '{name}' is a number with many values, not a class.",
        hint="Use discreet learn regress, or declare the classes in discreet.toml.",
    )


def encoding_of(table: str, features: Sequence[Coded], target: Coded) -> Encoding:
    """Return the features, and last the target: rows without a target are left out."""
    coded = [replace(feature, missing=True) for feature in features]
    return Encoding(table, (*coded, replace(target, missing=False)))


SEEN = 2.5
"""Standard deviations of noise that a group's count must exceed."""

DIFFERENT = 1.5
"""Mean squared difference of class shares, in units of its variance, that keeps neighbours apart:
about what shrinkage can still use."""

MOST_GROUPS = 24


@dataclass(frozen=True, slots=True, eq=False)
class BinnedFeature:
    """One feature: the group of each code, and noisy counts of each group by class.

    `column` is its place among the codes; `joined` says how many codes were counted for each group,
    which is how often the noise is in it. `ordered` tells how many of the groups stand in an order.
    """

    column: int
    groups: Integers
    counts: Floats
    joined: Floats
    ordered: int

    @property
    def sizes(self) -> Floats:
        """Return the noisy number of rows of each group, at least one."""
        return np.asarray(np.maximum(self.counts.sum(axis=1), 1.0))


def feature_of(
    column: int, counts: Floats, variance: float, *, ordered: bool, missing: bool
) -> BinnedFeature:
    """Return a feature from the noisy counts of its codes by class.

    `missing`: the last code stands for what is not there, and has no place in the order.
    """
    deviation = float(np.sqrt(variance))
    bar = SEEN * deviation * np.sqrt(counts.shape[1])
    known = len(counts) - (1 if missing else 0)
    if ordered and known > 0:
        groups = _ordered_groups(counts[:known], deviation, bar)
        places = int(groups.max()) + 1
        if missing:
            groups = np.append(groups, places)
    else:
        groups, places = _common(counts.sum(axis=1), bar), 0
    joined = np.bincount(groups).astype(np.float64)
    return BinnedFeature(column, groups, _together(counts, groups), joined, places)


def _together(counts: Floats, groups: Integers) -> Floats:
    return merge_counts(counts, (0,), {0: groups})


def _common(totals: Floats, bar: float) -> Integers:
    """Return a group for each common code, and one for all the rare ones."""
    groups = np.zeros(len(totals), dtype=np.int64)
    common = np.flatnonzero(totals >= bar)
    rare = len(common) < len(totals)
    groups[common] = np.arange(len(common)) + rare
    return groups


def _ordered_groups(counts: Floats, deviation: float, bar: float) -> Integers:
    groups = _standing_out(counts.sum(axis=1), bar)
    while groups[-1]:
        joined = np.bincount(groups).astype(np.float64)
        apart = _difference(_together(counts, groups), joined, deviation)
        least = int(np.argmin(apart))
        if apart[least] > DIFFERENT and len(joined) <= MOST_GROUPS:
            break
        groups = groups - (groups > least)
    return groups


def _standing_out(totals: Floats, bar: float) -> Integers:
    """Return runs of codes whose noisy counts reach the bar; a heavy code stands alone."""
    groups = np.zeros(len(totals), dtype=np.int64)
    held, current = 0.0, 0
    for i, total in enumerate(totals.tolist()):
        if i and (held >= bar or (total >= 3 * bar and held > bar / 3)):
            current, held = current + 1, 0.0
        groups[i] = current
        held += total
    if held < bar and current:
        groups[groups == current] = current - 1
    return groups


def _difference(counts: Floats, joined: Floats, deviation: float) -> Floats:
    """Return how different the class shares of neighbouring groups are, in units of variance."""
    sizes = np.maximum(counts.sum(axis=1), 1.0)
    shares = counts / sizes[:, None]
    both = (counts[1:] + counts[:-1]) / (sizes[1:] + sizes[:-1])[:, None]
    middle = np.clip(both, 0.02, 0.98)
    sampling = middle * (1 - middle) * (1 / sizes[1:] + 1 / sizes[:-1])[:, None]
    each = joined / sizes**2
    spread = (1 - middle) ** 2 + middle**2 * (counts.shape[1] - 1)
    noise = deviation**2 * (each[1:] + each[:-1])[:, None] * spread
    return np.asarray(((shares[1:] - shares[:-1]) ** 2 / (sampling + noise)).mean(axis=1))


LENGTH = 4.0
"""Groups over which the weights of an ordered feature forget each other."""

NARROWEST, WIDEST = 0.05, 1.0
"""Standard deviations of weights, in log-odds, that are believed at least and at most."""

TOGETHER = 0.6
"""A weight beside others is smaller than alone: features overlap."""


@dataclass(frozen=True, slots=True, eq=False)
class FeatureSignal:
    """How much a feature alone says: excess of chi-square over noise, and its deviation."""

    excess: float
    deviation: float
    spread: float


def class_shares(features: list[BinnedFeature]) -> Floats:
    """Return the share of each class, from the counts of all features together."""
    totals = np.maximum(np.mean([f.counts.sum(axis=0) for f in features], axis=0), 1.0)
    return np.asarray(totals / totals.sum())


def scored(values: Floats) -> Floats:
    """Return the columns that have a score: with two classes the second one only."""
    return values[..., 1:] if values.shape[-1] == 2 else values


def strength(feature: BinnedFeature, shares: Floats, variance: float) -> FeatureSignal:
    """Return what the noisy counts of a feature say about the target beyond chance."""
    seen = feature.sizes > SEEN * np.sqrt(variance * feature.joined * len(shares))
    if not seen.any():
        return FeatureSignal(0.0, 1.0, NARROWEST**2)
    sizes = feature.sizes[seen, None]
    gaps = scored(feature.counts[seen] - sizes * shares)
    odds = scored(shares * (1 - shares))
    kept = (1 - shares) ** 2 + shares**2 * (len(shares) - 1)
    error = variance * feature.joined[seen, None] * scored(kept) + sizes * odds
    weight = sizes * odds
    excess = float(((gaps**2 - error) / weight).sum())
    deviation = float(np.sqrt((2 * (error / weight) ** 2).sum()))
    rows, outputs = float(sizes.sum()), gaps.shape[1]
    spread = float(((gaps**2 - error) / weight**2 * sizes).sum()) / rows / outputs
    return FeatureSignal(excess, deviation, float(np.clip(spread, NARROWEST**2, WIDEST**2)))


def curvature(feature: BinnedFeature, shares: Floats, variance: float) -> Floats:
    """Return about how fast the residuals of each group fall when its weight grows."""
    sizes = feature.sizes[:, None]
    doubt = 2 * float(np.sqrt(variance))
    local = np.clip((np.maximum(feature.counts, 0) + doubt * shares) / (sizes + doubt), 0, 1)
    return scored(sizes * np.maximum(shares * (1 - shares), local * (1 - local)))


def shrinkage(feature: BinnedFeature, spread: float, curve: Floats, noise: float) -> list[Floats]:
    """Return for each score the matrix that turns estimated weights into believed ones.

    `noise` is the variance of a sum of residuals when all rounds are taken together.
    """
    size = len(feature.sizes)
    prior = np.eye(size)
    place = np.arange(feature.ordered)
    near = np.exp(-np.abs(place[:, None] - place) / LENGTH)
    prior[: feature.ordered, : feature.ordered] = near
    prior *= spread * TOGETHER**2
    found = []
    for column in curve.T:
        error = np.diag((column + noise) / column**2)
        found.append(np.asarray(prior @ np.linalg.inv(prior + error)))
    return found
