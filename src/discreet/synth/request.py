"""What somebody asks the synthesizer for: the words of the outside world, checked once."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from discreet.core.numbers import Delta, Epsilon, Number
from discreet.errors import InvalidInput
from discreet.synth.encoding.outline import Bins
from discreet.synth.selection import check_choice
from discreet.synth.synthetic import MOST_ROWS

DEFAULT_METHOD = "auto"


@dataclass(frozen=True, slots=True)
class SynthRequest:
    """One synthesis and who pays for it. `options` are settings of the method."""

    table: str
    method: str
    epsilon: Epsilon
    delta: Delta | None
    rows: int | None = None
    where: str | None = None
    rules: tuple[str, ...] = ()
    bins: Bins = Bins.AUTO
    analyst: str | None = None
    request_id: str = ""
    choose: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        table: str,
        *,
        epsilon: Number | Epsilon,
        delta: Number | Delta | None = None,
        method: str = DEFAULT_METHOD,
        rows: int | None = None,
        where: str | None = None,
        rules: Sequence[str] = (),
        bins: str = "auto",
        analyst: str | None = None,
        request_id: str | None = None,
        choose: Sequence[str] = (),
        options: Mapping[str, Any] | None = None,
    ) -> SynthRequest:
        """Return a checked request; the budget never has a silent default."""
        if rows is not None and (isinstance(rows, bool) or not 0 <= rows <= MOST_ROWS):
            raise InvalidInput(f"rows must be a whole number from 0 to {MOST_ROWS:,}.")
        if choose:
            check_choice([name.lower() for name in choose])
        known = {each.value: each for each in Bins}
        if bins not in known:
            raise InvalidInput(f"bins must be one of: {', '.join(known)}.")
        return cls(
            table=table,
            method=method.lower(),
            epsilon=Epsilon.of(epsilon),
            delta=None if delta is None else Delta.of(delta),
            rows=rows,
            where=where,
            rules=tuple(rules),
            bins=known[bins],
            analyst=analyst,
            request_id=request_id or uuid.uuid4().hex,
            choose=tuple(name.lower() for name in choose),
            options=dict(options or {}),
        )

    @property
    def body(self) -> str:
        """Return what must be the same when a request id is used again: all that costs budget.

        Rows, conditions and rules are not part of it: other rows of the same model are free.
        """
        paid = {
            "table": self.table,
            "method": self.method,
            "epsilon": str(self.epsilon.value),
            "delta": None if self.delta is None else str(self.delta.value),
            "bins": self.bins.value,
            "choose": list(self.choose),
            "options": dict(self.options),
        }
        return "synth " + json.dumps(paid, sort_keys=True, default=str)
