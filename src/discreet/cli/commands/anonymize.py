"""`discreet anonymize`: a k-anonymous copy of a table, or a measurement of one that exists."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.anonymize.costs.registry import choices as costs
from discreet.anonymize.privacy_models.registry import choices as models
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
    found: Any
    if check:
        from discreet.anonymize.command import measure_file

        wanted = {name: asked[name] for name in ("quasi", "population", "where")}
        with waiting("Counting"):
            found = measure_file(
                source, **wanted, sensitive=comma_list(asked["sensitive"]), config=config
            )
    else:
        from discreet.tasks.anonymize import anonymize as make_copy

        with counting("Anonymizing") as progress:
            found = make_copy(
                source, out=out, report=report, config=config, progress=progress, **asked
            )
    tell(found.to_json(), lambda: "\n".join(found.words()), json=json)
