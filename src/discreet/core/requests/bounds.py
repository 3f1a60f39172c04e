"""What may be asked of a look at the rows that people have."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.core.numbers import Epsilon, Number
from discreet.core.requests import paid
from discreet.core.requests.asked import FieldKind, asked


@dataclass(frozen=True, kw_only=True)
class BoundsAsked:
    """One look at what each `max_rows` leaves out; `discreet.api.bounding` does it."""

    table: str = paid.table()
    epsilon: Number | Epsilon = paid.epsilon()  # noqa: RUF009  # a field
    at: Number | Epsilon = asked(  # noqa: RUF009  # a field
        FieldKind.AMOUNT, "Show the noise of a count for this epsilon.", 1
    )
    analyst: str | None = paid.analyst()
    request_id: str | None = paid.request_id("answer")
