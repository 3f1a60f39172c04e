"""What may be asked of the synthesizer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.core.numbers import Delta, Epsilon, Number
from discreet.core.requests import paid
from discreet.core.requests.request_fields import FieldKind, asked

MOST_ROWS = 1_000_000_000
"""Rows of a copy."""


@dataclass(frozen=True, kw_only=True)
class SynthFields:
    """One synthesis as it is asked for; `discreet.synth.request` checks it."""

    table: str = paid.table()
    method: str = paid.word("How the model is made.", "auto", longest=40)
    epsilon: Number | Epsilon = paid.epsilon()  # noqa: RUF009  # a field
    delta: Number | Delta | None = paid.delta()  # noqa: RUF009  # a field
    rows: int | None = asked(
        FieldKind.WHOLE,
        "How many rows to make; about as many as there are if not given.",
        None,
        least=0,
        most=MOST_ROWS,
    )
    where: str | None = paid.condition("Only rows like this, such as \"sex = 'Female'\".")
    rules: Sequence[str] = asked(
        FieldKind.TEXTS,
        'What every row keeps: "age >= 16 if job = \'baker\'", "zip -> city".',
        (),
        longest=paid.LONGEST_CONDITION,
        many=100,
        option="--rule",
        repeated=True,
    )
    bins: str = paid.word("Numbers and days with many values: auto, equal or quantile.", "auto")
    choose: Sequence[str] = asked(
        FieldKind.TEXTS,
        "Choose among methods, paid for: tree,adaptive.",
        (),
        longest=40,
        many=8,
    )
    options: Mapping[str, Any] | None = asked(
        FieldKind.SETTINGS,
        "A setting of the method, such as parents=2.",
        None,
        option="--set",
        sent=False,
    )
    analyst: str | None = paid.analyst()
    request_id: str | None = paid.request_id("model")


LINKED = ("table", "epsilon", "delta", "rows", "bins", "analyst", "request_id")
"""The fields that a copy of linked tables reads; `table` names the dataset."""
