"""The trade between what `max_rows` leaves out and the noise that it saves, from a small paid look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.catalog.catalog import Catalog
from discreet.core.answer import Answer
from discreet.core.explanation import Explanation
from discreet.core.numbers import Epsilon, Number
from discreet.core.schema import Dataset, Table
from discreet.errors import EngineFailed
from discreet.release.bars.row_losses import RowsLost
from discreet.release.desk import Desk, PlainDesk
from discreet.release.pipeline import explain, release
from discreet.release.request import Request
from discreet.release.rows_probe import histogram, probe_catalog, probe_sql

BOUNDS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)


@dataclass(frozen=True, slots=True)
class BoundNoise:
    """What one bound leaves out, beside the noise of a count under it."""

    lost: RowsLost
    noise: float

    @property
    def error(self) -> float:
        """Return how far a count of all rows is off: what is left out, and the noise."""
        return self.lost.likely + self.noise

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {**self.lost.to_json(), "noise": self.noise}


@dataclass(frozen=True, slots=True)
class BoundsTrade:
    """Bounds beside each other, and the paid answer that they were told from.

    `noise` is that of COUNT(*) at 95% for epsilon `at`; `now` is the declared bound.
    """

    table: str
    now: int | None
    at: Epsilon
    bounds: tuple[BoundNoise, ...]
    answer: Answer

    @property
    def best(self) -> int:
        """Return the bound under which a count of all rows is off least."""
        return min(self.bounds, key=lambda each: each.error).lost.bound

    def to_json(self) -> dict[str, Any]:
        """Return plain values: everything in it was paid for, or is public."""
        return {
            "table": self.table,
            "max_rows": self.now,
            "noise_epsilon": float(self.at.value),
            "best": self.best,
            "bounds": [each.to_json() for each in self.bounds],
            "cost": float(self.answer.cost.epsilon),
            "left": float(self.answer.limit.epsilon - self.answer.after.epsilon),
            "free": self.answer.free,
            "request_id": self.answer.request_id,
        }


def price(
    desk: Desk, table: str, *, epsilon: Number | Epsilon, payer: str | None = None
) -> Explanation:
    """Return what the look would cost `payer`; spends nothing."""
    dataset, found = _find(desk.catalog, table)
    request = Request.of(probe_sql(dataset, found), epsilon=epsilon, analyst=payer)
    return explain(request, _probed(desk, probe_catalog(desk.catalog, dataset, found)))


def trade(
    desk: Desk,
    table: str,
    *,
    epsilon: Number | Epsilon,
    at: Number | Epsilon = 1,
    payer: str | None = None,
    request_id: str | None = None,
) -> BoundsTrade:
    """Return what each bound leaves out beside the noise of a count for epsilon `at`, charged first to `payer`.

    Charged like any question; from then on answers about the table say what its bound leaves out.
    """
    dataset, found = _find(desk.catalog, table)
    request = Request.of(
        probe_sql(dataset, found), epsilon=epsilon, analyst=payer, request_id=request_id
    )
    answer = release(request, _probed(desk, probe_catalog(desk.catalog, dataset, found)))
    told = histogram(answer)
    if told is None:
        raise EngineFailed("The answer tells nothing about rows of people.")
    now, each = found.max_rows, Epsilon.of(at)
    chosen = sorted({*BOUNDS, *([] if now is None else [now])})
    bounds = tuple(
        BoundNoise(told.lost(bound), _noise(desk, dataset, found, bound, each)) for bound in chosen
    )
    return BoundsTrade(found.name, now, each, bounds, answer)


def _probed(desk: Desk, catalog: Catalog) -> Desk:
    return PlainDesk(catalog, desk.ledger, desk.engine, desk.rng)


def _find(catalog: Catalog, written: str) -> tuple[Dataset, Table]:
    dataset, _, name = written.rpartition(".")
    table = catalog.table(name, dataset or None)
    return catalog.dataset(dataset) if dataset else catalog.dataset_of(table), table


def _noise(desk: Desk, dataset: Dataset, table: Table, bound: int, epsilon: Epsilon) -> float:
    """Return the expected noise of a count of all rows under a bound: from the one source of it."""
    place = ".".join('"' + name.replace('"', '""') + '"' for name in (dataset.name, table.name))
    request = Request.of(
        f"SELECT COUNT(*) AS n FROM {place}", epsilon=epsilon, analyst=None, fresh=True
    )
    catalog = probe_catalog(desk.catalog, dataset, table, bound)
    said = explain(request, _probed(desk, catalog))
    return float(said.expected_error["n"] or 0.0)
