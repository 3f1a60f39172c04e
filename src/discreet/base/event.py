"""Privacy events, their regions and their costs: what a charge is made of.

An event says what a mechanism did, priced by any accountant. Append-only: a class never changes its meaning; a new
fact gets a new class. Sensitivities are those under the dataset's own neighbour relation, computed by the planner.
All numbers are exact.

A region says whom a release can touch: a box of the public domain. A unit (row or person) sits at one point of the
product of its axes. An axis is a declared domain, numbered 0 .. size-1, with NULL at position -1, so every axis has
at least that one point. A region names, for some axes, the positions that a release reads; axes that it does not
name are unrestricted.

A cost is the price of a release: two ways to count it side by side, added component by component.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

from discreet.base.numbers import plain, read_fraction


@dataclass(frozen=True, slots=True)
class Laplace:
    """Discrete Laplace noise of `scale` on an integer vector that moves by at most `l1` in L1."""

    scale: Fraction
    l1: Fraction


@dataclass(frozen=True, slots=True)
class Gaussian:
    """Discrete Gaussian noise on an integer vector whose squared L2 move is at most `l2_squared`.

    `coordinates` is the greatest number of coordinates that can move at all, None if unknown; with
    one, the privacy loss is that of a single integer shift and has an exact sum.
    """

    sigma_squared: Fraction
    l2_squared: Fraction
    coordinates: int | None = None


@dataclass(frozen=True, slots=True)
class Select:
    """The exponential mechanism: the log-odds of any two outcomes move by at most `epsilon`.

    That is the bounded-range property, stronger than pure epsilon-DP.
    """

    epsilon: Fraction


@dataclass(frozen=True, slots=True)
class Pure:
    """Any mechanism that is `epsilon`-DP and nothing more is known: randomized response,
    permute-and-flip, report-noisy-max, above-threshold."""

    epsilon: Fraction


@dataclass(frozen=True, slots=True)
class Approximate:
    """Any mechanism that is (`epsilon`, `delta`)-DP and nothing more is known."""

    epsilon: Fraction
    delta: Fraction


@dataclass(frozen=True, slots=True)
class Failing:
    """`event`, except that with probability at most `delta` anything may be shown (thresholds)."""

    event: PrivacyEvent
    delta: Fraction


@dataclass(frozen=True, slots=True)
class Concentrated:
    """Any mechanism that is `rho`-zCDP and nothing more is known."""

    rho: Fraction


@dataclass(frozen=True, slots=True)
class Sampled:
    """`event` on a secret Poisson sample: each unit was taken with probability `rate`."""

    event: PrivacyEvent
    rate: Fraction


@dataclass(frozen=True, slots=True)
class Composed:
    """All of `events`, each chosen before any answer or after seeing earlier ones."""

    events: tuple[PrivacyEvent, ...]


@dataclass(frozen=True, slots=True)
class Repeated:
    """`event`, `count` times with fresh noise."""

    event: PrivacyEvent
    count: int


@dataclass(frozen=True, slots=True)
class NonPrivate:
    """A release without any guarantee; `columns` is what it exposed."""

    reason: str
    columns: tuple[str, ...] = ()


PrivacyEvent: TypeAlias = (
    Laplace
    | Gaussian
    | Select
    | Pure
    | Approximate
    | Failing
    | Concentrated
    | Sampled
    | Composed
    | Repeated
    | NonPrivate
)

NOTHING = Composed(())
"""The event of a release that looked at nothing."""


NULL = -1
"""The position of NULL on every axis."""

Span: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Positions:
    """A set of positions on one axis, as sorted, disjoint, non-adjacent closed spans."""

    spans: tuple[Span, ...]

    @classmethod
    def of(cls, spans: Iterable[Span]) -> Positions:
        """Return the union of `spans` in its one canonical form; empty spans vanish."""
        merged: list[Span] = []
        for low, high in sorted(span for span in spans if span[0] <= span[1]):
            if merged and low <= merged[-1][1] + 1:
                merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
            else:
                merged.append((low, high))
        return cls(tuple(merged))

    @classmethod
    def points(cls, positions: Iterable[int]) -> Positions:
        """Return the set of these single positions."""
        return cls.of((position, position) for position in positions)

    @classmethod
    def whole(cls, size: int) -> Positions:
        """Return every position of an axis with `size` values, NULL included."""
        return cls(((NULL, size - 1),))

    def __and__(self, other: Positions) -> Positions:
        found: list[Span] = []
        mine, theirs = self.spans, other.spans
        i = j = 0
        while i < len(mine) and j < len(theirs):
            low, high = max(mine[i][0], theirs[j][0]), min(mine[i][1], theirs[j][1])
            if low <= high:
                found.append((low, high))
            if mine[i][1] < theirs[j][1]:
                i += 1
            else:
                j += 1
        return Positions(tuple(found))

    def __or__(self, other: Positions) -> Positions:
        return Positions.of((*self.spans, *other.spans))

    def complement(self, size: int) -> Positions:
        """Return the positions of an axis of `size` values that are not in this set."""
        found: list[Span] = []
        start = NULL
        for low, high in self.spans:
            found.append((start, low - 1))
            start = high + 1
        found.append((start, size - 1))
        return Positions.of(found)

    def __contains__(self, position: int) -> bool:
        return any(low <= position <= high for low, high in self.spans)

    def __bool__(self) -> bool:
        return bool(self.spans)

    def __len__(self) -> int:
        return sum(high - low + 1 for low, high in self.spans)


@dataclass(frozen=True, slots=True)
class Region:
    """A box: for each named axis the positions that are read; other axes are unrestricted.

    Axis names are opaque here. Whoever makes them must give two axes the same name only if every
    unit has one and the same position on both; giving different names to the same thing only makes
    the bill larger, never wrong.
    """

    axes: tuple[tuple[str, Positions], ...] = ()
    _by_name: dict[str, Positions] = field(
        init=False, repr=False, compare=False, hash=False, default_factory=dict
    )

    def __post_init__(self) -> None:
        self._by_name.update(self.axes)

    @classmethod
    def of(cls, axes: Mapping[str, Positions]) -> Region:
        """Return the box with these restrictions, in canonical order."""
        return cls(tuple(sorted(axes.items())))

    def on(self, axis: str) -> Positions | None:
        """Return the restriction on `axis`, or None where there is none."""
        return self._by_name.get(axis)

    @property
    def empty(self) -> bool:
        """Return whether no unit can lie in this region."""
        return any(not positions for _, positions in self.axes)

    def __and__(self, other: Region) -> Region:
        axes = dict(self.axes)
        for name, positions in other.axes:
            axes[name] = axes[name] & positions if name in axes else positions
        return Region.of(axes)

    def to_json(self) -> dict[str, list[list[int]]]:
        """Return plain lists, the form that the ledger keeps."""
        return {name: [list(span) for span in positions.spans] for name, positions in self.axes}

    @classmethod
    def from_json(cls, data: Mapping[str, Iterable[Iterable[int]]]) -> Region:
        """Return the region that `to_json` wrote."""
        axes = {}
        for name, spans in data.items():
            axes[name] = Positions.of((low, high) for low, high in spans)
        return cls.of(axes)


EVERYONE = Region()
"""The unrestricted region: it holds every unit."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a release adds to the bill of everyone in its region.

    `epsilon` and `delta` are one way to count: sums of (epsilon, delta). `rho` and `rho_delta` are
    another: sums of rho-zCDP, each with its own chance of failure. None means that this way of
    counting cannot express the release; the other one then must.
    """

    epsilon: Fraction | None
    delta: Fraction
    rho: Fraction | None
    rho_delta: Fraction

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            epsilon=sum_known(self.epsilon, other.epsilon),
            delta=self.delta + other.delta,
            rho=sum_known(self.rho, other.rho),
            rho_delta=self.rho_delta + other.rho_delta,
        )

    def to_json(self) -> dict[str, Any]:
        """Return exact text for each component, the form that the ledger keeps."""
        return {
            "epsilon": None if self.epsilon is None else str(self.epsilon),
            "delta": str(self.delta),
            "rho": None if self.rho is None else str(self.rho),
            "rho_delta": str(self.rho_delta),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Cost:
        """Return the cost that `to_json` wrote."""
        return cls(
            epsilon=None if data["epsilon"] is None else read_fraction(data["epsilon"]),
            delta=read_fraction(data["delta"]),
            rho=None if data["rho"] is None else read_fraction(data["rho"]),
            rho_delta=read_fraction(data["rho_delta"]),
        )

    def __str__(self) -> str:
        shown = "no finite epsilon" if self.epsilon is None else f"epsilon {plain(self.epsilon)}"
        return f"{shown}, delta {plain(self.delta)}" if self.delta else shown


def sum_known(first: Fraction | None, second: Fraction | None) -> Fraction | None:
    """Return the sum of two numbers, None where one is not known."""
    return None if first is None or second is None else first + second


def larger(costs: Sequence[Cost]) -> Cost:
    """Return the least cost that none of `costs` exceeds, component by component."""
    return Cost(
        epsilon=_most([cost.epsilon for cost in costs]),
        delta=max(cost.delta for cost in costs),
        rho=_most([cost.rho for cost in costs]),
        rho_delta=max(cost.rho_delta for cost in costs),
    )


def _most(parts: Sequence[Fraction | None]) -> Fraction | None:
    known = [part for part in parts if part is not None]
    return max(known) if len(known) == len(parts) else None


FREE = Cost(Fraction(0), Fraction(0), Fraction(0), Fraction(0))
"""The cost of looking at nothing."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A priced release: what happened, whom it touches, and what that costs."""

    event: PrivacyEvent
    cost: Cost
    region: Region = EVERYONE
