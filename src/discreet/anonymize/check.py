"""Measures any table: k, l, t and re-identification risks (`--check`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.anonymize.privacy_models.measures import Diversity, diversity_of, make_histogram
from discreet.anonymize.risk import ClassSizes, IntruderRisk, risk_of
from discreet.anonymize.source import AnonymizeSource
from discreet.errors import InvalidInput

NO_GUARANTEE = (
    "This is not a guarantee: it assumes that the adversary knows exactly these columns, once."
)
"""Stands in every output of this package."""


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredTable:
    """What a table looks like to somebody who knows the quasi-identifiers of everybody in it."""

    quasi: tuple[str, ...]
    sizes: ClassSizes
    risk: IntruderRisk
    diversity: tuple[Diversity, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the object that `discreet anonymize --check --json` prints."""
        return {
            "k": self.sizes.k,
            "rows": self.sizes.rows,
            "classes": self.sizes.count,
            "quasi": list(self.quasi),
            "discernibility": self.sizes.discernibility,
            "average_class_size": self.sizes.average,
            "sensitive": {each.column: each.to_json() for each in self.diversity},
            "risk": self.risk.to_json(),
            "says": NO_GUARANTEE,
        }


def measure(
    source: AnonymizeSource,
    quasi: Sequence[str],
    *,
    sensitive: Sequence[str] = (),
    population: int | None = None,
) -> MeasuredTable:
    """Return k, l, t and risks of a table; counted by the engine, missing is a value of its own."""
    columns = source.named(quasi)
    if not columns:
        raise InvalidInput(
            "Say which columns an adversary may know, with --quasi.",
            hint="For example --quasi zip,birth_date,sex.",
        )
    others = source.named(sensitive)
    both = [name for name in others if name in columns]
    if both:
        raise InvalidInput(f"'{both[0]}' cannot be quasi-identifier and sensitive at once.")
    if population is not None and population < 1:
        raise InvalidInput("The population must have at least one person.")
    sizes = class_sizes(source, columns)
    return MeasuredTable(
        quasi=columns,
        sizes=sizes,
        risk=risk_of(sizes, population),
        diversity=tuple(_diversity(source, columns, name) for name in others),
    )


def class_sizes(source: AnonymizeSource, quasi: Sequence[str]) -> ClassSizes:
    """Return how many classes there are of each size, by one GROUP BY on the engine."""
    keys = ", ".join(source.cell(name) for name in quasi)
    inner = f"SELECT COUNT(*) AS size FROM {source.relation} GROUP BY {keys}"
    found = source.run(f"SELECT size, COUNT(*) AS n FROM ({inner}) AS classes GROUP BY size")
    size, count = (found.column(name).cast(pa.int64()).to_numpy() for name in ("size", "n"))
    if not len(size):
        source.rows()  # says which rows are missing
    order = np.argsort(size)
    return ClassSizes(size[order].astype(np.int64), count[order].astype(np.int64))


def _diversity(source: AnonymizeSource, quasi: Sequence[str], column: str) -> Diversity:
    keys = ", ".join(source.cell(name) for name in quasi)
    cell = source.cell(column)
    found = source.run(
        f"SELECT DENSE_RANK() OVER (ORDER BY {keys}) AS class, {cell} AS value, COUNT(*) AS n "
        f"FROM {source.relation} GROUP BY {keys}, {cell}"
    )
    values = found.column("value").combine_chunks()
    codes, kinds = order_codes(values)
    classes = found.column("class").cast(pa.int64()).to_numpy() - 1
    rows = found.column("n").cast(pa.int64()).to_numpy()
    whole = np.bincount(codes, weights=rows, minlength=kinds) / rows.sum()
    histogram = make_histogram(classes, codes, rows, classes=int(classes.max()) + 1, whole=whole)
    return diversity_of(column, histogram, ordered=_has_order(values.type))


def order_codes(values: pa.Array) -> tuple[Any, int]:
    """Return each value's place in the order of all, missing last, and how many there are."""
    coded = values.dictionary_encode()
    ranks = np.empty(len(coded.dictionary), dtype=np.int64)
    ranks[np.asarray(pc.array_sort_indices(coded.dictionary))] = np.arange(len(ranks))
    places = np.asarray(coded.indices.fill_null(len(ranks)), dtype=np.int64)
    missing = int(coded.null_count > 0)
    return np.append(ranks, len(ranks))[places], len(ranks) + missing


def _has_order(kind: pa.DataType) -> bool:
    numbers = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    return bool(numbers or pa.types.is_temporal(kind))
