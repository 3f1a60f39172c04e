"""Work that lasts: answers that are waited for, long jobs in a child process, and those that are paid for and kept."""

from __future__ import annotations

import asyncio
import hashlib
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

from fastapi import Header, Request
from starlette.concurrency import run_in_threadpool

from discreet.base.answer import Answer
from discreet.base.bill import NOTHING_SPENT, Bill, Spent
from discreet.base.numbers import Epsilon
from discreet.base.requests.paid import QuestionFields
from discreet.curator import Curator, Planner, promise
from discreet.data.catalog.catalog import Catalog
from discreet.errors import (
    AnswerLost,
    InvalidInput,
    LedgerError,
    LedgerTampered,
    NotSignedIn,
    ServerFailed,
)
from discreet.server.access.auth import caller, found_again
from discreet.server.access.tokens import AskedAs
from discreet.server.jobs.children import ChildEnded
from discreet.server.jobs.queue import Job, Standing
from discreet.server.jobs.watched import watched
from discreet.server.shelf import Item, Shelf
from discreet.server.workspace import Context, Workspace, context_of
from discreet.work.learn.one_look import PlannedLook
from discreet.work.learn.recommender import RecommenderPlan, RecommendRequest
from discreet.work.learn.select import ChoicePlan, SelectRequest
from discreet.work.learn.training_plan import LearnRequest, Training
from discreet.work.synth.prepare import PreparedSynthesis

Found = TypeVar("Found")
LOOK_AGAIN = 1.0
"""Seconds between looks at the token of a call that lasts."""


async def still_signed_in(request: Request) -> bool:
    """Return whether the caller would be let in again now: not revoked, expired or taken out."""
    workspace = context_of(request).workspace
    if workspace.changed():
        await run_in_threadpool(workspace.refresh)
    return found_again(request)


async def answer_of(request: Request, job: Job) -> Any:
    """Return what a job answers, while its caller may have it.

    Guarantee: a caller whose token is revoked meanwhile gets 401 within about a second, and the job
        is cancelled; a charge that was made stands. An analyst whom the catalog does not confirm at the
        end gets NotInForce; the answer is kept under its request id, as after a lost connection.
    """
    waited = asyncio.wrap_future(job.future)
    done, _ = await asyncio.wait({waited}, timeout=LOOK_AGAIN)
    while not done:
        if not await still_signed_in(request):
            await run_in_threadpool(context_of(request).runner.cancel, job)
            waited.cancel()
            raise NotSignedIn("Your token was revoked or has expired while you waited.")
        done, _ = await asyncio.wait({waited}, timeout=LOOK_AGAIN)
    analyst = caller(request).analyst
    if analyst is not None:
        context_of(request).workspace.lists(analyst)
    return waited.result()


async def planned(request: Request, plan: Callable[[Curator], Found]) -> Found:
    """Return what `plan` says with the curator in force: a price, a draft; it charges nothing.

    Planning holds the data as it is now, and a large source is read at its first use for that. So it waits
    in the fair queue as an explanation does, one of a caller at a time, and stops when its caller is gone.
    """
    context = context_of(request)

    def work(job: Job) -> Found:
        with context.workspace.curator() as curator:
            job.stop = lambda thread: curator.engine.cancel(thread=thread)
            try:
                return plan(curator)
            finally:
                job.stop = None

    job = context.runner.submit(caller(request).key, work, plans=True)
    found: Found = await answer_of(request, job)
    return found


class _PlannedFirst(Curator):
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
        question, datasets = QuestionFields(sql=sql, **asked), tuple(self.catalog.datasets)
        self._planner.check(self._whole, self.engine.capabilities, question, datasets=datasets)


def planned_first(curator: Curator, whole: Catalog, planner: Planner) -> Curator:
    """Return `curator`, a view of the catalog `whole`, behind the planner."""
    return _PlannedFirst(curator, whole, planner)


def standing_of(
    workspace: Workspace, request_id: str | None, analyst: str | None
) -> Standing | None:
    """Return what looks up what became of the charge under an id, in the ledger in force then."""
    if not request_id:
        return None

    def look() -> str | None:
        with workspace.last_curator() as curator:
            return curator.standing(request_id, analyst=analyst)

    return look


@contextmanager
def curator_for(
    job: Job,
    workspace: Workspace,
    payer: AskedAs,
    *,
    planner: Planner | None = None,
) -> Iterator[Curator]:
    """Lend the curator in force as `payer` sees it, watched by `job`: cancelling it stops what is read.

    With a `planner`, texts are tried by it before they are planned.
    """
    with workspace.curator() as curator:
        job.stop = lambda thread: curator.engine.cancel(thread=thread)
        try:
            seen = watched(
                curator.seen_by(payer.analyst), tell=job.tell, turn=job.turn, asker=payer.asker
            )
            yield seen if planner is None else planned_first(seen, curator.catalog, planner)
        finally:
            job.stop = None


@dataclass(frozen=True, slots=True)
class LongTask:
    """What a child is to do, and under which id whose share pays for it, if anything is paid.

    `run` is "package.module:function" and `asked` what it is called with, in plain data. One that
    `reads` gets the catalog in force, and with it ledger and engine.
    """

    run: str
    asked: Mapping[str, Any] = field(default_factory=dict)
    reads: bool = True
    charge: str = ""
    payer: str | None = None


def submit_long(
    request: Request,
    task: LongTask,
    *,
    request_id: str = "",
    known: Callable[[], Any | None] = lambda: None,
    then: Callable[[Any], Any] = lambda answer: answer,
) -> Job:
    """Return the job that does `task` in a child for who calls; `then` is done here with its answer.

    `known` may give the answer without a child. Jobs in children are long ones: they have a quarter
    of the places, and one caller has one at a time.
    """
    context, who = context_of(request), caller(request)

    def work(job: Job) -> Any:
        answer = known()
        if answer is None:
            answer = then(run_in_child(context, job, who.name, task))
        return answer

    standing = standing_of(context.workspace, task.charge, task.payer)
    return context.runner.submit(
        who.key, work, request_id=request_id, keep=True, long=True, standing=standing
    )


def run_in_child(context: Context, job: Job, asker: str, task: LongTask) -> Any:
    """Return the answer of a task after a child did it; say what became of a charge if it died."""
    catalog = probes = known = None
    if task.reads:
        with context.workspace.curator() as curator:
            catalog, probes = curator.catalog, curator.ledger.probes
            known = curator.ledger.known()
    try:
        answer = context.children.run(
            job, task.run, task.asked, catalog=catalog, asker=asker, probes=probes, known=known
        )
    except ChildEnded as ended:
        became = job.became()
        kind = AnswerLost if became.over else ServerFailed
        raise kind(f"{ended} {became.text}", hint=became.hint) from None
    if task.reads:
        _see_what_was_charged(context)
    return answer


def _see_what_was_charged(context: Context) -> None:
    """Remember here what a child has entered, so that it cannot be taken out unseen."""
    with context.workspace.last_curator() as curator:
        try:
            curator.ledger.known()
        except LedgerTampered:
            raise
        except LedgerError:
            return  # busy or out of reach: it is seen at the next use


IdempotencyKey = Annotated[str | None, Header(max_length=200)]


def request_id_of(asked: Any, key: str | None) -> str | None:
    """Return the id under which something may be asked again; header and body must agree."""
    if key is not None and asked.request_id not in (None, key):
        raise InvalidInput("The Idempotency-Key and request_id differ.", hint="Send one of them.")
    return key or asked.request_id


Plan = TypeVar("Plan", ChoicePlan, RecommenderPlan, Training)


@dataclass(frozen=True, slots=True)
class PaidAsk:
    """Who pays, and the id under which the same may be asked for again without paying again."""

    payer: AskedAs
    request_id: str

    @classmethod
    def of(cls, request: Request, body: Any, key: str | None = None) -> PaidAsk:
        """Return payer and id of this caller; header and body must agree on the id."""
        name = request_id_of(body, key) or uuid.uuid4().hex
        return cls(caller(request).asks_as(body.analyst), name)

    @property
    def analyst(self) -> str | None:
        """Return whose share pays; None for the owner's whole budget."""
        return self.payer.analyst

    @property
    def id(self) -> str:
        """Return the name of what is kept: the same request again is the same thing."""
        return hashlib.sha256(repr((self.analyst, self.request_id)).encode()).hexdigest()[:32]

    @property
    def charged(self) -> dict[str, str]:
        """Return whom the curator charges, under which id."""
        return {"analyst": self.payer.name, "request_id": self.request_id}


def price_of(
    curator: Curator,
    plan: PlannedLook[Any] | PreparedSynthesis,
    epsilon: Epsilon,
    *,
    free: bool = False,
) -> dict[str, Any]:
    """Return a plan's price with what it would leave; spends nothing."""
    before, after = curator.ledger.foreseen(plan.payer, plan.budget.quote)
    bill = Bill(
        cost=NOTHING_SPENT if free else Spent(epsilon.value, plan.budget.delta.value),
        before=before.spent,
        after=(before if free else after).spent,
        limit=before.limit,
        free=free,
    )
    dataset = curator.catalog.datasets[plan.payer.dataset]
    words = promise(bill.cost, dataset)
    return {"dataset": dataset.name, **bill.to_json(), "words": words}


def foreseen(
    curator: Curator,
    paid: PaidAsk,
    request_of: Callable[..., SelectRequest | RecommendRequest | LearnRequest],
    asked: dict[str, Any],
    planned: Callable[..., AbstractContextManager[Plan]],
) -> tuple[Plan, dict[str, Any]]:
    """Return the plan of what was asked, as a request of who pays, and its price; spends nothing."""
    seen = curator.seen_by(paid.analyst)
    who = {"analyst": seen.account_of(paid.analyst), "request_id": paid.request_id}
    wanted = request_of(**asked | who)
    with planned(wanted, seen) as plan:
        price = price_of(seen, plan.look, wanted.epsilon)
        return plan, price


def kept_for(request: Request, shelf_of: Callable[[Request], Shelf[Item]], name: str) -> Item:
    """Return a thing that the caller may see: owners all, analysts what they paid for."""
    return shelf_of(request).find(name, caller(request).sees)


def submit_paid(
    request: Request, paid: PaidAsk, shelf: Shelf[Any], run: str, **asked: Any
) -> dict[str, str]:
    """Name the job of a child that pays, makes and keeps, in that order; refused where there is no room."""
    shelf.room(paid.analyst)
    state = context_of(request).settings.state_folder
    asked |= {"state": state, "kept_id": paid.id, "payer": paid.payer}
    task = LongTask(run, asked, charge=paid.request_id, payer=paid.analyst)
    return {"job": submit_long(request, task, request_id=paid.request_id).id}
