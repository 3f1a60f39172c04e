"""A catalog with its ledger, engine and dice: what every paid piece of work is done with."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from discreet.api.storage import check_storage
from discreet.catalog.catalog import Catalog
from discreet.core.owner import OWNER, require_named
from discreet.core.requests.request_fields import given
from discreet.engine.base import Engine, EngineLimits
from discreet.engine.connect import connect
from discreet.kernel.sources import declared_cells, every_path
from discreet.ledger.budget import BudgetPolicy, Cap, Policy
from discreet.ledger.ledger import Ledger
from discreet.noise.rng import Rng, SystemRng


def policy_of(catalog: Catalog) -> Policy:
    """Return the limits that a catalog puts in force."""
    budgets = {
        name: BudgetPolicy(budget.epsilon, budget.delta, budget.neighbours)
        for name, budget in catalog.budgets.items()
    }
    analysts: dict[str, Mapping[str, Cap]] = {}
    for analyst in catalog.analysts:
        caps = catalog.caps_by_budget(analyst)
        analysts[analyst] = {name: Cap(cap.epsilon, cap.delta) for name, cap in caps.items()}
    return Policy(budgets, analysts)


class OpenedCatalog:
    """One catalog; its ledger and its engine are opened when they are first needed."""

    def __init__(
        self,
        catalog: Catalog,
        *,
        ledger: Ledger | None = None,
        engine: Engine | None = None,
        rng: Rng | None = None,
        scratch: Path | None = None,
    ) -> None:
        check_storage(catalog)
        self.catalog = catalog
        self._scratch = scratch
        self.rng: Rng = SystemRng() if rng is None else rng
        if ledger is not None:
            self.__dict__["ledger"] = ledger
        if engine is not None:
            self.__dict__["engine"] = engine

    @cached_property
    def ledger(self) -> Ledger:
        """The budget book; opened, and its history checked, when first needed."""
        return Ledger.open(self.catalog.ledger_url, policy_of(self.catalog), base=self.catalog.base)

    @cached_property
    def engine(self) -> Engine:
        """The database that computes; started when first needed."""
        memory = [d.memory_mb for d in self.catalog.datasets.values() if d.memory_mb is not None]
        limits = EngineLimits(memory_mb=max(memory, default=None), scratch=self._scratch)
        return connect(
            self.catalog.engine_url,
            self.catalog.sources,
            encodings=self.catalog.encodings,
            paths=every_path(self.catalog.datasets.values(), self.catalog.engine_url),
            cells=declared_cells(self.catalog.datasets.values(), self.catalog.engine_url),
            base=self.catalog.base,
            state=self.catalog.state_folder,
            limits=limits,
            allow_superuser=self.catalog.allow_superuser,
        )

    def _payer(self, analyst: str | None) -> str | None:
        require_named(analyst, self.catalog.analysts)
        return self.account_of(analyst)

    def _charged(self, asked: Any) -> dict[str, Any]:
        """Return what is asked, by field, in the name of whose share pays."""
        return given(asked) | {"analyst": self._payer(asked.analyst)}

    def account_of(self, analyst: str | None) -> str | None:
        """Return whose share pays for `analyst`; None, the whole budget, for the owner."""
        listed = OWNER in self.catalog.analysts
        return (OWNER if listed else None) if analyst in (None, OWNER) else analyst

    def close(self) -> None:
        """Stop the engine and let go of the ledger."""
        for name in ("engine", "ledger"):
            if name in self.__dict__:
                self.__dict__.pop(name).close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
