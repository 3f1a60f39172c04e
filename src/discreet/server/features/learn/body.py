"""From the words of the HTTP API to a training, its plan and its price."""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictStr

from discreet.api import Curator, promise
from discreet.core.owner import OWNER
from discreet.errors import InvalidInput
from discreet.learn.methods import chosen
from discreet.learn.prepare import planned_training
from discreet.learn.request import LearnRequest
from discreet.learn.run import Trained
from discreet.server.access.auth import Principal
from discreet.server.features.query.body import Amount, payer_of
from discreet.synth.progress import Progress, silent


class TrainBody(BaseModel):
    """One training. `analyst` is for an owner who pays from an analyst's share."""

    model_config = ConfigDict(extra="forbid")

    table: StrictStr = Field(min_length=1, max_length=400)
    target: StrictStr = Field(min_length=1, max_length=400)
    model: StrictStr = Field("auto", max_length=40)
    features: list[Annotated[StrictStr, Field(max_length=400)]] = Field(
        default_factory=list, max_length=500
    )
    epsilon: Amount
    delta: Amount | None = None
    request_id: StrictStr | None = Field(None, min_length=1, max_length=200)
    analyst: StrictStr | None = Field(None, max_length=200)


@dataclass(frozen=True, slots=True)
class WantedModel:
    """A training with its payer and the id under which it may be repeated."""

    body: TrainBody
    analyst: str | None
    request_id: str

    @classmethod
    def of(cls, who: Principal, body: TrainBody, key: str | None) -> WantedModel:
        """Return the training of this caller; header and body must agree on the id."""
        if key is not None and body.request_id not in (None, key):
            raise InvalidInput(
                "The Idempotency-Key and request_id differ.", hint="Send one of them."
            )
        name = key or body.request_id or uuid.uuid4().hex
        return cls(body, payer_of(who, body.analyst), name)

    @property
    def model_id(self) -> str:
        """Return the name of the model's folder: the same request again is the same model."""
        return hashlib.sha256(repr((self.analyst, self.request_id)).encode()).hexdigest()[:32]

    @property
    def _asked(self) -> dict[str, Any]:
        body = self.body
        return {
            "target": body.target,
            "model": body.model,
            "features": body.features,
            "epsilon": body.epsilon,
            "delta": body.delta,
            "analyst": self.analyst,
            "request_id": self.request_id,
        }

    def train(self, curator: Curator, progress: Progress = silent) -> Trained:
        """Return the model, paid for before a row is read."""
        asked = self._asked | {"analyst": self.analyst or OWNER}
        return curator.learn(self.body.table, progress=progress, **asked)

    def explained(self, curator: Curator) -> dict[str, Any]:
        """Return plan and price; refuses what would be refused, spends nothing, reads no row."""
        payer = curator.account_of(self.analyst)
        request = LearnRequest.of(self.body.table, **self._asked | {"analyst": payer})
        catalog, ledger, engine = curator.catalog, curator.ledger, curator.engine
        with planned_training(request, catalog=catalog, ledger=ledger, engine=engine) as (plan, _):
            pass
        before, after = ledger.foreseen(plan.payer, plan.funds.quote)
        return {
            "dataset": plan.payer.dataset,
            "table": plan.outline.table.name,
            "model": chosen(request.model, plan.funds.purse),
            "cost": {
                "epsilon": float(request.epsilon.value),
                "delta": float(plan.funds.delta.value),
            },
            "budget": {
                "before": {"epsilon": float(before.epsilon), "delta": float(before.delta)},
                "after": {"epsilon": float(after.epsilon), "delta": float(after.delta)},
                "limit": {
                    "epsilon": float(before.limit_epsilon),
                    "delta": float(before.limit_delta),
                },
            },
            "features": [item.name for item in plan.outline.items[:-1]],
            "notices": list(plan.outline.notices),
            "rows_needed": plan.rows_needed(),
            "words": promise(request.epsilon),
        }
