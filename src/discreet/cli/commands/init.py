"""`discreet init`: propose discreet.toml from files or database tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli.terminal import tell
from discreet.cli.waiting import reading
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
    max_rows: Annotated[
        int | None, typer.Option(min=1, help="The most rows of one person that count.")
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
        max_rows=max_rows,
        progress=reading(),
    )
    tell(done, lambda: _words(done), json=json)


def _words(summary: dict[str, Any]) -> str:
    lines = [f"Wrote {summary['out']}: dataset '{summary['dataset']}'."]
    for name, columns in summary["tables"].items():
        kinds = ", ".join(f"{visible(column)} {kind}" for column, kind in columns.items())
        lines.append(f"  {name}: {kinds}")
    lines += [f"Care: {visible(warning)}" for warning in summary["warnings"]]
    for column, said in summary["lost"].items():
        lines += [f"Care: {visible(column)}: {visible(words)}." for words in said]
    lines += [f"Next: {todo}" for todo in summary["todo"]]
    return "\n".join(lines)
