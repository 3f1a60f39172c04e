"""What a paid look at one table is asked with: every look, and the one at how many rows each max_rows leaves out."""

from __future__ import annotations

from discreet.core.numbers import Epsilon, Number
from discreet.core.requests import paid
from discreet.core.requests.request_fields import FieldKind, asked
from discreet.core.requests.schema import schema


@schema
class LookFields:
    """One paid look as it is asked for: which table, for how much, who pays, and its id."""

    table: str = paid.table(kw_only=False)
    epsilon: Number | Epsilon = paid.epsilon()
    analyst: str | None = paid.analyst(default=None)
    request_id: str | None = paid.request_id("result", default=None)


@schema
class BoundsFields:
    """One look at the rows that people have, as it is asked for; `discreet.release` checks it."""

    table: str = paid.column("A table of people, such as visits.", kw_only=False)
    epsilon: Number | Epsilon = asked(
        FieldKind.AMOUNT, "How much budget the look may use.", reads=Epsilon.of
    )
    at: Number | Epsilon = asked(
        FieldKind.AMOUNT, "Show the noise of a count for this epsilon.", default=1, reads=Epsilon.of
    )
    analyst: str | None = paid.analyst(default=None)
    request_id: str | None = paid.request_id("answer", default=None)
