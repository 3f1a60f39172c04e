"""Whether all tables of a dataset read person identifiers alike.

A budget protects people, and noise is made for one of them. If '7' and '07' were one person in one
table and two in another, somebody with fifty spellings would be one person for the bill and fifty for
the sums. So tables of one dataset, and datasets of one budget, must read the column that names the
person in the same way, and a table that reaches people over a path gets them as the table at its end
reads them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from discreet.catalog.read.file_shape import TableShape
from discreet.core.path import UnitPath
from discreet.core.schema import CategoryDomain, Column, Dataset, IntegerDomain, Table
from discreet.core.spelling import PLAIN, Spelling
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
