"""Run the generated SQL and put the exact results in order, by group. Needs a receipt."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.core.schema import (
    BooleanDomain,
    CategoryDomain,
    DateDomain,
    Domain,
    IntegerDomain,
    NumberDomain,
)
from discreet.engine.base import Held, open_exact
from discreet.ledger.entry import Receipt
from discreet.plan.choose import Mechanisms
from discreet.plan.keys import PublicGroups
from discreet.plan.measure import Kind, Measure
from discreet.plan.plan import Question
from discreet.sql.render import Raw, Read, raws_of

Group = tuple[Any, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Exact:
    """Exact integers by measure and histograms by choice, one entry for each group, in order."""

    groups: tuple[Group, ...]
    measures: Mapping[str, list[int]]
    histograms: Mapping[str, npt.NDArray[np.int64]]


def run_exact(
    question: Question,
    mechanisms: Mechanisms,
    reads: tuple[Read, ...],
    receipt: Receipt,
    held: Held,
) -> Exact:
    """Return the exact results; only whoever holds a receipt can ask for them."""
    assert receipt.request_id, "a charge comes before a look"
    domains = [key.domain for key in question.statement.keys]
    sums: dict[Group, dict[Raw, int]] = {}
    histograms: dict[str, dict[Group, npt.NDArray[np.int64]]] = {}
    seconds = None if question.dataset.seconds is None else float(question.dataset.seconds)
    for read in reads:
        table = open_exact(held.run(read.sql, seconds=seconds))
        keys = [
            _encoded(column, domain)
            for column, domain in zip(table.columns[: len(domains)], domains, strict=True)
        ]
        found = _by_group(keys, table.num_rows)
        values = table.columns[len(domains) :]
        if read.choice is None:
            _add_sums(sums, found, [column.to_pylist() for column in values], read.raws)
        else:
            bins = mechanisms.selections[read.choice].bins
            histograms[read.choice] = _add_bins(found, values[0], values[1], bins)
    groups = _groups(question, sums, histograms)
    zero: dict[Raw, int] = {}
    return Exact(
        groups=groups,
        measures={
            name: [value_of(measure, sums.get(group, zero)) for group in groups]
            for name, measure in question.measured.measures
        },
        histograms={
            name: _stacked(found, groups, mechanisms.selections[name].bins)
            for name, found in histograms.items()
        },
    )


def _groups(
    question: Question,
    sums: Mapping[Group, Any],
    histograms: Mapping[str, Mapping[Group, Any]],
) -> tuple[Group, ...]:
    if isinstance(question.groups, PublicGroups):
        return tuple(question.groups)
    found = set(sums).union(*histograms.values())
    # In the order of the keys themselves, never in the engine's.
    return tuple(sorted(found, key=lambda group: [(value is not None, value) for value in group]))


@dataclass(frozen=True, slots=True, repr=False)
class _Places:
    """For each row of a result the place of its key, or of its group; and what stands there."""

    place: npt.NDArray[np.int64]
    values: list[Any]


def _encoded(column: pa.ChunkedArray, domain: Domain) -> _Places:
    """Return one key of all rows in its canonical form; each different value is looked at once."""
    coded = column.combine_chunks().dictionary_encode(null_encoding="encode")
    known: dict[Any, int] = {}
    moved = [
        known.setdefault(canonical(value, domain), len(known))
        for value in coded.dictionary.to_pylist()
    ]
    return _Places(np.array(moved, dtype=np.int64)[np.from_dlpack(coded.indices)], list(known))


def _integers(column: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    # Not to_numpy(): that imports pandas where it is installed, which takes a second.
    whole = np.from_dlpack(column.combine_chunks().cast(pa.int64()))
    return whole.astype(np.int64, copy=False)


def _by_group(keys: list[_Places], rows: int) -> _Places:
    """Return the group of each row."""
    if len(keys) == 1:
        return _Places(keys[0].place, [(value,) for value in keys[0].values])
    place = np.zeros(rows, dtype=np.int64)
    first = np.zeros(min(rows, 1), dtype=np.int64)
    for key in keys:
        _, first, place = np.unique(
            place * max(len(key.values), 1) + key.place, return_index=True, return_inverse=True
        )
    return _Places(place, [tuple(key.values[key.place[row]] for key in keys) for row in first])


def _add_sums(
    sums: dict[Group, dict[Raw, int]],
    found: _Places,
    values: list[list[Any]],
    raws: tuple[Raw, ...],
) -> None:
    for i, place in enumerate(found.place.tolist()):
        into = sums.setdefault(found.values[place], {})
        for raw, column in zip(raws, values, strict=True):
            # SUM over no row is NULL.
            into[raw] = into.get(raw, 0) + int(column[i] or 0)


def _add_bins(
    found: _Places, places: pa.ChunkedArray, counts: pa.ChunkedArray, bins: int
) -> dict[Group, npt.NDArray[np.int64]]:
    present = np.array(places.is_valid().to_pylist(), dtype=bool)
    where = _integers(places.drop_null())
    stacked = np.zeros((len(found.values), bins), dtype=np.int64)
    np.add.at(stacked, (found.place[present], where), _integers(counts)[present])
    return dict(zip(found.values, stacked, strict=True))


def _stacked(
    found: Mapping[Group, npt.NDArray[np.int64]], groups: tuple[Group, ...], bins: int
) -> npt.NDArray[np.int64]:
    empty = np.zeros(bins, dtype=np.int64)
    return np.stack([found.get(group, empty) for group in groups]) if groups else empty[:0]


def value_of(measure: Measure, raws: Mapping[Raw, int]) -> int:
    """Return a measure's exact value, in its grains, from what the engine added up."""
    parts = [raws.get(raw, 0) for raw in raws_of(measure)]
    match measure.kind:
        case Kind.CENTRED:
            total, count = parts
            value = 2 * total - measure.centre * count
        case Kind.SQUARES:
            squares, total, count = parts
            centre = measure.centre
            value = 4 * squares - 4 * centre * total + centre * centre * count
        case _:
            value = parts[0]
    return value // measure.grain


def canonical(value: Any, domain: Domain) -> Any:
    """Return a key as a declared value, None for everything else."""
    if value is None:
        return None
    match domain:
        case IntegerDomain(lower=lower, upper=upper):
            number = int(value)
            return number if lower <= number <= upper else None
        case NumberDomain(lower=lower, upper=upper, step=step):
            exact = Fraction(int(value)) * step
            return exact if lower <= exact <= upper else None
        case CategoryDomain():
            return value if domain.position(value) is not None else None
        case BooleanDomain():
            return bool(value)
        case DateDomain(lower=first, upper=last):
            day = value.date() if isinstance(value, dt.datetime) else value
            return day if first <= day <= last else None
        case _:
            return str(value)
