"""Private marginals: noisy marginals and paid choices, the only way from a method to the rows.

With what follows from the laws of the noise alone, without a row: the error of measured tables, and whether a
model is as near to its own measurements as the noise explains (chi-square).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import sqrt
from typing import Any, Protocol, TypeAlias

import numpy as np

from discreet.base.arrays import Floats, Integers
from discreet.base.event import Concentrated, PrivacyEvent, Pure, Select
from discreet.base.numbers import sqrt_lower
from discreet.base.unit import Neighbours
from discreet.errors import InternalError
from discreet.measure.shape import Columns, Counts, Merges, Shape, merge_counts
from discreet.privacy.noise.laws import NoiseLaw, law_costing
from discreet.privacy.noise.rng import Rng, below
from discreet.privacy.noise.select import exponential


class Counter(Protocol):
    """Exact marginals of the private rows. Only `PrivateMarginals` and the scores it is given hold one."""

    def marginals(self, wanted: Sequence[Columns]) -> list[Counts]:
        """Return the exact counts of several marginals, each in the shape of its columns."""
        ...


@dataclass(frozen=True, slots=True)
class CountSensitivity:
    """How far one unit can move a vector of disjoint counts: its rows, and what neighbours are."""

    rows: int = 1
    neighbours: Neighbours = Neighbours.ADD_REMOVE

    @property
    def l1(self) -> int:
        """Return how far the counts can move in L1."""
        return self.neighbours.moves * self.rows

    @property
    def l2_squared(self) -> int:
        """Return how far they can move in squared L2: all rows of a unit may lie in one cell.

        Replacing moves by a - b with a, b >= 0 and |a| = |b| = rows: at most |a|^2 + |b|^2.
        """
        return self.neighbours.moves * self.rows**2

    def to_json(self) -> dict[str, Any]:
        """Return what a model says of the unit that its noise was made for."""
        return {"rows": self.rows, "replaced": self.neighbours is Neighbours.REPLACE_ONE}

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> CountSensitivity:
        """Return it as a model says it."""
        replaced = Neighbours.REPLACE_ONE if said["replaced"] else Neighbours.ADD_REMOVE
        return cls(int(said["rows"]), replaced)


@dataclass(frozen=True, slots=True)
class MarginalBudget:
    """What one run has been charged: rho of zCDP, or a pure epsilon."""

    amount: Fraction
    concentrated: bool

    @property
    def event(self) -> PrivacyEvent:
        """Return the event that is priced and charged before anything is measured."""
        return Concentrated(self.amount) if self.concentrated else Pure(self.amount)

    def part(self, share: Fraction) -> MarginalBudget:
        """Return a share of this budget, in the same currency."""
        return MarginalBudget(self.amount * share, self.concentrated)

    def law(self, *, l1: int, l2_squared: int) -> NoiseLaw:
        """Return the noise that all of it buys for numbers that a unit moves so far; reads nothing."""
        moved = l2_squared if self.concentrated else l1
        return law_costing(self.amount, moved, concentrated=self.concentrated)


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """A noisy marginal: may be shown, together with the law of its noise.

    `merged` has the groups of those of its columns that were counted by group instead of by code.
    """

    columns: Columns
    values: Counts
    law: NoiseLaw
    merged: Merges = field(default_factory=dict)

    @property
    def variance(self) -> float:
        """Return the variance of each cell's noise."""
        return self.law.variance


Scores: TypeAlias = Callable[[Counter], Integers]
"""From the exact marginals to one whole number for each candidate."""


class PrivateMarginals:
    """Lets noisy marginals and choices out, each for a share of what was charged up front.

    `measured` lists every noisy table that passed, in order: for the report.

    Guarantee: all that passes is together rho-zCDP (or epsilon-DP) for `budget.amount`, in whatever
        order and however adaptively it is asked, because the shares never add up to more than 1 and
        each step is calibrated to its share: noise by `law_costing`, the exponential mechanism at sqrt(8 rho) (bounded range, epsilon^2/8-zCDP) or
        epsilon. Assumes `unit` bounds what one unit can do to the counter, which the kernel reads
        off its SQL (docs/notes/0039), and that scores move by at most the declared `sensitivity`
        for one row added or removed. (docs/notes/0020)
    """

    def __init__(
        self,
        counter: Counter,
        shape: Shape,
        budget: MarginalBudget,
        unit: CountSensitivity,
        rng: Rng,
    ) -> None:
        self.shape = shape
        self.budget = budget
        self.unit = unit
        self._counter = counter
        self._rng = rng
        self._spent = Fraction(0)
        self.events: list[PrivacyEvent] = []
        self.measured: list[Measured] = []

    @property
    def left(self) -> Fraction:
        """Return the share that has not been used: public, since every share asked for is."""
        return 1 - self._spent

    def law(self, share: Fraction) -> NoiseLaw:
        """Return the noise that a marginal gets for a share; reads nothing."""
        return self.budget.part(share).law(l1=self.unit.l1, l2_squared=self.unit.l2_squared)

    def measure(
        self, wanted: Sequence[Columns], *, share: Fraction, merged: Merges | None = None
    ) -> list[Measured]:
        """Return noisy counts of several marginals, which together use `share`, each the same part.

        Columns in `merged` are counted by group of codes instead of by code: a row still lies in
        exactly one cell, so the noise is the same and there is less of it. Groups come from public
        facts or noisy values, like everything a method asks.
        """
        if not wanted:
            return []
        self._take(share)
        law = self.law(share / len(wanted))
        found = []
        for columns, full in zip(wanted, self._counter.marginals(wanted), strict=True):
            exact = merge_counts(full, columns, merged or {})
            groups = {c: g for c, g in (merged or {}).items() if c in columns}
            noisy = exact + self._draw(law, exact.shape)
            found.append(Measured(columns, noisy, law, groups))
            self.events.append(self._event(law))
        self.measured += found
        return found

    def choose(self, scores: Scores, *, sensitivity: int, share: Fraction) -> int:
        """Return the index of a good candidate; `sensitivity` is for one row added or removed."""
        found, epsilon = self._scored(scores, share, 1)
        return exponential(found, sensitivity * self.unit.l1, epsilon, rng=self._rng)

    def choose_several(
        self, scores: Scores, *, count: int, sensitivity: int, share: Fraction
    ) -> list[int]:
        """Return different good candidates, drawn one after another, each for the same part."""
        found, epsilon = self._scored(scores, share, count)
        reach = sensitivity * self.unit.l1
        return draw_several(found, count, sensitivity=reach, epsilon=epsilon, rng=self._rng)

    def _scored(self, scores: Scores, share: Fraction, count: int) -> tuple[Integers, Fraction]:
        """Return the scores, and the epsilon of each of `count` draws that together use `share`."""
        self._take(share)
        amount = share * self.budget.amount / count
        epsilon = sqrt_lower(8 * amount) if self.budget.concentrated else amount
        found = np.asarray(scores(self._counter))
        if found.dtype.kind not in "iu":
            raise InternalError("scores must be whole numbers: no floating point in the noise path")
        self.events += [Select(epsilon)] * count
        return found, epsilon

    def _take(self, share: Fraction) -> None:
        if share <= 0 or self._spent + share > 1:
            raise InternalError("a method asked for more than was charged")
        self._spent += share

    def _draw(self, law: NoiseLaw, shape: tuple[int, ...]) -> Counts:
        return law.draw(shape, self._rng)

    def _event(self, law: NoiseLaw) -> PrivacyEvent:
        return law.event(l1=lambda: self.unit.l1, l2_squared=lambda: self.unit.l2_squared)


def draw_several(
    scores: Integers, count: int, *, sensitivity: int, epsilon: Fraction, rng: Rng
) -> list[int]:
    """Return `count` different indices, each drawn by its score among those not drawn yet.

    Guarantee: each draw is the exponential mechanism at `epsilon` over the candidates that are left,
        exactly; the draws compose adaptively. A score that m candidates share is drawn with weight
        m, and then one of the m uniformly: every one of them has the chance it would have alone.

    >>> from discreet.privacy.noise.rng import SystemRng
    >>> best = np.array([0, 10**9, 0, 2 * 10**9])
    >>> draw_several(best, 2, sensitivity=1, epsilon=Fraction(1), rng=SystemRng())
    [3, 1]
    """
    levels, place, many = np.unique(scores, return_inverse=True, return_counts=True)
    order = np.argsort(place, kind="stable")
    ends = np.cumsum(many)
    found = []
    for _ in range(count):
        level = exponential(levels, sensitivity, epsilon, weights=many, rng=rng)
        rank = int(below(many[level : level + 1].astype(np.uint64), rng)[0])
        first, last = int(ends[level] - many[level]), int(ends[level]) - 1
        # The last of a level takes the place of the one that leaves; the level shrinks by one.
        order[first + rank], order[last] = order[last], order[first + rank]
        found.append(int(order[last]))
        many[level] -= 1
        ends[level] -= 1
    return found


class PartialMarginals(PrivateMarginals):
    """Private marginals that give a method a fixed part of another one's budget.

    Guarantee: a share of these is that share times `part` of the outer one, and shares here add
        up to at most 1; so the method uses at most `part`.
    """

    def __init__(self, outer: PrivateMarginals, part: Fraction) -> None:
        self.shape = outer.shape
        self.budget = outer.budget.part(part)
        self.unit = outer.unit
        self.events = outer.events
        self._outer = outer
        self._part = part
        self._spent = Fraction(0)
        self.measured: list[Measured] = []

    def law(self, share: Fraction) -> NoiseLaw:
        """Return the noise that a marginal gets for a share of the part."""
        return self._outer.law(share * self._part)

    def measure(
        self, wanted: Sequence[Columns], *, share: Fraction, merged: Merges | None = None
    ) -> list[Measured]:
        """Return noisy counts, paid from the part."""
        if not wanted:
            return []
        self._mine(share)
        found = self._outer.measure(wanted, share=share * self._part, merged=merged)
        self.measured += found
        return found

    def choose(self, scores: Scores, *, sensitivity: int, share: Fraction) -> int:
        """Return the index of a good candidate, paid from the part."""
        self._mine(share)
        return self._outer.choose(scores, sensitivity=sensitivity, share=share * self._part)

    def choose_several(
        self,
        scores: Scores,
        *,
        count: int,
        sensitivity: int,
        share: Fraction,
    ) -> list[int]:
        """Return different good candidates, paid from the part."""
        self._mine(share)
        return self._outer.choose_several(
            scores, count=count, sensitivity=sensitivity, share=share * self._part
        )

    def _mine(self, share: Fraction) -> None:
        if share <= 0 or self._spent + share > 1:
            raise InternalError("a method asked for more than its part")
        self._spent += share


SURE = "0.95"
_CANTELLI = sqrt(19)
"""P(X >= mean + k sd) <= 1 / (1 + k^2), which is 0.05 for k^2 = 19: holds for every law."""
TOO_NOISY = 0.1
"""Where noise alone moves a tenth of the rows of a one-column table, little can be said."""


@dataclass(frozen=True, slots=True)
class Implied:
    """The error of one measured table, in parts of all rows.

    `half_width`: noise of one cell at 95%, in rows. `noise`: expected total variation of the noise
    alone. `fit`: distance of the synthetic table from the noisy one. `bound`: with probability of
    at least 95% the synthetic table is no further than this from the real one.
    """

    columns: Columns
    cells: int
    half_width: int
    noise: float
    fit: float
    bound: float


def implied(measured: Measured, synthetic: Counter, rows: int, drawn: int) -> Implied:
    """Return what is known about one table from its noisy counts and the law of their noise.

    `rows` is the estimated size of the real table, `drawn` that of the synthetic one.

    Guarantee: |real - synthetic| <= |noisy - synthetic| + |noise| in L1; the second part has a known
        law whatever the data are, and Cantelli's inequality bounds it. (docs/notes/0024)
    """
    found = synthetic.marginals([measured.columns])[0] * (rows / max(drawn, 1))
    distance = float(np.abs(measured.values - found).sum())
    cells = found.size
    mean = measured.law.mean_size
    spread = sqrt(cells * max(measured.variance - mean**2, 0.0))
    noise = cells * mean
    return Implied(
        measured.columns,
        cells,
        measured.law.half_width(SURE),
        min(1.0, noise / (2 * rows)),
        min(1.0, distance / (2 * rows)),
        min(1.0, (distance + noise + _CANTELLI * spread) / (2 * rows)),
    )


def whole(measured: Sequence[Measured], shape: Shape) -> list[Measured]:
    """Return the tables that were measured code by code, not by merged groups of codes."""
    return [each for each in measured if each.values.shape == shape.of(each.columns)]


def too_small(measured: Sequence[Measured], rows: int) -> str | None:
    """Return a warning if the noise drowns the tables of single columns; None if it does not.

    From noisy n, laws and public sizes alone.
    """
    singles = [each for each in measured if len(each.columns) == 1] or list(measured)
    if not singles:
        return None
    moved = [each.values.size * each.law.mean_size / 2 for each in singles]
    part = float(np.mean(moved)) / rows
    if part <= TOO_NOISY:
        return None
    needed = int(np.ceil(float(np.mean(moved)) / TOO_NOISY / 100) * 100)
    return (
        f"About {rows:,} rows are too few for this epsilon: the noise alone moves "
        f"{min(part, 1):.0%} of the rows of a one-column table. It takes about {needed:,} rows, a "
        "larger epsilon, or columns with fewer values."
    )


LEAST = 1e-6
"""A model whose measurements would be this unlikely, were it true, is not handed over."""

WHOLE_ROWS = 1.0
"""Variance that rows add by being whole: a copy cannot be nearer than a row, whatever its model."""


class Estimates(Protocol):
    """Something that estimates the counts of marginals: a fitted model."""

    def marginal(self, columns: Columns) -> Floats:
        """Return the estimated counts of one marginal."""
        ...


@dataclass(frozen=True, slots=True)
class FitAgreement:
    """The chance of noise that lies as far from a model as the measured noise does.

    `chance` is the smaller of two: of all cells together, and of the worst table, multiplied by the
    number of tables. `cells` are all that were measured.
    """

    chance: float
    cells: int
    worst: Columns

    @property
    def holds(self) -> bool:
        """Return whether the noise explains the distance; NaN does not."""
        return self.chance >= LEAST


def agreement(measured: Sequence[Measured], model: Estimates) -> FitAgreement:
    """Return how well a model agrees with the noisy tables that it was made from.

    Each law says which chi-square its noise adds up to. The nearest possible table is never farther from the noisy one than the real one is, so a good fit passes.
    """
    found = [_squares(each, model) for each in measured]
    if not found:
        return FitAgreement(1.0, 0, ())
    chances = [chance_beyond(*each) for each in found]
    alone = min(range(len(found)), key=lambda i: (not math.isnan(chances[i]), chances[i]))
    together = chance_beyond(
        sum(square for square, _ in found), sum(degrees for _, degrees in found)
    )
    chance = min(together, len(found) * chances[alone])
    if math.isnan(together) or math.isnan(chances[alone]):
        chance = 0.0
    cells = sum(each.values.size for each in measured)
    return FitAgreement(min(chance, 1.0), cells, measured[alone].columns)


def _squares(measured: Measured, model: Estimates) -> tuple[float, int]:
    """Return the chi-square of one table and its degrees of freedom."""
    fitted = merge_counts(model.marginal(measured.columns), measured.columns, measured.merged)
    apart = measured.values - fitted
    return measured.law.chi_square(apart, measured.variance + WHOLE_ROWS)


def chance_beyond(square: float, degrees: int) -> float:
    """Return the chance that chi-square exceeds a value: Wilson and Hilferty's cube root.

    >>> round(chance_beyond(18.31, 10), 3)
    0.05
    """
    if not math.isfinite(square):
        return math.nan
    spread = 2 / (9 * degrees)
    place = ((square / degrees) ** (1 / 3) - (1 - spread)) / math.sqrt(spread)
    return math.erfc(place / math.sqrt(2)) / 2
