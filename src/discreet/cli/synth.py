"""`discreet synth`: a synthetic copy of a file or a table, or more rows of a saved model; and `anonymize`.

`discreet anonymize` writes a k-anonymous copy of a table, or measures one that exists.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.anonymize.registry import cost_choices as costs
from discreet.anonymize.registry import model_choices as models
from discreet.base.requests.paid import LocalSynthFields
from discreet.base.requests.unpaid import LocalAnonymizeFields
from discreet.cli.command import (
    Accept,
    Config,
    Json,
    Source,
    UnitOption,
    comma_list,
    counting,
    waiting,
    with_options,
)
from discreet.cli.terminal import budget_said, price_said, tell
from discreet.errors import InvalidInput
from discreet.work.synth.methods.registry import choices

SynthSource = Annotated[
    str | None,
    typer.Argument(
        metavar="FILE|TABLE",
        help="A CSV or Parquet file, a declared table, or a dataset of linked tables.",
    ),
]
SynthOut = Annotated[
    Path | None,
    typer.Option(help="Where to write: .csv or .parquet; a folder or .zip for linked tables."),
]
SynthReport = Annotated[
    Path | None, typer.Option(help="Also write what the copy supports: .html or .json.")
]
Compare = Annotated[
    Path | None,
    typer.Option(help="Also compare with the real rows, for the owner only: .html or .json."),
]
Target = Annotated[str | None, typer.Option(help="The column that the reports try to predict.")]
SaveModel = Annotated[Path | None, typer.Option(help="Also keep the model: more rows later, free.")]
Model = Annotated[
    Path | None, typer.Option(help="Draw from a saved model; reads no data, costs nothing.")
]


@with_options(LocalSynthFields, leave=("table",), epsilon={"default": None}, **choices())
def synth(
    source: SynthSource = None,
    *,
    out: SynthOut = None,
    report: SynthReport = None,
    compare: Compare = None,
    target: Target = None,
    save_model: SaveModel = None,
    model: Model = None,
    accept: Accept = False,
    unit: UnitOption = "row",
    json: Json = False,
    config: Config = None,
    **asked: Any,
) -> None:
    """Make a synthetic copy of a table, charging the budget first.

    Example: discreet synth people.csv --epsilon 1 --delta 1e-9 --out synthetic.csv
    """
    from discreet.tasks.bare_file import WrittenSource
    from discreet.tasks.synthesize import CopyFiles, write_copy, write_sample

    files = CopyFiles(out, save_model, report, compare, target)
    if model is not None:
        _refuse_with_model(source=source, epsilon=asked["epsilon"], compare=compare)
        wanted = {name: asked[name] for name in ("rows", "where", "rules")}
        found = write_sample(model, files, **wanted)
    else:
        place = WrittenSource(_needed(source, asked["epsilon"]), config, unit, accept)
        with counting("Synthesizing") as progress:
            found = write_copy(place, asked, files, progress=progress)
    tell(found, lambda: _words(found), json=json)


def _needed(source: str | None, epsilon: str | None) -> str:
    if source is None:
        raise InvalidInput(
            "Say what to copy: a file, a table, or a saved model.",
            hint="For example: discreet synth people.csv --epsilon 1 --delta 1e-9",
        )
    if epsilon is None:
        raise InvalidInput(
            "Say how much budget to use.", hint="Usual values of --epsilon are 0.1 to 10."
        )
    return source


def _refuse_with_model(**given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            raise InvalidInput(
                f"A saved model reads no data and costs nothing: leave out the {name}."
            )


def _words(found: dict[str, Any]) -> str:
    done = f"Wrote {found['rows']:,} rows with {len(found['columns'])} columns to {found['out']}"
    lines = [f"{done} ({found['method']}, {price_said(found)}, {found['seconds']:.1f} s)."]
    if "budget" in found:
        lines.append(budget_said(found))
    lines += [
        f"{what.capitalize()}: {found[what]}" for what in ("model", "report") if what in found
    ]
    if "compare" in found:
        lines.append(f"Comparison, do not publish: {found['compare']}")
    return "\n".join([*lines, *found["notices"]])


AnonymizeOut = Annotated[Path | None, typer.Option(help="Where to write: .csv or .parquet.")]
AnonymizeReport = Annotated[
    Path | None, typer.Option(help="Also write why, and what remains: .html or .json.")
]
Check = Annotated[
    bool, typer.Option("--check", help="Only measure k, l, t and the risks of this table.")
]
AnonymizeConfig = Annotated[
    Path | None, typer.Option(help="The discreet.toml to use, if not beside the file.")
]


@with_options(LocalAnonymizeFields, **costs(), **models())
def anonymize(
    source: Source,
    *,
    out: AnonymizeOut = None,
    report: AnonymizeReport = None,
    check: Check = False,
    json: Json = False,
    config: AnonymizeConfig = None,
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
