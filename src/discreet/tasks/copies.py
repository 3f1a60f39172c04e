"""Synthetic copies as files: of FILE|TABLE, of a dataset of linked tables, and more rows of a saved model."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from discreet.api import Curator
from discreet.api import open as open_curator
from discreet.catalog.catalog import Catalog
from discreet.catalog.policy_file import load
from discreet.core.progress import Progress, silent
from discreet.core.requests.request_fields import request_fields
from discreet.core.requests.synth import LinkedFields
from discreet.errors import InvalidInput
from discreet.report import write as write_report
from discreet.report.document import REPORT_FILES, check_target
from discreet.report.rows import ROW_FILES, write_rows
from discreet.synth.model_file import load_model
from discreet.synth.prepare import SynthRequest, check_early, check_untyped
from discreet.synth.report.make_reports import subject_of
from discreet.synth.report.publishable import publishable_report
from discreet.synth.synthetic import csv_style, sample_rows
from discreet.tasks.bare_file.bare_place import TypedPlace, WrittenSource, typed_place

FOLDERS = ("", ".zip")
"""Endings of what linked tables are written into, one file each."""


@dataclass(frozen=True, slots=True)
class CopyFiles:
    """Where a copy goes, and what is written beside it; the reports try to predict `target`."""

    out: Path | None = None
    save_model: Path | None = None
    report: Path | None = None
    compare: Path | None = None
    target: str | None = None

    def check(self, read: str | Path, *, may_be_linked: bool = False) -> None:
        """Refuse places that cannot be written to, or where `read` or another stands, before anything is paid."""
        places: list[str | Path | None] = [read]
        if self.out is None:
            check_target("synthetic.csv", apart=places)
        elif not (may_be_linked and self.out.suffix.lower() in FOLDERS):
            check_target(self.out, ROW_FILES, apart=places)
        places.append(self.out)
        for path, endings in (
            (self.report, REPORT_FILES),
            (self.compare, REPORT_FILES),
            (self.save_model, ()),
        ):
            if path is not None:
                check_target(path, endings, apart=places)
                places.append(path)


@contextmanager
def place_of_copy(
    source: WrittenSource, asked: dict[str, Any], *, target: str | None = None
) -> Iterator[tuple[TypedPlace, Curator]]:
    """Lend what a copy is made of and its curator, after all that needs no row has been refused."""
    check_early(SynthRequest.of("", **asked))  # refused before a discreet.toml is written for it
    with (
        typed_place(source, asked, foresee=partial(_check_untyped, target)) as place,
        open_curator(place.config) as curator,
    ):
        yield place, curator


def _check_untyped(target: str | None, config: Path, table: str, asked: dict[str, Any]) -> None:
    catalog = load(config)
    _check_target(catalog, table, target)
    _, found = catalog.named(table)
    unit = None if found.unit is None else found.unit.column
    names = [each.name for each in found.columns if not each.hidden and each.name != unit]
    check_untyped(SynthRequest.of(table, **asked), names)


def _check_target(catalog: Catalog, table: str, target: str | None) -> None:
    """Refuse a column to predict that no copy of a table has."""
    if target is None:
        return
    _, found = catalog.named(table)
    unit = None if found.unit is None else found.unit.column
    names = {each.name.lower() for each in found.columns if not each.hidden and each.name != unit}
    if target.lower() not in names:
        raise InvalidInput(f"The synthetic table has no column '{target}'.")


def write_copy(
    source: WrittenSource,
    asked: dict[str, Any],
    files: CopyFiles,
    *,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Return the facts of a copy after writing it: of a table, or of all tables of a dataset."""
    files.check(source.written, may_be_linked=not source.is_file)
    with place_of_copy(source, asked, target=files.target) as (place, curator):
        if _is_linked(curator.catalog, place.table):
            return _write_linked(curator, place, files, progress)
        files.check(curator.catalog.base / curator.catalog.named(place.table)[1].source)
        _check_target(curator.catalog, place.table, files.target)
        found = curator.synthesize(place.table, progress=progress, **place.asked)
        out = files.out or Path(f"{place.table.rpartition('.')[2]}-synthetic.csv")
        found = place.told(found)
        found.write(out)
        said: dict[str, Any] = found.to_json() | {"out": str(out)}
        if files.save_model is not None:
            found.save_model(files.save_model)
            said["model"] = str(files.save_model)
        if files.report is not None:
            document = curator.synthesis_report(found, target=files.target)
            said["report"] = str(write_report(document, files.report))
        if files.compare is not None:
            document = curator.synthesis_comparison(found, target=files.target)
            said["compare"] = str(write_report(document, files.compare))
    return said


def _is_linked(catalog: Catalog, name: str) -> bool:
    """Return whether a name means a dataset of several tables, not a table."""
    datasets = catalog.datasets
    if name not in datasets or len(datasets[name].tables) < 2:
        return False
    return all(table.name != name for each in datasets.values() for table in each.tables)


def _write_linked(
    curator: Curator, place: TypedPlace, files: CopyFiles, progress: Progress
) -> dict[str, Any]:
    dataset, asked = place.table, place.asked
    out = files.out or Path(f"{dataset}-synthetic")
    _check_linked(asked, files)
    _check_folder(out, dataset)
    wanted = {name: asked[name] for name in request_fields(LinkedFields) if name in asked}
    found = curator.synthesize_linked(dataset, progress=progress, **wanted)
    found.write(out)
    return found.to_json() | {"out": str(out)}


def _check_linked(asked: dict[str, Any], files: CopyFiles) -> None:
    beside = {name: getattr(files, name) for name in ("save_model", "report", "compare")}
    for name in ("where", "rules", "choose", "options", *beside):
        if (asked | beside)[name]:
            raise InvalidInput(
                f"A copy of linked tables takes no {name.replace('_', '-')}.",
                hint="Copy one of the tables by itself: discreet synth TABLE.",
            )


def _check_folder(out: Path, dataset: str) -> None:
    """Refuse what several tables cannot be written into, before anything is paid."""
    if out.suffix.lower() not in FOLDERS:
        raise InvalidInput(
            "Several tables are written to a folder or a .zip file.", hint=f"--out {dataset}.zip"
        )
    if out.suffix:
        check_target(out)
        return
    there = next(each for each in (out, *out.absolute().parents) if each.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise InvalidInput(f"The folder '{out}' cannot be made.")


def write_sample(
    model: Path, files: CopyFiles, *, rows: int | None, where: str | None, rules: Sequence[str]
) -> dict[str, Any]:
    """Return the facts of rows drawn from a saved model and written; no data and no ledger is touched."""
    started = time.monotonic()
    files.check(model)
    saved = load_model(model)
    saved = replace(saved, rules=(*saved.rules, *rules))
    drawn = sample_rows(saved, rows, where=where)
    path = files.out or Path(f"{model.stem}-rows.csv")
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
    if files.report is not None:
        document = publishable_report(subject_of(saved, drawn))
        said["report"] = str(write_report(document, files.report))
    return said
