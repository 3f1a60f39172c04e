"""What every learner of the HTTP API shares: who pays, under which id, its price, and its job."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from discreet.api import Curator, promise
from discreet.core.numbers import Epsilon
from discreet.core.owner import OWNER
from discreet.errors import InvalidInput
from discreet.learn.one_look import PlannedLook
from discreet.learn.prepare import Training
from discreet.learn.recommend.run import RecommenderPlan
from discreet.learn.select import ChoicePlan
from discreet.server.access.auth import Principal
from discreet.server.context import Context
from discreet.server.features.query.body import payer_of
from discreet.server.jobs.queue import Job
from discreet.server.jobs.watched import watched
from discreet.server.plain_json import finite


class LearnerWish(Protocol):
    """What is asked of a learner, with its price."""

    @property
    def epsilon(self) -> Epsilon:
        """Return what it costs."""


Plan = TypeVar("Plan", ChoicePlan, RecommenderPlan)
Wish = TypeVar("Wish", bound=LearnerWish)


SAID = ("table", "analyst", "request_id")
"""Fields of a body that are passed on beside the others."""


@dataclass(frozen=True, slots=True)
class PaidAsk:
    """Who pays, and the id under which the same may be asked for again without paying again."""

    analyst: str | None
    request_id: str

    @classmethod
    def of(cls, who: Principal, body: Any, key: str | None) -> PaidAsk:
        """Return payer and id of this caller; header and body must agree on the id."""
        if key is not None and body.request_id not in (None, key):
            raise InvalidInput(
                "The Idempotency-Key and request_id differ.", hint="Send one of them."
            )
        name = key or body.request_id or uuid.uuid4().hex
        return cls(payer_of(who, body.analyst), name)

    @property
    def id(self) -> str:
        """Return the name of what is kept: the same request again is the same thing."""
        return hashlib.sha256(repr((self.analyst, self.request_id)).encode()).hexdigest()[:32]

    @property
    def charged(self) -> dict[str, str]:
        """Return whom the curator charges, under which id."""
        return {"analyst": self.analyst or OWNER, "request_id": self.request_id}


def price_of(
    curator: Curator, plan: Training | PlannedLook[Any], epsilon: Epsilon
) -> dict[str, Any]:
    """Return a plan's price with what it would leave; spends nothing."""
    before, after = curator.ledger.foreseen(plan.payer, plan.funds.quote)
    return {
        "dataset": plan.payer.dataset,
        "cost": {"epsilon": float(epsilon.value), "delta": float(plan.funds.delta.value)},
        "budget": {
            "before": {"epsilon": float(before.epsilon), "delta": float(before.delta)},
            "after": {"epsilon": float(after.epsilon), "delta": float(after.delta)},
            "limit": {"epsilon": float(before.limit_epsilon), "delta": float(before.limit_delta)},
        },
        "words": promise(epsilon),
    }


def foreseen(
    context: Context,
    paid: PaidAsk,
    wish: Callable[[str | None], Wish],
    planned: Callable[..., AbstractContextManager[Plan]],
) -> tuple[Plan, dict[str, Any]]:
    """Return the plan of what an account wishes, and its price with what it would leave; spends nothing."""
    with context.workspace.curator() as all_of_it:
        curator = all_of_it.seen_by(paid.analyst)
        wanted = wish(curator.account_of(paid.analyst))
        with planned(wanted, curator) as plan:
            return plan, price_of(curator, plan.look, wanted.epsilon)


def paid_job(
    context: Context, who: Principal, paid: PaidAsk, learn: Callable[[Curator, Job], dict[str, Any]]
) -> Job:
    """Return the job that pays, learns and keeps, in that order; told step by step."""

    def work(job: Job) -> dict[str, Any]:
        def tell(step: str) -> None:
            if step in ("charging", "charged"):
                job.tell(step)
            else:
                job.check()

        with context.workspace.curator() as curator:
            job.stop = lambda thread: curator.engine.cancel(thread=thread)
            try:
                share = curator.seen_by(paid.analyst)
                seen = watched(share, tell=tell, turn=job.turn, asker=who.name)
                found = learn(seen, job)
            finally:
                job.stop = None
        plain: dict[str, Any] = finite(found)
        return plain

    return context.runner.submit(who.key, work, request_id=paid.request_id, keep=True, long=True)
