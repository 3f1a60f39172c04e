"""`discreet explain EPSILON`: what an epsilon promises, in plain words."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from discreet.cli.options import Config, Json
from discreet.cli.terminal import tell


def explain(
    epsilon: Annotated[str, typer.Argument(help="The epsilon to explain, such as 0.5.")],
    *,
    total: Annotated[
        str | None, typer.Option("--total", help="The epsilon of all questions together.")
    ] = None,
    delta: Annotated[str, typer.Option("--delta", help="The delta beside it, such as 1e-9.")] = "0",
    dataset: Annotated[
        str | None,
        typer.Option(
            "--dataset", help="Explain it for this dataset's neighbours, not for both kinds."
        ),
    ] = None,
    json: Json = False,
    config: Config = None,
) -> None:
    """Say what EPSILON promises to one person, in plain words.

    Example: discreet explain 1.0 --total 3
    """
    from discreet.account.explain import explain as explain_epsilon
    from discreet.account.explain import percent

    neighbours = None if dataset is None else _declared(config, dataset)
    found = explain_epsilon(epsilon, total=total, delta=delta, neighbours=neighbours)
    lines = [f"epsilon {found.epsilon}: {found.strength}\n"]
    lines += [f"  {sentence}" for sentence in found.sentences]
    for promise in found.promises:
        lines.append(f"\n  {promise.heading}:")
        lines.append("  believed before   believed afterwards, at least / at most")
        for row in promise.beliefs:
            low, high = percent(row.lowest, up=False), percent(row.highest)
            lines.append(f"  {row.before:>15.1%}   {low} / {high}")
    tell(to_json(found), "\n".join(lines), json=json)


def _declared(config: Any, name: str) -> Any:
    """Return the neighbours that a dataset of the catalog declares."""
    from discreet.api.curator import found_config
    from discreet.catalog.policy_file import load

    return load(found_config(config)).dataset(name).neighbours


def to_json(found: Any) -> dict[str, Any]:
    """Return the object that `--json` prints for an EpsilonExplanation.

    `factor` and `beliefs` are those of one step between neighbours; `promises` has each comparison.
    """
    return {
        "epsilon": float(found.epsilon),
        "factor": found.factor,
        "text": found.text,
        "strength": found.strength,
        "truth_probability": found.truth,
        "beliefs": [asdict(row) for row in found.beliefs],
        "promises": [
            {
                "comparison": promise.comparison.value[0],
                "worlds": promise.comparison.worlds,
                "epsilon": promise.epsilon,
                "factor": promise.factor,
                "delta": promise.delta,
                "beliefs": [asdict(row) for row in promise.beliefs],
                "text": " ".join(promise.sentences),
            }
            for promise in found.promises
        ],
    }
