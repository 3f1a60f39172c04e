"""`discreet anonymize`: a k-anonymous copy of a table, or a measurement of one that exists."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.anonymize.costs.registry import choices as costs
from discreet.anonymize.criteria.registry import choices as models
from discreet.cli.options import Json, Source, comma_list
from discreet.cli.request_options import with_options
from discreet.cli.terminal import tell
from discreet.cli.waiting import counting, waiting
from discreet.core.requests.anonymize import LocalAnonymizeFields

Out = Annotated[Path | None, typer.Option(help="Where to write: .csv or .parquet.")]
Report = Annotated[
    Path | None, typer.Option(help="Also write why, and what remains: .html or .json.")
]
Check = Annotated[
    bool, typer.Option("--check", help="Only measure k, l, t and the risks of this table.")
]
Config = Annotated[
    Path | None, typer.Option(help="The discreet.toml to use, if not beside the file.")
]


@with_options(LocalAnonymizeFields, **costs(), **models())
def anonymize(
    source: Source,
    *,
    out: Out = None,
    report: Report = None,
    check: Check = False,
    json: Json = False,
    config: Config = None,
    **asked: Any,
) -> None:
    """Make a k-anonymous copy of a table; it carries no guarantee, and says so.

    Example: discreet anonymize people.csv --k 5 --quasi age,zip,sex --suppress 0.02 --out safe.csv

    Measure: discreet anonymize safe.csv --check --quasi age,zip,sex --sensitive disease
    """
    if check:
        wanted = {name: asked[name] for name in ("quasi", "sensitive", "population", "where")}
        found, words = _checked(source, **wanted, config=config)
    else:
        found, words = _made(source, out=out, report=report, config=config, **asked)
    tell(found, "\n".join(words), json=json)


def _checked(
    source: str,
    *,
    quasi: list[str],
    sensitive: str | None,
    population: int | None,
    where: str | None,
    config: Path | None,
) -> tuple[dict[str, Any], list[str]]:
    """Return k, l, t and risks of a table, as an object and as words."""
    from discreet.anonymize.check import measure
    from discreet.anonymize.source import open_source
    from discreet.anonymize.text import measured_words

    with waiting("Counting"), open_source(source, config=config, where=where) as opened:
        found = measure(
            opened, tuple(quasi), sensitive=tuple(comma_list(sensitive)), population=population
        )
        return found.to_json(), measured_words(opened.label, found)


def _made(source: str, **wanted: Any) -> tuple[dict[str, Any], list[str]]:
    """Return what was made, after recording the exposure and writing the copy, in that order."""
    from discreet.tasks.anonymize import anonymize as make_copy

    with counting("Anonymizing") as progress:
        made = make_copy(source, progress=progress, **wanted)
    return made.to_json(), made.words()
