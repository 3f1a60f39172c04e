"""release(): the whole way of a question, in the order that keeps it safe."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from discreet.catalog.catalog import Catalog
from discreet.catalog.read.check import check_table
from discreet.core.answer import Answer, Provenance, Spent
from discreet.core.cost import FREE, Cost, Quote
from discreet.core.event import NOTHING
from discreet.core.explanation import Explanation
from discreet.engine.base import Engine, Held
from discreet.errors import InvalidInput
from discreet.kernel.look import Noisy, look
from discreet.ledger.entry import Balance, Payer, Receipt
from discreet.ledger.ledger import Ledger
from discreet.ledger.text import exposure_note
from discreet.noise.rng import Rng
from discreet.plan.ir import Statement
from discreet.plan.keys import PublicGroups
from discreet.plan.plan import Plan, Question, ask, make_plan
from discreet.plan.signature import signature
from discreet.release.bars.stated import stated_noise
from discreet.release.bars.within import allowed_errors, expected_errors, least_epsilon
from discreet.release.finish import ResultTable, finish
from discreet.release.kept_noise import kept_noise, shown_again
from discreet.release.left_out import bounding_notes
from discreet.release.outcome import once
from discreet.release.paid_cells import cells_of, known_from
from discreet.release.request import Request
from discreet.release.reuse import implied
from discreet.release.sealing import Sealed, seal
from discreet.release.snapshots import hold, label, snapshots_of, tables_of
from discreet.release.stored import KeptAnswer, pack, unpack
from discreet.release.text import mechanism_words
from discreet.sql.bind import bind

MOST_PAST = 200
"""How many of the latest answers are looked through for what they imply."""


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

    @property
    def question(self) -> Question:
        """Return the question behind the plan."""
        return self.plan.question


@contextmanager
def prepared(
    request: Request, *, catalog: Catalog, ledger: Ledger, engine: Engine
) -> Iterator[tuple[PreparedQuestion, Held]]:
    """Lend the plan and the price of a request, and the state of the tables that it is about.

    Guarantee: the plan depends on public facts and on the number of that state only; whatever
        happens to the sources meanwhile, that state is what the caller reads.
    """
    statement = replace(bind(request.sql, catalog), max_rows=request.max_rows)
    tables = tables_of(statement.source)
    for dataset, table in tables:
        check_table(dataset, table, engine)
    with hold(statement.source, engine, ledger, catalog) as held:
        snapshots = snapshots_of(statement.source, held, ledger)
        yield _prepare(request, statement, snapshots, catalog, ledger, engine), held


def _prepare(  # noqa: PLR0917 a step of `prepared`
    request: Request,
    statement: Statement,
    snapshots: dict[str, str],
    catalog: Catalog,
    ledger: Ledger,
    engine: Engine,
) -> PreparedQuestion:
    question = ask(statement, catalog, snapshots)
    budget = catalog.budget_of(question.dataset)
    epsilon = request.epsilon
    if epsilon is None:
        assert request.wanted is not None, "a request has one of the two"
        paid = ledger.find_answer(
            request.analyst, question.dataset.name, signature(statement), label(snapshots)
        )
        earlier = None if paid is None else _in_form(unpack(paid[1]), question)
        allowed = allowed_errors(request.wanted, question, earlier)
        epsilon = least_epsilon(question, allowed, budget.delta)
    plan = make_plan(question, epsilon=epsilon, budget_delta=budget.delta)
    sealed = seal(plan, catalog, engine)
    # Nobody can be in an empty region, so nothing will be read, and nothing is charged.
    quote = Quote(NOTHING, FREE, question.region) if question.region.empty else sealed.quote(plan)
    plan = replace(plan, mechanisms=sealed.mechanisms)
    payer = Payer(request.analyst, question.dataset.name, question.dataset.budget)
    key = signature(statement)
    exposure = exposure_note(ledger, question.dataset.name)
    return PreparedQuestion(request, plan, sealed, quote, payer, key, label(snapshots), exposure)


def release(
    request: Request, *, catalog: Catalog, ledger: Ledger, engine: Engine, rng: Rng
) -> Answer:
    """Return the private answer to a request, charged before any row is read.

    Guarantee: the price depends on the request and on public facts only; the charge is durable
        before the engine runs; the rows are looked at once at most for it; whatever comes of it is
        durable before it is returned, and is what the same request id gets again (`once`), also
        where its tables have been renamed since. A free answer stands for its id as a paid one does.
    """
    before = told_before(request, ledger)
    if before is not None:
        return before
    with prepared(request, catalog=catalog, ledger=ledger, engine=engine) as (ready, held):
        return _released(ready, held, ledger=ledger, rng=rng)


def told_before(request: Request, ledger: Ledger) -> Answer | None:
    """Return what a request was answered before under the id that its caller chose."""
    if not request.named:
        return None  # an id that was drawn just now
    stored = ledger.stored.finished(
        request.analyst, request_id=request.request_id, body=request.body
    )
    return None if stored is None else unpack(stored).answer


def _released(ready: PreparedQuestion, held: Held, *, ledger: Ledger, rng: Rng) -> Answer:
    request = ready.request
    paid = request.named and ledger.receipt(
        ready.payer, request_id=request.request_id, body=request.body
    )
    if not paid and not request.fresh:
        free = _free(ready, ledger)
        if free is not None and _bound(free, ready, ledger):
            return free
    receipt = ledger.charge(
        ready.payer,
        ready.quote,
        request_id=request.request_id,
        body=request.body,
        question=ready.key,
        note=str(request.sql),
        snapshot=ready.snapshot,
    )
    payload = once(ledger, receipt, lambda: _computed(ready, receipt, held, rng))
    return unpack(payload).answer


def _bound(free: Answer, ready: PreparedQuestion, ledger: Ledger) -> bool:
    """Return whether a free answer may go out: its id stands for it, or nobody chose one."""
    request = ready.request
    return not request.named or ledger.stored.keep_free(
        ready.payer,
        pack(free, (), ready.plan.epsilon),
        request_id=request.request_id,
        body=request.body,
        note=str(request.sql),
    )


def _computed(ready: PreparedQuestion, receipt: Receipt, held: Held, rng: Rng) -> bytes:
    """Return the answer as it is stored; `once` calls this at most once for a charge."""
    noisy = _noisy(ready, receipt, held, rng)
    laws = {} if ready.question.region.empty else ready.plan.mechanisms.laws
    table = finish(noisy, ready.question, laws)
    answer = _answer(ready, table, receipt, rng)
    known = known_from(ready.question, noisy, laws)
    return pack(answer, known, ready.plan.epsilon, kept_noise(ready.question, noisy, laws))


def _noisy(ready: PreparedQuestion, receipt: Receipt, held: Held, rng: Rng) -> Noisy:
    question, mechanisms = ready.question, ready.plan.mechanisms
    if question.region.empty:
        groups = tuple(question.groups) if isinstance(question.groups, PublicGroups) else ()
        zeros = {name: [0] * len(groups) for name in mechanisms.laws}
        nothing: dict[str, list[Any]] = {n: [None] * len(groups) for n in mechanisms.selections}
        return Noisy(groups, zeros, nothing)
    assert receipt.request_id, "a charge comes before a look"
    seconds = None if question.dataset.seconds is None else float(question.dataset.seconds)
    found = look(
        ready.sealed.reads,
        mechanisms,
        domains=tuple(key.domain for key in question.statement.keys),
        groups=question.groups if isinstance(question.groups, PublicGroups) else None,
        reader=held,
        rng=rng,
        seconds=seconds,
    )
    chosen = dict(question.measured.choices)
    choices = {
        name: [chosen[name].value(index) for index in indices]
        for name, indices in found.choices.items()
    }
    return replace(found, choices=choices)


def _free(ready: PreparedQuestion, ledger: Ledger) -> Answer | None:
    """Return what already-paid answers say, where that is at least as exact as a new one."""
    payer = ready.payer
    same = ledger.find_answer(payer.analyst, payer.dataset, ready.key, ready.snapshot)
    if same is not None:
        found = unpack(same[1])
        shown = _in_form(found, ready.question)
        if shown is not None and found.epsilon >= ready.plan.epsilon.value:
            note = "The same question was answered before; this is that answer, free of charge."
            return _again(shown, ready, ledger, note)
    if cells_of(ready.question) is None:
        return None
    past = ledger.answers(payer.analyst, payer.dataset, ready.snapshot, last=MOST_PAST)
    known = [item for _, _, payload in past for item in unpack(payload).known]
    table = implied(ready.plan, known)
    if table is None:
        return None
    balance = balance_of(ledger, ready.payer)
    return _free_answer(ready, table, balance)


def _in_form(found: KeptAnswer, question: Question) -> Answer | None:
    """Return a paid answer in the form that a question asks for it, None where it cannot be."""
    kept = None if found.noise is None else shown_again(found.noise, question)
    if kept is None:
        return None
    table = finish(kept[0], question, kept[1])
    return replace(
        found.answer,
        columns=table.columns,
        rows=table.rows,
        error95=table.error95,
        keys=len(question.statement.keys),
        intervals=table.intervals,
        covariance=table.covariance,
        noisy=table.noisy,
    )


def _again(answer: Answer, ready: PreparedQuestion, ledger: Ledger, note: str) -> Answer:
    now = balance_of(ledger, ready.payer)
    known = answer.provenance.notes
    later = [ready.exposure] if ready.exposure and ready.exposure not in known else []
    provenance = replace(answer.provenance, notes=(*known, *later, note))
    return replace(
        answer,
        cost=spent_of(FREE),
        before=spent_so_far(now),
        after=spent_so_far(now),
        limit=limit_of(now),
        free=True,
        provenance=provenance,
    )


def _free_answer(ready: PreparedQuestion, table: ResultTable, balance: Balance) -> Answer:
    note = (
        "Implied by answers that were paid for before, by weighted least squares; free of charge. "
        "Choosing such combinations after seeing answers weakens the stated 95%."
    )
    return _assembled(
        ready,
        table,
        cost=spent_of(FREE),
        before=spent_so_far(balance),
        after=spent_so_far(balance),
        limit=limit_of(balance),
        free=True,
        notes=(note,) if ready.exposure is None else (note, ready.exposure),
        private=True,
    )


def _answer(ready: PreparedQuestion, table: ResultTable, receipt: Receipt, rng: Rng) -> Answer:
    return _assembled(
        ready,
        table,
        cost=spent_of(receipt.cost),
        before=spent_so_far(receipt.before),
        after=spent_so_far(receipt.after),
        limit=limit_of(receipt.after),
        free=receipt.cost == FREE,
        notes=_notes(ready),
        private=getattr(rng, "private", True),
    )


def _assembled(
    ready: PreparedQuestion,
    table: ResultTable,
    *,
    cost: Spent,
    before: Spent,
    after: Spent,
    limit: Spent,
    free: bool,
    notes: tuple[str, ...],
    private: bool,
) -> Answer:
    question = ready.question
    unit = next(t.unit for t in question.dataset.tables if t.unit is not None)
    provenance = Provenance(
        dataset=question.dataset.name,
        snapshot=ready.snapshot,
        unit=str(unit),
        mechanisms=() if question.region.empty else mechanism_words(ready.plan),
        sql=tuple(read.draft.sql for read in ready.sealed.reads),
        notes=notes,
        private=private,
    )
    return Answer(
        columns=table.columns,
        rows=table.rows,
        error95=table.error95,
        cost=cost,
        before=before,
        after=after,
        limit=limit,
        free=free,
        request_id=ready.request.request_id,
        provenance=provenance,
        keys=len(question.statement.keys),
        intervals=table.intervals,
        covariance=table.covariance,
        noisy=table.noisy,
    )


def _notes(ready: PreparedQuestion) -> tuple[str, ...]:
    notes = []
    if ready.question.dataset.accepted:
        notes.append("The domains were read from the data and declared public by --accept.")
    notes += [
        f"'{table}' has changed since it was first asked about: this is version {version}."
        for table, version in sorted(ready.question.snapshots.items())
        if version != "1"
    ]
    notes += bounding_notes(ready.question.statement)
    if ready.question.region.empty:
        notes.append("No declared value satisfies the condition, so nothing was read or charged.")
    if ready.exposure is not None:
        notes.append(ready.exposure)
    return tuple(notes)


def explain(
    request: Request,
    *,
    catalog: Catalog,
    ledger: Ledger,
    engine: Engine,
    group_size: int | None = None,
) -> Explanation:
    """Return the plan, the generated SQL, the price and the expected error; spends nothing.

    `group_size` names a number of rows for which the noise of means, variances and quantiles is told.
    """
    if group_size is not None and (type(group_size) is not int or group_size < 1):
        raise InvalidInput("The size of a group is a whole number of at least 1.")
    with prepared(request, catalog=catalog, ledger=ledger, engine=engine) as (ready, _):
        said = _explained(ready, catalog, ledger)
        stated = None if group_size is None else stated_noise(ready.plan, group_size)
        return replace(said, stated=stated)


def _explained(ready: PreparedQuestion, catalog: Catalog, ledger: Ledger) -> Explanation:
    request = ready.request
    free = None if request.fresh else _free(ready, ledger)
    before, after = ledger.foreseen(ready.payer, ready.quote)
    return Explanation(
        dataset=ready.payer.dataset,
        columns=tuple(name for name, _ in ready.question.outputs),
        sql="\n".join(read.draft.sql for read in ready.sealed.reads),
        mechanisms=mechanism_words(ready.plan),
        cost=spent_of(FREE if free is not None else ready.quote.cost),
        before=spent_so_far(before),
        after=spent_so_far(after if free is None else before),
        limit=limit_of(before),
        expected_error=expected_errors(ready.plan),
        region=catalog.describe_region(ready.question.region),
        free=free is not None,
        notes=_notes(ready) if free is None else free.provenance.notes,
    )


def spent_of(cost: Cost) -> Spent:
    """Return a cost as the two numbers that people read."""
    if cost.epsilon is None:
        return Spent(cost.rho or cost.delta, cost.rho_delta)
    return Spent(cost.epsilon, cost.delta)


def balance_of(ledger: Ledger, payer: Payer) -> Balance:
    """Return what a payer has spent so far, and may spend."""
    found = ledger.spent(payer.budget, payer.analyst)
    return Balance(found.limit_epsilon, found.limit_delta, found.epsilon, found.delta)


def spent_so_far(balance: Balance) -> Spent:
    """Return what a balance says was spent."""
    return Spent(balance.epsilon, balance.delta)


def limit_of(balance: Balance) -> Spent:
    """Return what a balance says may be spent."""
    return Spent(balance.limit_epsilon, balance.limit_delta)
