"""Joining two lists of people: columns as common codes, equal keys, and keys that nearly agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, islice

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.anonymize.groups import packed
from discreet.base.arrays import Bits, Integers

MISSING = -1
MOST_SUBSETS = 255
"""All subsets of eight columns; of more columns only the smaller subsets are tried."""
MOST_ROWS = 40_000_000
"""Rows that are looked at for all subsets together; each subset takes a pass over the table."""


@dataclass(frozen=True, slots=True, eq=False)
class KeyColumn:
    """One column of both tables in common codes, MISSING where nothing is known.

    For dates the code is a number of days; for everything else `values` has the texts.
    """

    name: str
    first: Integers
    second: Integers
    values: tuple[str, ...] | None

    @property
    def is_date(self) -> bool:
        """Return whether codes are days, which can be near each other."""
        return self.values is None


def coded(name: str, first: pa.ChunkedArray, second: pa.ChunkedArray) -> KeyColumn:
    """Return a column of two tables in common codes; text is compared without outer blanks."""
    days, more = _days(first), _days(second)
    if days is not None and more is not None:
        return KeyColumn(name, days, more, None)
    texts = [pc.utf8_trim_whitespace(part.cast(pa.string())) for part in (first, second)]
    texts = [pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text) for text in texts]
    values = pc.drop_null(pc.unique(pa.chunked_array([*texts[0].chunks, *texts[1].chunks])))
    codes = [
        pc.fill_null(pc.index_in(text, values), MISSING).to_numpy().astype(np.int64)
        for text in texts
    ]
    return KeyColumn(name, codes[0], codes[1], tuple(values.to_pylist()))


def _days(column: pa.ChunkedArray) -> Integers | None:
    """Return days since 1970 where every known cell is a date, otherwise None."""
    if not (pa.types.is_date(column.type) or pa.types.is_string(column.type)):
        return None
    try:
        found = column.cast(pa.date32()).cast(pa.int32())
    except pa.ArrowException:
        return None
    if len(found) and found.null_count == len(found):
        return None
    # Days before 1970 are negative, and a negative code means "missing".
    shifted = pc.add(found.cast(pa.int64()), _EPOCH)
    days: Integers = pc.fill_null(shifted, MISSING).to_numpy().astype(np.int64)
    return days


_EPOCH = 800_000
"""Days from before the year 1 to 1970."""


def keys(columns: Sequence[tuple[Integers, Integers]]) -> tuple[Integers, Integers]:
    """Return one number for each combination of codes, the same in both tables; MISSING if any is.

    >>> first, second = keys([(np.array([0, 1, -1]), np.array([1])), (np.array([0, 2, 0]), np.array([2]))])
    >>> bool(first[1] == second[0]), int(first[2])
    (True, -1)
    """
    codes = np.stack([np.concatenate(pair) for pair in columns])
    known = np.maximum(codes, 0)
    total, _ = packed(list(known), [int(column.max(initial=0)) + 1 for column in known])
    total[(codes < 0).any(axis=0)] = MISSING
    cut = len(columns[0][0])
    return total[:cut], total[cut:]


def singled_out(key: Integers) -> float:
    """Return the share of rows whose key nobody else has; a row with a missing value hides."""
    if not len(key):
        return 0.0
    _, counts = np.unique(key[key != MISSING], return_counts=True)
    return float((counts == 1).sum()) / len(key)


def subsets(columns: Sequence[str], *, most: int = MOST_SUBSETS) -> list[tuple[str, ...]]:
    """Return the subsets of the columns, small ones first, at most `most`; all columns are the last.

    >>> subsets(["zip", "sex"])
    [('zip',), ('sex',), ('zip', 'sex')]
    """
    smaller = chain.from_iterable(combinations(columns, n) for n in range(1, len(columns)))
    return [*islice(smaller, max(0, most - 1)), tuple(columns)]


def uniqueness(
    table: pa.Table, columns: Sequence[str], *, largest: int | None = None
) -> dict[tuple[str, ...], float]:
    """Return for subsets of columns the share of rows that each singles out.

    All subsets of at most `largest` columns, or fewer of them where the table is long; and always all
    columns together.
    """
    empty = table.slice(0, 0)
    found = {name: coded(name, table[name], empty[name]).first for name in columns}
    nothing = np.empty(0, dtype=np.int64)
    most = min(MOST_SUBSETS, max(len(columns) + 1, MOST_ROWS // max(1, table.num_rows)))
    return {
        subset: singled_out(keys([(found[name], nothing) for name in subset])[0])
        for subset in subsets(columns, most=most)
        if largest is None or len(subset) <= largest or len(subset) == len(columns)
    }


def narrowed(table: pa.Table, row: int, columns: Sequence[str]) -> list[int]:
    """Return how many rows equal this one in the first column, in the first two, and so on."""
    same = np.ones(table.num_rows, dtype=np.bool_)
    counts = []
    for name in columns:
        equal = pc.fill_null(pc.equal(table[name], table[name][row]), fill_value=False)
        same &= np.asarray(equal.to_numpy(), dtype=np.bool_)
        counts.append(int(same.sum()))
    return counts


MOST_TOGETHER = 10_000
"""Pairs of people behind one key: more are hopeless to tell apart and are not compared."""
LEAST_GAIN = 2.0
"""How many times as many near partners as in an invented list there must be."""


@dataclass(frozen=True, slots=True)
class MatchTolerance:
    """How far two people's columns may differ: one column at a time.

    Dates by up to `days`; texts by one typing error (a letter wrong, missing, extra, or two swapped)
    where `typos` is set, or after the first `prefix` letters where that is not 0.
    """

    days: int = 0
    prefix: int = 0
    typos: bool = False

    def near(self, one: str, other: str) -> bool:
        """Return whether two different texts may mean the same."""
        if self.prefix and one[: self.prefix] == other[: self.prefix]:
            return True
        return self.typos and one_typo(one, other)


@dataclass(frozen=True, slots=True, eq=False)
class PersonLinks:
    """Pairs of rows that are claimed to be one person; the first `exact` of them agree in full."""

    first: Integers
    second: Integers
    exact: int


def link(columns: Sequence[KeyColumn], slack: MatchTolerance | None = None) -> PersonLinks:
    """Return the pairs of rows for whom no other partner fits, on either side.

    Whoever agrees exactly with one person is linked to that person. With a slack, those who are left
    are linked where exactly one other person differs from them by a little in one column.
    """
    one, two = _partners(*keys([(column.first, column.second) for column in columns]))
    exact = len(one)
    if slack is None:
        return PersonLinks(one, two, exact)
    free = np.ones(len(columns[0].first), np.bool_), np.ones(len(columns[0].second), np.bool_)
    free[0][one], free[1][two] = False, False
    rows = np.flatnonzero(free[0]), np.flatnonzero(free[1])
    left = [
        KeyColumn(column.name, column.first[rows[0]], column.second[rows[1]], column.values)
        for column in columns
    ]
    more = _near_links(left, slack)
    return PersonLinks(
        np.concatenate([one, rows[0][more[:, 0]]]),
        np.concatenate([two, rows[1][more[:, 1]]]),
        exact,
    )


def _near_links(columns: Sequence[KeyColumn], slack: MatchTolerance) -> Integers:
    """Return pairs of rows that nearly agree, wherever nearness means something.

    A made-up list, in which nobody is real because one column was shuffled, finds as many partners as
    chance gives. A kind of nearness that links fewer than twice as many real rows is not believed.
    """
    invented = _invented(columns)
    found = [np.empty((0, 2), np.int64)]
    for real, fake in zip(columns, invented, strict=True):
        kinds = _kinds(real, _relaxed(columns, real, slack))
        controls = _kinds(fake, _relaxed(invented, fake, slack))
        for pairs, control in zip(kinds, controls, strict=True):
            if len(pairs) >= LEAST_GAIN * max(1, len(control)):
                found.append(pairs)
    return _alone(np.unique(np.concatenate(found), axis=0))


def _kinds(column: KeyColumn, pairs: Integers) -> list[Integers]:
    """Return the lonely pairs in two kinds: the first list's value exists in the second, or not.

    A ZIP code that nobody lives in is a slip of the pen; one that others have may be right.
    """
    lonely = _alone(pairs)
    exists = np.isin(column.first[lonely[:, 0]], column.second)
    return [lonely[exists], lonely[~exists]]


def _invented(columns: Sequence[KeyColumn]) -> list[KeyColumn]:
    """Return the columns with the most telling one of the first list shuffled among its rows."""
    most = max(columns, key=lambda column: len(np.unique(column.first)))
    order = np.random.default_rng(0).permutation(len(most.first))
    return [
        replace(column, first=column.first[order]) if column is most else replace(column)
        for column in columns
    ]


def _alone(pairs: Integers) -> Integers:
    """Return the pairs of which neither row has another partner."""
    return pairs[_lonely(pairs[:, 0]) & _lonely(pairs[:, 1])]


def one_typo(one: str, other: str) -> bool:
    """Return whether two texts differ by one letter wrong, missing or extra, or two swapped.

    >>> one_typo("20104", "20140"), one_typo("Ann", "Anne"), one_typo("20104", "20413")
    (True, True, False)
    """
    if len(one) > len(other):
        one, other = other, one
    if len(other) - len(one) > 1:
        return False
    start = 0
    while start < len(one) and one[start] == other[start]:
        start += 1
    if len(one) != len(other):
        return one[start:] == other[start + 1 :]
    swapped = one[start : start + 2] == other[start : start + 2][::-1]
    return one[start + 1 :] == other[start + 1 :] or (
        swapped and one[start + 2 :] == other[start + 2 :]
    )


def _partners(first: Integers, second: Integers) -> tuple[Integers, Integers]:
    """Return the rows whose key occurs exactly once in each table."""
    found = []
    for key in (first, second):
        values, rows, counts = np.unique(key, return_index=True, return_counts=True)
        once = (counts == 1) & (values != MISSING)
        found.append((values[once], rows[once]))
    _, a, b = np.intersect1d(found[0][0], found[1][0], assume_unique=True, return_indices=True)
    return found[0][1][a], found[1][1][b]


def _lonely(rows: Integers) -> Bits:
    """Return whether each entry occurs once."""
    counts = np.bincount(rows) if len(rows) else np.empty(0, np.int64)
    return np.asarray(counts[rows] == 1)


def _relaxed(columns: Sequence[KeyColumn], loose: KeyColumn, slack: MatchTolerance) -> Integers:
    """Return pairs that agree in all columns but `loose`, and there nearly."""
    if loose.is_date:
        shifts = [days for days in range(-slack.days, slack.days + 1) if days]
        parts = [_shifted(columns, loose, days) for days in shifts]
        return np.concatenate(parts) if parts else np.empty((0, 2), np.int64)
    rest = [(column.first, column.second) for column in columns if column is not loose]
    if not rest or not (slack.prefix or slack.typos):
        return np.empty((0, 2), np.int64)
    pairs = _pairs(*keys(rest))
    return pairs[_similar(loose, pairs, slack)]


def _shifted(columns: Sequence[KeyColumn], loose: KeyColumn, days: int) -> Integers:
    moved = np.where(loose.first == MISSING, MISSING, np.maximum(loose.first + days, MISSING))
    shifted = [(moved if column is loose else column.first, column.second) for column in columns]
    return _pairs(*keys(shifted))


def _pairs(first: Integers, second: Integers) -> Integers:
    """Return all pairs of rows with equal keys, except where a key has too many."""
    order = np.argsort(second, kind="stable")
    ordered = second[order]
    left = np.searchsorted(ordered, first, side="left")
    count = np.searchsorted(ordered, first, side="right") - left
    _, group, many = np.unique(first, return_inverse=True, return_counts=True)
    count[(first == MISSING) | (many[group] * count > MOST_TOGETHER)] = 0
    rows = np.repeat(np.arange(len(first)), count)
    inside = np.arange(len(rows)) - np.repeat(np.cumsum(count) - count, count)
    return np.stack([rows, order[np.repeat(left, count) + inside]], axis=1)


def _similar(loose: KeyColumn, pairs: Integers, slack: MatchTolerance) -> Bits:
    values = loose.values or ()
    codes = np.stack([loose.first[pairs[:, 0]], loose.second[pairs[:, 1]]], axis=1)
    distinct, which = np.unique(codes, axis=0, return_inverse=True)
    near = [
        a != b and min(a, b) != MISSING and slack.near(values[a], values[b])
        for a, b in distinct.tolist()
    ]
    return np.asarray(near, dtype=np.bool_)[which.reshape(-1)]
