"""`discreet budget`: what has been spent, what is left, and who is most exposed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.terminal import say


def budget(
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    last: Annotated[int, typer.Option(min=0, help="How many entries of history.")] = 10,
    config: Annotated[
        Path | None, typer.Option(help="The discreet.toml to use, if not in this folder.")
    ] = None,
) -> None:
    """Show what each dataset has spent, its history, and the most exposed group.

    Example: discreet budget --last 5
    """
    from discreet.api import open as open_curator

    curator = open_curator(config)
    if as_json:
        say(json.dumps(curator.budget_report()))
    else:
        say(curator.budget_words(last=last))
