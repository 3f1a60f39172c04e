"""Confidence sets of outputs over the noisy measures: linear, quotients (Fieller), variances, and anything else.

Linear outputs have exact error bars before anything is spent; ratios and variances get theirs from the noisy values
and their noise laws afterwards; everything else by interval arithmetic over joint bounds: where a result lies when
each measure lies in its own bounds.

Note 0034 has the arguments. No normal curve, no plugging in of estimates: each set holds the truth
with the stated confidence whatever the truth is, counted over all answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from discreet.ask.plan import expr as e
from discreet.ask.plan.expr import Expr, Operator
from discreet.privacy.kernel.mechanism import Law
from discreet.privacy.noise.error_bars import CELLS as WHOLE
from discreet.privacy.noise.error_bars import combined_half_width


@dataclass(frozen=True, slots=True)
class Linear:
    """constant + sum of coefficient * measure."""

    constant: Fraction
    terms: Mapping[str, Fraction]


@dataclass(frozen=True, slots=True)
class Ratio:
    """constant + factor * top / bottom for two different measures, held between two ends."""

    constant: Fraction
    factor: Fraction
    top: str
    bottom: str
    low: Fraction | None = None
    high: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Spread:
    """square * squares / count - (factor * centred / count)^2: a variance, at most `high`."""

    square: Fraction
    factor: Fraction
    squares: str
    centred: str
    count: str
    high: Fraction


def linear_form(expr: Expr) -> Linear | None:
    """Return `expr` as a linear form over measures, None if it is not one."""
    match expr:
        case e.Literal(value=value) if isinstance(value, int | Fraction) and not isinstance(
            value, bool
        ):
            return Linear(Fraction(value), {})
        case e.ColumnRef(name=name) if name.startswith("m"):
            return Linear(Fraction(0), {name: Fraction(1)})
        case e.Negate(operand=operand):
            return _times(linear_form(operand), Fraction(-1))
        case e.Arithmetic(operator=operator, left=left, right=right):
            return _arithmetic(operator, linear_form(left), linear_form(right))
        case e.Call(function="number", operand=operand):
            return linear_form(operand)
        case _:
            return None


def _arithmetic(operator: Operator, left: Linear | None, right: Linear | None) -> Linear | None:
    if left is None or right is None:
        return None
    match operator:
        case Operator.ADD:
            return _plus(left, right)
        case Operator.SUBTRACT:
            return _plus(left, _times(right, Fraction(-1)) or right)
        case Operator.MULTIPLY if not right.terms:
            return _times(left, right.constant)
        case Operator.MULTIPLY if not left.terms:
            return _times(right, left.constant)
        case Operator.DIVIDE if not right.terms and right.constant:
            return _times(left, 1 / right.constant)
        case _:
            return None


def _plus(left: Linear, right: Linear) -> Linear:
    terms = dict(left.terms)
    for name, coefficient in right.terms.items():
        terms[name] = terms.get(name, Fraction(0)) + coefficient
    kept = {name: coefficient for name, coefficient in terms.items() if coefficient}
    return Linear(left.constant + right.constant, kept)


def _times(form: Linear | None, factor: Fraction) -> Linear | None:
    if form is None:
        return None
    return Linear(
        form.constant * factor,
        {name: value * factor for name, value in form.terms.items() if factor},
    )


def ratio_form(expr: Expr) -> Ratio | None:
    """Return `expr` as constant + factor * top / bottom, None if it is not of that shape."""
    match expr:
        case e.Arithmetic(operator=operator, left=left, right=right):
            return _computed(operator, left, right)
        case e.Negate(operand=operand):
            return _moved(ratio_form(operand), Fraction(-1), Fraction(0))
        case e.Call(function="number", operand=operand):
            return ratio_form(operand)
        case e.Case(branches=((condition, value),), otherwise=e.Literal(value=None)):
            found = ratio_form(value)
            return found if found is not None and _is_positive(condition, found.bottom) else None
        case e.Extreme(operands=(inner, e.Literal(value=end))) if isinstance(end, int | Fraction):
            return _clamped(ratio_form(inner), Fraction(end), greatest=expr.greatest)
        case _:
            return None


def _computed(operator: Operator, left: Expr, right: Expr) -> Ratio | None:
    first, second = linear_form(left), linear_form(right)
    if operator is Operator.DIVIDE and first is not None and second is not None:
        return _quotient(first, second)
    if second is not None and not second.terms:
        return _with_constant(operator, ratio_form(left), second.constant)
    if first is not None and not first.terms and operator is Operator.SUBTRACT:
        return _moved(ratio_form(right), Fraction(-1), first.constant)
    if first is not None and not first.terms and operator in {Operator.ADD, Operator.MULTIPLY}:
        return _with_constant(operator, ratio_form(right), first.constant)
    return None


def _quotient(top: Linear, bottom: Linear) -> Ratio | None:
    if top.constant or bottom.constant or len(top.terms) != 1 or len(bottom.terms) != 1:
        return None
    ((above, one),), ((below, two),) = top.terms.items(), bottom.terms.items()
    return None if above == below else Ratio(Fraction(0), one / two, above, below)


def _with_constant(operator: Operator, found: Ratio | None, value: Fraction) -> Ratio | None:
    match operator:
        case Operator.ADD:
            return _moved(found, Fraction(1), value)
        case Operator.SUBTRACT:
            return _moved(found, Fraction(1), -value)
        case Operator.MULTIPLY if value:
            return _moved(found, value, Fraction(0))
        case Operator.DIVIDE if value:
            return _moved(found, 1 / value, Fraction(0))
        case _:
            return None


def _moved(found: Ratio | None, factor: Fraction, constant: Fraction) -> Ratio | None:
    """Return factor * found + constant."""
    if found is None:
        return None
    ends = [None if end is None else factor * end + constant for end in (found.low, found.high)]
    low, high = ends if factor > 0 else reversed(ends)
    return Ratio(
        factor * found.constant + constant,
        factor * found.factor,
        found.top,
        found.bottom,
        low,
        high,
    )


def _clamped(found: Ratio | None, end: Fraction, *, greatest: bool) -> Ratio | None:
    if found is None:
        return None
    best = max if greatest else min
    low, high = (None if old is None else best(old, end) for old in (found.low, found.high))
    if greatest:
        return replace(found, low=end if low is None else low, high=high)
    return replace(found, low=low, high=end if high is None else high)


def _is_positive(condition: Expr, name: str) -> bool:
    return condition == e.Compare(e.Comparison.GREATER, e.ColumnRef(name), e.Literal(0))


def spread_form(expr: Expr) -> Spread | None:
    """Return the variance that `measure.py` writes, None if `expr` is not one."""
    match expr:
        case e.Extreme(
            greatest=True,
            operands=(
                e.Extreme(greatest=False, operands=(inner, e.Literal(value=high))),
                e.Literal(value=0),
            ),
        ) if isinstance(high, int | Fraction):
            return _difference(inner, Fraction(high))
        case _:
            return None


def _difference(expr: Expr, high: Fraction) -> Spread | None:
    match expr:
        case e.Arithmetic(
            operator=Operator.SUBTRACT,
            left=left,
            right=e.Arithmetic(operator=Operator.MULTIPLY, left=one, right=two),
        ) if one == two:
            squares, centred = ratio_form(left), ratio_form(one)
        case _:
            return None
    if squares is None or centred is None or squares.bottom != centred.bottom:
        return None
    if squares.constant or centred.constant or squares.factor <= 0 or centred.factor <= 0:
        return None
    return Spread(squares.factor, centred.factor, squares.top, centred.top, squares.bottom, high)


def selects_inside(expr: Expr, noisy: AbstractSet[str]) -> bool:
    """Return whether noisy values decide in a cell what of it is shown: by CASE, COALESCE, a clamp, a root.

    Quotients and variances have a set in every cell, also where they are NULL, so their own conditions hide no
    error; and a divisor that is NULL instead of 0 changes nothing.
    """
    rooted = isinstance(expr, e.Call) and expr.function == "sqrt"
    bare = expr.operand if isinstance(expr, e.Call) and rooted else expr
    if ratio_form(expr) is not None or spread_form(bare) is not None:
        return False
    match expr:
        case e.Case(branches=branches) if any(e.columns_of(c) & noisy for c, _ in branches):
            return True
        case e.Coalesce(operands=operands) if any(
            e.columns_of(part) & noisy and linear_form(part) is None for part in operands[:-1]
        ):
            return True
        case e.Extreme(operands=operands) if e.columns_of(expr) & noisy:
            if not all(e.columns_of(part) & noisy for part in operands):
                return True
        case e.Call(function="sqrt") if e.columns_of(expr) & noisy:
            return True
        case e.Arithmetic(operator=Operator.DIVIDE, left=left, right=right):
            return any(selects_inside(part, noisy) for part in (left, _divisor(right)))
        case _:
            pass
    return any(selects_inside(part, noisy) for part in e.children(expr))


def _divisor(expr: Expr) -> Expr:
    """Return `expr` without the condition that makes it NULL where it is 0."""
    match expr:
        case e.Case(
            branches=((e.Compare(comparison, tested, e.Literal(value=0)), e.Literal(value=None)),),
            otherwise=otherwise,
        ) if comparison is e.Comparison.EQUAL and tested == otherwise:
            return otherwise
        case _:
            return expr


Interval = tuple[float, float]

EVERYTHING: Interval = (-math.inf, math.inf)


def as_float(value: Any) -> float:
    """Return a number as a float, infinite where it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def interval_of(expr: Expr, bounds: Mapping[str, tuple[Any, Any]]) -> Interval | None:
    """Return ends between which `expr` lies when each measure lies in its own; None if unknown.

    Guarantee: total. A quotient whose divisor may be 0 is unbounded, and says so by infinite ends.
    """
    match expr:
        case e.Literal(value=value) if isinstance(value, int | Fraction):
            return as_float(value), as_float(value)
        case e.ColumnRef(name=name) if name in bounds:
            low, high = bounds[name]
            return as_float(low), as_float(high)
        case e.Negate(operand=operand):
            inner = interval_of(operand, bounds)
            return None if inner is None else (-inner[1], -inner[0])
        case e.Arithmetic(operator=operator, left=left, right=right):
            return _interval_arithmetic(
                operator, interval_of(left, bounds), interval_of(right, bounds)
            )
        case e.Case(branches=branches, otherwise=otherwise):
            values = [value for _, value in branches] + [otherwise]
            options = [value for value in values if value != e.Literal(None)]
            return _hull(options, bounds, low=min, high=max)
        case e.Extreme(greatest=greatest, operands=operands):
            best = max if greatest else min
            return _hull(operands, bounds, low=best, high=best)
        case e.Call(function="number", operand=operand):
            return interval_of(operand, bounds)
        case e.Call(function="sqrt", operand=operand):
            inner = interval_of(operand, bounds)
            return None if inner is None or inner[1] < 0 else root(inner)
        case _:
            return None


def root(ends: Interval) -> Interval:
    """Return the square roots of what is not negative between two ends."""
    return math.sqrt(max(ends[0], 0.0)), math.sqrt(max(ends[1], 0.0))


def _hull(
    parts: Iterable[Expr],
    bounds: Mapping[str, tuple[Any, Any]],
    *,
    low: Callable[[Iterable[float]], float],
    high: Callable[[Iterable[float]], float],
) -> Interval | None:
    found = [interval_of(part, bounds) for part in parts]
    known = [ends for ends in found if ends is not None]
    if len(known) != len(found) or not known:
        return None
    return low(end[0] for end in known), high(end[1] for end in known)


def _interval_arithmetic(
    operator: Operator, left: Interval | None, right: Interval | None
) -> Interval | None:
    if left is None or right is None:
        return None
    match operator:
        case Operator.ADD:
            corners = [left[0] + right[0], left[1] + right[1]]
        case Operator.SUBTRACT:
            corners = [left[0] - right[1], left[1] - right[0]]
        case Operator.MULTIPLY:
            corners = [a * b for a in left for b in right]
        case Operator.DIVIDE if right[0] > 0 or right[1] < 0:
            corners = [a / b for a in left for b in right]
        case Operator.DIVIDE:
            return EVERYTHING
        case _:
            return None
    # Infinity less infinity, or times 0, may be anything.
    return EVERYTHING if any(map(math.isnan, corners)) else (min(corners), max(corners))


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
