"""Datasets of discreet.toml: one to a declared `Dataset`, or to what is still missing, with one reading of person identifiers.

A budget protects people, and noise is made for one of them. If '7' and '07' were one person in one
table and two in another, somebody with fifty spellings would be one person for the bill and fifty for
the sums. So tables of one dataset, and datasets of one budget, must read the column that names the
person in the same way, and a table that reaches people over a path gets them as the table at its end
reads them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from unicodedata import normalize

from discreet.base.numbers import to_fraction
from discreet.base.schema import (
    CategoryDomain,
    Column,
    Dataset,
    DateDomain,
    IdentifierDomain,
    IntegerDomain,
    Refresh,
    Table,
    TimestampDomain,
)
from discreet.base.spelling import PLAIN, Spelling
from discreet.base.unit import ARROW, Neighbours, PrivacyUnit, UnitPath, unit_path
from discreet.data.catalog.domains import column_of
from discreet.data.catalog.file_shape import BudgetShape, DatasetShape, TableShape
from discreet.data.engines.connect import kind_of
from discreet.data.engines.formats import checked_encoding
from discreet.errors import CatalogError


def one_reading(
    dataset: str, tables: Sequence[Table], shapes: Mapping[str, TableShape]
) -> tuple[Table, ...]:
    """Return the tables of a dataset with the people of paths as their last tables read them.

    Guarantee: afterwards all tables whose units are people read them alike (`reading`), or a
        sentence names two that do not and the line to write.
    """
    by_name = {table.name.lower(): table for table in tables}
    written = []
    for table in tables:
        if table.path is not None:
            _check_path(dataset, table, table.path, by_name)
        if table.path is None or _declares(shapes[table.name], table.path.column):
            written.append(table)
    _check_alike(dataset, written)
    return tuple(
        table
        if table.path is None
        else _reached(
            table,
            table.path,
            by_name,
            declared=_declares(shapes[table.name], table.path.column),
        )
        for table in tables
    )


def _declares(shape: TableShape, name: str) -> bool:
    return any(column.lower() == name.lower() for column in shape.columns)


def person_column(table: Table) -> Column | None:
    """Return the column that names the person, None where rows are nobody's or their own."""
    if table.unit is None or table.unit.column is None:
        return None
    return table.column(table.unit.column)


def reading(column: Column) -> tuple[object, ...]:
    """Return all on which it depends whether two cells name one person.

    Not the bounds of an integer: a number outside of them is somebody, too. Not the encoding of a
    file: it says what the cells are, not how they are read.
    """
    spelling = replace(column.spelling, encoding="")
    if isinstance(column.domain, IntegerDomain):
        return ("integer", spelling)
    if spelling == PLAIN:
        return ("text",)
    values = column.domain.values if isinstance(column.domain, CategoryDomain) else ()
    return (type(column.domain).__name__, spelling, values)


def _reached(
    table: Table, path: UnitPath, by_name: Mapping[str, Table], *, declared: bool
) -> Table:
    """Return a table with a path and the person's column as it comes over it: in plain spelling.

    The engine follows the path by the last table's own reading, so what arrives was read already.
    """
    last = by_name[path.steps[-1].table.lower()]
    named = last.column(path.column)
    own = table.column(path.column)
    plain = Spelling(encoding=own.spelling.encoding)
    person = replace(own if declared else replace(named, name=own.name), spelling=plain)
    reads = [_fingerprint(by_name[step.table.lower()], step.key) for step in path.steps]
    return replace(
        table,
        columns=tuple(person if column is own else column for column in table.columns),
        path=replace(path, reads=(*reads, named.fingerprint)),
    )


def _fingerprint(table: Table, name: str) -> str:
    return next((c.fingerprint for c in table.columns if c.name.lower() == name.lower()), "")


def check_shared(datasets: Mapping[str, Dataset]) -> None:
    """Refuse datasets of one budget that read the same people differently.

    A shared budget adds up what one person loses in all of them. Whose id goes by the same name in
    two of them is one person in both, or '7' and '07' would pay one bill here and two there. Columns of
    different names are left alone: a household and a person may share a budget.
    """
    first: dict[tuple[str, str], tuple[str, Table, Column]] = {}
    for dataset in datasets.values():
        for table in dataset.tables:
            column = person_column(table)
            if column is None or table.path is not None:
                continue  # over a path comes what the table at its end has read
            key = dataset.budget, column.name.lower()
            mine = dataset.name, table, column
            other = first.setdefault(key, mine)
            if other[0] != dataset.name and reading(other[2]) != reading(column):
                raise _differ(other, mine)


def _check_alike(dataset: str, tables: Sequence[Table]) -> None:
    people = [(dataset, t, c) for t in tables if (c := person_column(t)) is not None]
    for each in people[1:]:
        if reading(people[0][2]) != reading(each[2]):
            raise _differ(people[0], each)


def _differ(one: tuple[str, Table, Column], two: tuple[str, Table, Column]) -> CatalogError:
    # The one that folds more spellings into a person is the safer one to follow.
    model, other = (two, one) if reading(one[2]) == ("text",) else (one, two)
    line = f"{_key(other[2].name)} = {_toml(_settings(model[2]))}"
    place = ".".join(
        _key(part) for part in ("datasets", other[0], "tables", other[1].name, "columns")
    )
    apart = model[0] != other[0]
    both = f"datasets '{model[0]}' and '{other[0]}' share a budget"
    where = both if apart else f"dataset '{other[0]}'"
    tables = [f"'{name}.{t.name}'" if apart else f"'{t.name}'" for name, t, _ in (model, other)]
    return CatalogError(
        f"{where}: table {tables[0]} reads its people "
        f"('{model[2].name}') {_words(model[2])}, table {tables[1]} ('{other[2].name}') "
        f"{_words(other[2])}; so somebody who is one person in the first could be several in the "
        "second.",
        hint=f"Write under [{place}]: {line}",
    )


def _words(column: Column) -> str:
    kind = "as whole numbers" if isinstance(column.domain, IntegerDomain) else "as texts"
    spelled = [
        name for name in _settings(column) if name not in {"type", "lower", "upper", "values"}
    ]
    return f"{kind} with {', '.join(spelled)}" if spelled else kind


def _settings(column: Column) -> dict[str, Any]:
    """Return the settings on which a reading depends, as they are written."""
    domain, spelling = column.domain, column.spelling
    found: dict[str, Any] = {"type": "identifier"}
    if isinstance(domain, IntegerDomain):
        found = {"type": "integer", "lower": domain.lower, "upper": domain.upper}
    elif isinstance(domain, CategoryDomain):
        found = {"type": "category", "values": domain.values}
    for name in ("trim", "any_case", "thousands", "signs", "empty"):
        value = getattr(spelling, name)
        if value:
            found[name] = value
    if spelling.decimal != ".":
        found["decimal"] = spelling.decimal
    if spelling.same:
        found["same"] = dict(spelling.same)
    if spelling.dates:
        found["format"] = spelling.dates
    return found


def _toml(value: Any) -> str:
    """Return a setting as TOML, whose texts, numbers and truth values are those of JSON."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(name)} = {_toml(v)}" for name, v in value.items()) + " }"
    if isinstance(value, tuple):
        return "[" + ", ".join(_toml(each) for each in value) + "]"
    return json.dumps(value, ensure_ascii=False)  # TOML knows no surrogate pairs


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _toml(name)


def _check_path(dataset: str, table: Table, path: UnitPath, tables: Mapping[str, Table]) -> None:
    """Refuse a path that leaves its dataset, or that ends at somebody else than the others' person.

    Guarantee: all tables on a path are of one dataset, so one budget pays for all of them, and the
        last one names people by the column that is its own unit.
    """
    place = f"table '{table.name}' of dataset '{dataset}'"
    for step in path.steps:
        other = tables.get(step.table.lower())
        if other is None or other.unit is None or other is table:
            raise CatalogError(
                f"{place}: its path names '{step.table}', which is no other private table of "
                "this dataset."
            )
    last = tables[path.steps[-1].table.lower()]
    whose = None if last.unit is None else last.unit.column
    if last.path is not None or (whose or "").lower() != path.column.lower():
        raise CatalogError(
            f"{place}: its path must end at the unit of table '{last.name}'.",
            hint=f"Write ... -> {last.name}.KEY -> {whose or 'UNIT'}.",
        )


MEGABYTES = {"MB": 1, "MIB": 1, "GB": 1000, "GIB": 1024, "TB": 1_000_000, "TIB": 1_048_576}


@dataclass(frozen=True, slots=True)
class Finished:
    """A dataset that can be asked."""

    dataset: Dataset
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A proposal whose budget or units the owner has not filled in yet."""

    sentence: str
    tables: tuple[str, ...]
    warnings: tuple[str, ...] = ()


def dataset_of(
    name: str,
    shape: DatasetShape,
    *,
    budgets: Mapping[str, BudgetShape],
    base: Path,
    engine_url: str,
    alone: bool,
) -> Finished | Unfinished:
    """Return the dataset, or the sentence that says what the owner must still fill in.

    `alone`: nobody but the local owner asks.
    """
    place = f"dataset '{name}'"
    shared = _shared_budget(place, shape, budgets)
    missing = _missing(shape, place, shared=shared)
    if missing:
        return Unfinished(missing, tuple(shape.tables))
    if not shape.tables:
        raise CatalogError(f"{place} has no tables; add [datasets.{name}.tables.NAME].")
    refuse_ambiguous_names(shape.tables, f"{place}: tables")
    tables = one_reading(
        name,
        [
            table_of(table, settings, place=f"table '{table}' of {place}", base=base)
            for table, settings in shape.tables.items()
        ],
        shape.tables,
    )
    written = shape.neighbours if shared is None else shared.neighbours
    dataset = Dataset(
        name=name,
        tables=tables,
        neighbours=neighbours_of(written),
        budget=shape.budget or name,
        accepted=shape.accepted,
        second_person=shape.second_person,
        public_rows=shape.public_rows,
        seconds=None if shape.seconds is None else to_fraction(shape.seconds, name="seconds"),
        memory_mb=_megabytes(shape.memory, place),
        refresh=_refresh(shape, tables, place, engine_url, alone=alone),
    )
    if dataset.seconds is not None and dataset.seconds <= 0:
        raise CatalogError(f"{place}: seconds must be greater than 0.")
    return Finished(dataset, tuple(_warnings(dataset)))


def table_of(name: str, shape: TableShape, *, place: str, base: Path) -> Table:
    """Return the table as declared, or refuse it with a sentence that names `place`."""
    refuse_ambiguous_names(shape.columns, f"{place}: columns")
    path = _path(shape, place)
    if path is not None:
        shape = shape.model_copy(update={"unit": path.column})
    try:
        columns = [column_of(column, s, base=base) for column, s in shape.columns.items()]
    except CatalogError as error:
        raise CatalogError(f"{place}, {error.message}") from None
    encoding = "" if shape.encoding is None else checked_encoding(shape.encoding)
    columns = [_encoded(column, encoding) for column in columns] if encoding else columns
    unit = _unit(shape, columns, place)
    if unit is None and any(column.complete for column in columns):
        raise CatalogError(f"{place} is public, so none of its columns needs complete = true.")
    if unit is not None and unit.column is not None and not _has(columns, unit.column):
        columns.insert(0, _encoded(Column(unit.column, IdentifierDomain()), encoding))
    if not columns:
        raise CatalogError(f"{place} declares no columns.")
    return Table(
        name=name,
        source=shape.source,
        unit=unit,
        columns=tuple(columns),
        max_rows=_max_rows(shape, unit, place),
        version=None if shape.version is None else str(shape.version),
        bounded=_bounded(shape, unit, place),
        copied=_copied(shape, place),
        rules=shape.rules,
        encoding=encoding,
        rows_kept=_rows_kept(shape, unit, place),
        path=path,
        parent=shape.parent,
        events=_events(shape, columns, place),
    )


def _events(shape: TableShape, columns: Sequence[Column], place: str) -> str | None:
    """Return the column whose days put a parent's rows in order; it must be a day that is there."""
    if shape.events is None:
        return None
    for column in columns:
        if column.name.lower() == shape.events.lower():
            if isinstance(column.domain, DateDomain | TimestampDomain) and not column.missing:
                return column.name
            break
    raise CatalogError(
        f"{place}: events must name a column of type date or timestamp without missing = true."
    )


def _encoded(column: Column, encoding: str) -> Column:
    """Return the column read in this encoding: another one is another column, for the ledger too."""
    return replace(column, spelling=replace(column.spelling, encoding=encoding))


def neighbours_of(written: str | None) -> Neighbours:
    """Return the neighbour relation; add-remove unless another is written.

    Add-remove is the default because it also protects whether somebody is in the data at all.
    """
    if written is None:
        return Neighbours.ADD_REMOVE
    try:
        return Neighbours(written)
    except ValueError:
        known = " or ".join(f'"{n.value}"' for n in Neighbours)
        raise CatalogError(f"neighbours must be {known}, not '{written}'.") from None


def refuse_ambiguous_names(names: Iterable[str], what: str) -> None:
    """Refuse two names that SQL, or somebody who reads them, cannot tell apart."""
    seen: dict[str, str] = {}
    for name in names:
        twin = seen.setdefault(normalize("NFKC", name).casefold(), name)
        if twin != name:
            raise CatalogError(f"{what} '{twin}' and '{name}' differ only in case; rename one.")
        if not name.strip():
            raise CatalogError(f"{what}: a name must not be empty.")


def _shared_budget(
    place: str, shape: DatasetShape, budgets: Mapping[str, BudgetShape]
) -> BudgetShape | None:
    if shape.budget is None:
        return None
    for key in ("epsilon", "delta", "neighbours", "renew", "alert"):
        if getattr(shape, key) is not None:
            raise CatalogError(
                f"{place} uses the budget '{shape.budget}': move '{key}' to "
                f"[budgets.{shape.budget}]."
            )
    if shape.budget not in budgets:
        raise CatalogError(
            f"{place} names the budget '{shape.budget}'; add [budgets.{shape.budget}]."
        )
    return budgets[shape.budget]


def _missing(shape: DatasetShape, place: str, *, shared: BudgetShape | None) -> str:
    """Return what the owner must still write, as one sentence; empty when nothing is missing."""
    wanted = []
    if shared is None and shape.epsilon is None:
        wanted.append("epsilon (the most that one of its people can lose in all)")
    for name, table in shape.tables.items():
        if table.unit is None and not table.public:
            wanted.append(
                f"the unit of table '{name}' (\"row\", or the column that says whose row it is)"
            )
    if not wanted:
        return ""
    return f"{place.capitalize()} is not ready: its owner must fill in {' and '.join(wanted)}."


def _unit(shape: TableShape, columns: list[Column], place: str) -> PrivacyUnit | None:
    if shape.public:
        if shape.unit is not None:
            raise CatalogError(f"{place} is public, so it has no unit; remove one of the two.")
        return None
    if shape.unit == "row":
        return PrivacyUnit()
    for column in columns:
        if shape.unit is not None and column.name.lower() == shape.unit.lower():
            return PrivacyUnit(column.name)
    return PrivacyUnit(shape.unit)


def _max_rows(shape: TableShape, unit: PrivacyUnit | None, place: str) -> int | None:
    if unit is None:
        if shape.max_rows is not None:
            raise CatalogError(f"{place} is public: write key_copies instead of max_rows.")
        return shape.key_copies
    if shape.key_copies is not None:
        raise CatalogError(f"{place}: key_copies is for public tables; write max_rows instead.")
    if unit.is_row:
        if shape.max_rows not in (None, 1):
            raise CatalogError(f'{place}: with unit = "row" max_rows is 1; remove it.')
        return 1
    return shape.max_rows


def _path(shape: TableShape, place: str) -> UnitPath | None:
    if shape.unit is None or ARROW not in shape.unit:
        return None
    if shape.version is not None:
        raise CatalogError(f"{place}: a unit over other tables cannot have a declared version.")
    try:
        return unit_path(shape.unit)
    except CatalogError as error:
        raise CatalogError(f"{place}: {error.message}", hint=error.hint) from None


def _rows_kept(shape: TableShape, unit: PrivacyUnit | None, place: str) -> Fraction | None:
    if shape.rows_kept is None:
        return None
    if unit is None or unit.is_row or shape.max_rows is None:
        raise CatalogError(f"{place}: rows_kept says what max_rows keeps of a table of people.")
    share = to_fraction(shape.rows_kept, name="rows_kept")
    if not 0 < share <= 1:
        raise CatalogError(f"{place}: rows_kept is a share between 0 and 1, such as 0.95.")
    return share


def _bounded(shape: TableShape, unit: PrivacyUnit | None, place: str) -> bool:
    if shape.bound not in (None, "query", "table"):
        raise CatalogError(f'{place}: bound is "query" or "table", not "{shape.bound}".')
    if shape.bound != "table":
        return False
    if unit is None or unit.is_row or shape.max_rows is None:
        raise CatalogError(f'{place}: bound = "table" needs a person column as unit and max_rows.')
    return True


def _copied(shape: TableShape, place: str) -> bool:
    if shape.snapshot not in (None, "copy", "live"):
        raise CatalogError(f'{place}: snapshot is "copy" or "live", not "{shape.snapshot}".')
    return shape.snapshot == "copy"


def _refresh(
    shape: DatasetShape, tables: Sequence[Table], place: str, engine_url: str, *, alone: bool
) -> Refresh:
    """Return when questions begin to read newer rows.

    At any change only where nobody but the owner sees prices, which then tell of changes. Otherwise
    when the owner says so, where rows are kept until then; and daily where they are read live.
    """
    if shape.refresh is not None:
        try:
            return Refresh(shape.refresh)
        except ValueError:
            *first, last = [f'"{each.value}"' for each in Refresh]
            raise CatalogError(
                f'{place}: refresh is {", ".join(first)} or {last}, not "{shape.refresh}".'
            ) from None
    if alone:
        return Refresh.ON_CHANGE
    private = [table for table in tables if not table.public]
    kept = all(table.copied or table.version is not None for table in private)
    return Refresh.MANUAL if kept or kind_of(engine_url).stores else Refresh.DAILY


def _has(columns: Iterable[Column], name: str) -> bool:
    return any(column.name.lower() == name.lower() for column in columns)


def _megabytes(written: str | int | None, place: str) -> int | None:
    if written is None:
        return None
    match = re.fullmatch(r"\s*(\d{1,9})\s*([A-Za-z]{2,3})?\s*", str(written))
    factor = MEGABYTES.get((match[2] or "MB").upper()) if match else None
    if match is None or factor is None or int(match[1]) == 0:
        raise CatalogError(f'{place}: memory is written as "4 GB" or "512 MB".')
    return int(match[1]) * factor


def _warnings(dataset: Dataset) -> Iterable[str]:
    for table in dataset.tables:
        where = f"table '{table.name}' of dataset '{dataset.name}'"
        if table.unit is not None and table.max_rows is None:
            yield f"{where} has no max_rows: each query must say how many rows of a person count."
        for column in table.columns:
            if not column.reviewed:
                yield f"column '{column.name}' of {where} waits for review."
            if isinstance(column.domain, CategoryDomain):
                padded = [value for value in column.domain.values if value != value.strip()]
                if padded:
                    yield f"column '{column.name}' of {where} lists values with spaces around them."
    if dataset.accepted:
        yield f"dataset '{dataset.name}' declares domains that were read from the data."
