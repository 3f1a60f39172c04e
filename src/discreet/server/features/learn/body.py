"""From the words of the HTTP API to a training, its plan and its price."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.api import Curator, promise
from discreet.core.requests.learn import LearnAsked
from discreet.learn.methods import chosen
from discreet.learn.prepare import planned_training
from discreet.learn.request import LearnRequest
from discreet.server.access.auth import Principal
from discreet.server.features.learn.wanted import SAID
from discreet.server.features.query.asked_body import body_of
from discreet.server.features.query.paid import PaidAsk, price_of

_Fields: Any = body_of(LearnAsked)


class TrainBody(_Fields):  # type: ignore[misc]  # its fields are the request's
    """One training. `analyst` is for an owner who pays from an analyst's share."""


@dataclass(frozen=True, slots=True)
class WantedModel:
    """A training with its payer and the id under which it may be repeated."""

    body: TrainBody
    paid: PaidAsk

    @classmethod
    def of(cls, who: Principal, body: TrainBody, key: str | None) -> WantedModel:
        """Return the training of this caller; header and body must agree on the id."""
        return cls(body, PaidAsk.of(who, body, key))

    @property
    def asked(self) -> dict[str, Any]:
        """Return what the curator is asked, in plain data."""
        found: dict[str, Any] = self.body.given(LearnAsked, leave=SAID)
        return found

    def explained(self, curator: Curator) -> dict[str, Any]:
        """Return plan and price; refuses what would be refused, spends nothing, reads no row."""
        payer = curator.account_of(self.paid.analyst)
        who: dict[str, Any] = {"analyst": payer, "request_id": self.paid.request_id}
        request = LearnRequest.of(self.body.table, **self.asked, **who)
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
