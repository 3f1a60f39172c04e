"""`discreet anonymize`: a k-anonymous copy of a table, or a measurement of one that exists."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli.terminal import say

Source = Annotated[
    str, typer.Argument(metavar="FILE|TABLE", help="A CSV or Parquet file, or a declared table.")
]
Quasi = Annotated[
    str, typer.Option(help="Columns that others may know of a person, such as zip,birth,sex.")
]
Alike = Annotated[int | None, typer.Option("--k", help="How many rows must look alike.")]
SensitiveColumn = Annotated[
    str | None, typer.Option(help="The column to protect inside the classes.")
]
Diverse = Annotated[
    float | None, typer.Option("--l", help="How varied the sensitive column must be.")
]
DiversityKind = Annotated[
    str, typer.Option(help="What --l counts: distinct, entropy or recursive.")
]
Factor = Annotated[float, typer.Option("--c", help="The factor of recursive (c, l)-diversity.")]
Close = Annotated[
    float | None,
    typer.Option("--t", help="How far a class may be from the whole table (t-closeness)."),
]
Hierarchies = Annotated[
    Path | None,
    typer.Option(help="A folder of COLUMN.csv files; columns without one get one built."),
]
Suppressed = Annotated[
    float, typer.Option(help="The share of rows that may be left out, such as 0.02.")
]
CostModel = Annotated[
    str, typer.Option(help="What is kept small: discernibility, height, classes, loss, entropy.")
]
MethodName = Annotated[
    str, typer.Option(help="optimal (one level a column), mondrian, relaxed or local.")
]
Redacted = Annotated[str, typer.Option(help="Columns to leave out, such as name,phone.")]
Where = Annotated[str | None, typer.Option(help='Keep only rows like this, such as "age >= 18".')]
Weights = Annotated[
    str, typer.Option(help="How much each column matters to the cost, such as age=2,zip=0.5.")
]
MissingMeans = Annotated[
    str, typer.Option(help="What a missing value is: value (its own) or matches (any).")
]
Seconds = Annotated[float, typer.Option(help="How long to search before the best so far is taken.")]
Population = Annotated[int | None, typer.Option(help="How many people the rows were sampled from.")]
Out = Annotated[Path | None, typer.Option(help="Where to write: .csv or .parquet.")]
Report = Annotated[
    Path | None, typer.Option(help="Also write why, and what remains: .html or .json.")
]
Check = Annotated[
    bool, typer.Option("--check", help="Only measure k, l, t and the risks of this table.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Config = Annotated[
    Path | None, typer.Option(help="The discreet.toml to use, if not beside the file.")
]


def anonymize(
    source: Source,
    *,
    quasi: Quasi = "",
    k: Alike = None,
    sensitive: SensitiveColumn = None,
    l: Diverse = None,  # noqa: E741 the model's own name
    diversity: DiversityKind = "distinct",
    c: Factor = 3.0,
    t: Close = None,
    hierarchies: Hierarchies = None,
    suppress: Suppressed = 0.0,
    cost: CostModel = "discernibility",
    method: MethodName = "optimal",
    redact: Redacted = "",
    where: Where = None,
    weights: Weights = "",
    missing: MissingMeans = "value",
    seconds: Seconds = 60.0,
    population: Population = None,
    out: Out = None,
    report: Report = None,
    check: Check = False,
    json: AsJson = False,
    config: Config = None,
) -> None:
    """Make a k-anonymous copy of a table; it carries no guarantee, and says so.

    Example: discreet anonymize people.csv --k 5 --quasi age,zip,sex --suppress 0.02 --out safe.csv

    Measure: discreet anonymize safe.csv --check --quasi age,zip,sex --sensitive disease
    """
    if check:
        found, words = _checked(
            source, quasi, sensitive, population=population, where=where, config=config
        )
    else:
        found, words = _made(
            source,
            where=where,
            out=out,
            report=report,
            config=config,
            k=k,
            quasi=_list(quasi),
            sensitive=sensitive,
            l=l,
            diversity=diversity,
            c=c,
            t=t,
            hierarchies=hierarchies,
            suppress=suppress,
            cost=cost,
            method=method,
            redact=_list(redact),
            weights=weights,
            missing=missing,
            seconds=seconds,
            population=population,
        )
    say(json_text.dumps(found) if json else "\n".join(words))


def _list(written: str | None) -> tuple[str, ...]:
    return tuple(word.strip() for word in (written or "").split(",") if word.strip())


def _checked(
    source: str,
    quasi: str,
    sensitive: str | None,
    *,
    population: int | None,
    where: str | None,
    config: Path | None,
) -> tuple[dict[str, Any], list[str]]:
    """Return k, l, t and risks of a table, as an object and as words."""
    from discreet.anonymize.check import measure
    from discreet.anonymize.source import open_source
    from discreet.anonymize.text import measured_words
    from discreet.cli.waiting import waiting

    with waiting("Counting"), open_source(source, config=config, where=where) as opened:
        found = measure(opened, _list(quasi), sensitive=_list(sensitive), population=population)
        return found.to_json(), measured_words(opened.label, found)


def _made(source: str, **wanted: Any) -> tuple[dict[str, Any], list[str]]:
    """Return what was made, after recording the exposure and writing the copy, in that order."""
    from discreet.cli.waiting import counting
    from discreet.tasks.anonymize import anonymize as make_copy

    with counting("Anonymizing") as progress:
        made = make_copy(source, progress=progress, **wanted)
    return made.to_json(), made.words()
