"""What the child process of an attack does; outcomes of attacks, kept on disk by their settings."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from discreet import __version__
from discreet.base.files import write_whole
from discreet.errors import UnknownName
from discreet.lab.attacks.attacks import (
    Attack,
    AttackSettings,
    Outcome,
    attack_named,
    private_words,
    score_words,
)
from discreet.server.bodies import finite
from discreet.server.jobs.child import TaskContext
from discreet.show import Document, Section, to_fragment

FOLDER = "lab"
MOST = 100
"""Outcomes that are remembered; the oldest is forgotten first."""
_ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Shown:
    """An outcome as the page shows it: numbers, sentences, and the pictures as safe HTML."""

    id: str
    attack: str
    outcome: Mapping[str, Any]
    words: str
    private_words: str
    pictures: str
    person: str = ""
    """One person's story, where the attack tells one."""
    own: bool = False
    """Whether it is about the owner's own files, and so for owners only."""


class Lab:
    """Outcomes by attack and settings: the same settings give the same outcome, so run once."""

    def __init__(self, state: Path) -> None:
        self._folder = state / FOLDER
        self._kept: OrderedDict[str, Shown] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, result: str, *, owner: bool = True) -> Shown:
        """Return a kept outcome; what owners' own files gave exists for owners only."""
        found = self.known(result)
        if found is None or (found.own and not owner):
            raise UnknownName("This outcome is no longer kept.", hint="Run the attack again.")
        return found

    def known(self, result: str) -> Shown | None:
        """Return an outcome, whoever it is for, if it is kept."""
        with self._lock:
            return self._kept.get(result) or self._read(result)

    def keep(self, shown: Shown, *, durable: bool) -> None:
        """Remember an outcome; a durable one also after the server was stopped."""
        with self._lock:
            self._remember(shown)
            if durable:
                self._folder.mkdir(parents=True, exist_ok=True)
                write_whole(self._folder / f"{shown.id}.json", json.dumps(asdict(shown)))

    def _remember(self, shown: Shown) -> None:
        self._kept[shown.id] = shown
        while len(self._kept) > MOST:
            self._kept.popitem(last=False)

    def _read(self, result: str) -> Shown | None:
        if _ID.fullmatch(result) is None:
            return None
        try:
            facts = json.loads((self._folder / f"{result}.json").read_text(encoding="utf-8"))
            shown = Shown(**facts)
        except (OSError, ValueError, TypeError):  # never kept, or by another version
            return None
        self._remember(shown)
        return shown


def result_id(attack: Attack, settings: AttackSettings) -> str:
    """Return the name of an outcome, which says everything it depends on."""
    said = json.dumps([__version__, attack.name, dict(settings.values)], sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()[:32]


def usual_id(attack: Attack) -> str:
    """Return the name of the outcome with the usual settings, with which its page opens."""
    return result_id(attack, AttackSettings.of(attack.knobs, {}))


def shown_of(result: str, outcome: Outcome, *, own: bool = False) -> Shown:
    """Return an outcome as the page shows it."""
    pictures = Document(outcome.title, "", None, (Section("The picture", outcome.blocks),))
    return Shown(
        result,
        outcome.attack,
        finite(outcome.to_json()),
        score_words(outcome.score),
        private_words(outcome),
        to_fragment(pictures) if outcome.blocks else "",
        outcome.person,
        own,
    )


def attack(
    context: TaskContext, *, name: str, given: dict[str, Any], result: str, own: bool
) -> dict[str, Any]:
    """Return the outcome of an attack, on the made-up town or on files of the owner's own."""
    found = attack_named(name)
    settings = AttackSettings.of(found.knobs, given)
    outcome = found.run(settings.values, progress=context.advance)
    return asdict(shown_of(result, outcome, own=own))
