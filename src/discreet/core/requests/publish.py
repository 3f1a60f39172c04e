"""What may be asked of publishing: a release as a signed package, and a series of running totals."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from discreet.core.numbers import Delta, Epsilon, Number
from discreet.core.requests import paid
from discreet.core.requests.request_fields import FieldKind, asked
from discreet.core.requests.schema import schema

LONGEST_HORIZON = 10_000
"""Days of a series: each is a public key."""


@schema
class PackageFields:
    """One release as it is asked for, of a server too: there a token says who asks."""

    out: str | Path | None = asked(
        FieldKind.PATH,
        "Where to write the package, such as RELEASE.zip.",
        default=None,
        sent=False,
    )


@schema
class PublishFields(PackageFields):
    """One release by whoever runs the curator; `discreet.publish.workflow` checks it."""

    supersedes: str | None = asked(
        FieldKind.TEXT, "The earlier release that this one replaces.", default=None
    )
    who: str = asked(FieldKind.TEXT, "Who drafts or approves.", default="owner", option="--as")


@schema
class TotalsFields:
    """A series of running totals as it is asked for; `discreet.publish.totals` checks it."""

    name: str = asked(
        FieldKind.TEXT,
        "What the series is called; charged once under this name.",
        longest=64,
        kw_only=False,
    )
    dataset: str = asked(FieldKind.TEXT, "The dataset whose budget pays.")
    table: str = paid.column("The table whose rows are counted; each row is one unit.")
    column: str = paid.column("The date of a row, declared immutable.")
    start: dt.date | str = asked(FieldKind.TEXT, "The first day.")
    days: int = asked(
        FieldKind.WHOLE, "The horizon: how many days are paid for.", least=1, most=LONGEST_HORIZON
    )
    epsilon: Number | Epsilon = asked(
        FieldKind.AMOUNT, "The price of the whole horizon.", reads=Epsilon.of
    )
    delta: Number | Delta = asked(
        FieldKind.AMOUNT, "Its delta, above 0: the noise is Gaussian.", reads=Delta.of
    )
