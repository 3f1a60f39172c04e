"""Checked request of a training, from command, HTTP or Python."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.core.numbers import Delta, Epsilon
from discreet.core.requests.checked import checked
from discreet.core.requests.learn import LocalLearnFields
from discreet.errors import InvalidInput
from discreet.learn.learners import AUTO, CLASSIFY, REGRESS, of_task


@dataclass(frozen=True, kw_only=True)
class LearnRequest(LocalLearnFields):
    """One training and who pays for it, checked; `task`: of a classifier or of a regression."""

    task: str = CLASSIFY

    if TYPE_CHECKING:
        epsilon: Epsilon
        delta: Delta | None
        features: tuple[str, ...]
        choose: tuple[str, ...]
        request_id: str

    @classmethod
    def of(cls, table: str, *, task: str = CLASSIFY, **words: Any) -> LearnRequest:
        """Return a checked request from the fields of `LocalLearnFields`; no budget has a silent default."""
        asked = LocalLearnFields(table=table, **words)
        for name in ("target", "model"):
            if not isinstance(getattr(asked, name), str):
                raise InvalidInput(f"The {name} of a training is a text.")
        kinds = (AUTO, *of_task(CLASSIFY if task == CLASSIFY else REGRESS))
        if task not in {CLASSIFY, REGRESS} or asked.model.lower() not in kinds:
            raise InvalidInput(
                f"There is no model '{asked.model[:40]}' for this.",
                hint=f"Models: {', '.join(kinds)}.",
            )
        if asked.target.lower() in {name.lower() for name in asked.features}:
            raise InvalidInput("The target cannot be one of the features.")
        found = checked(asked) | {
            "task": task,
            "model": asked.model.lower(),
            "features": tuple(asked.features),
            "choose": tuple(name.lower() for name in asked.choose),
        }
        return cls(**found)

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
