"""What may be asked of the learners: a training, a choice, a recommender."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.core.numbers import Delta, Epsilon, Number
from discreet.core.requests import paid
from discreet.core.requests.request_fields import FieldKind, asked


@dataclass(frozen=True, kw_only=True)
class LearnFields:
    """One training as it is asked for; `discreet.learn.request` checks it."""

    table: str = paid.table()
    target: str = paid.column("The column to predict.")
    epsilon: Number | Epsilon = paid.epsilon()  # noqa: RUF009  # a field
    delta: Number | Delta | None = paid.delta()  # noqa: RUF009  # a field
    task: str = asked(FieldKind.TEXT, "classify or regress.", "classify", sent=False)
    model: str = paid.word("What is learned.", "auto", longest=40)
    features: Sequence[str] = asked(
        FieldKind.TEXTS,
        "Predict from these columns only: age,sex,job.",
        (),
        longest=paid.LONGEST_NAME,
        many=500,
    )
    choose: Sequence[str] = asked(
        FieldKind.TEXTS,
        "Train several and pay for a choice.",
        (),
        sent=False,
    )
    rows: int | None = asked(
        FieldKind.WHOLE,
        "About how many rows you know there are: too few for epsilon is refused.",
        None,
        least=1,
    )
    analyst: str | None = paid.analyst()
    request_id: str | None = paid.request_id("model")


@dataclass(frozen=True, kw_only=True)
class SelectFields:
    """One choice as it is asked for; `discreet.learn.select` checks it."""

    table: str = paid.table()
    column: str = paid.column("The column of votes or bids.", option="--target")
    epsilon: Number | Epsilon = paid.epsilon()  # noqa: RUF009  # a field
    kind: str = paid.word("vote: most common value; price: most revenue.", "vote", longest=40)
    analyst: str | None = paid.analyst()
    request_id: str | None = paid.request_id("choice")


@dataclass(frozen=True, kw_only=True)
class RecommendFields:
    """One recommender as it is asked for; `discreet.learn.recommend.run` checks it."""

    table: str = paid.table()
    item: str = paid.column("The column that says what was rated.")
    rating: str = paid.column("The column of the ratings.")
    epsilon: Number | Epsilon = paid.epsilon()  # noqa: RUF009  # a field
    delta: Number | Delta | None = paid.delta()  # noqa: RUF009  # a field
    analyst: str | None = paid.analyst()
    request_id: str | None = paid.request_id("model")
