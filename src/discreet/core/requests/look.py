"""What every paid look at one table is asked with."""

from __future__ import annotations

from discreet.core.numbers import Epsilon, Number
from discreet.core.requests import paid
from discreet.core.requests.schema import schema


@schema
class LookFields:
    """One paid look as it is asked for: which table, for how much, who pays, and its id."""

    table: str = paid.table(kw_only=False)
    epsilon: Number | Epsilon = paid.epsilon()
    analyst: str | None = paid.analyst(default=None)
    request_id: str | None = paid.request_id("result", default=None)
