"""Aggregates to measures: the integers that get noise, and the formulas that turn them back.

A mean is a sum around the midpoint of the declared range and a count; a variance adds a sum of
squares. Several aggregates over the same expression share their measures, so AVG beside COUNT costs
no more than its two parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.ask.plan import expr as e
from discreet.ask.plan.expr import Expr, Operator, lattice
from discreet.ask.plan.ir import Aggregate, Function, Relation, Statement, unit_columns, unit_of
from discreet.ask.plan.regions import domains_of, narrowed_domains
from discreet.ask.plan.values import infer, numeric
from discreet.base.schema import Domain
from discreet.errors import QueryRefused
from discreet.privacy.kernel.mechanism import Bound, Kind

BINS = 4096
"""A quantile is chosen among at most this many public values."""

LARGEST_SQUARED = 2**44
"""Squares of row values below this add up over 10^11 rows within a DECIMAL(38)."""


FINEST_SHARE = 10**6
"""A quantile is a multiple of one part of this or fewer: ranks times it stay within 64 bits."""


@dataclass(frozen=True, slots=True)
class Measure:
    """An integer for each group. `low` and `high` bound what one row adds, in the measure's units.

    For SUM one unit is `step`; for CENTRED half a step, counted from the midpoint of the range; for
    SQUARES the square of half a step. For UNITS an operand says which rows count: where it is not
    NULL. `clamp` are the integers that the SQL holds the operand between.
    """

    kind: Kind
    operand: Expr | None
    low: int
    high: int
    step: Fraction = Fraction(1)
    centre: int = 0
    clamp: tuple[int, int] | None = None

    @property
    def bound(self) -> Bound:
        """Return what the noise depends on, as the planner expects the kernel to find it."""
        return Bound(self.kind, self.low, self.high)

    @property
    def grain(self) -> int:
        """Return the multiple to which an exact value is rounded down before it gets noise."""
        return self.bound.grain


@dataclass(frozen=True, slots=True)
class Choice:
    """A quantile to be selected by the exponential mechanism from a histogram."""

    operand: Expr
    quantile: Fraction
    domain: Domain

    @property
    def width(self) -> int:
        """Return how many neighbouring values of the domain share a bin."""
        return -(-self._size // BINS)

    @property
    def bins(self) -> int:
        """Return how many public candidates there are."""
        return -(-self._size // self.width)

    def value(self, index: int) -> Any:
        """Return the value that stands for a bin: the middle one of its values."""
        middle = index * self.width + (self.width - 1) // 2
        return self.domain.value(min(middle, self._size - 1))  # type: ignore[union-attr]  # finite

    @property
    def _size(self) -> int:
        return self.domain.size  # type: ignore[union-attr]  # the binder lets only finite domains pass


@dataclass(frozen=True, slots=True)
class MeasuredOutputs:
    """All measures of a statement, their shares of the budget, and each aggregate's formula.

    `units` names the measure that private groups are thresholded on, None if keys are public.
    """

    measures: tuple[tuple[str, Measure], ...]
    choices: tuple[tuple[str, Choice], ...]
    shares: Mapping[str, Fraction]
    formulas: Mapping[str, Expr]
    units: str | None = None


class _Collector:
    """`twins` are all columns that hold the unit or NULL; `narrowed` are the domains that WHERE leaves."""

    def __init__(self, source: Relation, averaged: set[Expr]) -> None:
        self.fields = domains_of(source)
        self.narrowed = narrowed_domains(source)
        self.unit = unit_of(source)
        self.twins = unit_columns(source)
        self.averaged = averaged
        self.measures: dict[Measure, str] = {}
        self.choices: dict[Choice, str] = {}
        self.shares: dict[str, Fraction] = {}

    def measure(self, found: Measure, share: Fraction) -> Expr:
        name = self.measures.setdefault(found, f"m{len(self.measures)}")
        self.shares[name] = self.shares.get(name, Fraction(0)) + share
        shown = e.ColumnRef(name)
        if found.grain == 1:
            return shown
        return e.Arithmetic(Operator.MULTIPLY, shown, e.Literal(found.grain))

    def choice(self, found: Choice) -> Expr:
        name = self.choices.setdefault(found, f"q{len(self.choices)}")
        self.shares[name] = self.shares.get(name, Fraction(0)) + 1
        return e.ColumnRef(name)

    def formula(self, aggregate: Aggregate) -> Expr:
        operand = aggregate.operand
        if operand is None:
            return self.measure(Measure(Kind.ROWS, None, 0, 1), Fraction(1))
        if aggregate.distinct:
            return self._of_distinct(aggregate.function, operand)
        match aggregate.function:
            case Function.COUNT:
                return self._present(operand, Fraction(1))
            case Function.COUNT_DISTINCT:
                return self._distinct(operand)
            case Function.SUM:
                return self._sum(operand)
            case Function.AVG:
                return self._mean(operand, Fraction(1, 2))
            case Function.VARIANCE:
                return self._variance(operand)
            case Function.STDDEV:
                return e.Call("sqrt", self._variance(operand))
            case Function.QUANTILE:
                return self._quantile(operand, aggregate.quantile)

    def _distinct(self, operand: Expr) -> Expr:
        kind = Kind.UNITS if self._is_unit(operand) else Kind.DISTINCT
        counted = None if operand == e.ColumnRef(self.unit or "") else operand
        return self.measure(Measure(kind, counted, 0, 1), Fraction(1))

    def _of_distinct(self, function: Function, operand: Expr) -> Expr:
        """Return a sum, mean or variance of the different values, each of them once."""
        low, high, step = self._steps(operand)
        clamp = (low, high)
        total = self.measure(
            Measure(Kind.DISTINCT_SUM, operand, min(low, 0), max(high, 0, 1), step, clamp=clamp),
            Fraction(1),
        )
        if function is Function.SUM:
            return _times(total, step)
        count = self.measure(Measure(Kind.DISTINCT, operand, 0, 1), Fraction(1))
        mean = _ratio(total, count, step)
        if function is Function.AVG:
            return clamped(mean, low * step, high * step)
        if max(abs(low), abs(high)) >= 2**31:
            raise _too_wide()
        most = max(low**2, high**2, 1)
        squares = self.measure(
            Measure(Kind.DISTINCT_SQUARES, operand, 0, most, step, clamp=clamp), Fraction(1)
        )
        square = e.Arithmetic(Operator.MULTIPLY, mean, mean)
        found = e.Arithmetic(Operator.SUBTRACT, _ratio(squares, count, step**2), square)
        # No variance exceeds that of two equal heaps at the ends of the range.
        held = clamped(found, Fraction(0), (Fraction(high - low, 2) * step) ** 2)
        return held if function is Function.VARIANCE else e.Call("sqrt", held)

    def _is_unit(self, operand: Expr) -> bool:
        """Return whether `operand` is the row's own unit or NULL: CASE, FILTER, a joined twin.

        The SQL counts the units themselves where it is not NULL, so this decides accuracy only.
        """
        if isinstance(operand, e.Case):
            parts = [value for _, value in operand.branches] + [operand.otherwise]
            kept = [part for part in parts if part != e.Literal(None)]
            return bool(kept) and all(map(self._is_unit, kept))
        return isinstance(operand, e.ColumnRef) and operand.name in self.twins

    def _quantile(self, operand: Expr, share: Fraction | None) -> Expr:
        domain = infer(operand, self.narrowed)
        if not hasattr(domain, "lower"):
            # WHERE leaves no value at all; which one is then chosen says nothing.
            domain = infer(operand, self.fields)
        share = Fraction(1, 2) if share is None else share
        return self.choice(Choice(operand, share.limit_denominator(FINEST_SHARE), domain))

    def _present(self, operand: Expr, share: Fraction) -> Expr:
        return self.measure(Measure(Kind.PRESENT, operand, 0, 1), share)

    def _steps(self, operand: Expr) -> tuple[int, int, Fraction]:
        # The step is that of the declared domain, in which the SQL counts; the range is what WHERE
        # leaves of it.
        step = numeric(operand, self.fields)[2]
        # (Where WHERE leaves nothing but NULL, all of it.)
        left = lattice(infer(operand, self.narrowed))
        low, high, _ = numeric(operand, self.fields) if left is None else left
        return int(low / step), int(high / step), step

    def _sum(self, operand: Expr) -> Expr:
        low, high, step = self._steps(operand)
        if operand in self.averaged:
            # Sum = centred sum + midpoint * count: nothing new to measure.
            centred, count = self._centred(operand, Fraction(1, 2))
            middle = e.Literal(Fraction(low + high, 2) * step)
            spread = e.Arithmetic(Operator.MULTIPLY, centred, e.Literal(step / 2))
            shifted = e.Arithmetic(Operator.MULTIPLY, count, middle)
            return e.Arithmetic(Operator.ADD, spread, shifted)
        # A sum that is always 0 still gets noise: that it is 0 is not ours to find out.
        top = max(high, 0) if low or high else 1
        clamp = self._whole_range(operand, low, high)
        sought = Measure(Kind.SUM, operand, min(low, 0), top, step, clamp=clamp)
        found = self.measure(sought, Fraction(1))
        return _times(found, step)

    def _whole_range(self, operand: Expr, low: int, high: int) -> tuple[int, int]:
        """Return the declared range where a narrower one would not lower the noise of a sum.

        A column in its declared range is its own clamp, which costs the engine nothing.
        """
        step = numeric(operand, self.fields)[2]
        lowest, highest, _ = numeric(operand, self.fields)
        least, most = int(lowest / step), int(highest / step)
        same = (min(least, 0), max(most, 0)) == (min(low, 0), max(high, 0))
        return (least, most) if same else (low, high)

    def _centred(self, operand: Expr, share: Fraction) -> tuple[Expr, Expr]:
        low, high, step = self._steps(operand)
        # 2k - (low + high) lies within +-(high - low); with one possible value it is always 0.
        width = max(high - low, 1)
        centred = Measure(Kind.CENTRED, operand, -width, width, step, low + high, (low, high))
        return self.measure(centred, share), self._present(operand, share)

    def _mean(self, operand: Expr, share: Fraction) -> Expr:
        low, high, step = self._steps(operand)
        centred, count = self._centred(operand, share)
        offset = _ratio(centred, count, step / 2)
        mean = e.Arithmetic(Operator.ADD, e.Literal(Fraction(low + high, 2) * step), offset)
        return clamped(mean, low * step, high * step)

    def _variance(self, operand: Expr) -> Expr:
        low, high, step = self._steps(operand)
        centred, count = self._centred(operand, Fraction(1, 3))
        width = max(high - low, 1)
        if max(abs(low), abs(high)) >= LARGEST_SQUARED:
            raise _too_wide()
        squares = self.measure(
            Measure(Kind.SQUARES, operand, 0, width**2, step, low + high, (low, high)),
            Fraction(1, 3),
        )
        mean_square = _ratio(squares, count, (step / 2) ** 2)
        offset = _ratio(centred, count, step / 2)
        difference = e.Arithmetic(
            Operator.SUBTRACT, mean_square, e.Arithmetic(Operator.MULTIPLY, offset, offset)
        )
        # No variance exceeds that of two equal heaps at the ends of the range.
        return clamped(difference, Fraction(0), (Fraction(high - low, 2) * step) ** 2)


def clamped(expr: Expr, low: Fraction, high: Fraction) -> Expr:
    """Return `expr` held inside the range in which the truth must lie."""
    return e.clamped(expr, e.Literal(low), e.Literal(high))


def _times(expr: Expr, factor: Fraction) -> Expr:
    return expr if factor == 1 else e.Arithmetic(Operator.MULTIPLY, expr, e.Literal(factor))


def _too_wide() -> QueryRefused:
    return QueryRefused(
        "The squares of this expression can become too large to be summed exactly.",
        hint="Narrow the declared bounds, or use a coarser step.",
        construct="overflow",
    )


def _ratio(top: Expr, bottom: Expr, factor: Fraction) -> Expr:
    # A noisy count can be zero or negative; no mean is known then.
    positive = e.Compare(e.Comparison.GREATER, bottom, e.Literal(0))
    return e.Case(
        ((positive, e.Arithmetic(Operator.DIVIDE, _times(top, factor), bottom)),), e.Literal(None)
    )


def to_measures(statement: Statement, *, private_groups: bool) -> MeasuredOutputs:
    """Return the measures that all aggregates of a statement need, each once."""
    averaged = {
        aggregate.operand
        for _, aggregate in statement.aggregates
        if aggregate.operand is not None
        and not aggregate.distinct
        and aggregate.function in {Function.AVG, Function.VARIANCE, Function.STDDEV}
    }
    collector = _Collector(statement.source, averaged)
    formulas = {name: collector.formula(aggregate) for name, aggregate in statement.aggregates}
    units = None
    if private_groups:
        counted = Measure(Kind.ROWS if collector.unit is None else Kind.UNITS, None, 0, 1)
        share = Fraction(0) if counted in collector.measures else Fraction(1)
        collector.measure(counted, share)
        units = collector.measures[counted]
    return MeasuredOutputs(
        measures=tuple((name, measure) for measure, name in collector.measures.items()),
        choices=tuple((name, choice) for choice, name in collector.choices.items()),
        shares=collector.shares,
        formulas=formulas,
        units=units,
    )
