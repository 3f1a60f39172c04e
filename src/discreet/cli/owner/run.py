"""`discreet run`: what a schedule has due, once."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.options import Config
from discreet.cli.terminal import say
from discreet.core.escape_text import visible

_SAID = {"before": "already done by another run"}


def run(
    schedule: Annotated[Path, typer.Argument(metavar="SCHEDULE", help="The SCHEDULE.toml to run.")],
    *,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object a line.")] = False,
    config: Config = None,
) -> None:
    """Run the questions, releases and renewals of a schedule that are due, each once a period.

    Let cron or a timer start it as often as you like: what was paid for in this period is not paid for again.

    Example: discreet run SCHEDULE.toml
    """
    from discreet.catalog.policy_file import meant_file
    from discreet.tasks.schedule import run_schedule

    failed = 0
    for done in run_schedule(schedule, meant_file(config)):
        failed += done.outcome == "failed"
        if json:
            say(json_text.dumps(done.to_json()))
            continue
        why = "" if done.error is None else f": {done.error['message']}"
        paid = f", epsilon {done.epsilon:g}" if done.epsilon else ""
        where = f" -> {done.out}" if done.out else ""
        said = _SAID.get(done.outcome, done.outcome)
        say(visible(f"{done.line} {done.period} {said}{paid}{where}{why}"))
    if failed:
        raise typer.Exit(1)
