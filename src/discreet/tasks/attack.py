"""`discreet.attack(NAME)`: one of the red team's attacks."""

from __future__ import annotations

from typing import Any

from discreet.attack.attacks import Outcome, attack_named
from discreet.core.progress import Progress, silent


def attack(name: str, *, progress: Progress = silent, **settings: Any) -> Outcome:
    """Return what an attack found, beside guessing and beside the private version.

    `settings` are the options of `discreet attack NAME`.
    """
    return attack_named(name).run(settings, progress=progress)
