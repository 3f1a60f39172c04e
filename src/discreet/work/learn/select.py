"""select(): one good candidate by the exponential mechanism: a vote, a common name, a price.

Only the choice is released. Candidates are the declared values of a column. A vote scores each value by
the rows that have it; a price scores each declared number by what it would earn if everybody whose bid is
at least that price paid it. Scores are whole numbers that cannot wrap, whatever the rows are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np

from discreet.ask.plan.ir import Scan
from discreet.ask.release.desk import Desk
from discreet.base import display
from discreet.base.arrays import Integers
from discreet.base.bill import Charged
from discreet.base.display import ShownInLines, ShownLines
from discreet.base.numbers import Delta
from discreet.base.requests.paid import SelectFields
from discreet.base.schema import IntegerDomain, NumberDomain
from discreet.data.engines.base import PaidReader
from discreet.errors import InvalidInput
from discreet.measure.columns import MOST_CODES, Coded
from discreet.measure.private_marginals import Counter, PrivateMarginals
from discreet.measure.sealing import SealedCodes, seal_codes, store_codes
from discreet.privacy.ledger.entry import Receipt
from discreet.privacy.noise.error_bars import selection_loss
from discreet.privacy.noise.rng import Rng
from discreet.work.learn.features import fine_cells, plain_column
from discreet.work.learn.one_look import CheckedLook, PlannedLook, planned_look
from discreet.work.learn.training_plan import private_scan

KINDS = ("vote", "price")
BETA = Fraction(1, 20)
MOST_CANDIDATES = 20_000
"""Candidates of a vote: as many as the items of a recommender; a code has two bytes."""

TOP_GRAINS = 1 << 26
"""Grains of the highest price: finer differences between prices than that are not scored."""

MOST_BUYERS = 1 << 36
"""Buyers that raise a score: TOP_GRAINS times as many fit into a word, so that no score wraps."""

MARK = b"choice "
"""What a stored choice begins with: it is no answer to a query."""


@dataclass(frozen=True, kw_only=True)
class SelectRequest(CheckedLook, SelectFields):
    """One choice and who pays for it, checked."""

    @classmethod
    def of(cls, table: str, **words: Any) -> Self:
        """Return a checked request from the fields of `SelectFields`."""
        found = super().of(table, **words)
        if found.kind not in KINDS:
            raise InvalidInput(
                f"There is no choice of the kind '{found.kind[:40]}'.", hint="vote, price."
            )
        return found

    @property
    def body(self) -> str:
        """Return what must be the same when a request id is used again."""
        paid = {
            "table": self.table,
            "column": self.column,
            "kind": self.kind,
            "epsilon": str(self.epsilon.value),
        }
        return "select " + json.dumps(paid, sort_keys=True)


@dataclass(frozen=True, slots=True, repr=False)
class Selected(ShownInLines, Charged):
    """A choice, how much worse than the best it may be, and its price.

    With probability 95% the score of the choice is at most `loss95` below the best score; prices
    are scored in public grains (`prices`).
    """

    choice: str
    kind: str
    candidates: int
    loss95: float
    request_id: str

    def to_json(self) -> dict[str, Any]:
        """Return the object that `discreet learn select --json` prints."""
        return {
            "choice": self.choice,
            "kind": self.kind,
            "candidates": self.candidates,
            "loss95": round(self.loss95, 6),
            **self.bill.to_json(),
            "after": self.after.to_json(),
            "request_id": self.request_id,
        }

    def lines(self) -> ShownLines:
        """Return what a person reads."""
        return display.choice_lines(self.to_json())


@dataclass(frozen=True, slots=True)
class ChoicePlan:
    """A choice before anything is paid: its candidates, the sealed read, the price and its payer."""

    request: SelectRequest
    column: Coded
    look: PlannedLook[SealedCodes]

    @property
    def loss95(self) -> float:
        """Return how far below the best score the choice lies at most, 95 times in 100."""
        domain = self.column.domain
        sensitivity = Fraction(reach(self.request.kind, self.column) * self.look.sealed.unit.l1)
        if self.request.kind == "price":
            step = domain.step if isinstance(domain, NumberDomain) else Fraction(1)
            sensitivity *= step * prices(self.column)[1]
        return selection_loss(self.column.values, sensitivity, self.request.epsilon, BETA)


@contextmanager
def planned_choice(request: SelectRequest, desk: Desk) -> Iterator[ChoicePlan]:
    """Lend the plan and the price of a choice; reads no row."""
    scan = private_scan(desk.catalog, request.table)
    column = _candidates(scan, request)
    with planned_look(
        scan,
        lambda: seal_codes(scan, desk.engine, [column]),
        request,
        desk,
        what="select",
        delta=Delta.of(0),
    ) as look:
        yield ChoicePlan(request, column, look)


def select(request: SelectRequest, desk: Desk) -> Selected:
    """Return a good candidate, charged before any row is read.

    Guarantee: epsilon-DP by the exponential mechanism: scores move by at most `reach` for one row,
        and a unit has at most as many rows as the kernel read off the SQL.
    """
    with planned_choice(request, desk) as plan:
        receipt, stored = plan.look.run(
            lambda reader: _chosen(plan, reader, desk.rng),
            body=request.body,
            note=f"{request.kind} over {plan.column.name} in {plan.look.table}",
        )
    return _finished(plan, receipt, int(stored.removeprefix(MARK)))


def _candidates(scan: Scan, request: SelectRequest) -> Coded:
    whole = plain_column(scan, request.column, " to choose among")
    if request.kind == "price":
        domain = whole.domain
        if not isinstance(domain, IntegerDomain | NumberDomain) or domain.lower < 0:
            raise InvalidInput("Prices are chosen among declared numbers that are not negative.")
        return whole if whole.positions <= MOST_CODES else _in_cells(whole)
    if whole.size > MOST_CANDIDATES:
        raise InvalidInput(
            f"Column '{whole.name}' has {whole.size:,} declared values, more than the "
            f"{MOST_CANDIDATES:,} that can be chosen among.",
            hint="Group them in the source, or declare fewer. Nothing was charged.",
        )
    return whole


def _in_cells(column: Coded) -> Coded:
    return Coded(column.name, column.domain, fine_cells(column))


def prices(column: Coded) -> tuple[Integers, int]:
    """Return the price of each candidate in grains, rounded down, and the steps of a grain.

    A price is the lowest bid of its cell. The grain follows from the declared bounds alone.
    """
    domain = column.domain
    assert isinstance(domain, IntegerDomain | NumberDomain)
    step = domain.step if isinstance(domain, NumberDomain) else 1
    first = int(Fraction(domain.lower) / step)
    exact = [first + column.span(code)[0] for code in range(column.values)]
    grain = max(-(-max(exact) // TOP_GRAINS), 1)
    return np.array([price // grain for price in exact], dtype=np.int64), grain


def scores_of(kind: str, column: Coded, counts: Integers) -> Integers:
    """Return the score of each candidate from the rows at each of them.

    >>> bids = Coded("bid", NumberDomain(Fraction(0), Fraction(4), Fraction(1, 100)))
    >>> counts = np.zeros(401, dtype=np.int64); counts[100] = 3; counts[301] = 1
    >>> earned = scores_of("price", bids, counts)
    >>> earned[100], earned[301], earned[302]
    (np.int64(400), np.int64(301), np.int64(0))
    """
    if kind == "vote":
        return counts
    # One more row raises the buyers by one at most, cut off or not: see MOST_BUYERS.
    buyers = np.minimum(np.cumsum(counts[::-1])[::-1], MOST_BUYERS)
    return np.asarray(prices(column)[0] * buyers)


def reach(kind: str, column: Coded) -> int:
    """Return how far one row can move a score."""
    return 1 if kind == "vote" else max(int(prices(column)[0].max()), 1)


def _chosen(plan: ChoicePlan, reader: PaidReader, rng: Rng) -> bytes:
    look, codes, kind = plan.look, plan.look.sealed, plan.request.kind
    counter = store_codes(reader, codes)
    marginals = PrivateMarginals(counter, codes.shape, look.budget.whole, codes.unit, rng)

    def scores(exact: Counter) -> Integers:
        return scores_of(kind, plan.column, exact.marginals([(0,)])[0])

    index = marginals.choose(scores, sensitivity=reach(kind, plan.column), share=Fraction(1))
    return MARK + str(index).encode()


def _finished(plan: ChoicePlan, receipt: Receipt, index: int) -> Selected:
    domain, place = plan.column.domain, plan.column.span(index)[0]
    shown = str(domain.value(place))
    if isinstance(domain, NumberDomain):
        shown = f"{float(domain.value(place)):g}"
    return Selected(
        choice=shown,
        kind=plan.request.kind,
        candidates=plan.column.values,
        loss95=plan.loss95,
        bill=receipt.bill,
        request_id=plan.request.request_id,
    )
