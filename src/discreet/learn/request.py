"""What somebody asks a learner for: the words of the outside world, checked once."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field

from discreet.core.numbers import Delta, Epsilon, Number
from discreet.errors import InvalidInput

CLASSIFIERS = ("auto", "logistic", "boosted", "bayes", "network")
REGRESSORS = ("auto", "ridge")


@dataclass(frozen=True, slots=True)
class LearnRequest:
    """One training and who pays for it."""

    table: str = field(metadata={"help": "The table to learn from."})
    target: str = field(metadata={"help": "The column to predict."})
    epsilon: Epsilon = field(metadata={"help": "How much budget to use."})
    delta: Delta | None = field(
        default=None, metadata={"help": "The chance that the promise fails, such as 1e-9."}
    )
    task: str = field(default="classify", metadata={"help": "classify or regress."})
    model: str = field(
        default="auto",
        metadata={"help": "auto, logistic, boosted, bayes or network; for regress ridge."},
    )
    features: tuple[str, ...] = field(
        default=(), metadata={"help": "The columns to predict from; all others unless given."}
    )
    choose: tuple[str, ...] = field(
        default=(), metadata={"help": "Train several models and pay for a choice: logistic,bayes."}
    )
    analyst: str | None = field(default=None, metadata={"help": "The analyst who asks."})
    request_id: str = field(
        default="", metadata={"help": "Ask again under the same id: same model, no charge."}
    )

    @classmethod
    def of(
        cls,
        table: str,
        *,
        target: str,
        epsilon: Number | Epsilon,
        delta: Number | Delta | None = None,
        task: str = "classify",
        model: str = "auto",
        features: Sequence[str] = (),
        choose: Sequence[str] = (),
        analyst: str | None = None,
        request_id: str | None = None,
    ) -> LearnRequest:
        """Return a checked request; the budget never has a silent default."""
        kinds = CLASSIFIERS if task == "classify" else REGRESSORS
        if task not in {"classify", "regress"} or model.lower() not in kinds:
            raise InvalidInput(
                f"There is no model '{model[:40]}' for this.", hint=f"Models: {', '.join(kinds)}."
            )
        if target.lower() in {name.lower() for name in features}:
            raise InvalidInput("The target cannot be one of the features.")
        return cls(
            table=table,
            target=target,
            epsilon=Epsilon.of(epsilon),
            delta=None if delta is None else Delta.of(delta),
            task=task,
            model=model.lower(),
            features=tuple(features),
            choose=tuple(name.lower() for name in choose),
            analyst=analyst,
            request_id=request_id or uuid.uuid4().hex,
        )

    @property
    def body(self) -> str:
        """Return what must be the same when a request id is used again: all of it costs budget."""
        paid = {
            "table": self.table,
            "target": self.target,
            "task": self.task,
            "model": self.model,
            "features": list(self.features),
            "choose": list(self.choose),
            "epsilon": str(self.epsilon.value),
            "delta": None if self.delta is None else str(self.delta.value),
        }
        return "learn " + json.dumps(paid, sort_keys=True)
