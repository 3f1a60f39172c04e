"""Discreet: private answers about people's data, with error bars, a price and a proof.

The names below are the ones to rely on; each is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.account.explain import explain
    from discreet.api import Curator, open  # noqa: A004  # discreet.open is the contract
    from discreet.client import Client, connect
    from discreet.core.answer import Answer
    from discreet.errors import DiscreetError
    from discreet.publish.reconcile.answers import reconcile
    from discreet.tasks.audit import audit
    from discreet.tasks.init import init
    from discreet.tasks.synthesize import Synthesizer, synthesize

__version__ = "0.1.0"

_HOMES = {
    "Answer": "discreet.core.answer",
    "Client": "discreet.client",
    "Curator": "discreet.api",
    "DiscreetError": "discreet.errors",
    "Synthesizer": "discreet.tasks.synthesize",
    "anonymize": "discreet.tasks.anonymize",
    "attack": "discreet.tasks.attack",
    "audit": "discreet.tasks.audit",
    "connect": "discreet.client",
    "explain": "discreet.account.explain",
    "init": "discreet.tasks.init",
    "open": "discreet.api",
    "reconcile": "discreet.publish.reconcile.answers",
    "synthesize": "discreet.tasks.synthesize",
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
    "explain",
    "init",
    "open",
    "reconcile",
    "synthesize",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'discreet' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
