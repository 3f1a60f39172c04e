"""Discreet: private answers about people's data, with error bars, a price and a proof.

The names below are the ones to rely on; each is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from discreet.base.former_names import FORMER, find_former_names

if TYPE_CHECKING:
    from discreet.base.answer import Answer
    from discreet.curator import Curator, open  # noqa: A004  # discreet.open is the contract
    from discreet.curator.client import Client, connect
    from discreet.errors import DiscreetError
    from discreet.privacy.account.explain import explain
    from discreet.tasks.attack import audit
    from discreet.tasks.init import init
    from discreet.tasks.review import review
    from discreet.tasks.schedule import run
    from discreet.tasks.sheet import sheet, storage
    from discreet.tasks.synthesize import Synthesizer, synthesize
    from discreet.tasks.verify import verify
    from discreet.work.publish.reconcile.answers import reconcile

__version__ = "0.1.0"

find_former_names()

_HOMES = {
    "Answer": "discreet.base.answer",
    "Client": "discreet.curator.client",
    "Curator": "discreet.curator",
    "DiscreetError": "discreet.errors",
    "Synthesizer": "discreet.tasks.synthesize",
    "anonymize": "discreet.tasks.anonymize",
    "attack": "discreet.tasks.attack",
    "audit": "discreet.tasks.attack",
    "connect": "discreet.curator.client",
    "course": "discreet.tasks.course",
    "explain": "discreet.privacy.account.explain",
    "init": "discreet.tasks.init",
    "learn": "discreet.tasks.learn",
    "open": "discreet.curator",
    "publish": "discreet.tasks.publish",
    "reconcile": "discreet.work.publish.reconcile.answers",
    "review": "discreet.tasks.review",
    "run": "discreet.tasks.schedule",
    "sheet": "discreet.tasks.sheet",
    "storage": "discreet.tasks.sheet",
    "survey": "discreet.survey",
    "synthesize": "discreet.tasks.synthesize",
    "verify": "discreet.tasks.verify",
}

__all__ = [
    "Answer",
    "Client",
    "Curator",
    "DiscreetError",
    "Synthesizer",
    "anonymize",
    "attack",
    "audit",
    "connect",
    "course",
    "explain",
    "init",
    "learn",
    "open",
    "publish",
    "reconcile",
    "review",
    "run",
    "sheet",
    "storage",
    "survey",
    "synthesize",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'discreet' has no attribute '{name}'")
    if name in FORMER:
        # A folder of code had the name of the function: it has both, as it can be called.
        return import_module(f"{__name__}.{name}")
    found = import_module(_HOMES[name])
    # Where a folder of code has the name of its function, or is what is meant, it is the folder.
    return globals().get(name) or getattr(found, name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
