"""Privacy loss: `discreet explain EPSILON`, `discreet budget`, and `discreet audit FILE.py:FUNCTION`.

What an epsilon promises in plain words; what has been spent, what is left, and who is most exposed; and how much
privacy a mechanism loses at the very least.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any

import typer

from discreet.base.requests.fields import request_fields
from discreet.base.requests.unpaid import AuditFields
from discreet.cli.command import Config, Json, counting, with_options
from discreet.cli.terminal import say, tell


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
    from discreet.privacy.account.explain import explain as explain_epsilon
    from discreet.privacy.account.explain import percent

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
    from discreet.curator.curator import found_config
    from discreet.data.catalog.policy_file import load

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


_AMOUNTS = ("epsilon", "delta")


def budget(
    *,
    as_json: Json = False,
    renew: Annotated[
        str | None,
        typer.Option(metavar="DATASET", help="Renew its budget by the policy in discreet.toml."),
    ] = None,
    last: Annotated[int, typer.Option(min=0, help="How many entries of history.")] = 10,
    config: Config = None,
) -> None:
    """Show what each dataset has spent, its history, and the most exposed group.

    With --renew a budget is renewed for the present period, once, as discreet.toml declares it.
    What was spent stays spent; losses add up over periods.

    Example: discreet budget --last 5
    """
    from discreet.curator import open as open_curator

    if renew is not None:
        from discreet.curator import renew_budget
        from discreet.data.catalog.policy_file import meant_file

        done = renew_budget(meant_file(config), renew)
        said = f"{done['budget']}: the budget of {done['period']} is in force, epsilon {done['epsilon']:g} in all. It {done['words']}"
        tell(done, said, json=as_json)
        return
    with open_curator(config) as curator:
        if as_json:
            say(json.dumps(_printed(curator.budget_report())))
            return
        say(curator.budget_words(last=last))


def _printed(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return the report as this command has always printed it: without what is left, and by analyst."""
    datasets = {
        name: {
            part: {k: v for k, v in value.items() if k != "left"} if part in _AMOUNTS else value
            for part, value in facts.items()
        }
        for name, facts in report["datasets"].items()
    }
    kept = {name: value for name, value in report.items() if name not in {"analyst", "analysts"}}
    return kept | {"datasets": datasets}


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
