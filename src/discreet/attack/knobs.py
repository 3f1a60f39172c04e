"""Settings of an attack, read against its knobs: the right kind, inside the limits, or a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from discreet.attack.registry import Knob
from discreet.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class AttackSettings:
    """The value of every knob, checked once."""

    values: Mapping[str, int | float | str]

    @classmethod
    def of(cls, knobs: Iterable[Knob], given: Mapping[str, Any]) -> AttackSettings:
        """Return the settings with defaults filled in.

        >>> AttackSettings.of([Knob("k", 5, "size of a class", 1, 100)], {"k": "7"}).whole("k")
        7
        """
        known = {knob.name: knob for knob in knobs}
        for name in given:
            if name not in known:
                raise InvalidInput(
                    f"This attack has no setting '{name}'.", hint=f"It has: {', '.join(known)}."
                )
        return cls({name: _value(knob, given.get(name)) for name, knob in known.items()})

    def whole(self, name: str) -> int:
        """Return a whole number."""
        return int(self.values[name])

    def number(self, name: str) -> float:
        """Return a number."""
        return float(self.values[name])

    def text(self, name: str) -> str:
        """Return a text or a choice."""
        return str(self.values[name])

    def words(self, name: str) -> tuple[str, ...]:
        """Return a text split at its commas."""
        return tuple(word.strip() for word in self.text(name).split(",") if word.strip())


def _value(knob: Knob, given: Any) -> int | float | str:
    if given is None:
        return knob.default
    if isinstance(knob.default, str):
        return _chosen(knob, str(given))
    kind = float if isinstance(knob.default, float) else int
    try:
        value = kind(given)
        same = float(given) == float(value)
    except (TypeError, ValueError, OverflowError):
        same = False
    if not same:
        what = "a number" if kind is float else "a whole number"
        raise InvalidInput(f"The setting '{knob.name}' must be {what}.")
    low, high = knob.low, knob.high
    # Written so that a NaN is refused too.
    if (low is not None and not value >= low) or (high is not None and not value <= high):
        limits = f"from {low:g}" if high is None else f"from {low or 0:g} to {high:g}"
        raise InvalidInput(f"The setting '{knob.name}' must be {limits}.")
    return value


def _chosen(knob: Knob, given: str) -> str:
    if knob.choices and given not in knob.choices:
        raise InvalidInput(
            f"The setting '{knob.name}' cannot be '{given}'.",
            hint=f"Choose from: {', '.join(knob.choices)}.",
        )
    return given
