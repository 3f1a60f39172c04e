"""What the child process of an attack does: run it, and say its outcome as the page shows it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from discreet.attack.attacks import AttackSettings, attack_named
from discreet.server.features.lab.outcomes import shown_of
from discreet.server.jobs.child import TaskContext


def attack(
    context: TaskContext, *, name: str, given: dict[str, Any], result: str, own: bool
) -> dict[str, Any]:
    """Return the outcome of an attack, on the made-up town or on files of the owner's own."""
    found = attack_named(name)
    settings = AttackSettings.of(found.knobs, given)
    outcome = found.run(settings.values, progress=context.advance)
    return asdict(shown_of(result, outcome, own=own))
