"""Exact results of admitted reads, and the noise added to them before anyone sees them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.base.arrays import Integers
from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    DateDomain,
    Domain,
    IntegerDomain,
    NumberDomain,
    TimestampDomain,
)
from discreet.data.engines.base import PaidReader, open_exact, require_paid
from discreet.privacy.kernel.mechanism import LargestGroup, Law, Mechanisms, Selection
from discreet.privacy.kernel.nodes import Unfit
from discreet.privacy.kernel.rehearsal import SeedRequest, words_for
from discreet.privacy.kernel.seal import Read, exact_of
from discreet.privacy.noise.rng import Rng
from discreet.privacy.noise.select import exponential, exponential_rows, permute_and_flip

Group = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Noisy:
    """What may be shown: noisy integers by measure, and by choice the number of the chosen bin.

    `threshold`: what the noisy number of units of each group had to reach, where groups are private.
    """

    groups: tuple[Group, ...]
    measures: Mapping[str, list[int]]
    choices: Mapping[str, list[int]]
    threshold: int | None = None


@dataclass(frozen=True, slots=True, repr=False)
class ExactResults:
    """The exact results, by group; only `look` and tests may hold one."""

    groups: tuple[Group, ...]
    measures: Mapping[str, list[int]]
    histograms: Mapping[str, Integers]


def look(
    reads: tuple[Read, ...],
    mechanisms: Mechanisms,
    *,
    domains: tuple[Domain, ...],
    groups: Iterable[Group] | None,
    reader: PaidReader,
    rng: Rng,
    seconds: float | None = None,
    rehearsal: SeedRequest | None = None,
) -> Noisy:
    """Return the noisy results of reads whose mechanisms were admitted and paid for.

    `domains` are those of the keys, `groups` the public list of groups, None where groups are private:
    then they are thresholded. A group that is not listed is dropped; a bin outside its histogram counts
    as the nearest one. With `rehearsal` the noise is that of a seed, which `words_for` refuses for rows
    that were not declared public, before any is read.

    Guarantee: what is returned is what `mechanisms.event` says: each measure gets independent noise of
        its law, each choice is one draw of the exponential mechanism; groups below the threshold vanish
        with everything about them, and the count that is compared is the one that is shown.
    """
    if (groups is None) != (mechanisms.units is not None):
        raise Unfit("private groups without a threshold, or public ones with one")
    words = rng if rehearsal is None else words_for(rehearsal, reads)
    found = exact(reads, mechanisms, domains, groups, reader, seconds=seconds)
    return noised(found, mechanisms, words)


def noised(found: ExactResults, mechanisms: Mechanisms, rng: Rng) -> Noisy:
    """Return exact results with fresh noise; groups below a threshold vanish."""
    if mechanisms.top is not None:
        (counts,) = found.measures.values()
        return Noisy((found.groups[_largest(counts, mechanisms.top, rng)],), {}, {})
    size = len(found.groups)
    measures = {
        name: [
            value + noise
            for value, noise in zip(found.measures[name], draw(law, size, rng), strict=True)
        ]
        for name, law in mechanisms.laws.items()
    }
    choices = {
        name: _choose(found.histograms[name], selection, rng)
        for name, selection in mechanisms.selections.items()
    }
    if mechanisms.units is None:
        return Noisy(found.groups, measures, choices)
    return _above_threshold(found.groups, measures, choices, mechanisms)


def _above_threshold(
    groups: tuple[Group, ...],
    measures: Mapping[str, list[int]],
    choices: Mapping[str, list[int]],
    mechanisms: Mechanisms,
) -> Noisy:
    if mechanisms.threshold is None or mechanisms.units is None:
        raise Unfit("private groups that were not admitted")
    units = measures[mechanisms.units]
    kept = [i for i in range(len(groups)) if units[i] >= mechanisms.threshold]
    return Noisy(
        tuple(groups[i] for i in kept),
        {name: [values[i] for i in kept] for name, values in measures.items()},
        {name: [values[i] for i in kept] for name, values in choices.items()},
        mechanisms.threshold,
    )


def draw(law: Law, size: int, rng: Rng) -> list[int]:
    """Return fresh noise of a law, as Python integers."""
    return [int(value) for value in law.draw(size, rng)]


def exact(
    reads: tuple[Read, ...],
    mechanisms: Mechanisms,
    domains: tuple[Domain, ...],
    listed: Iterable[Group] | None,
    reader: PaidReader,
    *,
    seconds: float | None = None,
) -> ExactResults:
    """Return the exact results of sealed reads, by group."""
    require_paid(reader)
    if any(read.facts.keys != len(domains) + (read.draft.choice is not None) for read in reads):
        raise Unfit("keys that are not those of the SQL")
    groups = None if listed is None else tuple(listed)
    if groups is not None and len(set(groups)) != len(groups):
        raise Unfit("a group that is listed twice would be looked at twice")
    sums: list[dict[Group, tuple[int, ...]]] = []
    histograms: dict[str, dict[Group, Integers]] = {}
    for read in reads:
        table = open_exact(reader.run(read.draft.sql, seconds=seconds))
        places = _groups(table, domains)
        values = table.columns[len(domains) :]
        if read.draft.choice is None:
            sums.append(_sums(places, [column.to_pylist() for column in values]))
        else:
            bins = mechanisms.selections[read.draft.choice].bins
            histograms[read.draft.choice] = _bins(places, values[0], values[1], bins)
            sums.append({})
    if groups is None:
        # Only groups with units to be counted: the threshold was made for the groups of that read.
        shown = [
            found
            for read, found in zip(reads, sums, strict=True)
            if mechanisms.units in read.bounds
        ]
        # In the order of the keys themselves, never in the engine's.
        every = set().union(*shown)
        groups = tuple(sorted(every, key=lambda g: [(value is not None, value) for value in g]))
    measures = {
        name: [
            exact_of(read.draft.measures[name], bound, found.get(group, _ZEROS)) for group in groups
        ]
        for read, found in zip(reads, sums, strict=True)
        for name, bound in read.bounds.items()
    }
    stacked = {
        name: _stacked(found, groups, mechanisms.selections[name].bins)
        for name, found in histograms.items()
    }
    return ExactResults(groups, measures, stacked)


class _Zeros(tuple[int, ...]):
    """Nothing was added up: every output is 0."""

    __slots__ = ()

    def __getitem__(self, _place: Any) -> Any:
        return 0


_ZEROS = _Zeros()


@dataclass(frozen=True, slots=True, repr=False)
class _Places:
    """For each row of a result the place of its key, or of its group; and what stands there."""

    place: Integers
    values: list[Any]


def _groups(table: pa.Table, domains: tuple[Domain, ...]) -> _Places:
    """Return the group of each row of a result."""
    keys = [
        _encoded(column, domain)
        for column, domain in zip(table.columns[: len(domains)], domains, strict=True)
    ]
    if len(keys) == 1:
        return _Places(keys[0].place, [(value,) for value in keys[0].values])
    place = np.zeros(table.num_rows, dtype=np.int64)
    first = np.zeros(min(table.num_rows, 1), dtype=np.int64)
    for key in keys:
        _, first, place = np.unique(
            place * max(len(key.values), 1) + key.place, return_index=True, return_inverse=True
        )
    return _Places(place, [tuple(key.values[key.place[row]] for key in keys) for row in first])


def _encoded(column: pa.ChunkedArray, domain: Domain) -> _Places:
    """Return one key of all rows in its canonical form; each different value is looked at once."""
    whole = column.combine_chunks()
    if pa.types.is_dictionary(whole.type):
        whole = whole.cast(whole.type.value_type)
    coded = whole.dictionary_encode(null_encoding="encode")
    known: dict[Any, int] = {}
    moved = [
        known.setdefault(_listed(value, domain), len(known))
        for value in coded.dictionary.to_pylist()
    ]
    return _Places(np.array(moved, dtype=np.int64)[np.from_dlpack(coded.indices)], list(known))


class _Unlisted:
    """Stands for keys outside their domain: never a group, and never added to one."""


_UNLISTED = _Unlisted()


def _listed(value: Any, domain: Domain) -> Any:
    found = canonical(value, domain)
    return _UNLISTED if found is None and value is not None else found


def _integers(column: pa.ChunkedArray) -> Integers:
    # Not to_numpy(): that imports pandas where it is installed, which takes a second.
    whole = np.from_dlpack(column.combine_chunks().cast(pa.int64()))
    return whole.astype(np.int64, copy=False)


def _sums(found: _Places, values: list[list[Any]]) -> dict[Group, tuple[int, ...]]:
    """Return the outputs by group.

    Guarantee: no row takes another's place. The SQL groups by its keys and `canonical` keeps
        different keys apart, whatever domain a planner names, so each group comes once; what was
        bounded for the SQL's groups is bounded for these. Were there two rows of one group all the
        same, they are added up: then a unit still moves the sums by no more than it moved the rows
        (in L1), while the last one winning would make one unit's row erase everybody's. Refusing
        here would be too late: whether two rows meet depends on who is in the data.
    """
    sums: dict[Group, tuple[int, ...]] = {}
    nothing = (0,) * len(values)
    for i, place in enumerate(found.place.tolist()):
        group = found.values[place]
        if _UNLISTED in group:
            continue
        # SUM over no row is NULL.
        row = (int(column[i] or 0) for column in values)
        sums[group] = tuple(a + b for a, b in zip(sums.get(group, nothing), row, strict=True))
    return sums


def _bins(
    found: _Places, places: pa.ChunkedArray, counts: pa.ChunkedArray, bins: int
) -> dict[Group, Integers]:
    present = np.array(places.is_valid().to_pylist(), dtype=bool)
    where = np.clip(_integers(places.drop_null()), 0, bins - 1)
    stacked = np.zeros((len(found.values), bins), dtype=np.int64)
    np.add.at(stacked, (found.place[present], where), _integers(counts)[present])
    by_group = zip(found.values, stacked, strict=True)
    return {group: counts for group, counts in by_group if _UNLISTED not in group}


def _stacked(found: Mapping[Group, Integers], groups: tuple[Group, ...], bins: int) -> Integers:
    empty = np.zeros(bins, dtype=np.int64)
    return np.stack([found.get(group, empty) for group in groups]) if groups else empty[:0]


def _largest(counts: list[int], top: LargestGroup, rng: Rng) -> int:
    choose = permute_and_flip if top.flip else exponential
    return choose(
        np.array(counts, dtype=np.int64),
        top.sensitivity,
        top.epsilon,
        monotone=top.monotone,
        rng=rng,
    )


def _choose(histograms: Integers, selection: Selection, rng: Rng) -> list[int]:
    """Return the number of one bin for each group."""
    if not len(histograms):
        return []
    utilities = rank_utilities(histograms, selection.quantile)
    sensitivity = selection.sensitivity * selection.quantile.denominator
    chosen = exponential_rows(utilities, sensitivity, selection.epsilon, rng=rng)
    return [int(index) for index in chosen]


def rank_utilities(histograms: Integers, quantile: Fraction) -> Integers:
    """Return minus how many ranks each bin is off a quantile, times the denominator of the quantile.

    The rows of a bin hold the ranks from those below it to those below or in it, and a bin that holds
    rank q n is off by nothing. Some bin always is: together they hold all ranks from 0 to n.

    Guarantee: a row that is added or removed moves each utility by at most max(q, 1-q), a row that
        takes another value by at most 1. [docs/notes/0108-a-quantile-among-equals.md]
    """
    top, bottom = quantile.numerator, quantile.denominator
    until = np.cumsum(histograms, axis=-1)
    rows = until[..., -1:]
    before, after = until - histograms, rows - until
    too_high = bottom * before - top * rows
    too_low = bottom * after - (bottom - top) * rows
    off: Integers = np.maximum(0, np.maximum(too_high, too_low))
    return -off


def canonical(value: Any, domain: Domain) -> Any:
    """Return a key as a declared value, None for everything else.

    Guarantee: total, whatever the value is: it never raises because of what a row says. And
        one-to-one: two different keys of a column never become the same one, whatever domain is
        named, because a planner that names a wrong one must not fold the SQL's groups into each
        other (a unit that is in two groups by 1 each would be in one by 2, for which Gaussian noise
        was not made).
    """
    if value is None:
        return None
    match domain:
        case IntegerDomain(lower=lower, upper=upper):
            number = _whole(value)
            return number if number is not None and lower <= number <= upper else None
        case NumberDomain(lower=lower, upper=upper, step=step):
            number = _whole(value)
            exact = None if number is None else number * step
            return exact if exact is not None and lower <= exact <= upper else None
        case CategoryDomain():
            return value if isinstance(value, str) and domain.position(value) is not None else None
        case BooleanDomain():
            return value if isinstance(value, bool) else None
        case DateDomain(lower=first, upper=last):
            day = _day(value)
            return day if day is not None and first <= day <= last else None
        case TimestampDomain(lower=begin, upper=end, step=step):
            return _moment(_whole(value), begin, end, step)
        case _:
            return str(value)


def _whole(value: Any) -> int | None:
    """Return an integer, also one that the engine hands over as a decimal; None for others."""
    if isinstance(value, int):
        return int(value)
    whole = isinstance(value, Decimal) and value.is_finite() and value == value.to_integral_value()
    return int(value) if whole else None


def _moment(
    steps: int | None, begin: dt.datetime, end: dt.datetime, step: int
) -> dt.datetime | None:
    """Return so many steps since 1970 as a moment; None outside the range."""
    if steps is None:
        return None
    first, last = ((bound - _EPOCH) // _SECOND for bound in (begin, end))
    inside = first <= steps * step <= last
    return _EPOCH + steps * step * _SECOND if inside else None


_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001  # moments are in UTC, without a zone
_SECOND = dt.timedelta(seconds=1)


def _day(value: Any) -> dt.date | None:
    """Return a day, also one that the engine hands over as its first moment; None for others."""
    if isinstance(value, dt.datetime):
        return value.date() if value.time() == dt.time() else None
    return value if isinstance(value, dt.date) else None
