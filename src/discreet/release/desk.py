"""Catalog, ledger, engine and random source as one object, passed to all paid work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from discreet.catalog.catalog import Catalog
from discreet.engine.base import Engine
from discreet.ledger.ledger import Ledger
from discreet.noise.rng import Rng


class Desk(Protocol):
    """A curator's desk: `discreet.Curator` is one, which opens its ledger and engine when needed."""

    @property
    def catalog(self) -> Catalog:
        """What the owner declared."""
        ...

    @property
    def ledger(self) -> Ledger:
        """Who has paid for what."""
        ...

    @property
    def engine(self) -> Engine:
        """Where the rows are, and what computes."""
        ...

    @property
    def rng(self) -> Rng:
        """Where chance comes from."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class PlainDesk:
    """A desk with everything open."""

    catalog: Catalog
    ledger: Ledger
    engine: Engine
    rng: Rng
