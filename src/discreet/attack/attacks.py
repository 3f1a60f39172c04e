"""What an attack is (name, knobs, settings, how it is run), and the list of all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from importlib import import_module
from typing import Any

from discreet.attack.outcome import Outcome
from discreet.core.progress import Progress, silent
from discreet.errors import InvalidInput, UnknownName

MODULES = {
    "linkage": "discreet.attack.linkage.linkage",
    "netflix": "discreet.attack.ratings.netflix",
    "intersection": "discreet.attack.classes.intersection",
    "homogeneity": "discreet.attack.classes.homogeneity",
    "differencing": "discreet.attack.counts.differencing",
    "reconstruction": "discreet.attack.counts.reconstruction",
    "census": "discreet.attack.counts.census",
    "refusals": "discreet.attack.counts.refusals",
    "uniqueness": "discreet.attack.uniqueness.uniqueness",
    "membership": "discreet.attack.membership.membership",
    "inversion": "discreet.attack.inversion.inversion",
    "timing": "discreet.attack.service.timing",
    "exhaustion": "discreet.attack.service.exhaustion",
    "floating-point": "discreet.attack.floating_point",
    "averaging": "discreet.attack.averaging",
    "singling-out": "discreet.attack.release_risk.singling_out",
    "linkability": "discreet.attack.release_risk.linkability",
    "inference": "discreet.attack.release_risk.inference",
}
"""In the order in which a class meets them."""


class TextNames(Enum):
    """What the text of a knob names: whether the lab may take it from an owner."""

    PLACE = "place"
    """A file, folder, configuration or server where the attack runs, or what is sent there: of the command alone."""
    FILE = "file"
    """One file: the lab takes the file itself, never its place."""
    WORDS = "words"
    """Columns and the like: nothing is opened for it."""


@dataclass(frozen=True, slots=True)
class Knob:
    """One setting of an attack: an option of the command and a slider (or choice) of the lab.

    A whole number when `default` is an int, a number when a float, a choice when `choices` is given,
    otherwise text (columns, file names): text knobs have no slider. What a text `names` is a place of the
    machine unless it says otherwise (`file_knob`, `words_knob`), so that no server opens what it did not get.
    """

    name: str
    default: int | float | str
    words: str
    low: float | None = None
    high: float | None = None
    step: float | None = None
    choices: tuple[str, ...] = ()
    names: TextNames = TextNames.PLACE

    @property
    def text(self) -> bool:
        """Return whether any text may be given."""
        return isinstance(self.default, str) and not self.choices


def file_knob(name: str, words: str) -> Knob:
    """Return a setting that names one file, none unless given."""
    return Knob(name, "", words, names=TextNames.FILE)


def words_knob(name: str, default: str, words: str) -> Knob:
    """Return a setting of plain words, such as names of columns: nothing is opened for them."""
    return Knob(name, default, words, names=TextNames.WORDS)


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


@dataclass(frozen=True, slots=True)
class Attack:
    """One attack: its name, its story in one line, its knobs, and the function that runs it.

    Its module holds `run(chosen: AttackSettings, *, progress: Progress) -> Outcome`. With the defaults it
    runs on the example town within a minute.
    """

    name: str
    title: str
    words: str
    knobs: tuple[Knob, ...]

    def run(self, settings: Mapping[str, Any], *, progress: Progress = silent) -> Outcome:
        """Return the outcome with `settings`, defaults filled in.

        Name and settings are added here, and the title where the outcome has none of its own.
        """
        chosen = AttackSettings.of(self.knobs, settings)
        found: Outcome = import_module(MODULES[self.name]).run(chosen, progress=progress)
        title, values = found.title or self.title, found.settings or dict(chosen.values)
        return replace(found, attack=self.name, title=title, settings=values)


def attack_named(name: str) -> Attack:
    """Return the attack of this name; only its own module is imported."""
    if name not in MODULES:
        raise UnknownName(f"There is no attack '{name}'.", hint=f"There are: {', '.join(MODULES)}.")
    found: Attack = import_module(MODULES[name]).ATTACK
    return found


def all_attacks() -> tuple[Attack, ...]:
    """Return every attack, in the order of the list."""
    return tuple(attack_named(name) for name in MODULES)
