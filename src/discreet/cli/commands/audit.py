"""`discreet audit FILE.py:FUNCTION`: how much privacy it loses at the very least."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from discreet.cli.options import Json
from discreet.cli.request_options import with_options
from discreet.cli.terminal import tell
from discreet.cli.waiting import counting
from discreet.core.requests.audit import AuditFields
from discreet.core.requests.request_fields import request_fields


@with_options(AuditFields, leave=("target",))
def audit(
    target: Annotated[
        str,
        typer.Argument(metavar="FILE.py:FUNCTION", help=request_fields(AuditFields)["target"].help),
    ],
    *,
    json: Json = False,
    **asked: Any,
) -> None:
    """Run a mechanism on two neighbours and bound its epsilon from below; 1 if the claim is refuted.

    Example: discreet audit my.py:noisy_count --epsilon 1
    """
    from discreet.tasks.attack import audit as run_audit

    with counting("audit") as progress:
        found = run_audit(target, **asked, progress=progress)
    tell(found.to_json(), lambda: audit_words(found), json=json)
    if found.refuted:
        raise typer.Exit(1)


def audit_words(found: Any) -> str:
    """Return the finding for a terminal."""
    at = f" at delta {found.delta:g}" if found.delta else ""
    effort = f"({found.confidence:.0%} confidence, {found.samples:,} runs)"
    lines = [
        f"{found.name}: {found.measure} is at least {found.bound:.4g}{at} {effort}.",
        f"Inputs:  {found.pair[0]}",
        f"    and  {found.pair[1]}",
        f"Event:   {found.event}.",
        f"Guesses: {found.right:,} of {found.guesses:,} right.",
        *found.notes,
    ]
    if found.claim is None:
        lines.append("No claim was given to compare with.")
    elif found.refuted:
        lines.append(f"The claim of {found.claim:g} is REFUTED.")
    else:
        lines.append(f"Nothing speaks against the claim of {found.claim:g}.")
    return "\n".join(lines)
