"""An amount charged up front, from which a loop of adaptive steps draws."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from discreet.core.cost import Cost
from discreet.core.event import Concentrated, Failing, PrivacyEvent
from discreet.core.numbers import plain
from discreet.errors import BudgetExceeded, RequestConflict
from discreet.ledger.entry import Receipt
from discreet.ledger.once.repeating import require_held
from discreet.ledger.once.states import Reservation
from discreet.ledger.session import KeptBook, LedgerTransaction


class Allowance:
    """What is left of a reservation.

    Guarantee: what has been drawn never exceeds what was charged, across threads, processes and
    crashes. A reservation of `Concentrated(rho)` (perhaps `Failing`) is drawn from in rho: pieces
    that add up to rho are together rho-zCDP, which is what the charge says. Any other is drawn
    from in every component, so that each of the ledger's ways to count stays true.
    """

    def __init__(self, kept: KeptBook, receipt: Receipt, event: PrivacyEvent) -> None:
        self.receipt = receipt
        self._kept = kept
        self._concentrated = _is_concentrated(event)

    @property
    def left(self) -> Cost:
        """Return what may still be drawn; a component that does not count is shown in full."""
        with self._kept.session() as session:
            reservation = self._held(session)
            return _minus(reservation.cost, reservation.drawn)

    def draw(self, cost: Cost, *, note: str = "") -> None:
        """Take `cost` out of the reservation, durably, before the step that it pays for."""
        with self._kept.session() as session:
            reservation = self._open(session)
            if not _fits(reservation.cost, reservation.drawn + cost, self._concentrated):
                left = _minus(reservation.cost, reservation.drawn)
                shown = left.rho if self._concentrated else left.epsilon
                raise BudgetExceeded(
                    f"The reservation '{self.receipt.request_id}' has too little left for this "
                    "step. Nothing was drawn.",
                    hint="Reserve more, or take fewer or smaller steps.",
                    asked=str(cost),
                    left="" if shown is None else plain(shown),
                    limit=str(reservation.cost),
                )
            data = {"reservation": self.receipt.position, "cost": cost.to_json(), "note": note}
            session.append("draw", data | {"budget": self.receipt.payer.budget})

    def settle(self, *, refund: bool = False) -> None:
        """Close the reservation; nothing can be drawn any more.

        `refund` gives back what was not drawn. It is sound only if the decision to stop was made
        from public values and noisy answers, never from the data; without it what is left is
        simply gone, which is always safe. Settling twice changes nothing; nor does settling what a
        restore has closed, because nobody knows any more how much of it was drawn.
        """
        with self._kept.session() as session:
            reservation = self._held(session)
            if reservation.settled:
                return
            payer = self.receipt.payer
            data = {
                "reservation": self.receipt.position,
                "budget": payer.budget,
                "analyst": payer.analyst,
                "kept": None,
                "total": None,
                "share": None,
            }
            if refund:
                kept = _kept(reservation, self._concentrated)
                data |= {"kept": kept.to_json()} | session.book.after_refund(reservation, kept)
            session.append("settle", data)

    def _open(self, session: LedgerTransaction) -> Reservation:
        reservation = self._held(session)
        if reservation.settled:
            restored = self.receipt.position < session.book.restored
            raise RequestConflict(
                f"The reservation '{self.receipt.request_id}' was closed when the ledger was restored: "
                "what was drawn from it since the backup is not known."
                if restored
                else f"The reservation '{self.receipt.request_id}' has been settled.",
                hint="Reserve anew under another request id.",
            )
        return reservation

    def _held(self, session: LedgerTransaction) -> Reservation:
        require_held(session.book, session, self.receipt)
        return session.book.reservations[self.receipt.position]


def _is_concentrated(event: PrivacyEvent) -> bool:
    return isinstance(event.event if isinstance(event, Failing) else event, Concentrated)


def _fits(reserved: Cost, drawn: Cost, concentrated: bool) -> bool:
    by_rho = _within(drawn.rho, reserved.rho) and drawn.rho_delta <= reserved.rho_delta
    if concentrated:
        return by_rho and reserved.rho is not None
    return by_rho and _within(drawn.epsilon, reserved.epsilon) and drawn.delta <= reserved.delta


def _within(drawn: Fraction | None, reserved: Fraction | None) -> bool:
    # None reserved: that way of counting was given up when the reservation was charged.
    return reserved is None or (drawn is not None and drawn <= reserved)


def _minus(reserved: Cost, drawn: Cost) -> Cost:
    return Cost(
        epsilon=_left(reserved.epsilon, drawn.epsilon),
        delta=max(Fraction(0), reserved.delta - drawn.delta),
        rho=_left(reserved.rho, drawn.rho),
        rho_delta=max(Fraction(0), reserved.rho_delta - drawn.rho_delta),
    )


def _left(reserved: Fraction | None, drawn: Fraction | None) -> Fraction | None:
    if reserved is None:
        return None
    return Fraction(0) if drawn is None else max(Fraction(0), reserved - drawn)


def _kept(reservation: Reservation, concentrated: bool) -> Cost:
    """Return what stays charged. Drawn in rho, the (epsilon, delta) of the whole stays: a smaller
    rho would need a new conversion."""
    drawn, cost = reservation.drawn, reservation.cost
    if concentrated:
        return replace(cost, rho=drawn.rho, rho_delta=drawn.rho_delta)
    return Cost(
        epsilon=None if cost.epsilon is None else drawn.epsilon,
        delta=drawn.delta,
        rho=None if cost.rho is None else drawn.rho,
        rho_delta=drawn.rho_delta,
    )
