"""`discreet init`: propose discreet.toml from files or database tables."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from discreet.cli.request_options import with_options
from discreet.cli.terminal import tell
from discreet.cli.waiting import reading
from discreet.core.escape_text import visible
from discreet.core.requests.declare import InitFields


@with_options(InitFields, limited=("max_rows",))
def init(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="CSV or Parquet files, postgresql://HOST/DB/SCHEMA.TABLE, duckdb:FILE/TABLE.",
        ),
    ],
    *,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    **asked: Any,
) -> None:
    """Propose discreet.toml for the owner to review.

    What was read from the data waits for review: queries refuse it until the owner has checked it.

    Example: discreet init people.csv --epsilon 1 --unit row
    """
    from discreet.tasks.init import init as propose

    done = propose(*files, **asked, progress=reading())
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
