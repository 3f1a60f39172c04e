"""What learners of the HTTP API share: what a wish would cost, and the job that asks the curator."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from discreet.api import Curator, promise
from discreet.learn.recommend.run import RecommenderPlan, RecommendRequest
from discreet.learn.select import ChoicePlan, SelectRequest
from discreet.server.access.auth import Principal
from discreet.server.context import Context
from discreet.server.features.query.paid import PaidAsk, price_of
from discreet.server.jobs.queue import Job
from discreet.server.jobs.rehearsed import curator_for
from discreet.server.plain_json import finite

Plan = TypeVar("Plan", ChoicePlan, RecommenderPlan)


SAID = ("table", "analyst", "request_id")
"""Fields of a body that are passed on beside the others."""


def foreseen(
    context: Context,
    paid: PaidAsk,
    wish: Callable[..., SelectRequest | RecommendRequest],
    asked: dict[str, Any],
    planned: Callable[..., AbstractContextManager[Plan]],
) -> tuple[Plan, dict[str, Any]]:
    """Return the plan of what was asked, as a wish of who pays, and its price; spends nothing."""
    with context.workspace.curator() as all_of_it:
        curator = all_of_it.seen_by(paid.analyst)
        who = {"analyst": curator.account_of(paid.analyst), "request_id": paid.request_id}
        wanted = wish(**asked | who)
        with planned(wanted, curator) as plan:
            price = price_of(curator, plan.look, wanted.epsilon)
            return plan, price | {"words": promise(wanted.epsilon)}


def paid_job(
    context: Context, who: Principal, paid: PaidAsk, learn: Callable[[Curator], dict[str, Any]]
) -> Job:
    """Return the job that pays, learns and keeps, in that order; told step by step."""

    def work(job: Job) -> dict[str, Any]:
        def tell(step: str) -> None:
            if step in ("charging", "charged"):
                job.tell(step)
            else:
                job.check()

        with curator_for(job, context.workspace, paid.analyst, asker=who.name, tell=tell) as seen:
            found = learn(seen)
        return finite(found)

    return context.runner.submit(who.key, work, request_id=paid.request_id, keep=True, long=True)
