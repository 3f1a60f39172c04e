"""`discreet init`: propose discreet.toml from files or database tables."""

from __future__ import annotations

import json as json_text
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli.terminal import say
from discreet.core.visible import visible


def init(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="CSV or Parquet files, postgresql://HOST/DB/SCHEMA.TABLE, duckdb:FILE/TABLE.",
        ),
    ],
    *,
    out: Annotated[Path, typer.Option(help="Where to write.")] = Path("discreet.toml"),
    epsilon: Annotated[
        str | None, typer.Option(help="The most that one person can lose over all answers.")
    ] = None,
    delta: Annotated[str | None, typer.Option(help="The chance that the promise fails.")] = None,
    unit: Annotated[
        str | None, typer.Option(help="Whom to protect: 'row', or the column with the person.")
    ] = None,
    dataset: Annotated[
        str | None, typer.Option(help="Name of the dataset; the first table's unless given.")
    ] = None,
    accept: Annotated[
        bool,
        typer.Option("--accept", help="Declare the inferred domains public (for public data)."),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Propose discreet.toml for the owner to review.

    What was read from the data waits for review: queries refuse it until the owner has checked it.

    Example: discreet init people.csv --epsilon 1 --unit row
    """
    from discreet.tasks.init import init as propose

    done = propose(
        *files,
        out=out,
        epsilon=epsilon,
        delta=delta,
        unit=unit,
        dataset=dataset,
        accept=accept,
        force=force,
        progress=_show_progress(),
    )
    say(json_text.dumps(done) if json else _words(done))


def _show_progress() -> Callable[[str], None]:
    """Return a function that shows the current step on a terminal, and nothing elsewhere."""
    if not sys.stderr.isatty():
        return lambda _: None
    from rich.console import Console

    status = Console(stderr=True).status("Reading")
    status.start()
    return lambda step: status.update(f"Reading {visible(step)}") if step else status.stop()


def _words(summary: dict[str, Any]) -> str:
    lines = [f"Wrote {summary['out']}: dataset '{summary['dataset']}'."]
    for name, columns in summary["tables"].items():
        kinds = ", ".join(f"{visible(column)} {kind}" for column, kind in columns.items())
        lines.append(f"  {name}: {kinds}")
    lines += [f"Next: {todo}" for todo in summary["todo"]]
    return "\n".join(lines)
