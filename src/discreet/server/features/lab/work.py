"""The attack lab: attacks on the example town as jobs, and their outcomes, kept by their settings."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.attack.knobs import AttackSettings
from discreet.attack.outcome import Outcome
from discreet.attack.registry import Attack, Knob
from discreet.attack.story import private_words, score_words
from discreet.errors import InvalidInput, UnknownName
from discreet.report import Document, Section, to_fragment
from discreet.server.access.auth import Principal
from discreet.server.context import Context
from discreet.server.jobs.queue import Job
from discreet.server.plain_json import finite

MOST = 100
"""Outcomes that are remembered; the oldest is forgotten first."""


@dataclass(frozen=True, slots=True)
class Shown:
    """An outcome as the page shows it: numbers, sentences, and the pictures as safe HTML."""

    id: str
    attack: str
    outcome: Mapping[str, Any]
    words: str
    private_words: str
    pictures: str


class Lab:
    """Outcomes by attack and settings: the same settings give the same outcome, so run once."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Shown] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, result: str) -> Shown:
        """Return a kept outcome."""
        with self._lock:
            found = self._kept.get(result)
        if found is None:
            raise UnknownName("This outcome is no longer kept.", hint="Run the attack again.")
        return found

    def known(self, result: str) -> bool:
        """Return whether an outcome is kept."""
        with self._lock:
            return result in self._kept

    def keep(self, shown: Shown) -> None:
        """Remember an outcome."""
        with self._lock:
            self._kept[shown.id] = shown
            while len(self._kept) > MOST:
                self._kept.popitem(last=False)


def sliders(attack: Attack) -> tuple[Knob, ...]:
    """Return the knobs that a page may turn: numbers and choices; files stay with the command."""
    return tuple(knob for knob in attack.knobs if knob.choices or not isinstance(knob.default, str))


def result_id(attack: Attack, settings: AttackSettings) -> str:
    """Return the name of an outcome, which says everything it depends on."""
    said = json.dumps([attack.name, dict(settings.values)], sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()[:32]


def turned(attack: Attack, given: Mapping[str, Any]) -> AttackSettings:
    """Return the settings of a run; refuses what the lab does not offer."""
    offered = {knob.name for knob in sliders(attack)}
    for name in given:
        if name not in offered:
            raise InvalidInput(
                f"The lab has no setting '{name}' for this attack.",
                hint="Attacks on your own files are run by the command: discreet attack.",
            )
    return AttackSettings.of(attack.knobs, given)


def submit(
    context: Context,
    lab: Lab,
    who: Principal,
    attack: Attack,
    given: Mapping[str, Any],
    *,
    request_id: str = "",
) -> Job:
    """Return the job that runs an attack on the town; what was run before is answered at once."""
    settings = turned(attack, given)
    result = result_id(attack, settings)

    def work(job: Job) -> dict[str, Any]:
        if not lab.known(result):
            outcome = attack.run(settings.values, progress=job.advance)
            lab.keep(shown_of(result, outcome))
        return {"result": result, "attack": attack.name}

    return context.runner.submit(who.key, work, request_id=request_id, keep=True, long=True)


def shown_of(result: str, outcome: Outcome) -> Shown:
    """Return an outcome as the page shows it."""
    pictures = Document(outcome.title, "", None, (Section("The picture", outcome.blocks),))
    return Shown(
        result,
        outcome.attack,
        finite(outcome.to_json()),
        score_words(outcome.score),
        private_words(outcome),
        to_fragment(pictures) if outcome.blocks else "",
    )
