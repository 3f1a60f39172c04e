"""Confidence sets for quotients (Fieller) and variances, from noisy values and their noise laws alone.

Note 0034 has the arguments. No normal curve, no plugging in of estimates: each set holds the truth
with the stated confidence whatever the truth is, counted over all answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

from discreet.kernel.mechanism import Law
from discreet.noise.error_bars import CELLS as WHOLE
from discreet.noise.error_bars import combined_half_width
from discreet.release.bars.forms import Ratio, Spread
from discreet.release.bars.intervals import EVERYTHING, Interval, as_float

MEAN_FAILS = Fraction(1, 10)
"""Of what may fail: the part spent on where the mean is, before its variance is bounded."""

CELLS = 1 << 12
LEAST_SUMMED = Fraction(2, 10**8)
MOST_KNOWN = 20_000
_GRIDS = {2: 1.02, 3: 1.04}
"""The ratio of neighbouring coefficients, by how many noises are added."""
_FARTHEST = 1e300
_STEPS = 10
_CLOSE = 1e-9
_DOUBLINGS = 64
_HALVINGS = 30
_PASSES = 4


def ratio_set(
    form: Ratio, row: Mapping[str, Any], laws: Mapping[str, Law], failure: Fraction
) -> Interval:
    """Return Fieller's set for a quotient, as an interval, cut to the range that the output has.

    Guarantee: holds constant + factor * true top / true bottom but for `failure`, over all answers:
        where the divisor may be 0 the set is unbounded and the result is the whole range, infinite
        where the output has none. Where no value of a range agrees with the noise, that is the
        whole range too: an empty set would claim an error of 0.
    """
    low, high = _quotients(form.top, form.bottom, row, laws, 1 - failure)
    factor, constant = as_float(form.factor), as_float(form.constant)
    first, last = sorted((constant + factor * low, constant + factor * high))
    least = -math.inf if form.low is None else as_float(form.low)
    most = math.inf if form.high is None else as_float(form.high)
    both = math.isfinite(least) and math.isfinite(most)
    if both and (first > most or last < least):
        return least, most
    return min(max(first, least), most), min(max(last, least), most)


def spread_set(
    form: Spread, row: Mapping[str, Any], laws: Mapping[str, Law], failure: Fraction
) -> Interval:
    """Return an interval for a variance.

    Guarantee: holds the true variance but for `failure`, over all answers: the mean m is in its own
        set but for a tenth of it; for the true m and variance v the noise of squares - 2m * centred +
        (m^2 - v) * count is beyond its half width with at most the other nine. All v that agree with
        that for any such m are kept.
    """
    most = as_float(form.high)
    squares, centred = (
        as_float(form.square * row[form.squares]),
        as_float(form.factor * row[form.centred]),
    )
    count = as_float(row[form.count])
    if count <= 0:
        return 0.0, most
    on_mean = failure * MEAN_FAILS
    ends = _quotients(form.centred, form.count, row, laws, 1 - on_mean)
    widest = math.sqrt(most)
    means = [min(max(as_float(form.factor) * end, -widest), widest) for end in ends]
    middle = min(max(centred / count, means[0]), means[1])
    # Squares around m, over all m that are left: least at the middle, most at an end.
    around = [squares - 2 * m * centred + m * m * count for m in (middle, *means)]
    low, high = 0.0, most
    for _ in range(_PASSES):
        half = _spread_half_width(form, laws, means, (low, high), 1 - failure + on_mean)
        before = low, high
        low = max(low, (min(around) - half) / count)
        high = min(high, (max(around) + half) / count)
        if not low <= high:
            return 0.0, most
        if high - low > 0.99 * (before[1] - before[0]):
            break
    return low, high


def _spread_half_width(
    form: Spread,
    laws: Mapping[str, Law],
    means: list[float],
    within: Interval,
    confidence: Fraction,
) -> float:
    """Return the widest half width over all means and variances between the ends."""
    far = max(abs(m) for m in means)
    near = 0.0 if means[0] <= 0 <= means[1] else min(abs(m) for m in means)
    on_count = max(abs(far * far - within[0]), abs(near * near - within[1]))
    square = as_float(form.square)
    three = (laws[form.squares], laws[form.centred], laws[form.count])
    return square * _widths(three, confidence).at(
        2 * far * as_float(form.factor) / square, on_count / square
    )


def _quotients(
    top: str, bottom: str, row: Mapping[str, Any], laws: Mapping[str, Law], confidence: Fraction
) -> Interval:
    """Return the ends of all q with |top - q * bottom| within the noise of that difference."""
    above, below = laws[top], laws[bottom]
    over, under = as_float(row[top]), as_float(row[bottom])
    if abs(under) <= below.half_width(confidence):
        return EVERYTHING
    middle = over / under
    if not math.isfinite(middle):
        return EVERYTHING

    widths = _widths((above, below), confidence)

    def reach(quotient: float) -> float:
        return widths.at(abs(quotient)) / abs(under)

    return _edge(reach, middle, -1), _edge(reach, middle, 1)


def _edge(reach: Callable[[float], float], middle: float, sign: int) -> float:
    """Return where, going from `middle` to one side, quotients are farther from it than `reach`."""
    end = middle
    for _ in range(_STEPS):
        moved = middle + sign * reach(end)
        if abs(moved - end) <= _CLOSE * abs(moved):
            return moved
        end = moved
    # The divisor is not far from 0, so the reach grows nearly as fast as the quotient.
    inside, step = end, sign * reach(end)
    outside = inside + step
    for _ in range(_DOUBLINGS):
        if abs(outside - middle) > reach(outside):
            return _bisected(reach, middle, (inside, outside))
        step *= 2
        inside, outside = outside, outside + step
    return sign * math.inf


def _bisected(reach: Callable[[float], float], middle: float, ends: tuple[float, float]) -> float:
    inside, outside = ends
    for _ in range(_HALVINGS):
        half = (inside + outside) / 2
        if abs(half - middle) > reach(half):
            outside = half
        else:
            inside = half
    return outside


class _Widths:
    """Half widths of X0 + a * X1 (+ b * X2), each a and b taken at the next point of a grid.

    At most a grid step too wide; and the same few points serve every group, so they are computed
    once. What adds less than a twentieth of X0's deviation is taken as that: a thousandth wider.
    """

    def __init__(self, laws: tuple[Law, ...], confidence: Fraction) -> None:
        self.laws = laws
        self.confidence = confidence
        self.log = math.log(_GRIDS[len(laws)])
        # At a huge epsilon a variance underflows to 0; a millionth is as good as nothing, and divides.
        first, *others = (max(math.sqrt(float(law.variance)), 1e-6) for law in laws)
        self.floors = [first / 20 / other for other in others]
        self.known: dict[tuple[int, ...], float] = {}

    def at(self, *sizes: float) -> float:
        """Return the half width for these sizes of the other coefficients, or a little more."""
        places = tuple(
            math.ceil(math.log(min(max(size, floor), _FARTHEST)) / self.log)
            for size, floor in zip(sizes, self.floors, strict=True)
        )
        found = self.known.get(places)
        if found is None:
            found = self._computed(places)
            if len(self.known) >= MOST_KNOWN:
                self.known.clear()
            self.known[places] = found
        return found

    def _computed(self, places: tuple[int, ...]) -> float:
        sizes = [Fraction(1), *(Fraction(math.exp(self.log * place)) for place in places)]
        near = [size.limit_denominator(10**6) or size for size in sizes]
        terms = tuple(zip(near, self.laws, strict=True))
        return summed_half_width(terms, self.confidence, cells=CELLS)


def summed_half_width(
    terms: tuple[tuple[Fraction, Law], ...], confidence: Fraction, *, cells: int = WHOLE
) -> float:
    """Return the half width of a weighted sum of independent noises, whatever the confidence is.

    Beyond what convolutions are exact for, each noise is bounded by itself.
    """
    failure = 1 - confidence
    if len(terms) > 1 and failure < LEAST_SUMMED:
        each = 1 - failure / len(terms)
        return as_float(sum(abs(c) * law.half_width(each) for c, law in terms))
    return float(combined_half_width(terms, confidence, cells=cells))


@lru_cache(maxsize=256)
def _widths(laws: tuple[Law, ...], confidence: Fraction) -> _Widths:
    return _Widths(laws, confidence)
