"""`discreet.attack(NAME)`: one of the red team's attacks."""

from __future__ import annotations

from typing import Any

from discreet.attack.attacks import Progress, attack_named, quiet
from discreet.attack.outcome import Outcome


def attack(name: str, *, progress: Progress = quiet, **settings: Any) -> Outcome:
    """Return what an attack found, beside guessing and beside the private version.

    `settings` are the options of `discreet attack NAME`.
    """
    return attack_named(name).run(settings, progress=progress)
