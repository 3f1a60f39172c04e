"""Imports by the former names of folders: `discreet.noise` is `discreet.privacy.noise`, the same module.

What documents and programs imported before the folders moved goes on working.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

FORMER = {
    "account": "privacy.account",
    "api": "curator",
    "attack": "lab.attacks",
    "catalog": "data.catalog",
    "client": "curator.client",
    "core": "base",
    "course": "lab.course",
    "engine": "data.engines",
    "examples": "lab.town",
    "kernel": "privacy.kernel",
    "learn": "work.learn",
    "ledger": "privacy.ledger",
    "noise": "privacy.noise",
    "plan": "ask.plan",
    "publish": "work.publish",
    "release": "ask.release",
    "report": "show",
    "sql": "ask.sql",
    "synth": "work.synth",
}
"""Each folder's name before, and where it stands now."""


class FormerNames(MetaPathFinder, Loader):
    """Finds a module under its former name, as the module that it is now."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return how to load a module, where its name is a former one."""
        del path, target
        return ModuleSpec(fullname, self) if present_name(fullname) != fullname else None

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Leave it to Python: what it makes is replaced at once."""
        del spec
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Put the present module in the place of the former one."""
        sys.modules[module.__name__] = import_module(present_name(module.__name__))


def present_name(module: str) -> str:
    """Return where a module of this package stands now."""
    package, _, rest = module.partition(".")
    room, dot, inside = rest.partition(".")
    if package != "discreet" or room not in FORMER:
        return module
    return f"discreet.{FORMER[room]}{dot}{inside}"


def find_former_names() -> None:
    """Let imports find former names, before Python looks for a file."""
    if not any(isinstance(each, FormerNames) for each in sys.meta_path):
        sys.meta_path.insert(0, FormerNames())
