"""`discreet refresh`: let questions read the rows as they are now, or say what they read."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from discreet.cli.options import Config, Json
from discreet.cli.terminal import tell
from discreet.cli.waiting import waiting
from discreet.core.escape_text import visible


def refresh(
    dataset: Annotated[str | None, typer.Argument(help="The dataset; all unless given.")] = None,
    *,
    table: Annotated[
        str | None,
        typer.Option(help="One table of it; those whose rows are told apart go with it."),
    ] = None,
    show: Annotated[
        bool, typer.Option("--list", help="Say what questions read; begin nothing.")
    ] = False,
    json: Json = False,
    config: Config = None,
) -> None:
    """Begin a new version of the data: questions read the rows as they are now, and pay anew.

    Between two versions nobody who asks can see whether rows have changed. How versions begin by
    themselves is `refresh` in discreet.toml.

    Example: discreet refresh hospital
    """
    from discreet.api import open as open_curator

    with open_curator(config) as curator, waiting("Looking at the rows"):
        if table is not None and dataset is None:
            dataset = curator.catalog.named(table)[0].name
            table = table.rpartition(".")[2]
        found = curator.versions(dataset) if show else curator.refresh(dataset, table=table)
    tell({"versions": found}, lambda: "\n".join(map(version_words, found)), json=json)


def version_words(version: dict[str, Any]) -> str:
    """Return what is known of the version of some tables, in one line.

    >>> version_words({"dataset": "town", "tables": ["people"], "version": None, "refresh": "daily"})
    'town people: nobody has asked yet (refresh = "daily")'
    """
    place = visible(f"{version['dataset']} {', '.join(version['tables'])}")
    if version["version"] is None:
        return f'{place}: nobody has asked yet (refresh = "{version["refresh"]}")'
    since = version["began"][:16].replace("T", " ")
    said = f"{place}: version {version['version']} since {since}"
    said += f' (refresh = "{version["refresh"]}")'
    if version["changed"]:
        said += f"; other rows by now in {visible(', '.join(version['changed']))}"
    return said
