"""`discreet budget`: what has been spent, what is left, and who is most exposed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from discreet.cli.options import Config, Json
from discreet.cli.terminal import say, tell

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
    from discreet.api import open as open_curator

    if renew is not None:
        from discreet.api import renew_budget
        from discreet.catalog.policy_file import meant_file

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
