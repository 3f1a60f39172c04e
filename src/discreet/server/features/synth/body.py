"""From the words of the HTTP API to a synthesis, its plan and its price."""

from __future__ import annotations

from typing import Any

from pydantic import Field, StrictStr

from discreet.api import Curator
from discreet.core.requests.synth import SynthFields
from discreet.errors import InvalidInput
from discreet.server.asking.paid import PaidAsk, price_of
from discreet.server.bodies.request_body import body_of
from discreet.synth.encoding.column_treatment import Item, RangeToLearn
from discreet.synth.encoding.columns import Coded, MadeUpIdentifier
from discreet.synth.methods.registry import METHODS, choices
from discreet.synth.prepare import PreparedSynthesis, prepared, preview_of
from discreet.synth.request import SynthRequest

MOST_ROWS = 10_000_000
"""Rows of a copy that the server makes; the command line makes more."""
MOST_FREE_ROWS = 1_000_000
"""Rows of a copy that an analyst does not pay for: no budget puts an end to asking again."""


_Fields: Any = body_of(SynthFields, rows={"most": MOST_ROWS}, **choices())


class SynthBody(_Fields):  # type: ignore[misc]  # its fields are the request's
    """One synthesis. `analyst` is for an owner who pays from an analyst's share."""

    target: StrictStr | None = Field(None, max_length=400)


def statements(body: SynthBody) -> tuple[str, ...]:
    """Return what its condition and its rules are parsed as."""
    texts = (body.where or "", *body.rules)
    return tuple(f"SELECT COUNT(*) AS n FROM t WHERE ({text})" for text in texts)


def asked_of(body: SynthBody, paid: PaidAsk) -> dict[str, Any]:
    """Return what the curator is asked, in plain data."""
    found: dict[str, Any] = body.given(SynthFields)
    return found | paid.charged


def prepared_for(curator: Curator, body: SynthBody, paid: PaidAsk) -> PreparedSynthesis:
    """Return the plan; refuses what would be refused, and spends nothing."""
    payer = curator.account_of(paid.analyst)
    request = SynthRequest.of(**asked_of(body, paid) | {"analyst": payer})
    with prepared(request, curator) as (ready, _):
        pass
    if ready.free and paid.analyst is not None and (body.rows or 0) > MOST_FREE_ROWS:
        raise InvalidInput(
            f"A copy that costs nothing has at most {MOST_FREE_ROWS:,} rows here.",
            hint="Ask for fewer rows, or make it with discreet synth.",
        )
    if body.target is not None:
        preview_of(ready.outline).index(body.target)  # refuses a column that is not there
    return ready


def explained(curator: Curator, body: SynthBody, paid: PaidAsk) -> dict[str, Any]:
    """Return plan and price of a synthesis; spends nothing and reads no row."""
    ready = prepared_for(curator, body, paid)
    request = ready.request
    return price_of(curator, ready, request.epsilon, free=ready.free) | {
        "table": ready.outline.table.name,
        "method": ready.method_words,
        "free": ready.free,
        "columns": [{"name": item.name, "treated": treated(item)} for item in ready.outline.items],
        "notices": list(ready.outline.notices),
        "learns": float(ready.budget.learn_share),
        "rows_needed": ready.rows_needed(),
        "rules": list(ready.rules),
    }


def treated(item: Item) -> str:
    """Return in words how a column will be encoded."""
    if isinstance(item, Coded):
        word = "bin" if item.edges is not None else "value"
        kept = f"{item.values:,} {word}{'' if item.values == 1 else 's'}"
        return f"{kept}, and missing" if item.missing else kept
    if isinstance(item, MadeUpIdentifier):
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
