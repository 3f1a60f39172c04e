"""The curator as the server asks it: every text is tried by the planner before it is planned."""

from __future__ import annotations

from typing import Any

from discreet.api import Curator, Planner
from discreet.catalog.catalog import Catalog
from discreet.core.answer import Answer


class _Rehearsed(Curator):
    """Refuses what cannot be planned within the planner's limits; passes on everything else."""

    def __init__(self, inner: Curator, whole: Catalog, planner: Planner) -> None:
        super().__init__(inner.catalog, ledger=inner.ledger, engine=inner.engine, rng=inner.rng)
        self._whole, self._planner = whole, planner

    def query(self, sql: Any, **asked: Any) -> Answer:
        self._try(sql, **asked)
        return super().query(sql, **asked)

    def explain(self, sql: Any, **asked: Any) -> Any:
        self._try(sql, **asked)
        return super().explain(sql, **asked)

    def rehearse(self, sql: Any, *, seed: int, **asked: Any) -> Answer:
        self._try(sql, **asked)
        return super().rehearse(sql, seed=seed, **asked)

    def columns(self, sql: Any) -> Any:
        self._try(sql, epsilon=1)
        return super().columns(sql)

    def _try(self, sql: Any, **asked: Any) -> None:
        for name in ("request_id", "group_size"):  # they change no plan
            asked.pop(name, None)
        asked |= {"sql": sql, "datasets": tuple(self.catalog.datasets)}
        self._planner.check(self._whole, self.engine.capabilities, asked)


def rehearsed(curator: Curator, whole: Catalog, planner: Planner) -> Curator:
    """Return `curator`, a view of the catalog `whole`, behind the planner."""
    return _Rehearsed(curator, whole, planner)
