"""What may be asked of an anonymization."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from discreet.core.requests import paid
from discreet.core.requests.request_fields import FieldKind, asked

MOST_COLUMNS = 60


@dataclass(frozen=True, kw_only=True)
class AnonymizeFields:
    """One anonymization as it is asked for; `discreet.anonymize.request` checks it.

    `where` is read with the table, before anything else.
    """

    quasi: Sequence[str] = paid.columns(
        "Columns that others may know of a person, such as zip,birth,sex.", many=MOST_COLUMNS
    )
    k: int | None = asked(
        FieldKind.WHOLE, "How many rows must look alike.", None, least=1, most=1_000_000
    )
    sensitive: str | None = paid.column("The column to protect inside the classes.", None)
    l: float | None = asked(  # noqa: E741  # the model's own name
        FieldKind.NUMBER, "How varied the sensitive column must be.", None
    )
    diversity: str = paid.word("What --l counts: distinct, entropy or recursive.", "distinct")
    c: float = asked(FieldKind.NUMBER, "The factor of recursive (c, l)-diversity.", 3.0, sent=False)
    t: float | None = asked(
        FieldKind.NUMBER, "How far a class may be from the whole table (t-closeness).", None
    )
    distance: str = paid.word(
        "How far apart two sensitive values are: equal, ordered or hierarchical.", "equal"
    )
    hierarchies: Path | None = asked(  # noqa: RUF009  # a field
        FieldKind.PATH,
        "A folder of COLUMN.csv files; columns without one get one built.",
        None,
        sent=False,
    )
    suppress: float = asked(
        FieldKind.NUMBER,
        "The share of rows that may be left out, such as 0.02.",
        0.0,
        least=0,
        most=1,
    )
    cost: str = paid.word(
        "What is kept small: discernibility, height, classes, loss, entropy.",
        "discernibility",
        longest=40,
    )
    method: str = paid.word("optimal (one level a column), mondrian, relaxed or local.", "optimal")
    redact: Sequence[str] = paid.columns("Columns to leave out, such as name,phone.", many=1000)
    where: str | None = paid.condition('Keep only rows like this, such as "age >= 18".')
    weights: str | Mapping[str, float] = asked(
        FieldKind.TEXT,
        "How much each column matters to the cost, such as age=2,zip=0.5.",
        "",
        sent=False,
    )
    missing: str = asked(
        FieldKind.TEXT,
        "What a missing value is: value (its own) or matches (any).",
        "value",
        sent=False,
    )
    seconds: float = asked(
        FieldKind.NUMBER,
        "How long to search before the best so far is taken.",
        60.0,
        above=0,
    )
    population: int | None = asked(
        FieldKind.WHOLE, "How many people the rows were sampled from.", None, least=1, most=10**11
    )
