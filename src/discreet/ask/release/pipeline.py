"""release_question(): the whole way of a question, in the order that keeps it safe."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from discreet.ask.plan.ir import Statement, signature
from discreet.ask.plan.plan import PublicGroups, Question, ask, make_plan
from discreet.ask.release.answer import (
    PreparedQuestion,
    again,
    balance_of,
    finish,
    free_answer,
    implied,
    mechanism_words,
    notes_of,
    paid_answer,
)
from discreet.ask.release.desk import Desk, Request
from discreet.ask.release.error_bars import (
    allowed_errors,
    expected_errors,
    least_epsilon,
    stated_noise,
)
from discreet.ask.release.paid import paid_together
from discreet.ask.release.rows_left_out import paid_histograms
from discreet.ask.release.sealing import seal
from discreet.ask.release.selection import Choices, without_selection
from discreet.ask.release.snapshots import hold_tables, label, snapshots_of, tables_of
from discreet.ask.release.stored_answers import (
    KeptAnswer,
    cells_of,
    kept_noise,
    pack,
    paid_values_from,
    paid_values_in,
    shown_again,
    unpack,
)
from discreet.ask.sql.bind import bind
from discreet.base.answer import Answer, Explanation
from discreet.base.event import FREE, NOTHING, Quote
from discreet.data.catalog.catalog import Catalog, engine_name
from discreet.data.catalog.sources import check_table
from discreet.data.engines.base import Exact, Held, PaidReader, RunSql
from discreet.errors import InvalidInput
from discreet.privacy.kernel.look import Noisy, look
from discreet.privacy.kernel.rehearsal import SeedRequest
from discreet.privacy.ledger.charge import Charge
from discreet.privacy.ledger.entry import Payer, Receipt, bill_of, free_bill
from discreet.privacy.ledger.ledger import Ledger
from discreet.privacy.ledger.reports import exposure_note
from discreet.privacy.noise.rng import Rng

MOST_PAST = 200
"""How many of the latest answers are looked through for what they imply."""


@contextmanager
def prepared(request: Request, desk: Desk) -> Iterator[tuple[PreparedQuestion, Held]]:
    """Lend the plan and the price of a request, and the state of the tables that it is about.

    Guarantee: the plan depends on public facts and on the number of that state only; whatever
        happens to the sources meanwhile, that state is what the caller reads.
    """
    with prepared_together([request], desk) as ((ready,), held):
        yield ready, held


@contextmanager
def prepared_together(
    requests: Sequence[Request], desk: Desk
) -> Iterator[tuple[list[PreparedQuestion], Held]]:
    """Lend the plans and prices of several requests, and one state of all of their tables."""
    statements = [bind(r.sql, desk.catalog, max_rows=r.max_rows) for r in requests]
    found = {
        engine_name(dataset, table): (dataset, table)
        for statement in statements
        for dataset, table in tables_of(statement.source)
    }
    for dataset, table in found.values():
        check_table(dataset, table, desk.engine)
    with hold_tables(list(found.values()), desk) as held:
        ready = [
            _prepare(
                request,
                statement,
                snapshots_of(statement.source, held),
                desk,
            )
            for request, statement in zip(requests, statements, strict=True)
        ]
        yield ready, held


def _prepare(
    request: Request, statement: Statement, snapshots: dict[str, str], desk: Desk
) -> PreparedQuestion:
    question = ask(statement, desk.catalog, snapshots)
    budget = desk.catalog.budget_of(question.dataset)
    epsilon = request.epsilon
    if epsilon is None:
        assert request.within is not None, "a request has one of the two"
        paid = desk.ledger.find_answer(
            request.analyst, question.dataset.name, signature(statement), label(snapshots)
        )
        earlier = None if paid is None else _in_form(unpack(paid[1]), question, request)
        allowed = allowed_errors(request.within, question, earlier)
        epsilon = least_epsilon(question, allowed, budget.delta, request.later)
    plan = make_plan(question, epsilon=epsilon, budget_delta=budget.delta)
    sealed = seal(plan, desk.catalog, desk.engine)
    # Nobody can be in an empty region, so nothing will be read, and nothing is charged.
    quote = Quote(NOTHING, FREE, question.region) if question.region.empty else sealed.quote(plan)
    plan = replace(plan, mechanisms=sealed.mechanisms)
    payer = Payer(request.analyst, question.dataset.name, question.dataset.budget)
    key = signature(statement)
    exposure = exposure_note(desk.ledger, question.dataset.name)
    row_facts = paid_histograms(
        statement, snapshots, request.analyst, catalog=desk.catalog, ledger=desk.ledger
    )
    return PreparedQuestion(
        request, plan, sealed, quote, payer, key, label(snapshots), exposure, row_facts
    )


def release_question(request: Request, desk: Desk) -> Answer:
    """Return the private answer to a request, charged before any row is read.

    Guarantee: the price depends on the request and on public facts only; the charge is durable
        before the engine runs; the rows are looked at once at most for it; whatever comes of it is
        durable before it is returned, and is what the same request id gets again (`once`), also
        where its tables have been renamed since. A free answer stands for its id as a paid one does.
    """
    (answer,) = release_together([request], desk)
    return answer


def release_together(requests: Sequence[Request], desk: Desk) -> list[Answer]:
    """Return the private answers to several requests of one payer about one state of the data.

    Guarantee: as `release_question` for each of them. All are planned, sealed and priced before any of them
        is charged, and what has to be paid is charged in one transaction: everything or nothing.
        (note 0060)
    """
    told = [stored_answer_of(request, desk.ledger) for request in requests]
    waiting = [each for each, before in zip(requests, told, strict=True) if before is None]
    if waiting:
        with prepared_together(waiting, desk) as (ready, held):
            new = iter(_released(ready, held, ledger=desk.ledger, rng=desk.rng))
    return [next(new) if before is None else before for before in told]


def stored_answer_of(request: Request, ledger: Ledger) -> Answer | None:
    """Return what a request was answered before under the id that its caller chose."""
    if not request.named:
        return None  # an id that was drawn just now
    stored = ledger.stored.finished(
        request.analyst, request_id=request.request_id, body=request.body
    )
    return None if stored is None else unpack(stored).answer


def _released(
    ready: Sequence[PreparedQuestion], held: Held, *, ledger: Ledger, rng: Rng
) -> list[Answer]:
    found: dict[int, Answer] = {}
    unpaid: dict[tuple[str, str], int] = {}
    paying: list[int] = []
    for i, each in enumerate(ready):
        request = each.request
        paid = request.named and ledger.receipt(
            each.payer, request_id=request.request_id, body=request.body
        )
        free = None if paid or request.fresh else _free(each, ledger)
        if free is not None and _bound(free, each, ledger):
            found[i] = free
        elif paid or request.fresh or unpaid.setdefault((each.key, each.snapshot), i) == i:
            paying.append(i)
    for i, stored in zip(paying, _paid([ready[i] for i in paying], held, ledger, rng), strict=True):
        found[i] = unpack(stored).answer
    for i, each in enumerate(ready):
        if i not in found:  # asked twice in one statement: the answer is there by now
            (found[i],) = _released([each], held, ledger=ledger, rng=rng)
    return [found[i] for i in range(len(ready))]


def _paid(ready: Sequence[PreparedQuestion], held: Held, ledger: Ledger, rng: Rng) -> list[bytes]:
    """Return what is stored of questions of one payer, all of them charged or none."""
    if not ready:
        return []
    (payer,) = {each.payer for each in ready}
    works = [(_charge(each), partial(_computed, each, rng)) for each in ready]
    return [stored for _, stored in paid_together(payer, works, held=held, ledger=ledger)]


def _charge(ready: PreparedQuestion) -> Charge:
    return Charge(
        ready.quote,
        ready.request.request_id,
        ready.request.body,
        ready.key,
        str(ready.request.sql),
        ready.snapshot,
    )


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


def _computed(ready: PreparedQuestion, rng: Rng, reader: PaidReader, receipt: Receipt) -> bytes:
    """Return the answer as it is stored; called at most once for a charge."""
    noisy = _noisy(ready, reader, rng)
    laws = {} if ready.question.region.empty else ready.plan.mechanisms.laws
    choices = Choices.of(ready.plan.mechanisms)
    table = finish(noisy, ready.question, laws, ready.request.later, choices)
    answer = paid_answer(ready, table, receipt, rng)
    known = paid_values_from(ready.question, noisy, laws)
    kept = kept_noise(ready.question, noisy, laws, choices)
    return pack(answer, known, ready.plan.epsilon, kept)


def _one_limit(run: RunSql) -> RunSql:
    """Return what reads for one question: all its SELECTs together have the time of one."""
    began = time.monotonic()

    def limited(sql: str, *, seconds: float | None = None) -> Exact:
        left = None if seconds is None else began + seconds - time.monotonic()
        return run(sql, seconds=None if left is None else max(left, 0.0))

    return limited


def _noisy(ready: PreparedQuestion, reader: PaidReader, rng: Rng) -> Noisy:
    question, mechanisms = ready.question, ready.plan.mechanisms
    if question.region.empty:
        groups = tuple(question.groups) if isinstance(question.groups, PublicGroups) else ()
        zeros = {name: [0] * len(groups) for name in mechanisms.laws}
        nothing: dict[str, list[Any]] = {n: [None] * len(groups) for n in mechanisms.selections}
        return Noisy(groups, zeros, nothing)
    seconds = None if question.dataset.seconds is None else float(question.dataset.seconds)
    found = look(
        ready.sealed.reads,
        mechanisms,
        domains=tuple(key.domain for key in question.statement.keys),
        groups=question.groups if isinstance(question.groups, PublicGroups) else None,
        reader=reader.through(_one_limit),
        rng=rng,
        seconds=seconds,
        rehearsal=_seed_request(ready),
    )
    chosen = dict(question.measured.choices)
    choices = {
        name: [chosen[name].value(index) for index in indices]
        for name, indices in found.choices.items()
    }
    return replace(found, choices=choices)


def _seed_request(ready: PreparedQuestion) -> SeedRequest | None:
    """Return what a rehearsal asks for: noise by seed, question and price, whoever asks and when."""
    seed = ready.request.seed
    return None if seed is None else SeedRequest(seed, f"{ready.plan.epsilon.value}\n{ready.key}")


def _free(ready: PreparedQuestion, ledger: Ledger) -> Answer | None:
    """Return what already-paid answers say, where that is at least as exact as a new one."""
    payer = ready.payer
    same = ledger.find_answer(payer.analyst, payer.dataset, ready.key, ready.snapshot)
    if same is not None:
        found = unpack(same[1])
        shown = _in_form(found, ready.question, ready.request)
        if shown is not None and found.epsilon >= ready.plan.epsilon.value:
            note = "The same question was answered before; this is that answer, free of charge."
            return again(shown, ready, ledger, note)
    if cells_of(ready.question) is None:
        return None
    past = ledger.answers(payer.analyst, payer.dataset, ready.snapshot, last=MOST_PAST)
    known = [item for _, _, payload in past for item in paid_values_in(payload)]
    table = implied(ready.plan, known, ready.request.later)
    if table is None:
        return None
    balance = balance_of(ledger, ready.payer)
    return free_answer(ready, table, balance)


def _in_form(found: KeptAnswer, question: Question, request: Request) -> Answer | None:
    """Return a paid answer in the form that a question asks for it, None where it cannot be."""
    kept = None if found.noise is None else shown_again(found.noise, question)
    if kept is None:
        return None
    noisy, laws, choices = kept
    table = finish(noisy, question, laws, request.later, choices)
    provenance = found.answer.provenance
    notes = (*without_selection(provenance.notes), *table.notes)
    return replace(
        found.answer,
        **table.parts(),
        keys=len(question.statement.keys),
        provenance=replace(provenance, notes=notes),
    )


def explain_question(request: Request, desk: Desk, *, group_size: int | None = None) -> Explanation:
    """Return the plan, the generated SQL, the price and the expected error; spends nothing.

    `group_size` names a number of rows for which the noise of means, variances and quantiles is told.
    """
    if group_size is not None and (type(group_size) is not int or group_size < 1):
        raise InvalidInput("The size of a group is a whole number of at least 1.")
    with prepared(request, desk) as (ready, _):
        said = _explained(ready, desk.catalog, desk.ledger)
        stated = None if group_size is None else stated_noise(ready.plan, group_size, request.later)
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
        bill=free_bill(before) if free is not None else bill_of(ready.quote.cost, before, after),
        expected_error=expected_errors(ready.plan, request.later),
        region=catalog.describe_region(ready.question.region),
        notes=notes_of(ready) if free is None else free.provenance.notes,
    )
