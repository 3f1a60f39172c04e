"""The noisy numbers behind an answer, kept so that any other form of the question can be shown.

Another alias, order, LIMIT, HAVING or arrangement of columns is the same question: the same keys and
aggregates of the same rows. What was paid for is all of the noisy numbers, not the table they were
first shown in.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.kernel.look import Noisy
from discreet.kernel.mechanism import LargestGroup, Law, Selection
from discreet.noise.laws import law_of
from discreet.plan.ir import Key
from discreet.plan.plan import Question
from discreet.release.bars.ranks import NO_CHOICES, Choices


@dataclass(frozen=True, slots=True)
class KeptNoise:
    """Noisy numbers by what they measure, for the groups of some keys, and the laws of their noise."""

    keys: tuple[str, ...]
    groups: tuple[tuple[Any, ...], ...]
    measures: Mapping[str, tuple[list[int], Law]]
    choices: Mapping[str, list[Any]]
    threshold: int | None = None
    """What the number of units of each group had to reach, where groups are private."""
    chosen: Choices = NO_CHOICES
    """By which mechanisms; earlier versions did not keep them."""

    def to_json(self) -> dict[str, Any]:
        """Return plain lists and texts."""
        top = self.chosen.top
        return {
            "keys": list(self.keys),
            "groups": [[_written(value) for value in group] for group in self.groups],
            "measures": {
                name: [[str(value) for value in values], law.to_json()]
                for name, (values, law) in self.measures.items()
            },
            "choices": {
                name: [_written(value) for value in values] for name, values in self.choices.items()
            },
            **({} if self.threshold is None else {"threshold": self.threshold}),
            "selections": {
                name: [str(s.quantile), str(s.epsilon), s.bins, str(s.sensitivity)]
                for name, s in self.chosen.selections.items()
            },
            **(
                {}
                if top is None
                else {"top": [str(top.epsilon), top.flip, top.sensitivity, top.monotone]}
            ),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> KeptNoise:
        """Return what `to_json` wrote."""
        return cls(
            keys=tuple(data["keys"]),
            groups=tuple(tuple(_read(value) for value in group) for group in data["groups"]),
            measures={
                name: ([int(value) for value in values], law_of(*law))
                for name, (values, law) in data["measures"].items()
            },
            choices={name: [_read(v) for v in values] for name, values in data["choices"].items()},
            threshold=data.get("threshold"),
            chosen=Choices(
                {
                    name: Selection(Fraction(q), Fraction(epsilon), bins, Fraction(sensitivity))
                    for name, (q, epsilon, bins, sensitivity) in data.get("selections", {}).items()
                },
                _top(data.get("top")),
            ),
        )


def _top(data: list[Any] | None) -> LargestGroup | None:
    return None if data is None else LargestGroup(Fraction(data[0]), *data[1:])


def kept_noise(
    question: Question, noisy: Noisy, laws: Mapping[str, Law], choices: Choices = NO_CHOICES
) -> KeptNoise | None:
    """Return what an answer's noise says by itself; None where nothing was read."""
    if question.region.empty:
        return None
    measured = question.measured
    return KeptNoise(
        keys=tuple(map(_key, question.statement.keys)),
        groups=noisy.groups,
        measures={_name(m): (noisy.measures[name], laws[name]) for name, m in measured.measures}
        if not question.top
        else {},
        choices={_name(c): noisy.choices[name] for name, c in measured.choices},
        threshold=noisy.threshold,
        chosen=Choices(
            {
                _name(c): choices.selections[n]
                for n, c in measured.choices
                if n in choices.selections
            },
            choices.top,
        ),
    )


def shown_again(
    kept: KeptNoise, question: Question
) -> tuple[Noisy, dict[str, Law], Choices] | None:
    """Return the kept numbers under a question's own names, None where it asks for others."""
    wanted = [_key(key) for key in question.statement.keys]
    if sorted(wanted) != sorted(kept.keys):
        return None
    order = [kept.keys.index(key) for key in wanted]
    groups = tuple(tuple(group[place] for place in order) for group in kept.groups)
    if question.top:
        return Noisy(groups, {}, {}), {}, kept.chosen
    measures, laws = {}, {}
    for name, measure in question.measured.measures:
        found = kept.measures.get(_name(measure))
        if found is None:
            return None
        measures[name], laws[name] = found
    choices, selections = {}, {}
    for name, choice in question.measured.choices:
        if _name(choice) not in kept.choices:
            return None
        choices[name] = kept.choices[_name(choice)]
        if _name(choice) in kept.chosen.selections:
            selections[name] = kept.chosen.selections[_name(choice)]
    units = measures.get(question.measured.units or "")
    # Earlier versions did not keep it. The least number that passed is no lower, and then bars are only wider.
    lowest = min(units) if units else None
    threshold = lowest if kept.threshold is None else kept.threshold
    return Noisy(groups, measures, choices, threshold), laws, Choices(selections)


def _key(key: Key) -> str:
    return _name((key.value, key.domain, key.missing))


def _name(part: Any) -> str:
    # Ids of columns are given in the order of binding, so equal rows below mean equal ids.
    return hashlib.sha256(repr(part).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _written(value: Any) -> Any:
    match value:
        case None | bool() | str():
            return value
        case int():
            return {"i": str(value)}
        case Fraction():
            return {"f": str(value)}
        case dt.datetime():
            return {"m": value.isoformat()}
        case dt.date():
            return {"d": value.isoformat()}
        case _:
            return {"t": str(value)}


def _read(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    ((kind, text),) = value.items()
    return _READERS[kind](text)


_READERS: Mapping[str, Callable[[str], Any]] = {
    "i": int,
    "f": Fraction,
    "m": dt.datetime.fromisoformat,
    "d": dt.date.fromisoformat,
    "t": str,
}
