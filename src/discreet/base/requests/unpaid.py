"""Requests that spend no budget: declarations and their review, anonymization, estimates of surveys, audits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from discreet.base.numbers import Delta, Epsilon, Number
from discreet.base.requests import fields
from discreet.base.requests.fields import FieldKind, asked, like, schema


@schema
class InitFields:
    """One proposal of a discreet.toml as it is asked for; `discreet.data.catalog.proposal` checks it."""

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


MOST_COLUMNS = 60


@schema
class AnonymizeFields:
    """One anonymization as it is asked for, of a server too.

    `where` is read with the table, before anything else. `hierarchies` are a folder here, texts in a body.
    """

    quasi: Sequence[str] = fields.columns(
        "Columns that others may know of a person, such as zip,birth,sex.",
        default=(),
        many=MOST_COLUMNS,
    )
    k: int | None = asked(
        FieldKind.WHOLE, "How many rows must look alike.", default=None, least=1, most=1_000_000
    )
    sensitive: str | None = fields.column("The column to protect inside the classes.", default=None)
    l: float | None = asked(  # noqa: E741  # the model's own name
        FieldKind.NUMBER, "How varied the sensitive column must be.", default=None
    )
    diversity: str = fields.word("What --l counts.", default="distinct")
    t: float | None = asked(
        FieldKind.NUMBER, "How far a class may be from the whole table (t-closeness).", default=None
    )
    distance: str = fields.word(
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
    cost: str = fields.word("What is kept small.", default="discernibility", longest=40)
    method: str = fields.word(
        "optimal (one level a column), mondrian, relaxed or local.", default="optimal"
    )
    keep: Sequence[str] = fields.columns(
        "Columns to publish as they are; those not named anywhere are left out.",
        default=(),
        many=1000,
    )
    redact: Sequence[str] = fields.columns(
        "Columns to leave out, such as name,phone, as are all that are not named.",
        default=(),
        many=1000,
    )
    where: str | None = fields.condition(
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
    """One anonymization by whoever runs the curator; `discreet.anonymize.run` checks it."""

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

    table: str = fields.column("The table to copy.", kw_only=False)
    k: int = like(AnonymizeFields, "k")
    quasi: Sequence[str] = like(AnonymizeFields, "quasi")


@dataclass(frozen=True)
class EstimateFields:
    """What estimates are asked for; `discreet.survey.results` checks it.

    Its fields have places, as those of `EstimateRequest` always had. A command names a file of candidates for each open question, a body has the words themselves.
    """

    candidates: Mapping[str, Sequence[str]] = asked(
        FieldKind.TEXTS,
        "Words, one a line, to read an open question for.",
        default={},
        repeated=True,
        metavar="QUESTION=FILE",
        sent=False,
    )
    consistent: bool = asked(
        FieldKind.FLAG,
        "Shares that are at least 0 and add up to 1.",
        default=False,
    )
    confidence: float = asked(
        FieldKind.NUMBER,
        "How often an interval holds what it should.",
        default=0.95,
        above=0,
        most=1,
    )
    cross: Sequence[str] | None = asked(
        FieldKind.TEXTS,
        "Also the cross table of two questions.",
        default=None,
        many=2,
        metavar="A,B",
    )


@schema
class AuditFields:
    """One audit of a mechanism as it is asked for."""

    target: str = asked(FieldKind.TEXT, "The mechanism to audit.", kw_only=False)
    epsilon: float | None = asked(
        FieldKind.NUMBER, "The epsilon that is claimed; EPSILON in the file if not.", default=None
    )
    delta: float | None = asked(
        FieldKind.NUMBER, "The delta that is claimed; DELTA in the file if not.", default=None
    )
    mu: float | None = asked(
        FieldKind.NUMBER, "Audit the Gaussian's mu instead, claimed to be this.", default=None
    )
    samples: int = asked(FieldKind.WHOLE, "Runs on each input, at the most.", default=1_000_000)
    seconds: float = asked(FieldKind.NUMBER, "When to stop sampling.", default=120.0)
    confidence: float = asked(FieldKind.NUMBER, "How sure the bound is.", default=0.95)
    one_run: bool = asked(
        FieldKind.FLAG,
        "One run with many canaries, for what is expensive.",
        default=False,
    )
    python: Path | None = asked(
        FieldKind.PATH, "Run it by this Python, of another environment.", default=None
    )
