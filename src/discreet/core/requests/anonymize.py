"""What may be asked of an anonymization."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from discreet.core.requests import paid
from discreet.core.requests.request_fields import FieldKind, asked, like
from discreet.core.requests.schema import schema

MOST_COLUMNS = 60


@schema
class AnonymizeFields:
    """One anonymization as it is asked for, of a server too.

    `where` is read with the table, before anything else. `hierarchies` are a folder here, texts in a body.
    """

    quasi: Sequence[str] = paid.columns(
        "Columns that others may know of a person, such as zip,birth,sex.",
        default=(),
        many=MOST_COLUMNS,
    )
    k: int | None = asked(
        FieldKind.WHOLE, "How many rows must look alike.", default=None, least=1, most=1_000_000
    )
    sensitive: str | None = paid.column("The column to protect inside the classes.", default=None)
    l: float | None = asked(  # noqa: E741  # the model's own name
        FieldKind.NUMBER, "How varied the sensitive column must be.", default=None
    )
    diversity: str = paid.word("What --l counts.", default="distinct")
    t: float | None = asked(
        FieldKind.NUMBER, "How far a class may be from the whole table (t-closeness).", default=None
    )
    distance: str = paid.word(
        "How far apart two sensitive values are: equal, ordered or hierarchical.", default="equal"
    )
    hierarchies: Path | None = asked(
        FieldKind.PATH,
        "A folder of COLUMN.csv files; columns without one get one built.",
        default=None,
        sent=False,
    )
    suppress: float = asked(
        FieldKind.NUMBER,
        "The share of rows that may be left out, such as 0.02.",
        default=0.0,
        least=0,
        most=1,
    )
    cost: str = paid.word("What is kept small.", default="discernibility", longest=40)
    method: str = paid.word(
        "optimal (one level a column), mondrian, relaxed or local.", default="optimal"
    )
    keep: Sequence[str] = paid.columns(
        "Columns to publish as they are; those not named anywhere are left out.",
        default=(),
        many=1000,
    )
    redact: Sequence[str] = paid.columns(
        "Columns to leave out, such as name,phone, as are all that are not named.",
        default=(),
        many=1000,
    )
    where: str | None = paid.condition(
        'Keep only rows like this, such as "age >= 18".', default=None
    )
    seconds: float = asked(
        FieldKind.NUMBER,
        "How long to search before the best so far is taken.",
        default=60.0,
        above=0,
    )
    population: int | None = asked(
        FieldKind.WHOLE,
        "How many people the rows were sampled from.",
        default=None,
        least=1,
        most=10**11,
    )


@schema
class LocalAnonymizeFields(AnonymizeFields):
    """One anonymization by whoever runs the curator; `discreet.anonymize.request` checks it."""

    c: float = asked(FieldKind.NUMBER, "The factor of recursive (c, l)-diversity.", default=3.0)
    weights: str | Mapping[str, float] = asked(
        FieldKind.TEXT,
        "How much each column matters to the cost, such as age=2,zip=0.5.",
        default="",
    )
    missing: str = asked(
        FieldKind.TEXT,
        "What a missing value is: value (its own) or matches (any).",
        default="value",
    )


@schema
class CopiedTable:
    """A declared table; what a command asks its user for, a call must say."""

    table: str = paid.column("The table to copy.", kw_only=False)
    k: int = like(AnonymizeFields, "k")
    quasi: Sequence[str] = like(AnonymizeFields, "quasi")
