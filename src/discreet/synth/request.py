"""Checked request of a synthesis, from command, HTTP or Python."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.core.numbers import Delta, Epsilon
from discreet.core.requests.checked import checked
from discreet.core.requests.synth import LocalSynthFields
from discreet.errors import InvalidInput
from discreet.synth.encoding.column_treatment import Bins
from discreet.synth.selection import check_choice


@dataclass(frozen=True, kw_only=True)
class SynthRequest(LocalSynthFields):
    """One synthesis and who pays for it, checked. `options` are settings of the method."""

    if TYPE_CHECKING:
        epsilon: Epsilon
        delta: Delta | None
        rules: tuple[str, ...]
        bins: Bins  # type: ignore[assignment]  # a word until it is checked
        choose: tuple[str, ...]
        options: Mapping[str, Any]
        request_id: str

    @classmethod
    def of(cls, table: str, **words: Any) -> SynthRequest:
        """Return a checked request from the fields of `LocalSynthFields`; no budget has a silent default."""
        asked = LocalSynthFields(table=table, **words)
        bins, found = asked.bins, checked(asked)
        choose = tuple(name.lower() for name in asked.choose)
        if choose:
            check_choice(list(choose))
        known = {each.value: each for each in Bins}
        if bins not in known:
            raise InvalidInput(f"bins must be one of: {', '.join(known)}.")
        found |= {
            "method": asked.method.lower(),
            "rules": tuple(asked.rules),
            "bins": known[bins],
            "choose": choose,
            "options": dict(asked.options or {}),
        }
        return cls(**found)

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
