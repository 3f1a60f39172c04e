"""`discreet explain EPSILON`: what an epsilon promises, in plain words."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from discreet.cli.options import Json
from discreet.cli.terminal import tell


def explain(
    epsilon: Annotated[str, typer.Argument(help="The epsilon to explain, such as 0.5.")],
    total: Annotated[
        str | None, typer.Option("--total", help="The epsilon of all questions together.")
    ] = None,
    json: Json = False,
) -> None:
    """Say what EPSILON promises to one person, in plain words.

    Example: discreet explain 1.0 --total 3
    """
    from discreet.account.explain import explain as explain_epsilon
    from discreet.account.explain import percent

    found = explain_epsilon(epsilon, total=total)
    lines = [f"epsilon {found.epsilon}: {found.strength}\n"]
    lines += [f"  {sentence}" for sentence in found.sentences]
    lines.append("\n  believed before   believed afterwards, at least / at most")
    for row in found.beliefs:
        low, high = percent(row.lowest, up=False), percent(row.highest)
        lines.append(f"  {row.before:>15.1%}   {low} / {high}")
    tell(to_json(found), "\n".join(lines), json=json)


def to_json(found: Any) -> dict[str, Any]:
    """Return the object that `--json` prints for an Explanation."""
    return {
        "epsilon": float(found.epsilon),
        "factor": found.factor,
        "text": found.text,
        "strength": found.strength,
        "truth_probability": found.truth,
        "beliefs": [asdict(row) for row in found.beliefs],
    }
