"""What every paid look at one table is asked with."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.core.numbers import Epsilon, Number
from discreet.core.requests import paid


@dataclass(frozen=True, kw_only=True)
class LookFields:
    """One paid look as it is asked for: which table, for how much, who pays, and its id."""

    table: str = paid.table()
    epsilon: Number | Epsilon = paid.epsilon()  # noqa: RUF009  # a field
    analyst: str | None = paid.analyst()
    request_id: str | None = paid.request_id("result")
