"""Values at the ends of a column that owners should look at: codes for "missing", and extremes of few rows.

For the owner's eyes, like all that is read before a declaration.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.base.schema import Column, DateDomain, IntegerDomain, NumberDomain, TimestampDomain

ENDS = 12
"""So many different values at each end are read: more than are set aside, and the next beside them."""
MOST = 8
"""At each end no more values are set aside, and no longer run of codes is looked for."""
FEW = 5
"""An extreme that fewer rows have may be one person's; at most so many values are a group of codes."""
FENCES = 10
"""Quartile distances from the middle, or times the next value, beyond which an extreme is alone."""
TAIL, TIMES = 8, 4
"""So many values beside an extreme tell how wide a tail's steps are, and how many times that width is far."""

_DIGITS = {7, 8, 9}
_FAMILIES = {
    code
    for size in range(2, 7)
    for code in (*(int(digit * size) for digit in "789"), 10**size - 3, 10**size - 2)
}
_CODES = {-1, 32_767, 65_535, 2**31 - 1, -(2**31), *_DIGITS, *_FAMILIES}
_CODES |= {-code for code in _DIGITS | _FAMILIES}
_DAYS = {
    dt.date(year, month, day)
    for year, month, day in (
        *((1, 1, 1), (1582, 10, 15), (1601, 1, 1), (1753, 1, 1), (1800, 1, 1), (1899, 12, 30)),
        *((1899, 12, 31), (1900, 1, 1), (1901, 1, 1), (1904, 1, 1), (1970, 1, 1), (2099, 12, 31)),
        *((2100, 1, 1), (2199, 12, 31), (2999, 12, 31), (9999, 12, 31)),
    )
}


@dataclass(frozen=True, slots=True)
class ColumnEnds:
    """The least and the greatest values of a column with their rows, and its quartiles. The repr shows none.

    `values` are different and in order; in the middle some may be missing. Days are their ordinals.
    """

    values: tuple[tuple[Fraction, int], ...]
    quartiles: tuple[Fraction, Fraction]
    days: bool = False

    def __repr__(self) -> str:
        return "ColumnEnds(hidden)"


def has_ends(column: Column) -> bool:
    """Return whether the values of a column have an order that says what is far away."""
    return isinstance(column.by_day().domain, IntegerDomain | NumberDomain | DateDomain)


def ends_sql(cell: str, rows: str) -> str:
    """Return the query for the ends and quartiles of a column whose canonical cell is `cell`."""
    groups = (
        f"SELECT {cell} AS v, COUNT(*) AS n FROM {rows} WHERE {cell} IS NOT NULL GROUP BY {cell}"
    )
    placed = (
        "SELECT g.v AS v, g.n AS n, SUM(g.n) OVER (ORDER BY g.v) AS upto, SUM(g.n) OVER () AS filled, "
        "ROW_NUMBER() OVER (ORDER BY g.v) AS low, ROW_NUMBER() OVER (ORDER BY g.v DESC) AS high "
        f"FROM ({groups}) AS g"
    )
    quartiles = " OR ".join(
        f"(4 * p.upto >= {part} * p.filled AND 4 * (p.upto - p.n) < {part} * p.filled)"
        for part in (1, 3)
    )
    ends = f"p.low <= {ENDS} OR p.high <= {ENDS}"
    return f"SELECT p.* FROM ({placed}) AS p WHERE {ends} OR {quartiles}"


def ends_of(column: Column, rows: Sequence[Mapping[str, Any]]) -> ColumnEnds | None:
    """Return what the rows of `ends_sql` say; None for a column without values."""
    if not rows:
        return None
    domain = column.by_day().domain
    step = domain.step if isinstance(domain, NumberDomain) else Fraction(1)
    days = isinstance(domain, DateDomain | TimestampDomain)
    found = sorted(
        (
            Fraction(each["v"].toordinal()) if days else int(each["v"]) * step,
            int(each["n"]),
            int(each["upto"]),
            min(int(each["low"]), int(each["high"])) <= ENDS,
        )
        for each in rows
    )
    filled = int(rows[0]["filled"])
    first, third = (
        next(value for value, _, upto, _ in found if 4 * upto >= part * filled) for part in (1, 3)
    )
    at_ends = tuple((value, n) for value, n, _, at_end in found if at_end)
    return ColumnEnds(at_ends, (first, third), days)


def odd_values(ends: ColumnEnds, *, rows: int = 0) -> tuple[str, ...]:
    """Return a sentence for each value at an end that looks like a code for "missing", or stands alone.

    Looked at are the outermost value, the outermost two, and so on. The gap is that to the next value
    after them; the rest begins with that and ends where codes begin at the other end. They are odd if
    - all are usual codes (7 8 9, 77 88 99, 97 98 99, 997 998 999, -1, 1900-01-01, 9999-12-31 and their
      kin), negative ones where no other value is negative; others where the gap is above a tenth of
      the range of the rest (for 7, 8 and 9: above half of it), or where each is ten times as frequent
      as the next;
    - several rows have the outermost, or five rows a group narrower than the gap, and the gap is above
      half of the range of the rest;
    - they are fewer than five rows, and at least ten times the next value, or more than ten
      interquartile ranges outside of the quartiles with a gap above a quarter of the range of the rest,
      or the gap is four times as wide as the next eight values together (once, where they alone are
      on their side of zero): the last values of a long tail are no surprise. Where only one or two other
      values are, with more rows: at least ten times the next, or at a gap above ten and above ten times
      the distance of those two. Values of fewer than five rows at the other end do not count there: one
      far value does not hide another;
    - fewer than five cells of the column are filled, in a table of at least 50 `rows`.
    Odd values are set aside, then the next are looked at; the lower end again after the upper.
    """
    filled = sum(count for _, count in ends.values)
    if filled < FEW and rows >= FENCES * FEW:
        whose = f"is one of only {filled:,} values in {rows:,} rows"
        if filled == 1:
            whose = f"is the only value in {rows:,} rows"
        return tuple(
            f"{_shown(value, ends)} ({_rows(count)}) {whose}: a range tells of whoever has it"
            for value, count in ends.values
        )
    rest, found = list(ends.values), []
    left = {-1: MOST, 1: MOST}
    for outwards in (-1, 1, -1):
        while left[outwards] and len(rest) > 1:
            why, values = _why(rest, ends, outwards, left[outwards])
            if not why:
                why, values = _lonely(rest, ends, outwards)
            if not why:
                break
            place = 0 if outwards < 0 else -1
            for value, count in [rest.pop(place) for _ in range(values)]:
                found.append(f"{_shown(value, ends)} ({_rows(count)}) {why}")
            left[outwards] = max(0, left[outwards] - values)
    return tuple(found)


def _why(
    rest: Sequence[tuple[Fraction, int]], ends: ColumnEnds, outwards: int, most: int
) -> tuple[str, int]:
    """Return why so many values at an end are apart from the others; no word and none where they are not."""
    inwards = rest if outwards < 0 else rest[::-1]
    for size in range(1, min(most, len(rest) - 1) + 1):
        tail, others = inwards[:size], inwards[size:]
        plain = [each for each in others if not _is_code(each[0], ends)] or others
        near, far = others[0][0], plain[-1][0]
        gap, span = abs(tail[-1][0] - near), abs(far - near)
        if _are_codes(tail, others[0], far, ends):
            why = "looks like a code for a missing value: leave it outside of the declared range"
            return why, size
        width, rows = abs(tail[0][0] - tail[-1][0]), sum(count for _, count in tail)
        together = rows > 1 if size == 1 else size <= FEW <= rows and width < gap
        if together and len(plain) >= 3 and gap * 2 > span:
            why = (
                f"stands apart, the next is {_shown(near, ends)}: if it is a code for a missing "
                "value, leave it outside of the declared range"
            )
            return why, size
    return "", 0


def _are_codes(
    tail: Sequence[tuple[Fraction, int]],
    near: tuple[Fraction, int],
    far: Fraction,
    ends: ColumnEnds,
) -> bool:
    """Return whether the values of a tail are codes, by their gap to the next one or their frequency."""
    if not all(_is_code(value, ends) for value, _ in tail):
        return False
    gap, span = abs(tail[-1][0] - near[0]), abs(far - near[0])
    if not ends.days:
        if any(value < 0 for value, _ in tail):
            frequent = all(rows >= max(FEW, FENCES * near[1]) for _, rows in tail)
            return min(near[0], far) >= 0 or frequent
        if any(value in _DIGITS for value, _ in tail):
            return tail[0][0] > near[0] and gap > 1 and gap * 2 > span
        if sum(rows for _, rows in tail) == 1 and not _is_nines(tail[0][0]):
            return False
    return gap * 10 > span or all(rows >= max(FEW, FENCES * near[1]) for _, rows in tail)


def _lonely(
    rest: Sequence[tuple[Fraction, int]], ends: ColumnEnds, outwards: int
) -> tuple[str, int]:
    """Return why so many values at an end are far from all others; no word and none where they are not."""
    inwards = rest if outwards < 0 else rest[::-1]
    rows = 0
    for place, (value, count) in enumerate(inwards):
        rows += count
        others = inwards[place + 1 :]
        if rows >= FEW or not others:
            break
        near, far = others[0][0], others[-1][0]
        common = _without_lonely_end(others)
        if len(common) < 3:
            width = abs(common[-1][0] - near)
            apart = sum(count for _, count in common) > rows and (
                _is_times(value, near, ends, outwards)
                or abs(value - near) > FENCES * max(width, Fraction(1))
            )
        else:
            apart = _is_far(value, near, far, ends, outwards) or _is_past_the_tail(
                value, others, ends
            )
        if apart:
            why = (
                f"is far from the rest, which ends at {_shown(near, ends)}: a range that holds it tells "
                "of whoever has it, and adds noise to every sum"
            )
            return why, place + 1
    return "", 0


def _without_lonely_end(others: Sequence[tuple[Fraction, int]]) -> Sequence[tuple[Fraction, int]]:
    """Return the values without those of a few rows at the far end, where others are left."""
    size, rows = len(others), 0
    while size > 1 and rows + others[size - 1][1] < FEW:
        size -= 1
        rows += others[size][1]
    return others[:size]


def _is_past_the_tail(
    value: Fraction, others: Sequence[tuple[Fraction, int]], ends: ColumnEnds
) -> bool:
    """Return whether the gap to the next value is wider than the steps of the tail behind it explain."""
    if len(others) < TAIL:
        return False
    near, end = others[0][0], others[TAIL - 1][0]
    crosses = not ends.days and value < 0 <= min(near, others[-1][0])
    return abs(value - near) > abs(near - end) * (1 if crosses else TIMES)


def _is_far(
    value: Fraction, near: Fraction, far: Fraction, ends: ColumnEnds, outwards: int
) -> bool:
    first, third = ends.quartiles
    beyond = (value - third) if outwards > 0 else (first - value)
    apart = abs(value - near) * 4 > abs(far - near)
    if apart and third > first and beyond > FENCES * (third - first):
        return True
    return _is_times(value, near, ends, outwards)


def _is_times(value: Fraction, near: Fraction, ends: ColumnEnds, outwards: int) -> bool:
    """Return whether a value is many times the next one, on the same side of zero."""
    same_side = value * outwards > 0 and near * outwards > 0
    return not ends.days and same_side and abs(value) >= FENCES * abs(near)


def _is_code(value: Fraction, ends: ColumnEnds) -> bool:
    if ends.days:
        return dt.date.fromordinal(int(value)) in _DAYS
    return value in _CODES or _is_nines(value)


def _is_nines(value: Fraction) -> bool:
    digits = f"{float(abs(value)):.6f}".rstrip("0").replace(".", "")
    return len(digits) > 1 and set(digits) == {"9"}


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"


def _shown(value: Fraction, ends: ColumnEnds) -> str:
    if ends.days:
        return dt.date.fromordinal(int(value)).isoformat()
    return f"{int(value):,}" if value.denominator == 1 else f"{float(value):,.10g}"
