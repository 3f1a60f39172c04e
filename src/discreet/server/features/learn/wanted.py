"""What learners of the HTTP API share: what a wish would cost."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from discreet.api import promise
from discreet.learn.recommend.run import RecommenderPlan, RecommendRequest
from discreet.learn.select import ChoicePlan, SelectRequest
from discreet.server.context import Context
from discreet.server.features.query.paid import PaidAsk, price_of

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
