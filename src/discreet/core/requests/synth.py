"""What may be asked of the synthesizer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.core.numbers import Delta, Epsilon, Number
from discreet.core.requests import paid
from discreet.core.requests.request_fields import FieldKind, asked
from discreet.core.requests.schema import schema

MOST_ROWS = 1_000_000_000
"""Rows of a copy."""


@schema
class CopyFields:
    """What every copy is asked with, of one table or of several."""

    epsilon: Number | Epsilon = paid.epsilon()
    delta: Number | Delta | None = paid.delta(default=None)
    rows: int | None = asked(
        FieldKind.WHOLE,
        "How many rows to make; about as many as there are if not given.",
        default=None,
        least=0,
        most=MOST_ROWS,
    )
    bins: str = paid.word(
        "Numbers and days with many values: auto, equal or quantile.", default="auto"
    )
    analyst: str | None = paid.analyst(default=None)
    request_id: str | None = paid.request_id("model", default=None)


@schema
class LinkedFields(CopyFields):
    """One copy of linked tables as it is asked for; its rows are people."""

    dataset: str = paid.column("The dataset whose tables are linked.", kw_only=False)


@schema
class SynthFields(CopyFields):
    """One synthesis as it is asked for, of a server too."""

    table: str = paid.table(kw_only=False)
    method: str = paid.word("How the model is made.", default="auto", longest=40)
    where: str | None = paid.condition(
        "Only rows like this, such as \"sex = 'Female'\".", default=None
    )
    rules: Sequence[str] = asked(
        FieldKind.TEXTS,
        'What every row keeps: "age >= 16 if job = \'baker\'", "zip -> city".',
        default=(),
        longest=paid.LONGEST_CONDITION,
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
    """One synthesis by whoever runs the curator; `discreet.synth.prepare` checks it."""

    options: Mapping[str, Any] | None = asked(
        FieldKind.SETTINGS,
        "A setting of the method, such as parents=2.",
        default=None,
        option="--set",
    )
