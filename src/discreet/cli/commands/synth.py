"""`discreet synth`: a synthetic copy of a file or a table, or more rows of a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli.options import Accept, Config, Json, UnitOption
from discreet.cli.request_options import with_options
from discreet.cli.terminal import budget_said, price_said, tell
from discreet.cli.waiting import counting
from discreet.core.requests.synth import LocalSynthFields
from discreet.errors import InvalidInput
from discreet.synth.methods.registry import choices

Source = Annotated[
    str | None,
    typer.Argument(
        metavar="FILE|TABLE",
        help="A CSV or Parquet file, a declared table, or a dataset of linked tables.",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(help="Where to write: .csv or .parquet; a folder or .zip for linked tables."),
]
Report = Annotated[
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
    source: Source = None,
    *,
    out: Out = None,
    report: Report = None,
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
