"""One paid look at one table: the judged read, its price and payer, the charge, and the final outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from discreet.ask.plan.ir import Scan
from discreet.ask.release.desk import Desk
from discreet.ask.release.paid import paid
from discreet.ask.release.snapshots import hold, label, snapshots_of
from discreet.base.numbers import Delta, Epsilon
from discreet.base.requests.fields import checked
from discreet.base.requests.paid import LookFields
from discreet.data.engines.base import Held, PaidReader
from discreet.measure.budget import DELTA_PART, SynthBudget, check_epsilon_useful, synth_budget
from discreet.measure.sealing import SealedCodes
from discreet.privacy.kernel.nodes import Unfit
from discreet.privacy.ledger.charge import Charge
from discreet.privacy.ledger.entry import Payer, Receipt
from discreet.privacy.ledger.ledger import Ledger
from discreet.work.learn.private_rows import SealedUnitCodes

Sealed = TypeVar("Sealed", SealedCodes, SealedUnitCodes)


@dataclass(frozen=True, kw_only=True)
class CheckedLook(LookFields):
    """What every request for a paid look says about its payment, checked."""

    if TYPE_CHECKING:
        epsilon: Epsilon
        request_id: str

    @classmethod
    def of(cls, table: str, **words: Any) -> Self:
        """Return a checked request; no budget has a silent default."""
        return cls(**checked(cls(table=table, **words)))


@dataclass(frozen=True, slots=True)
class PlannedLook(Generic[Sealed]):
    """A look before it is paid. `sealed`: the only SELECT that it may run."""

    sealed: Sealed
    budget: SynthBudget
    payer: Payer
    request_id: str
    table: str
    snapshot: str
    held: Held
    ledger: Ledger

    def run(
        self, outcome: Callable[[PaidReader], bytes], *, body: str, note: str
    ) -> tuple[Receipt, bytes]:
        """Charge, then look; return the receipt and what is stored of the outcome.

        Guarantee: the charge is durable before `outcome` is called. Whatever comes of it is final: the
            same request id gets the same bytes, or the same failure, and no second look.
        """
        charge = Charge(self.budget.quote, self.request_id, body, note=note, snapshot=self.snapshot)
        return paid(
            self.payer,
            charge,
            lambda reader, _: outcome(reader),
            held=self.held,
            ledger=self.ledger,
        )


@contextmanager
def planned_look(
    scan: Scan,
    seal: Callable[[], Sealed],
    request: CheckedLook,
    desk: Desk,
    *,
    what: str,
    delta: Delta | None,
) -> Iterator[PlannedLook[Sealed]]:
    """Lend a look with its price while the table is held as it is now; reads no row.

    `delta` None: a part of what the dataset declares.

    Guarantee: the read that `seal` returns is about the people who are charged, in the region that the
        kernel read off its SQL.
    """
    dataset = desk.catalog.dataset_of(scan.table)
    with hold(scan, desk) as held:
        sealed = seal()
        if sealed.source.dataset.name != dataset.name:
            raise Unfit("a read of other people than are charged")
        if delta is None:
            delta = Delta(desk.catalog.budget_of(dataset).delta.value * DELTA_PART)
        snapshots = snapshots_of(scan, held)
        region = sealed.source.region(snapshots)
        budget = synth_budget(request.epsilon, delta, region=region)
        if isinstance(sealed, SealedCodes):
            check_epsilon_useful(budget, sealed.unit, request.epsilon)
        payer = Payer(request.analyst, dataset.name, dataset.budget)
        snapshot = f"{what} {label(snapshots)}"
        paid_as, name = request.request_id, scan.table.name
        yield PlannedLook(sealed, budget, payer, paid_as, name, snapshot, held, desk.ledger)
