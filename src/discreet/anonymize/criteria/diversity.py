"""How varied a sensitive column is inside the classes: l-diversity and t-closeness, measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.anonymize.criteria.measures import (
    Histogram,
    distinct_values,
    entropies,
    equal_distances,
    hierarchical_distances,
    ordered_distances,
    tops_and_tails,
)


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
