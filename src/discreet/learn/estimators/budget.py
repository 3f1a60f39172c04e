"""A budget for rows held in memory: one ledger file that every estimator which reads them charges."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from discreet.core.numbers import Number
from discreet.core.unit import Neighbours
from discreet.errors import BadRows
from discreet.ledger.budget import BudgetPolicy, Policy
from discreet.ledger.ledger import Ledger
from discreet.noise.rng import Rng, SystemRng

DATASET = "rows"
"""The one dataset of such a ledger: rows in memory have no name of their own."""


class LearnBudget:
    """How much may ever be learned about the people behind some rows; survives the process.

    `ledger` is a file, made when first used. `unit` is "row", or the column that says whose row it
    is. The same file again goes on where it stood; another limit is entered into its history.
    """

    def __init__(
        self,
        ledger: str | Path,
        *,
        epsilon: Number,
        delta: Number = 0,
        unit: str = "row",
        max_rows: int | None = None,
        neighbours: str = "add-remove",
        rng: Rng | None = None,
    ) -> None:
        self.path = Path(ledger).expanduser().absolute()
        if not self.path.parent.is_dir():
            raise BadRows(f"There is no folder '{self.path.parent}' for the ledger.")
        self.policy = BudgetPolicy.of(epsilon, delta, Neighbours(neighbours))
        self.unit = unit
        self.max_rows = max_rows
        self.rng: Rng = SystemRng() if rng is None else rng

    @cached_property
    def ledger(self) -> Ledger:
        """The open ledger; its history is checked when it is first needed."""
        return Ledger.open(
            f"sqlite:{self.path}", Policy({DATASET: self.policy}, {}), base=self.path.parent
        )

    @property
    def spent(self) -> dict[str, float]:
        """Return what has been spent so far, and the limit."""
        found = self.ledger.spent(DATASET)
        return found.spent.to_json() | {"limit": found.limit.to_json()["epsilon"]}

    def close(self) -> None:
        """Close the ledger; it opens again when needed."""
        opened: Any = self.__dict__.pop("ledger", None)
        if opened is not None:
            opened.close()

    def __getstate__(self) -> dict[str, Any]:
        # A copy opens the same file: what one of them spends, all have spent.
        return {name: value for name, value in self.__dict__.items() if name != "ledger"}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"LearnBudget({self.path.name!r})"
