"""What may be asked of an audit."""

from __future__ import annotations

from pathlib import Path

from discreet.core.requests.request_fields import FieldKind, asked
from discreet.core.requests.schema import schema


@schema
class AuditFields:
    """One audit of a mechanism as it is asked for."""

    target: str = asked(FieldKind.TEXT, "The mechanism to audit.", kw_only=False)
    epsilon: float | None = asked(
        FieldKind.NUMBER, "The epsilon that is claimed; EPSILON in the file if not.", default=None
    )
    delta: float | None = asked(
        FieldKind.NUMBER, "The delta that is claimed; DELTA in the file if not.", default=None
    )
    mu: float | None = asked(
        FieldKind.NUMBER, "Audit the Gaussian's mu instead, claimed to be this.", default=None
    )
    samples: int = asked(FieldKind.WHOLE, "Runs on each input, at the most.", default=1_000_000)
    seconds: float = asked(FieldKind.NUMBER, "When to stop sampling.", default=120.0)
    confidence: float = asked(FieldKind.NUMBER, "How sure the bound is.", default=0.95)
    one_run: bool = asked(
        FieldKind.FLAG,
        "One run with many canaries, for what is expensive.",
        default=False,
    )
    python: Path | None = asked(
        FieldKind.PATH, "Run it by this Python, of another environment.", default=None
    )
