"""Who may spend how much: the limits of each budget and the caps of each analyst."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from discreet.core.numbers import Delta, Epsilon, Number
from discreet.core.unit import Neighbours
from discreet.errors import CatalogError


@dataclass(frozen=True, slots=True)
class BudgetPolicy:
    """The total that a budget may ever pay, and what counts as neighbouring data."""

    epsilon: Epsilon
    delta: Delta
    neighbours: Neighbours

    @classmethod
    def of(
        cls, epsilon: Number, delta: Number = 0, neighbours: Neighbours = Neighbours.ADD_REMOVE
    ) -> BudgetPolicy:
        """Return the policy with these amounts as written; delta 0 is the pure currency."""
        return cls(Epsilon.of(epsilon), Delta.of(delta), neighbours)


@dataclass(frozen=True, slots=True)
class Cap:
    """What one analyst may spend from one budget, on top of that budget's own total.

    `delta` None means that the budget's delta alone limits.
    """

    epsilon: Epsilon
    delta: Delta | None = None

    @classmethod
    def of(cls, epsilon: Number, delta: Number | None = None) -> Cap:
        """Return the cap with these amounts as written."""
        return cls(Epsilon.of(epsilon), None if delta is None else Delta.of(delta))


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit in force: of a budget (`analyst` None) or of one analyst's share of it."""

    budget: str
    analyst: str | None
    epsilon: Epsilon
    delta: Delta
    neighbours: Neighbours

    def to_json(self) -> dict[str, Any]:
        """Return exact text, the form that the history keeps."""
        return {
            "epsilon": str(self.epsilon.value),
            "delta": str(self.delta.value),
            "neighbours": self.neighbours.value,
        }

    @classmethod
    def from_json(cls, budget: str, analyst: str | None, data: dict[str, Any]) -> Limit:
        """Return the limit that `to_json` wrote."""
        return cls(
            budget,
            analyst,
            Epsilon.of(data["epsilon"]),
            Delta.of(data["delta"]),
            Neighbours(data["neighbours"]),
        )


@dataclass(frozen=True, slots=True)
class Policy:
    """All budgets and all caps, as the owner wrote them.

    Guarantee: an analyst who is not listed for a budget cannot spend from it. The budget's own
    total holds for all analysts together, so colluding analysts gain nothing.
    """

    budgets: Mapping[str, BudgetPolicy]
    analysts: Mapping[str, Mapping[str, Cap]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for analyst, caps in self.analysts.items():
            for budget in caps:
                if budget not in self.budgets:
                    raise CatalogError(
                        f"Analyst '{analyst}' has a share in '{budget}', which is no budget.",
                        hint=f"Budgets: {', '.join(sorted(self.budgets)) or 'none'}.",
                    )

    def limits(self) -> Iterator[Limit]:
        """Yield every limit that this policy puts in force, in a fixed order."""
        for name, budget in sorted(self.budgets.items()):
            yield Limit(name, None, budget.epsilon, budget.delta, budget.neighbours)
        for analyst, caps in sorted(self.analysts.items()):
            for name, cap in sorted(caps.items()):
                budget = self.budgets[name]
                delta = budget.delta if cap.delta is None else cap.delta
                yield Limit(name, analyst, cap.epsilon, delta, budget.neighbours)
