"""`discreet synth`: a synthetic copy of a file or a table, or more rows of a saved model."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli.options import Accept, Config, Json, UnitOption
from discreet.cli.request_options import those_of, with_options
from discreet.cli.terminal import budget_said, price_said, tell
from discreet.cli.waiting import counting
from discreet.core.requests.synth import LinkedFields, LocalSynthFields
from discreet.errors import InvalidInput
from discreet.synth.methods.registry import choices
from discreet.tasks.bare.bare_place import typed_place, with_types

FOLDERS = ("", ".zip")
"""Where linked tables are written, one file each."""


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
    _check_paths(out, report, compare, save_model)
    if model is not None:
        _refuse_with_model(source=source, epsilon=asked["epsilon"], compare=compare)
        wanted = {name: asked[name] for name in ("rows", "where", "rules")}
        found = _sampled(model, **wanted, out=out, report=report)
        tell(found, lambda: _words(found), json=json)
        return
    source, epsilon = _needed(source, asked["epsilon"])
    from discreet.synth.prepare import check_early
    from discreet.synth.request import SynthRequest

    check_early(SynthRequest.of("", **asked))  # refused before a discreet.toml is written for it
    with typed_place(source, config, asked, accept=accept, unit=unit) as (place, table, given):
        found = _made(
            place, table, given, out=out, save_model=save_model, reports=(report, compare, target)
        )
    if given is not asked and not found["free"]:
        found = with_types(found, epsilon, asked["delta"])
    tell(found, lambda: _words(found), json=json)


def _needed(source: str | None, epsilon: str | None) -> tuple[str, str]:
    if source is None:
        raise InvalidInput(
            "Say what to copy: a file, a table, or a saved model.",
            hint="For example: discreet synth people.csv --epsilon 1 --delta 1e-9",
        )
    if epsilon is None:
        raise InvalidInput(
            "Say how much budget to use.", hint="Usual values of --epsilon are 0.1 to 10."
        )
    return source, epsilon


def _check_paths(
    out: Path | None, report: Path | None, compare: Path | None, save_model: Path | None
) -> None:
    """Refuse places that cannot be written to, before anything is paid."""
    from discreet.report.rows import ROW_FILES
    from discreet.report.save import REPORT_FILES, check_target

    if out is None:
        check_target("synthetic.csv")
    elif out.suffix.lower() not in FOLDERS:
        check_target(out, ROW_FILES)
    for path in (report, compare):
        if path is not None:
            check_target(path, REPORT_FILES)
    if save_model is not None:
        check_target(save_model)


def _refuse_with_model(**given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            raise InvalidInput(
                f"A saved model reads no data and costs nothing: leave out the {name}."
            )


def _made(
    place: Path | None,
    table: str,
    asked: dict[str, Any],
    *,
    out: Path | None,
    save_model: Path | None,
    reports: tuple[Path | None, Path | None, str | None],
) -> dict[str, Any]:
    """Return what was made, after writing it."""
    from discreet.api import open as open_curator
    from discreet.report import write as write_report
    from discreet.report.rows import ROW_FILES
    from discreet.report.save import check_target

    report, compare, target = reports
    with open_curator(place) as curator:
        if _is_linked(curator, table):
            _refuse_linked(asked, save_model=save_model, report=report, compare=compare)
            return _made_linked(curator, table, asked, out)
        if out is not None:
            check_target(out, ROW_FILES)
        with counting("Synthesizing") as progress:
            found = curator.synthesize(table, progress=progress, **asked)
        target_path = out or Path(f"{table.rpartition('.')[2]}-synthetic.csv")
        found.write(target_path)
        said: dict[str, Any] = found.to_json() | {"out": str(target_path)}
        if save_model is not None:
            found.save_model(save_model)
            said["model"] = str(save_model)
        if report is not None:
            said["report"] = str(
                write_report(curator.synthesis_report(found, target=target), report)
            )
        if compare is not None:
            document = curator.synthesis_comparison(found, target=target)
            said["compare"] = str(write_report(document, compare))
    return said


def _is_linked(curator: Any, name: str) -> bool:
    """Return whether a name means a dataset of several tables, not a table."""
    datasets = curator.catalog.datasets
    if name not in datasets or len(datasets[name].tables) < 2:
        return False
    return all(table.name != name for each in datasets.values() for table in each.tables)


def _refuse_linked(asked: dict[str, Any], **given: Any) -> None:
    asked = {**asked, **given}
    for name in ("where", "rules", "choose", "options", *given):
        if asked[name]:
            raise InvalidInput(
                f"A copy of linked tables takes no {name.replace('_', '-')}.",
                hint="Copy one of the tables by itself: discreet synth TABLE.",
            )


def _made_linked(
    curator: Any, dataset: str, asked: dict[str, Any], out: Path | None
) -> dict[str, Any]:
    """Return what was made of all linked tables of a dataset, after writing it."""
    if out is not None and out.suffix.lower() not in FOLDERS:
        raise InvalidInput(
            "Several tables are written to a folder or a .zip file.", hint=f"--out {dataset}.zip"
        )
    wanted = those_of(LinkedFields, asked)
    with counting("Synthesizing") as progress:
        found = curator.synthesize_linked(dataset, progress=progress, **wanted)
    path = out or Path(f"{dataset}-synthetic")
    found.write(path)
    said: dict[str, Any] = found.to_json() | {"out": str(path)}
    return said


def _sampled(
    model: Path,
    *,
    rows: int | None,
    where: str | None,
    rules: list[str],
    out: Path | None,
    report: Path | None,
) -> dict[str, Any]:
    """Return what was drawn from a saved model; no data and no ledger is touched."""
    from dataclasses import replace

    from discreet.report import write as write_report
    from discreet.report.rows import write_rows
    from discreet.synth.model_file import load_model
    from discreet.synth.report.making import subject_of
    from discreet.synth.report.publishable import publishable_report
    from discreet.synth.synthetic import csv_style, sample_rows

    started = time.monotonic()
    saved = load_model(model)
    saved = replace(saved, rules=(*saved.rules, *rules))
    drawn = sample_rows(saved, rows, where=where)
    path = out or Path(f"{model.stem}-rows.csv")
    write_rows(drawn.table, path, style=csv_style(saved))
    said = {
        "rows": drawn.table.num_rows,
        "columns": drawn.table.column_names,
        "method": str(saved.facts.get("method", "")),
        "cost": {"epsilon": 0.0, "delta": 0.0},
        "free": True,
        "seconds": round(time.monotonic() - started, 3),
        "out": str(path),
        "notices": list(drawn.notices),
    }
    if report is not None:
        document = publishable_report(subject_of(saved, drawn))
        said["report"] = str(write_report(document, report))
    return said


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
