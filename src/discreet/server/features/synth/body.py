"""From the words of the HTTP API to a synthesis, its plan and its price."""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr

from discreet.api import Curator, promise
from discreet.core.owner import OWNER
from discreet.errors import InvalidInput
from discreet.server.access.auth import Principal
from discreet.server.features.query.body import Amount, payer_of
from discreet.synth.encoding.columns import Coded, MadeUp
from discreet.synth.encoding.outline import Item, RangeToLearn
from discreet.synth.methods.registry import METHODS
from discreet.synth.needs import rows_needed
from discreet.synth.prepare import PreparedSynthesis, prepared, preview_of
from discreet.synth.progress import Progress, silent
from discreet.synth.request import DEFAULT_METHOD, SynthRequest
from discreet.synth.synthetic import Synthetic

MOST_ROWS = 10_000_000
"""Rows of a copy that the server makes; the command line makes more."""
MOST_CHOICES = 8


class SynthBody(BaseModel):
    """One synthesis. `analyst` is for an owner who pays from an analyst's share."""

    model_config = ConfigDict(extra="forbid")

    table: StrictStr = Field(min_length=1, max_length=400)
    method: StrictStr = Field(DEFAULT_METHOD, max_length=40)
    choose: list[Annotated[StrictStr, Field(max_length=40)]] = Field(
        default_factory=list, max_length=MOST_CHOICES
    )
    epsilon: Amount
    delta: Amount | None = None
    rows: StrictInt | None = Field(None, ge=0, le=MOST_ROWS)
    where: StrictStr | None = Field(None, max_length=10_000)
    rules: list[Annotated[StrictStr, Field(max_length=10_000)]] = Field(
        default_factory=list, max_length=100
    )
    bins: StrictStr = Field("auto", max_length=20)
    target: StrictStr | None = Field(None, max_length=400)
    request_id: StrictStr | None = Field(None, min_length=1, max_length=200)
    analyst: StrictStr | None = Field(None, max_length=200)


@dataclass(frozen=True, slots=True)
class SynthSettings:
    """A wish with its payer and the id under which it may be repeated."""

    wish: SynthBody
    analyst: str | None
    request_id: str

    @classmethod
    def of(cls, who: Principal, wish: SynthBody, key: str | None) -> SynthSettings:
        """Return the wish of this caller; header and body must agree on the id."""
        if key is not None and wish.request_id not in (None, key):
            raise InvalidInput(
                "The Idempotency-Key and request_id differ.", hint="Send one of them."
            )
        name = key or wish.request_id or uuid.uuid4().hex
        return cls(wish, payer_of(who, wish.analyst), name)

    @property
    def copy_id(self) -> str:
        """Return the name of the copy's folder: the same request again is the same copy."""
        return hashlib.sha256(repr((self.analyst, self.request_id)).encode()).hexdigest()[:32]

    def synthesize(self, curator: Curator, progress: Progress = silent) -> Synthetic:
        """Return the copy, paid for before a row is read."""
        asked = self._asked | {"analyst": self.analyst or OWNER}
        return curator.synthesize(self.wish.table, progress=progress, **asked)

    @property
    def statements(self) -> tuple[str, ...]:
        """Return what its condition and its rules are parsed as."""
        texts = (self.wish.where or "", *self.wish.rules)
        return tuple(f"SELECT COUNT(*) AS n FROM t WHERE ({text})" for text in texts)

    @property
    def _asked(self) -> dict[str, Any]:
        wish = self.wish
        return {
            "epsilon": wish.epsilon,
            "delta": wish.delta,
            "method": wish.method,
            "rows": wish.rows,
            "where": wish.where,
            "rules": wish.rules,
            "bins": wish.bins,
            "choose": wish.choose,
            "analyst": self.analyst,
            "request_id": self.request_id,
        }

    def prepared(self, curator: Curator) -> PreparedSynthesis:
        """Return the plan; refuses what would be refused, and spends nothing."""
        wish = self.wish
        payer = curator.account_of(self.analyst)
        request = SynthRequest.of(wish.table, **self._asked | {"analyst": payer})
        catalog, ledger, engine = curator.catalog, curator.ledger, curator.engine
        with prepared(request, catalog=catalog, ledger=ledger, engine=engine) as (ready, _):
            pass
        if wish.target is not None:
            preview_of(ready.outline).index(wish.target)  # refuses a column that is not there
        return ready


def explained(curator: Curator, wanted: SynthSettings) -> dict[str, Any]:
    """Return plan and price of a synthesis; spends nothing and reads no row."""
    ready = wanted.prepared(curator)
    request = ready.request
    before, after = curator.ledger.foreseen(ready.payer, ready.funds.quote)
    cost = {"epsilon": 0.0, "delta": 0.0}
    if not ready.free:
        cost = {
            "epsilon": float(request.epsilon.value),
            "delta": float(ready.funds.delta.value),
        }
    return {
        "dataset": ready.payer.dataset,
        "table": ready.outline.table.name,
        "method": ready.method_words,
        "cost": cost,
        "budget": {
            "before": {"epsilon": float(before.epsilon), "delta": float(before.delta)},
            "after": {
                "epsilon": float((before if ready.free else after).epsilon),
                "delta": float((before if ready.free else after).delta),
            },
            "limit": {
                "epsilon": float(before.limit_epsilon),
                "delta": float(before.limit_delta),
            },
        },
        "free": ready.free,
        "columns": [{"name": item.name, "treated": treated(item)} for item in ready.outline.items],
        "notices": list(ready.outline.notices),
        "learns": float(ready.funds.learn_share),
        "rows_needed": rows_needed(ready),
        "words": "No row is read for this, so nobody's odds change."
        if ready.free
        else promise(request.epsilon),
        "rules": list(ready.rules),
    }


def treated(item: Item) -> str:
    """Return in words how a column will be encoded."""
    if isinstance(item, Coded):
        word = "bin" if item.edges is not None else "value"
        kept = f"{item.values:,} {word}{'' if item.values == 1 else 's'}"
        return f"{kept}, and missing" if item.missing else kept
    if isinstance(item, MadeUp):
        return "made up, never read"
    if isinstance(item, RangeToLearn):
        return "bins, learned with budget"
    return "common values, learned with budget"


def methods_json() -> list[dict[str, Any]]:
    """Return the methods that are installed, in the order of the page."""
    return [
        {"name": name, "says": method.says, "reads": method.uses_data}
        for name, method in METHODS.items()
        if method.here
    ]
