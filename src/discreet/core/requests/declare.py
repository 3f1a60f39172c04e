"""What may be asked of declarations: a proposal for new files, and what a review decides."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from discreet.core.numbers import Delta, Epsilon, Number
from discreet.core.requests.request_fields import FieldKind, asked
from discreet.core.requests.schema import schema


@schema
class InitFields:
    """One proposal of a discreet.toml as it is asked for; `discreet.catalog.proposal` checks it."""

    out: str | Path = asked(FieldKind.PATH, "Where to write.", default="discreet.toml")
    epsilon: Number | Epsilon | None = asked(
        FieldKind.AMOUNT,
        "The most that one person can lose over all answers.",
        default=None,
        reads=Epsilon.of,
    )
    delta: Number | Delta | None = asked(
        FieldKind.AMOUNT, "The chance that the promise fails.", default=None, reads=Delta.of
    )
    unit: str | None = asked(
        FieldKind.TEXT, "Whom to protect: 'row', or the column with the person.", default=None
    )
    max_rows: int | None = asked(
        FieldKind.WHOLE,
        "How many rows of one person count at most, unless a query asks for another number.",
        default=None,
        least=1,
    )
    dataset: str | None = asked(
        FieldKind.TEXT, "Name of the dataset; the first table's unless given.", default=None
    )
    accept: bool = asked(
        FieldKind.FLAG,
        "Declare the inferred domains public (for public data).",
        default=False,
    )
    force: bool = asked(FieldKind.FLAG, "Replace an existing file.", default=False)


@schema
class ReviewFields:
    """What the owner decides of columns that wait for review, as it is asked for."""

    accept_safe: bool = asked(
        FieldKind.FLAG,
        "Declare every column without a doubt public.",
        default=False,
        option="--accept",
    )
    accept: Sequence[str] = asked(
        FieldKind.TEXTS,
        "Declare this column public as it stands (repeat it).",
        default=(),
        option="--column",
        repeated=True,
    )
    hide: Sequence[str] = asked(
        FieldKind.TEXTS,
        "Hide this column from everybody (repeat it).",
        default=(),
        option="--hide",
        repeated=True,
    )
