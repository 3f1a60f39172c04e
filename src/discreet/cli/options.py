"""Options that several commands have: written once, so that they read the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

Source = Annotated[
    str, typer.Argument(metavar="FILE|TABLE", help="A CSV or Parquet file, or a declared table.")
]
Accept = Annotated[
    bool, typer.Option("--accept", help="Declare the domains of a bare file public as they are.")
]
UnitOption = Annotated[
    str, typer.Option(help="Whom to protect in a bare file: 'row', or the person's column.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Config = Annotated[
    Path | None, typer.Option(help="The discreet.toml to use, if not in this folder.")
]


def command_group(**more: Any) -> typer.Typer:
    """Return a command to be filled, with what all of them have in common."""
    return typer.Typer(
        rich_markup_mode=None, add_completion=False, pretty_exceptions_enable=False, **more
    )


def comma_list(written: str | None) -> list[str]:
    """Return the words of a list with commas."""
    return [word.strip() for word in (written or "").split(",") if word.strip()]
