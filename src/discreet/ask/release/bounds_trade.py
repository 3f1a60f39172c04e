"""The trade between what `max_rows` leaves out and the noise that it saves, from a small paid look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.ask.release.desk import Desk, PlainDesk, Request
from discreet.ask.release.pipeline import explain_question, release_question
from discreet.ask.release.rows_left_out import RowsLost, histogram, probe_catalog, probe_sql
from discreet.base import display
from discreet.base.answer import Answer, Explanation
from discreet.base.bill import Spent
from discreet.base.display import ShownInLines, ShownLines
from discreet.base.numbers import Epsilon
from discreet.base.requests.fields import checked
from discreet.base.requests.paid import BoundsFields
from discreet.base.schema import Dataset, Table
from discreet.data.catalog.catalog import Catalog
from discreet.data.engines.dialects import quoted
from discreet.errors import EngineFailed

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


@dataclass(frozen=True, slots=True, repr=False)
class BoundsTrade(ShownInLines):
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

    @property
    def cost(self) -> Spent:
        """Return what the look used."""
        return self.answer.cost

    @property
    def free(self) -> bool:
        """Return whether the look was had again, for nothing."""
        return self.answer.free

    def to_json(self) -> dict[str, Any]:
        """Return plain values: everything in it was paid for, or is public."""
        return {
            "table": self.table,
            "max_rows": self.now,
            "noise_epsilon": float(self.at.value),
            "best": self.best,
            "bounds": [each.to_json() for each in self.bounds],
            **self.answer.bill.to_json(),
            "left": float(self.answer.limit.epsilon - self.answer.after.epsilon),
            "request_id": self.answer.request_id,
        }

    def lines(self) -> ShownLines:
        """Return what a person reads."""
        return display.bounds_lines(self.to_json())


@dataclass(frozen=True, kw_only=True)
class BoundsRequest(BoundsFields):
    """One look and who pays for it, checked."""

    if TYPE_CHECKING:
        epsilon: Epsilon
        at: Epsilon

    @classmethod
    def of(cls, **words: Any) -> BoundsRequest:
        """Return a checked request from the fields of `BoundsFields`."""
        asked = BoundsFields(**words)
        return cls(**checked(asked) | {"request_id": asked.request_id})

    def question(self, payer: str | None, dataset: Dataset, table: Table) -> Request:
        """Return the question that `payer` pays for; `at` is no part of it, so that another one is free."""
        return Request.of(
            probe_sql(dataset, table),
            epsilon=self.epsilon,
            analyst=payer,
            request_id=self.request_id,
        )


def foretell(desk: Desk, look: BoundsRequest, *, payer: str | None) -> Explanation:
    """Return what the look would cost `payer`; spends nothing."""
    dataset, found = desk.catalog.named(look.table)
    request = look.question(payer, dataset, found)
    return explain_question(request, _probed(desk, probe_catalog(desk.catalog, dataset, found)))


def trade(desk: Desk, look: BoundsRequest, *, payer: str | None) -> BoundsTrade:
    """Return what each bound leaves out beside the noise of a count for epsilon `at`, charged first to `payer`.

    Charged like any question; from then on answers about the table say what its bound leaves out.
    """
    dataset, found = desk.catalog.named(look.table)
    request = look.question(payer, dataset, found)
    answer = release_question(request, _probed(desk, probe_catalog(desk.catalog, dataset, found)))
    told = histogram(answer)
    if told is None:
        raise EngineFailed("The answer tells nothing about rows of people.")
    now = found.max_rows
    chosen = sorted({*BOUNDS, *([] if now is None else [now])})
    bounds = tuple(
        BoundNoise(told.lost(bound), _noise(desk, dataset, found, bound, look.at))
        for bound in chosen
    )
    return BoundsTrade(found.name, now, look.at, bounds, answer)


def _probed(desk: Desk, catalog: Catalog) -> Desk:
    return PlainDesk(catalog, desk.ledger, desk.engine, desk.rng)


def _noise(desk: Desk, dataset: Dataset, table: Table, bound: int, epsilon: Epsilon) -> float:
    """Return the expected noise of a count of all rows under a bound: from the one source of it."""
    place = f"{quoted(dataset.name)}.{quoted(table.name)}"
    request = Request.of(
        f"SELECT COUNT(*) AS n FROM {place}", epsilon=epsilon, analyst=None, fresh=True
    )
    catalog = probe_catalog(desk.catalog, dataset, table, bound)
    said = explain_question(request, _probed(desk, catalog))
    return float(said.expected_error["n"] or 0.0)
