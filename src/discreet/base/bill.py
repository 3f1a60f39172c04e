"""The bill of a release: its price, and what its payer has spent before and after, of what limit.

Also the owner's own name, in which she asks and under which the history lists her.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol, Self

from discreet.base.event import Cost
from discreet.base.numbers import Delta, Epsilon
from discreet.errors import CatalogError

OWNER = "owner"
"""The whole budget pays for her, unless an analyst of the catalog is called so."""


def name_of(analyst: str | None) -> str:
    """Return in whose name an analyst's share is asked of; for None, the whole budget, in the owner's."""
    return analyst or OWNER


def require_named(analyst: str | None, analysts: Collection[str]) -> None:
    """Refuse a question without a name where analysts are listed: nobody's share would pay for it."""
    if analyst is None and analysts:
        names = ", ".join((*analysts, OWNER))
        said = "This catalog lists analysts, so every question must say who asks."
        raise CatalogError(said, hint=f"Use --as NAME (analyst= in Python): {names}.")


class DeclaredLimit(Protocol):
    """A budget or a share of one, as a catalog declares it."""

    @property
    def epsilon(self) -> Epsilon:
        """Return the most that a person can lose."""

    @property
    def delta(self) -> Delta:
        """Return the chance that this fails."""


@dataclass(frozen=True, slots=True)
class Spent:
    """An amount of budget in the two numbers that people read."""

    epsilon: Fraction
    delta: Fraction

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.epsilon + other.epsilon, self.delta + other.delta)

    def __sub__(self, other: Spent) -> Spent:
        return Spent(self.epsilon - other.epsilon, self.delta - other.delta)

    @classmethod
    def of(cls, cost: Cost) -> Self:
        """Return a cost as these two numbers; where it has no epsilon, its rho stands for it."""
        if cost.epsilon is None:
            return cls(cost.rho or cost.delta, cost.rho_delta)
        return cls(cost.epsilon, cost.delta)

    @classmethod
    def declared(cls, limit: DeclaredLimit) -> Self:
        """Return what may be spent of a declared budget, or of a share of one."""
        return cls(limit.epsilon.value, limit.delta.value)

    def exact(self) -> dict[str, str]:
        """Return exact text, as kept models say their price."""
        return {"epsilon": str(self.epsilon), "delta": str(self.delta)}

    @classmethod
    def from_exact(cls, found: Mapping[str, str]) -> Self:
        """Return what `exact` wrote."""
        return cls(Fraction(found["epsilon"]), Fraction(found["delta"]))

    def to_json(self) -> dict[str, float]:
        """Return plain numbers."""
        return {"epsilon": float(self.epsilon), "delta": float(self.delta)}

    @classmethod
    def from_json(cls, found: Mapping[str, float]) -> Self:
        """Return what `to_json` wrote: the numbers as they are spelled."""
        return cls(Fraction(repr(found["epsilon"])), Fraction(repr(found["delta"])))

    def __str__(self) -> str:
        price = f"{float(self.epsilon):g}"
        return f"{price}, delta {float(self.delta):g}" if self.delta else price


NOTHING_SPENT = Spent(Fraction(0), Fraction(0))
_AMOUNTS = ("cost", "before", "after", "limit")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """What was charged, or would be, and the payer's budget around that charge.

    `before` and `after` are the bill of the worst-hit person, not the sum of all prices. `free`:
    nothing was charged, whatever the same thing did cost at first.
    """

    cost: Spent
    before: Spent
    after: Spent
    limit: Spent
    free: bool

    @property
    def left(self) -> Fraction:
        """Return the epsilon that is left, never below 0."""
        return max(Fraction(0), self.limit.epsilon - self.after.epsilon)

    @property
    def price(self) -> str:
        """Return the price in words."""
        return price_words(self.cost, free=self.free)

    def paid_words(self) -> str:
        """Return what was used and what is left, as a part of a sentence."""
        used = "free" if self.free else f"uses {float(self.cost.epsilon):g}"
        return f"{used}, leaves {float(self.left):g} of {float(self.limit.epsilon):g}"

    def spent_words(self) -> str:
        """Return what was used and what is spent so far, in one sentence."""
        used = "Free of charge" if self.free else f"Used epsilon {float(self.cost.epsilon):g}"
        spent = f"{float(self.after.epsilon):g} of {float(self.limit.epsilon):g}"
        return f"{used}; {spent} is spent."

    def left_words(self) -> str:
        """Return what is left, in one sentence."""
        return f"Left of the budget: {float(self.left):g} of {float(self.limit.epsilon):g}."

    def foreseen_words(self) -> str:
        """Return what would be used and left, for the person who is hit worst by all of them."""
        used = "nothing" if self.free else f"epsilon {self.cost}"
        limit = f"{float(self.limit.epsilon):g}"
        if self.after.epsilon > self.limit.epsilon:
            return f"Would use {used}: more than is left of {limit} for the people it asks about."
        return f"Would use {used}, leaving {float(self.left):g} of {limit}."

    def to_json(self) -> dict[str, Any]:
        """Return price and budget as commands and the API print them."""
        amounts = {name: getattr(self, name).to_json() for name in _AMOUNTS}
        return {"cost": amounts.pop("cost"), "budget": amounts, "free": self.free}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:
        """Return what `to_json` wrote."""
        said = {"cost": found["cost"], **found["budget"]}
        amounts = {name: Spent.from_json(said[name]) for name in _AMOUNTS}
        return cls(**amounts, free=found["free"])

    def exact(self) -> dict[str, list[str]]:
        """Return all amounts as exact text, which plain numbers are not."""
        amounts = ((name, getattr(self, name)) for name in _AMOUNTS)
        return {name: [str(each.epsilon), str(each.delta)] for name, each in amounts}

    @classmethod
    def from_exact(cls, found: Mapping[str, list[str]], *, free: bool) -> Self:
        """Return what `exact` wrote."""
        return cls(**{name: Spent(*map(Fraction, found[name])) for name in _AMOUNTS}, free=free)


NO_BILL = Bill(
    cost=NOTHING_SPENT,
    before=NOTHING_SPENT,
    after=NOTHING_SPENT,
    limit=NOTHING_SPENT,
    free=True,
)
"""What was paid for before, where nobody asks what is left."""


def price_words(cost: Spent, *, free: bool) -> str:
    """Return a price in words.

    >>> price_words(Spent(Fraction(1, 2), Fraction(1, 10**9)), free=False)
    'epsilon 0.5, delta 1e-09'
    """
    return "free" if free else f"epsilon {cost}"


class Billed:
    """Something with a bill, whose parts it has by name."""

    __slots__ = ()
    if TYPE_CHECKING:

        @property
        def bill(self) -> Bill:
            """Return the price, and the budget before and after."""

    @property
    def cost(self) -> Spent:
        """Return what was charged for it, or would be."""
        return self.bill.cost

    @property
    def before(self) -> Spent:
        """Return what the payer had spent before."""
        return self.bill.before

    @property
    def after(self) -> Spent:
        """Return what the payer has spent with it."""
        return self.bill.after

    @property
    def limit(self) -> Spent:
        """Return what the payer may spend."""
        return self.bill.limit

    @property
    def free(self) -> bool:
        """Return whether nothing was charged."""
        return self.bill.free


@dataclass(frozen=True, slots=True, kw_only=True)
class Charged(Billed):
    """Something that is handed out with the bill of it."""

    bill: Bill
