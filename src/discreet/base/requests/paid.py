"""Requests that spend budget: queries, looks at one table, synthetic copies, models, and publications.

A query is asked in SQL, explained, or rehearsed. A look at one table has one price; the one at bounds says how many
rows each max_rows leaves out. Of learners one may ask a training, a choice, a recommender; of publishing a release as
a signed package, and a series of running totals.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.base.numbers import Delta, Epsilon, Number, to_fraction
from discreet.base.requests import fields
from discreet.base.requests.fields import FieldKind, asked, like, schema
from discreet.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class NoiseLimit:
    """The greatest acceptable noise of any cell at 95%: absolute, or a share of the value."""

    error: Fraction
    relative: bool

    @classmethod
    def of(cls, written: Number) -> NoiseLimit:
        """Return the error as written: 50, "50" or "5%"."""
        text = str(written).strip()
        relative = text.endswith("%")
        error = to_fraction(text[:-1] if relative else written, name="the wanted error")
        if error <= 0:
            raise InvalidInput("The wanted error must be greater than 0.")
        return cls(error / 100 if relative else error, relative)

    def __str__(self) -> str:
        """Return what stored requests say of it: the same id is the same request in every version."""
        return f"Wanted(error={self.error!r}, relative={self.relative!r})"


@schema
class StatementFields:
    """A statement and its price: what every use of it reads."""

    sql: str = asked(
        FieldKind.TEXT, "One SELECT statement with aggregates.", longest=100_000, kw_only=False
    )
    epsilon: Number | Epsilon | None = fields.epsilon(default=None)
    within: Number | None = asked(
        FieldKind.AMOUNT,
        "The greatest noise of any cell at 95%, such as 50.",
        default=None,
        reads=NoiseLimit.of,
    )
    max_rows: int | None = asked(
        FieldKind.WHOLE,
        "At most this many rows of one person count, instead of the table's max_rows.",
        default=None,
        least=1,
        most=10**9,
    )


@schema
class RehearseFields(StatementFields):
    """One rehearsal as it is asked for: nobody pays for it."""

    seed: int = asked(
        FieldKind.WHOLE,
        "Not private: the noise of this seed, on rows declared public. Free.",
        least=0,
        most=2**63 - 1,
        option="--rehearse",
    )


@schema
class ScheduleFields(StatementFields):
    """One question as a line of a schedule asks it."""

    analyst: str | None = fields.analyst(default=None)


@schema
class PricedFields(ScheduleFields):
    """One question whose price counts: it may be reused for nothing, unless it must be fresh."""

    fresh: bool = asked(FieldKind.FLAG, "Never reuse paid answers.", default=False)


@schema
class QueryFields(PricedFields):
    """One question as it is asked, to be answered."""

    request_id: str | None = fields.request_id("answer", default=None)


@schema
class ExplainFields(PricedFields):
    """One question as it is asked, to be explained."""

    group_size: int | None = asked(
        FieldKind.WHOLE,
        "With --explain: the noise of a mean of so many rows.",
        default=None,
        least=1,
        most=10**12,
    )


@schema
class QuestionFields(QueryFields, ExplainFields):
    """All that may be said with a question; `discreet.ask.release.desk` checks it."""

    seed: int | None = like(RehearseFields, "seed", default=None)


@schema
class LookFields:
    """One paid look as it is asked for: which table, for how much, who pays, and its id."""

    table: str = fields.table(kw_only=False)
    epsilon: Number | Epsilon = fields.epsilon()
    analyst: str | None = fields.analyst(default=None)
    request_id: str | None = fields.request_id("result", default=None)


@schema
class BoundsFields:
    """One look at the rows that people have, as it is asked for; `discreet.ask.release` checks it."""

    table: str = fields.column("A table of people, such as visits.", kw_only=False)
    epsilon: Number | Epsilon = asked(
        FieldKind.AMOUNT, "How much budget the look may use.", reads=Epsilon.of
    )
    at: Number | Epsilon = asked(
        FieldKind.AMOUNT, "Show the noise of a count for this epsilon.", default=1, reads=Epsilon.of
    )
    analyst: str | None = fields.analyst(default=None)
    request_id: str | None = fields.request_id("answer", default=None)


MOST_ROWS = 1_000_000_000
"""Rows of a copy."""


@schema
class CopyFields:
    """What every copy is asked with, of one table or of several."""

    epsilon: Number | Epsilon = fields.epsilon()
    delta: Number | Delta | None = fields.delta(default=None)
    rows: int | None = asked(
        FieldKind.WHOLE,
        "How many rows to make; about as many as there are if not given.",
        default=None,
        least=0,
        most=MOST_ROWS,
    )
    bins: str = fields.word(
        "Numbers and days with many values: auto, equal or quantile.", default="auto"
    )
    analyst: str | None = fields.analyst(default=None)
    request_id: str | None = fields.request_id("model", default=None)


@schema
class LinkedFields(CopyFields):
    """One copy of linked tables as it is asked for; its rows are people."""

    dataset: str = fields.column("The dataset whose tables are linked.", kw_only=False)


@schema
class SynthFields(CopyFields):
    """One synthesis as it is asked for, of a server too."""

    table: str = fields.table(kw_only=False)
    method: str = fields.word("How the model is made.", default="auto", longest=40)
    where: str | None = fields.condition(
        "Only rows like this, such as \"sex = 'Female'\".", default=None
    )
    rules: Sequence[str] = asked(
        FieldKind.TEXTS,
        'What every row keeps: "age >= 16 if job = \'baker\'", "zip -> city".',
        default=(),
        longest=fields.LONGEST_CONDITION,
        many=100,
        option="--rule",
        repeated=True,
    )
    choose: Sequence[str] = asked(
        FieldKind.TEXTS,
        "Choose among methods, paid for: tree,adaptive.",
        default=(),
        longest=40,
        many=8,
    )


@schema
class LocalSynthFields(SynthFields):
    """One synthesis by whoever runs the curator; `discreet.work.synth.prepare` checks it."""

    options: Mapping[str, Any] | None = asked(
        FieldKind.SETTINGS,
        "A setting of the method, such as parents=2.",
        default=None,
        option="--set",
    )


@schema
class RegressFields:
    """One regression as it is asked for: what every training is asked with."""

    table: str = fields.table(kw_only=False)
    target: str = fields.column("The column to predict.")
    epsilon: Number | Epsilon = fields.epsilon()
    delta: Number | Delta | None = fields.delta(default=None)
    model: str = fields.word("What is learned.", default="auto", longest=40)
    features: Sequence[str] = asked(
        FieldKind.TEXTS,
        "Predict from these columns only: age,sex,job.",
        default=(),
        longest=fields.LONGEST_NAME,
        many=500,
    )
    analyst: str | None = fields.analyst(default=None)
    request_id: str | None = fields.request_id("model", default=None)


@schema
class LearnFields(RegressFields):
    """One classifier as it is asked for, of a server too."""

    rows: int | None = asked(
        FieldKind.WHOLE,
        "About how many rows you know there are: too few for epsilon is refused.",
        default=None,
        least=1,
    )


@schema
class LocalLearnFields(LearnFields):
    """One classifier by whoever runs the curator; `discreet.work.learn.training_plan` checks it."""

    choose: Sequence[str] = asked(
        FieldKind.TEXTS, "Train several and pay for a choice.", default=()
    )


@schema
class SelectFields:
    """One choice as it is asked for; `discreet.work.learn.select` checks it."""

    table: str = fields.table(kw_only=False)
    column: str = fields.column("The column of votes or bids.", option="--target")
    epsilon: Number | Epsilon = fields.epsilon()
    kind: str = fields.word(
        "vote: most common value; price: most revenue.", default="vote", longest=40
    )
    analyst: str | None = fields.analyst(default=None)
    request_id: str | None = fields.request_id("choice", default=None)


@schema
class RecommendFields:
    """One recommender as it is asked for; `discreet.work.learn.recommender` checks it."""

    table: str = fields.table(kw_only=False)
    item: str = fields.column("The column that says what was rated.")
    rating: str = fields.column("The column of the ratings.")
    epsilon: Number | Epsilon = fields.epsilon()
    delta: Number | Delta | None = fields.delta(default=None)
    analyst: str | None = fields.analyst(default=None)
    request_id: str | None = fields.request_id("model", default=None)


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
    """One release by whoever runs the curator; `discreet.work.publish.workflow` checks it."""

    supersedes: str | None = asked(
        FieldKind.TEXT, "The earlier release that this one replaces.", default=None
    )
    who: str = asked(FieldKind.TEXT, "Who drafts or approves.", default="owner", option="--as")


@schema
class TotalsFields:
    """A series of running totals as it is asked for; `discreet.work.publish.totals` checks it."""

    name: str = asked(
        FieldKind.TEXT,
        "What the series is called; charged once under this name.",
        longest=64,
        kw_only=False,
    )
    dataset: str = asked(FieldKind.TEXT, "The dataset whose budget pays.")
    table: str = fields.column("The table whose rows are counted; each row is one unit.")
    column: str = fields.column("The date of a row, declared immutable.")
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
