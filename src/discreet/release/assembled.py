"""The answer as it is handed out: noisy values with their price, balance and provenance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from discreet.core.answers.answer import REHEARSAL, Answer, Provenance
from discreet.core.bill import Bill
from discreet.core.cost import Quote
from discreet.core.schema import Table
from discreet.ledger.entry import Balance, Payer, Receipt, bill_of, free_bill
from discreet.ledger.ledger import Ledger
from discreet.noise.rng import Rng
from discreet.plan.ir import Scan, Statement, scans_of
from discreet.plan.plan import Plan, Question
from discreet.release.bars.noise_for_size import drowned_notes
from discreet.release.bars.row_losses import RowsHistogram
from discreet.release.finish import ResultTable
from discreet.release.request import Request
from discreet.release.sealing import Sealed
from discreet.release.text import mechanism_words

ACCEPTED = "The domains were read from the data and declared public by --accept."
"""What the reader of anything from such a dataset is told."""


@dataclass(frozen=True, slots=True)
class PreparedQuestion:
    """A planned request: what would run, what it would cost, and who would pay."""

    request: Request
    plan: Plan
    sealed: Sealed
    quote: Quote
    payer: Payer
    key: str
    snapshot: str
    exposure: str | None = None
    paid: Mapping[str, RowsHistogram] = field(default_factory=dict)

    @property
    def question(self) -> Question:
        """Return the question behind the plan."""
        return self.plan.question


def again(answer: Answer, ready: PreparedQuestion, ledger: Ledger, note: str) -> Answer:
    """Return an answer that was paid for before, as it is told for nothing now."""
    unpaid = bounding_notes(ready.question.statement, {})
    now_known = bounding_notes(ready.question.statement, ready.paid)
    known = (*(n for n in answer.provenance.notes if n not in (*unpaid, *now_known)), *now_known)
    later = [ready.exposure] if ready.exposure and ready.exposure not in known else []
    provenance = replace(answer.provenance, notes=(*known, *later, note))
    now = balance_of(ledger, ready.payer)
    return replace(answer, bill=free_bill(now), provenance=provenance)


def free_answer(ready: PreparedQuestion, table: ResultTable, balance: Balance) -> Answer:
    """Return the answer that follows from others."""
    note = (
        "Implied by answers that were paid for before, by weighted least squares; free of charge. "
        "Choosing such combinations after seeing answers weakens the stated 95%."
    )
    return _assembled(
        ready,
        table,
        free_bill(balance),
        notes=(
            note,
            *table.notes,
            *bounding_notes(ready.question.statement, ready.paid),
            *([] if ready.exposure is None else [ready.exposure]),
        ),
        private=True,
    )


def paid_answer(ready: PreparedQuestion, table: ResultTable, receipt: Receipt, rng: Rng) -> Answer:
    """Return the answer that a charge was made for."""
    return _assembled(
        ready,
        table,
        bill_of(receipt.cost, receipt.before, receipt.after),
        notes=(*notes_of(ready), *table.notes),
        private=getattr(rng, "private", True),
    )


def _assembled(
    ready: PreparedQuestion,
    table: ResultTable,
    bill: Bill,
    *,
    notes: tuple[str, ...],
    private: bool,
) -> Answer:
    question = ready.question
    unit = next(t.unit for t in question.dataset.tables if t.unit is not None)
    rehearsed = ready.request.seed is not None
    provenance = Provenance(
        dataset=question.dataset.name,
        snapshot=ready.snapshot,
        unit=str(unit),
        mechanisms=() if question.region.empty else mechanism_words(ready.plan),
        sql=tuple(read.draft.sql for read in ready.sealed.reads),
        notes=notes,
        private=private and not rehearsed,
        watermark=REHEARSAL if rehearsed else "",
    )
    return Answer(
        **table.parts(),
        bill=bill,
        request_id=ready.request.request_id,
        provenance=provenance,
        keys=len(question.statement.keys),
    )


def notes_of(ready: PreparedQuestion) -> tuple[str, ...]:
    """Return what there is to know about a new answer."""
    notes = []
    if ready.question.dataset.accepted:
        notes.append(ACCEPTED)
    notes += [
        f"'{table}' has changed since it was first asked about: this is version {version}."
        for table, version in sorted(ready.question.snapshots.items())
        if version != "1"
    ]
    notes += bounding_notes(ready.question.statement, ready.paid)
    notes += () if ready.question.region.empty else drowned_notes(ready.plan)
    if ready.question.region.empty:
        notes.append("No declared value satisfies the condition, so nothing was read or charged.")
    if ready.exposure is not None:
        notes.append(ready.exposure)
    return tuple(notes)


def bounding_notes(statement: Statement, paid: Mapping[str, RowsHistogram]) -> tuple[str, ...]:
    """Return a sentence for each table of people whose rows are bounded; nothing private.

    An interval is about the noise. What the bound leaves out is not in it, so it stands beside it:
    as the owner declares it, or as a paid look at the rows of people tells (`paid`, by table).
    """
    scans = {scan.table.name: scan for scan in scans_of(statement.source) if not scan.public}
    return tuple(_notes(scans, paid))


def _notes(scans: dict[str, Scan], paid: Mapping[str, RowsHistogram]) -> Iterator[str]:
    for name, scan in sorted(scans.items()):
        table, asked, bound = scan.table, scan.asked, scan.max_rows
        if table.unit is None or table.unit.is_row:
            continue
        if bound is None:
            continue
        if asked not in (None, bound):
            yield f"max_rows = {asked:,} was not used: '{name}' is bounded as a whole by its owner."
        rows = "1 row counts" if bound == 1 else f"{bound:,} rows count"
        known = paid[name].lost(bound).words() if name in paid else _known(table, bound)
        yield f"Of one person in '{name}' at most {rows}; {known}."


def _known(table: Table, bound: int) -> str:
    """Return what is publicly known about the rows that are left out."""
    if table.rows_kept is None or table.max_rows is None or bound < table.max_rows:
        return "how many rows that leaves out is not known, and not in the noise"
    return (
        f"its owner declares that this keeps at least {float(100 * table.rows_kept):g}% of the rows"
    )


def balance_of(ledger: Ledger, payer: Payer) -> Balance:
    """Return what a payer has spent so far, and may spend."""
    found = ledger.spent(payer.budget, payer.analyst)
    return Balance(found.limit_epsilon, found.limit_delta, found.epsilon, found.delta)
