"""What may be asked of the learners: a training, a choice, a recommender."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.core.numbers import Delta, Epsilon, Number
from discreet.core.requests import paid
from discreet.core.requests.request_fields import FieldKind, asked
from discreet.core.requests.schema import schema


@schema
class RegressFields:
    """One regression as it is asked for: what every training is asked with."""

    table: str = paid.table(kw_only=False)
    target: str = paid.column("The column to predict.")
    epsilon: Number | Epsilon = paid.epsilon()
    delta: Number | Delta | None = paid.delta(default=None)
    model: str = paid.word("What is learned.", default="auto", longest=40)
    features: Sequence[str] = asked(
        FieldKind.TEXTS,
        "Predict from these columns only: age,sex,job.",
        default=(),
        longest=paid.LONGEST_NAME,
        many=500,
    )
    analyst: str | None = paid.analyst(default=None)
    request_id: str | None = paid.request_id("model", default=None)


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
    """One classifier by whoever runs the curator; `discreet.learn.training_plan` checks it."""

    choose: Sequence[str] = asked(
        FieldKind.TEXTS, "Train several and pay for a choice.", default=()
    )


@schema
class SelectFields:
    """One choice as it is asked for; `discreet.learn.select` checks it."""

    table: str = paid.table(kw_only=False)
    column: str = paid.column("The column of votes or bids.", option="--target")
    epsilon: Number | Epsilon = paid.epsilon()
    kind: str = paid.word(
        "vote: most common value; price: most revenue.", default="vote", longest=40
    )
    analyst: str | None = paid.analyst(default=None)
    request_id: str | None = paid.request_id("choice", default=None)


@schema
class RecommendFields:
    """One recommender as it is asked for; `discreet.learn.recommender` checks it."""

    table: str = paid.table(kw_only=False)
    item: str = paid.column("The column that says what was rated.")
    rating: str = paid.column("The column of the ratings.")
    epsilon: Number | Epsilon = paid.epsilon()
    delta: Number | Delta | None = paid.delta(default=None)
    analyst: str | None = paid.analyst(default=None)
    request_id: str | None = paid.request_id("model", default=None)
