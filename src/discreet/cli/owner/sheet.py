"""`discreet sheet`: a data-protection impact sheet as a document."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.options import Config
from discreet.cli.terminal import say


def sheet(
    *,
    out: Annotated[Path, typer.Option(help="Where to write it: .html or .json.")],
    config: Config = None,
) -> None:
    """Write what a data-protection officer asks for, from the catalog and the ledger; reads no row.

    Example: discreet sheet --out sheet.html
    """
    from discreet.report import write
    from discreet.tasks.sheet import sheet as impact_sheet

    write(impact_sheet(config), out)
    say(f"{out} written. It has questions that only people can answer.")
