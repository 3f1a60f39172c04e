"""`discreet.attack(NAME)`: one of the red team's attacks; and `discreet.audit("FILE.py:FUNCTION")`.

An audit says how much privacy a mechanism loses at the very least.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from discreet.audit.audit import Audit, Effort, audit_one_run
from discreet.audit.audit import audit as audit_samples
from discreet.audit.target import load_target, other_target
from discreet.base.display import Progress, silent
from discreet.base.requests.fields import WithProgress, asks_function, schema
from discreet.base.requests.unpaid import AuditFields
from discreet.errors import InvalidInput
from discreet.lab.attacks.attacks import Outcome, attack_named


def attack(name: str, *, progress: Progress = silent, **settings: Any) -> Outcome:
    """Return what an attack found, beside guessing and beside the private version.

    `settings` are the options of `discreet attack NAME`.
    """
    return attack_named(name).run(settings, progress=progress)


@schema
class AuditCall(WithProgress, AuditFields):
    """An audit, and who is told how far it is."""


@asks_function(AuditCall)
def audit(asked: AuditCall) -> Audit:
    """Return a lower bound on the epsilon of `FILE.py:FUNCTION`, measured from its outputs alone."""
    target, mu, python = asked.target, asked.mu, asked.python
    if asked.one_run and python is not None:
        raise InvalidInput("One run with canaries needs the mechanism in this Python.")
    confidence = asked.confidence
    effort = Effort(samples=asked.samples, seconds=asked.seconds, confidence=confidence)
    lent = nullcontext(load_target(target)) if python is None else other_target(target, python)
    with lent as loaded:
        allowed = loaded.delta if asked.delta is None else asked.delta
        claim = mu if mu is not None else loaded.epsilon if asked.epsilon is None else asked.epsilon
        if asked.one_run:
            return audit_one_run(loaded, claim=claim, delta=allowed, confidence=confidence)
        return audit_samples(
            loaded,
            effort,
            claim=claim,
            delta=allowed,
            gaussian=mu is not None,
            progress=asked.progress,
        )
