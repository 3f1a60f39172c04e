"""`discreet.synthesize(DATA)` and `discreet.Synthesizer`: copies of data frames, tables and files.

Copies as files, too: of FILE|TABLE, of a dataset of linked tables, and more rows of a saved model.
"""

from __future__ import annotations

import datetime as dt
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from discreet.base.display import Progress, silent
from discreet.base.numbers import Delta, Epsilon, Number
from discreet.base.requests.fields import (
    WithProgress,
    asks_function,
    beside,
    given,
    request_fields,
    schema,
)
from discreet.base.requests.paid import LinkedFields, LocalSynthFields
from discreet.curator import Curator
from discreet.curator import open as open_curator
from discreet.data.catalog.bare_file import widest
from discreet.data.catalog.catalog import Catalog
from discreet.data.catalog.policy_file import FILE_NAME, load
from discreet.data.catalog.sources import check_file
from discreet.data.catalog.toml_text import Setting, composed, dataset_lines, table_lines
from discreet.data.catalog.writer import write_file
from discreet.data.engines.column_types import Storage
from discreet.errors import InvalidInput
from discreet.show import write as write_report
from discreet.show.document import REPORT_FILES, check_target
from discreet.show.rows import ROW_FILES, write_rows
from discreet.tasks.bare_file import TypedPlace, WrittenSource, typed_place
from discreet.work.synth.methods.registry import choices
from discreet.work.synth.model_file import load_model
from discreet.work.synth.prepare import SynthRequest, check_early, check_untyped
from discreet.work.synth.report.make_reports import subject_of
from discreet.work.synth.report.publishable import publishable_report
from discreet.work.synth.synthetic import Synthetic, csv_style, sample_rows

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


Columns = Mapping[str, Mapping[str, Any]]
"""Declared columns: the settings that discreet.toml takes, such as {"age": {"type": "integer", ...}}."""


@schema
class SynthFrameCall(WithProgress, LocalSynthFields):
    """A copy of data that a caller holds, and how they are declared for it."""

    data: Any = beside("A data frame, an Arrow table, a mapping, or a file.", kw_only=False)
    table: str = beside("What `data` are declared as.", default="", init=False)
    columns: Columns | None = beside("Settings of columns, as in discreet.toml.", default=None)
    unit: str = beside("Whom to protect: 'row', or the column with the person.", default="row")
    accept: bool = beside("Declare what a file's rows hold public.", default=False)
    max_rows: int = beside("The most rows of one person that count, of a frame.", default=1)
    neighbours: str = beside("add-remove or replace, of a frame.", default="add-remove")


@asks_function(SynthFrameCall, choices())
def synthesize(asked: SynthFrameCall) -> Synthetic:
    """Return a synthetic copy of a data frame, an Arrow table or a file.

    `data` is anything that speaks Arrow (pandas, Polars, pyarrow, DuckDB), a mapping of columns, or
    the path of a CSV or Parquet file. Names and types of a frame's columns are what the caller
    declares; `columns` declares domains as in discreet.toml, and what it leaves out is learned with
    budget. A file has its ledger beside it; for a frame nothing is remembered between calls, so the
    caller adds up what was spent. The other arguments are those of `Curator.synthesize`.

    Guarantee: (epsilon, delta) for each `unit`, as in `discreet.work.synth.run.synthesize`.
    """
    if isinstance(asked.data, str | Path):
        path = Path(asked.data)
        check_file(path)
        _check_of_a_frame(asked)
        source = WrittenSource(str(path), unit=asked.unit, accept=asked.accept)
        with place_of_copy(source, given(asked)) as (place, curator):
            found = curator.synthesize(place.table, progress=asked.progress, **place.asked)
            return place.told(found)
    table = arrow_table(asked.data)
    with tempfile.TemporaryDirectory(prefix="discreet-") as scratch:
        folder = Path(scratch)
        pq.write_table(table, folder / "frame.parquet")
        write_file(folder / FILE_NAME, _declaration(table, asked))
        with open_curator(folder) as curator:
            return curator.synthesize("frame", progress=asked.progress, **given(asked))


def _check_of_a_frame(asked: SynthFrameCall) -> None:
    """Refuse what is said of a frame alone: a file is declared beside it, and would not listen."""
    usual = {each.name: each.default for each in fields(asked)}
    for name in ("columns", "max_rows", "neighbours"):
        if getattr(asked, name) != usual[name]:
            raise InvalidInput(
                f"'{name}' is for a data frame: a file has its declaration in the discreet.toml beside it.",
                hint="Write that with discreet.init, or give the rows as a data frame.",
            )


@dataclass(kw_only=True, eq=False, repr=False)
class Synthesizer:
    """`fit` pays and learns, `sample` draws rows for free: the conventions of scikit-learn.

    >>> Synthesizer(epsilon=1, method="tree").get_params()["method"]
    'tree'
    """

    epsilon: Number
    delta: Number | None = None
    columns: Columns | None = None
    unit: str = "row"
    max_rows: int = 1
    method: str = "auto"
    rules: Sequence[str] = ()

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 the convention's
        """Return the settings."""
        return {name: value for name, value in vars(self).items() if not name.endswith("_")}

    def set_params(self, **settings: Any) -> Self:
        """Change settings; nothing is charged."""
        known = self.get_params()
        for name, value in settings.items():
            if name not in known:
                raise InvalidInput(f"A Synthesizer has no setting '{name}'.")
            setattr(self, name, value)
        return self

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002, N803 the convention's names
        """Return this synthesizer, fitted: this is what costs epsilon, every time."""
        self.synthetic_ = synthesize(X, **self.get_params())
        return self

    def sample(self, rows: int | None = None, *, where: str | None = None) -> pa.Table:
        """Return made-up rows, free; as many as there are unless said."""
        fitted = getattr(self, "synthetic_", None)
        if fitted is None:
            raise InvalidInput("This Synthesizer has no model yet.", hint="Call fit(data) first.")
        wanted = fitted.saved.usual_rows if rows is None else rows
        found: pa.Table = fitted.sample(wanted, where=where)
        return found


def arrow_table(data: Any) -> pa.Table:
    """Return data as an Arrow table, whatever library holds it."""
    try:
        table = data if isinstance(data, pa.Table) else pa.table(data)
    except (TypeError, ValueError, pa.ArrowInvalid):
        raise InvalidInput(
            "This is not a table: give a pandas or Polars frame, an Arrow table, or a file.",
            hint="For example discreet.synthesize(frame, epsilon=1, delta=1e-9).",
        ) from None
    names = [name.lower() for name in table.column_names]
    if not names or len(set(names)) != len(names):
        raise InvalidInput("The columns of the data have no names, or the same name twice.")
    return table


def _declaration(table: pa.Table, asked: SynthFrameCall) -> str:
    """Return the discreet.toml of a frame: declared columns, and types with their widest domains."""
    columns, unit = asked.columns or {}, asked.unit
    unknown = [name for name in columns if name not in table.column_names]
    if unknown:
        raise InvalidInput(f"The data has no column '{unknown[0]}'.")
    promise = {
        "epsilon": Epsilon.of(asked.epsilon).value,
        "delta": None if asked.delta is None else Delta.of(asked.delta).value * 2,
        "neighbours": asked.neighbours,
    }
    facts = {
        "source": "frame.parquet",
        "unit": unit,
        "max_rows": None if unit == "row" else asked.max_rows,
    }
    shown = {
        field.name: {k: _setting(v) for k, v in columns[field.name].items()}
        if field.name in columns
        else widest(_storage(field.type))
        for field in table.schema
        if field.name != unit
    }
    return composed(dataset_lines("frame", promise), table_lines("frame", "frame", facts, shown))


_STORED: tuple[tuple[Callable[[pa.DataType], bool], Storage], ...] = (
    (pa.types.is_integer, Storage.INTEGER),
    (pa.types.is_floating, Storage.NUMBER),
    (pa.types.is_decimal, Storage.DECIMAL),
    (pa.types.is_boolean, Storage.BOOLEAN),
    (pa.types.is_date, Storage.DATE),
    (pa.types.is_timestamp, Storage.TIMESTAMP),
    (pa.types.is_string, Storage.TEXT),
    (pa.types.is_large_string, Storage.TEXT),
    (pa.types.is_string_view, Storage.TEXT),
    (pa.types.is_dictionary, Storage.TEXT),
)


def _storage(kind: pa.DataType) -> Storage:
    return next((stored for test, stored in _STORED if test(kind)), Storage.OTHER)


def _setting(value: Any) -> Setting:
    if isinstance(value, bool | int | str | Decimal | dt.date | dt.datetime):
        return value
    if isinstance(value, float):
        return Decimal(repr(value))
    if isinstance(value, list | tuple):
        return tuple(str(each) for each in value)
    raise InvalidInput("A column's settings are numbers, texts, dates, and lists of texts.")
