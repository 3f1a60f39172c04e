"""What is paid for and kept: who pays, under which id, its price, and the job that makes it."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, TypeVar

from fastapi import Request

from discreet.api import Curator, promise
from discreet.core.bill import NOTHING_SPENT, Bill, Spent
from discreet.core.numbers import Epsilon
from discreet.learn.one_look import PlannedLook
from discreet.learn.prepare import Training
from discreet.learn.recommend.run import RecommenderPlan, RecommendRequest
from discreet.learn.request import LearnRequest
from discreet.learn.select import ChoicePlan, SelectRequest
from discreet.server.access.asked_as import AskedAs
from discreet.server.access.auth import caller
from discreet.server.asking.request_id import request_id_of
from discreet.server.context import context_of
from discreet.server.jobs.long import LongTask, submit_long
from discreet.server.shelf import Item, Shelf
from discreet.synth.prepare import PreparedSynthesis

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
