"""Roots, logarithms, exponentials and powers over large domains: straight lines between public points.

What an engine's own LN says in its last digit depends on the machine. So an engine never computes it:
the function is worked out here at `MOST` points of the declared range at most, and the SQL goes from
point to point in straight lines, with whole numbers only. Every engine gives the same integers, and
how far they lie from the function follows from the declared range alone (`Curve.error`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from discreet.errors import QueryRefused
from discreet.plan.functions.registry import SCALARS, planned
from discreet.plan.functions.shapes import CurveShape
from discreet.plan.lattices import FINE, LARGEST

MOST = 256
"""Pieces of one function, and its last point: the lines miss it by less than a 10,000th of its range."""

_DIGITS = 9
"""Digits of the greatest value that count; never more than six behind the point."""


@dataclass(frozen=True, slots=True)
class CurvePiece:
    """From `first` on the value is `value + (y - first) * rise // run`, all in whole steps."""

    first: int
    value: int
    rise: int
    run: int


@dataclass(frozen=True, slots=True)
class Curve:
    """A function over whole steps from `pieces[0].first` on; NULL before.

    `lower` and `upper` are its ends in whole numbers of `step`; `error` is the greatest distance to
    the function itself.
    """

    pieces: tuple[CurvePiece, ...]
    lower: int
    upper: int
    step: Fraction
    error: float


CURVES = frozenset(
    name for name in SCALARS if (row := planned(name)) is not None and row.curve is not None
)
"""What may be drawn; a power of 0 or 1 is none."""


def _shape(function: str, exponent: Fraction | None) -> CurveShape:
    row = planned(function)
    found = None if row is None else row.curve
    assert found is not None, "asked of curves only"
    if isinstance(found, CurveShape):
        return found
    assert exponent is not None, "a function of its exponent"
    return found(exponent)


@lru_cache(maxsize=256)
def curve(
    function: str,
    exponent: Fraction | None,
    *,
    low: Fraction,
    high: Fraction,
    step: Fraction,
) -> Curve | None:
    """Return a function over low, low + step, ..., high as straight pieces; None where it is NULL."""
    shape = _shape(function, exponent)
    if function == "power" and low < 0 and exponent is not None and exponent.denominator == 1:
        raise QueryRefused(
            f"A power of {exponent} is drawn over numbers from 0 on, and these begin below.",
            hint="Use GREATEST(x, 0) or ABS(x), or write the product out: x * x * x.",
            construct="power",
        )
    first, last = int(low / step), int(high / step)
    if shape.from_zero is not None:
        first = max(first, 0 if shape.from_zero else 1)
    if last < first:
        return None
    try:
        return _drawn(shape, first, last, step)
    except (OverflowError, ZeroDivisionError):
        raise _too_large() from None


def _drawn(shape: CurveShape, first: int, last: int, step: Fraction) -> Curve:
    size = float(step)
    ends = [shape.value(at * size) for at in (first, last)]
    fine = _fine(max(map(abs, ends)))
    points = _points(shape, first, last, size)
    values = {at: round(Fraction(shape.value(at * size)) / fine) for at in points}
    pieces = [
        # Nothing lies between two neighbours.
        CurvePiece(one, values[one], values[two] - values[one] if two - one > 1 else 0, two - one)
        for one, two in pairwise(points)
    ]
    pieces.append(CurvePiece(last, values[last], 0, 1))
    reach = last - first
    if any(abs(piece.rise) * reach >= LARGEST for piece in pieces):
        raise _too_large()
    whole = sorted((values[first], values[last]))
    missed = max(_missed(shape, piece, size) for piece in pieces)
    return Curve(tuple(pieces), whole[0], whole[1], fine, missed + 1.5 * float(fine))


def _fine(most: float) -> Fraction:
    """Return the step of the values: a millionth, or nine digits of the greatest."""
    if most <= FINE / 1_000:
        return Fraction(1, FINE)
    return Fraction(10) ** (math.ceil(math.log10(most)) - _DIGITS)


def _points(shape: CurveShape, first: int, last: int, size: float) -> list[int]:
    """Return at most `MOST` + 1 whole steps, closer where the function bends more."""
    if last - first <= MOST:
        return list(range(first, last + 1))
    span = abs(shape.even(last * size) - shape.even(first * size))
    narrow, wide = span / (2 * MOST), span / 8
    found = _walk(shape, first, last, size, wide)
    for _ in range(40):
        middle = math.sqrt(narrow * wide)
        tried = _walk(shape, first, last, size, middle)
        if len(tried) <= MOST + 1:
            found, wide = tried, middle
        else:
            narrow = middle
    return found


def _walk(shape: CurveShape, first: int, last: int, size: float, by: float) -> list[int]:
    """Return steps `by` apart on the even scale; cut short where they are too many."""
    found, at = [first], first
    upwards = shape.even(last * size) > shape.even(first * size)
    while at < last and len(found) <= MOST + 1:
        even = shape.even(at * size) + (by if upwards else -by)
        beyond = even <= 0 and not upwards
        ahead = last if beyond else min(shape.back(even) / size, float(last))
        at = min(max(at + 1, math.floor(ahead)), last)
        found.append(at)
    return found if at == last else [*found, last, last]


def _missed(shape: CurveShape, piece: CurvePiece, size: float) -> float:
    """Return how far the line of a piece is from the function where it is farthest.

    Between two points of a curve that bends one way the distance rises, then falls.
    """
    if piece.run == 1:
        return 0.0
    one, two = piece.first * size, (piece.first + piece.run) * size
    start, end = shape.value(one), shape.value(two)

    def distance(at: float) -> float:
        return abs(shape.value(at) - start - (end - start) * (at - one) / (two - one))

    left, right = one, two
    for _ in range(25):
        near, far = left + (right - left) / 3, right - (right - left) / 3
        if distance(near) < distance(far):
            left = near
        else:
            right = far
    return 1.01 * distance((left + right) / 2)


def _too_large() -> QueryRefused:
    return QueryRefused(
        "This expression can become too large to be summed exactly.",
        hint="Narrow the range with WHERE or LEAST, or use a coarser step.",
        construct="overflow",
    )
