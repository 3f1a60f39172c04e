"""Every attack under its name: one list for the command, the lab page and the docs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from discreet.attack.outcome import Outcome

Progress = Callable[[int, int, str], None]
"""Called with (steps done, steps in all, what is being done)."""


def quiet(_done: int, _of: int, _what: str) -> None:
    """Report nothing."""


@dataclass(frozen=True, slots=True)
class Knob:
    """One setting of an attack: an option of the command and a slider (or choice) of the lab.

    A whole number when `default` is an int, a number when a float, a choice when `choices` is given,
    otherwise text (columns, file names): text knobs have no slider.
    """

    name: str
    default: int | float | str
    words: str
    low: float | None = None
    high: float | None = None
    step: float | None = None
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Attack:
    """One attack: its name, its story in one line, its knobs, and the function that runs it.

    `module` holds `run(settings: Mapping[str, Any], *, progress: Progress) -> Outcome`, imported when
    it is needed. With the defaults it runs on the example town within a minute.
    """

    name: str
    title: str
    words: str
    module: str
    knobs: tuple[Knob, ...]

    def run(self, settings: Mapping[str, Any], *, progress: Progress = quiet) -> Outcome:
        """Return the outcome with `settings`, defaults filled in."""
        wanted = {knob.name: knob.default for knob in self.knobs} | dict(settings)
        outcome: Outcome = import_module(self.module).run(wanted, progress=progress)
        return outcome
