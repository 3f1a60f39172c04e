"""`discreet audit FILE.py:FUNCTION`: how much privacy it loses at the very least."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli.terminal import say


def audit(
    target: Annotated[
        str, typer.Argument(metavar="FILE.py:FUNCTION", help="The mechanism to audit.")
    ],
    *,
    epsilon: Annotated[
        float | None, typer.Option(help="The epsilon that is claimed; EPSILON in the file if not.")
    ] = None,
    delta: Annotated[
        float | None, typer.Option(help="The delta that is claimed; DELTA in the file if not.")
    ] = None,
    mu: Annotated[
        float | None, typer.Option(help="Audit the Gaussian's mu instead, claimed to be this.")
    ] = None,
    samples: Annotated[int, typer.Option(help="Runs on each input, at the most.")] = 1_000_000,
    seconds: Annotated[float, typer.Option(help="When to stop sampling.")] = 120.0,
    confidence: Annotated[float, typer.Option(help="How sure the bound is.")] = 0.95,
    one_run: Annotated[
        bool, typer.Option("--one-run", help="One run with many canaries, for what is expensive.")
    ] = False,
    python: Annotated[
        Path | None, typer.Option(help="Run it by this Python, of another environment.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Run a mechanism on two neighbours and bound its epsilon from below; 1 if the claim is refuted.

    Example: discreet audit my.py:noisy_count --epsilon 1
    """
    from discreet.cli.waiting import counting
    from discreet.tasks.audit import audit as run_audit

    with counting("audit") as progress:
        found = run_audit(
            target,
            epsilon=epsilon,
            delta=delta,
            mu=mu,
            samples=samples,
            seconds=seconds,
            confidence=confidence,
            one_run=one_run,
            python=python,
            progress=progress,
        )
    say(json_text.dumps(found.to_json()) if json else audit_words(found))
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
