"""A catalog with its ledger, engine and dice; and where its private rows and answers lie at rest.

Every paid piece of work is done with an opened catalog. A place that nothing encrypts can be refused.

Guarantee: where `[storage] encrypted = true` is declared, a catalog is opened only if the state folder, the
    ledger's file, every source that is a file of this machine, and swap lie on something that encrypts them, as far
    as the system tells, or the operator has vouched for what it cannot tell. It says nothing about who may read the
    files while the machine runs.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from discreet.base.bill import OWNER, require_named
from discreet.base.requests.fields import given
from discreet.data.catalog.catalog import Catalog
from discreet.data.engines.base import Engine, EngineLimits
from discreet.data.engines.connect import connect, kind_of
from discreet.data.engines.volumes import AtRest, HostSystem, Volume
from discreet.errors import CatalogError
from discreet.privacy.kernel.sources import declared_cells, every_path
from discreet.privacy.ledger.budget import BudgetPolicy, Cap, Policy
from discreet.privacy.ledger.ledger import Ledger
from discreet.privacy.noise.rng import Rng, SystemRng

_GOOD = (AtRest.ENCRYPTED, AtRest.MEMORY)


@dataclass(frozen=True, slots=True)
class StoredPlace:
    """One place that holds something private: what it is, where, and what it lies on."""

    what: str
    path: str
    volume: Volume

    @property
    def good(self) -> bool:
        """Return whether nothing of it can be read from a disk that was taken away."""
        return self.volume.rest in _GOOD


def places_of(catalog: Catalog, system: HostSystem | None = None) -> tuple[StoredPlace, ...]:
    """Return every place of this machine that holds rows, answers or charges."""
    seen = system or HostSystem()
    wanted: list[tuple[str, Path]] = [("state folder", catalog.state_folder)]
    scheme, _, rest = catalog.ledger_url.partition(":")
    if scheme == "sqlite":
        wanted.append(("ledger", catalog.base / (rest or "ledger.db")))
    else:  # its head and checkpoints: what was asked about, and by whom, though no answer
        wanted.append(("ledger's checkpoints", catalog.base))
    kind = kind_of(catalog.engine_url)
    if database := kind.database(catalog.engine_url):
        wanted.append(("database", catalog.base / database))
    if kind.leaves is not None:
        wanted.append((kind.leaves, Path(tempfile.gettempdir())))
    if kind.files:
        # Of a pattern the folder before it.
        sources = sorted({each for each in catalog.sources.values() if "://" not in each})
        wanted += [("source", catalog.base / _before_pattern(each)) for each in sources]
    found = [StoredPlace(what, str(path), seen.volume_of(path)) for what, path in wanted]
    return (*found, *(StoredPlace("swap", path, volume) for path, volume in seen.swaps()))


def check_storage(catalog: Catalog, system: HostSystem | None = None) -> None:
    """Refuse to open a catalog that must lie encrypted and does not."""
    if not catalog.storage.encrypted or catalog.storage.vouched:
        return
    for place in places_of(catalog, system):
        if not place.good:
            raise CatalogError(
                f"[storage] asks for encryption, and the {place.what} ({place.path}) lies on {place.volume.how}.",
                hint='Put it on an encrypted volume, or write vouched = "who encrypts it below this system". '
                "`discreet storage` shows every place.",
            )


def _before_pattern(source: str) -> str:
    pieces = source.partition("#")[0].split("/")
    first = next((i for i, p in enumerate(pieces) if any(c in p for c in "*?[")), len(pieces))
    return "/".join(pieces[:first]) or "."


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
