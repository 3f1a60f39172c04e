"""What a sensitive column gives away within each class: diversity, and closeness by the earth mover's distance, for all at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet.base.arrays import Floats, Integers


@dataclass(frozen=True, slots=True)
class Histogram:
    """Sensitive values by class, only those that occur, sorted by class and then by value.

    `classes` is the number of classes, `values` that of sensitive values; `whole` is the
    distribution in the whole table.
    """

    classes: int
    values: int
    klass: Integers = field(repr=False)
    codes: Integers = field(repr=False)
    rows: Integers = field(repr=False)
    whole: Floats = field(repr=False)

    @property
    def sizes(self) -> Integers:
        """Return the number of rows in each class."""
        found = np.bincount(self.klass, weights=self.rows, minlength=self.classes)
        return found.astype(np.int64)


def make_histogram(
    klass: Integers, codes: Integers, rows: Integers, *, classes: int, whole: Floats
) -> Histogram:
    """Return the histogram of pairs (class, value) that may occur several times."""
    values = len(whole)
    key = klass * values + codes
    if classes * values <= 8 * len(key) + 4096:
        sums = np.bincount(key, weights=rows, minlength=1)
        found = np.flatnonzero(sums)
        counts = sums[found].astype(np.int64)
    else:
        order = np.argsort(key, kind="stable")
        ordered = key[order]
        starts = np.flatnonzero(np.diff(ordered, prepend=-1))
        found = ordered[starts]
        counts = np.add.reduceat(rows[order], starts) if len(starts) else rows[:0]
    return Histogram(classes, values, found // values, found % values, counts, whole)


def sums_by_class(histogram: Histogram, terms: Floats) -> Floats:
    """Return the sum of one number for each pair, by class."""
    found = np.bincount(histogram.klass, weights=terms, minlength=histogram.classes)
    return found.astype(np.float64, copy=False)


def distinct_values(histogram: Histogram) -> Integers:
    """Return how many different sensitive values each class has."""
    return np.bincount(histogram.klass, minlength=histogram.classes)


def entropies(histogram: Histogram) -> Floats:
    """Return the entropy of the sensitive values of each class, in nats."""
    shares = histogram.rows / histogram.sizes[histogram.klass]
    terms = -shares * np.log(shares)
    return sums_by_class(histogram, terms)


def tops_and_tails(histogram: Histogram, length: int) -> tuple[Integers, Integers]:
    """Return for each class the count of its most frequent value, and of all from the l-th on."""
    order = np.lexsort((-histogram.rows, histogram.klass))
    klass, rows = histogram.klass[order], histogram.rows[order]
    starts = np.searchsorted(klass, np.arange(histogram.classes))
    rank = np.arange(len(klass)) - starts[klass]
    top = np.bincount(klass[rank == 0], weights=rows[rank == 0], minlength=histogram.classes)
    late = rank >= length - 1
    tail = np.bincount(klass[late], weights=rows[late], minlength=histogram.classes)
    return top.astype(np.int64), tail.astype(np.int64)


def equal_distances(histogram: Histogram) -> Floats:
    """Return the total variation distance between each class and the whole table.

    That is the earth mover's distance where any two values are equally far apart.
    """
    shares = histogram.rows / histogram.sizes[histogram.klass]
    # Only values that a class has can exceed their share in the table.
    excess = np.maximum(shares - histogram.whole[histogram.codes], 0.0)
    return sums_by_class(histogram, excess)


def ordered_distances(histogram: Histogram) -> Floats:
    """Return the earth mover's distance between each class and the whole table, values in order.

    Neighbouring values are 1/(m - 1) apart: the mean of |difference of the running sums| over the
    m - 1 gaps. Between two values that a class has its running sum is flat, so each such stretch
    is summed in one step with the running sums of the table's own.
    """
    values = histogram.values
    if values < 2:
        return np.zeros(histogram.classes)
    table = np.cumsum(histogram.whole)[: values - 1]
    below = np.concatenate(([0.0], np.cumsum(table)))
    klass, codes = histogram.klass, histogram.codes
    shares = histogram.rows / histogram.sizes[klass]
    running = np.cumsum(shares)
    first = np.diff(klass, prepend=-1) != 0
    before = (running - shares)[first]
    running = running - before[np.cumsum(first) - 1]
    ends = np.where(np.append(first[1:], True), values - 1, np.append(codes[1:], 0))
    total = _stretch(table, below, running, np.minimum(codes, values - 1), ends)
    # Before its first value a class has a running sum of nothing.
    lead = below[np.minimum(codes[first], values - 1)]
    found = sums_by_class(histogram, total)
    found[klass[first]] += lead
    return found / (values - 1)


def hierarchical_distances(histogram: Histogram, levels: Sequence[Integers]) -> Floats:
    """Return the earth mover's distance between each class and the whole table, over a tree.

    `levels[h][value]` is the label of a value at height h of a hierarchy whose root stands above the
    last of them. Two values are as far apart as the height of their lowest common label, the root's
    being 1 (Li, Li & Venkatasubramanian 2007). Every edge of the tree is then 1 / (2 H) long, and
    on a tree each edge carries exactly the difference of the masses below it: the distance is the
    mean, over the H heights below the root, of the total variation distance between the labels.
    """
    total = np.zeros(histogram.classes)
    for labels in levels:
        whole: Floats = np.bincount(labels, weights=histogram.whole).astype(np.float64)
        coarse = make_histogram(
            histogram.klass,
            labels[histogram.codes],
            histogram.rows,
            classes=histogram.classes,
            whole=whole,
        )
        total += equal_distances(coarse)
    return total / max(1, len(levels))


def _stretch(table: Floats, below: Floats, level: Floats, start: Integers, end: Integers) -> Floats:
    """Return the sum of |level - table[i]| for i in [start, end), `table` being in rising order."""
    turn = np.clip(np.searchsorted(table, level), start, end)
    lower = level * (turn - start) - (below[turn] - below[start])
    upper = (below[end] - below[turn]) - level * (end - turn)
    return np.asarray(lower + upper)


@dataclass(frozen=True, slots=True)
class Diversity:
    """The least varied class by each measure, and how many classes give their value away.

    `ordered_t` is None where the values have no order, `hierarchical_t` where nobody gave a tree. `recursive_c` is the least c for which the
    classes are recursively (c, l)-diverse with l = `distinct`; it is infinite for l = 1.
    """

    column: str
    distinct: int
    entropy: float
    recursive_c: float
    t: float
    ordered_t: float | None
    homogeneous_classes: float
    homogeneous_rows: float
    hierarchical_t: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return plain numbers; what is infinite or unknown is None."""
        finite = math.isfinite(self.recursive_c)
        return {
            "l": self.distinct,
            "entropy_l": self.entropy,
            "recursive_c": self.recursive_c if finite else None,
            "t": self.t,
            "ordered_t": self.ordered_t,
            "hierarchical_t": self.hierarchical_t,
            "homogeneous_classes": self.homogeneous_classes,
            "homogeneous_rows": self.homogeneous_rows,
        }


def diversity_of(
    column: str,
    histogram: Histogram,
    *,
    ordered: bool,
    levels: Sequence[Sequence[int]] = (),
) -> Diversity:
    """Return how varied a column is inside the classes; `ordered` if its codes follow an order.

    `levels` are the labels of the values at each height of a hierarchy, where there is one.
    """
    tree = [np.asarray(level, dtype=np.int64) for level in levels]
    sizes = histogram.sizes
    distinct = distinct_values(histogram)
    least = int(distinct.min())
    alike = distinct == 1
    return Diversity(
        column=column,
        distinct=least,
        entropy=float(np.exp(max(0.0, entropies(histogram).min()))),
        recursive_c=_recursive(histogram, least),
        t=float(equal_distances(histogram).max()),
        ordered_t=float(ordered_distances(histogram).max()) if ordered else None,
        homogeneous_classes=float(alike.mean()),
        homogeneous_rows=float(sizes[alike].sum() / sizes.sum()),
        hierarchical_t=float(hierarchical_distances(histogram, tree).max()) if tree else None,
    )


def _recursive(histogram: Histogram, least: int) -> float:
    """Return the least c with r_1 <= c (r_l + ... + r_m) in every class."""
    if least == 1:
        return math.inf
    top, tail = tops_and_tails(histogram, least)
    return float((top / tail).max())
