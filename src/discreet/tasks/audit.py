"""`discreet.audit("FILE.py:FUNCTION")`: how much privacy it loses at the very least."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

from discreet.attack.audit.audit import Audit, Effort, audit_one_run
from discreet.attack.audit.audit import audit as audit_samples
from discreet.attack.audit.other_python import other_target
from discreet.attack.audit.target import load_target
from discreet.core.progress import Progress, silent
from discreet.errors import InvalidInput


def audit(
    target: str,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    mu: float | None = None,
    samples: int = 1_000_000,
    seconds: float = 120.0,
    confidence: float = 0.95,
    one_run: bool = False,
    python: Path | None = None,
    progress: Progress = silent,
) -> Audit:
    """Return a lower bound on the epsilon of `FILE.py:FUNCTION`, measured from its outputs alone."""
    if one_run and python is not None:
        raise InvalidInput("One run with canaries needs the mechanism in this Python.")
    effort = Effort(samples=samples, seconds=seconds, confidence=confidence)
    lent = nullcontext(load_target(target)) if python is None else other_target(target, python)
    with lent as loaded:
        allowed = loaded.delta if delta is None else delta
        claim = mu if mu is not None else loaded.epsilon if epsilon is None else epsilon
        if one_run:
            return audit_one_run(loaded, claim=claim, delta=allowed, confidence=confidence)
        return audit_samples(
            loaded, effort, claim=claim, delta=allowed, gaussian=mu is not None, progress=progress
        )
