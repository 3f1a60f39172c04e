"""From the words of the HTTP API to a training, its plan and its price."""

from __future__ import annotations

from typing import Any

from discreet.api import Curator, promise
from discreet.core.requests.learn import LearnAsked
from discreet.learn.methods import chosen
from discreet.learn.prepare import planned_training
from discreet.learn.request import LearnRequest
from discreet.server.features.learn.wanted import SAID
from discreet.server.features.query.asked_body import body_of
from discreet.server.features.query.paid import PaidAsk, price_of

_Fields: Any = body_of(LearnAsked)


class TrainBody(_Fields):  # type: ignore[misc]  # its fields are the request's
    """One training. `analyst` is for an owner who pays from an analyst's share."""


def explained(curator: Curator, body: TrainBody, paid: PaidAsk) -> dict[str, Any]:
    """Return plan and price; refuses what would be refused, spends nothing, reads no row."""
    payer = curator.account_of(paid.analyst)
    asked = body.given(LearnAsked, leave=SAID)
    request = LearnRequest.of(body.table, analyst=payer, request_id=paid.request_id, **asked)
    with planned_training(request, curator) as (plan, _):
        pass
    return price_of(curator, plan, request.epsilon) | {
        "words": promise(request.epsilon),
        "table": plan.outline.table.name,
        "model": chosen(request.model, plan.funds.purse),
        "features": [item.name for item in plan.outline.items[:-1]],
        "notices": list(plan.outline.notices),
        "rows_needed": plan.rows_needed(),
    }
