"""Versions and declarations: whatever is declared otherwise begins a version where other rows are stored.

Where rows that are stored are not found again, they are read anew; so if a version went on, it would
end if and only if the source has changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from itertools import combinations

import pytest

from discreet.ask.release import snapshots
from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    Column,
    Dataset,
    IdentifierDomain,
    IntegerDomain,
    Table,
)
from discreet.base.spelling import Spelling
from discreet.base.unit import Neighbours, PathStep, PrivacyUnit, UnitPath
from discreet.privacy.kernel.canonical import CanonicalRecipe

WHO = Column("who", IdentifierDomain())
COST = Column("cost", IntegerDomain(0, 100))
WARD = Column("ward", CategoryDomain(("A", "B")))
VISITS = Table("visits", "visits", PrivacyUnit("who"), (WHO, COST, WARD), max_rows=2, copied=True)
NAMES = Table("names", "names", PrivacyUnit("who"), (WHO, WARD), max_rows=1)
WAY = UnitPath((PathStep("visit", "visits", "cost"),), "who")
ITEMS = Table("items", "items", PrivacyUnit("who"), (WHO, COST, WARD), max_rows=2, path=WAY)
PEOPLE = Dataset("clinic", (VISITS, ITEMS), Neighbours.ADD_REMOVE, "clinic")

COLUMN_EDITS = {
    "name": "other",
    "domain": BooleanDomain(),
    "hidden": True,
    "constant": True,
    "immutable": True,
    "missing": True,
    "complete": True,
    "reviewed": False,
    "spelling": Spelling(trim=True, empty=("-",)),
}
TABLE_EDITS = {
    "source": "names",  # which has people of another type
    "unit": PrivacyUnit("ward"),
    "columns": (WARD, WHO, COST),
    "max_rows": 3,
    "version": "2",
    "bounded": True,
    "copied": False,
    "rules": ("cost < 3",),
    "encoding": "latin-1",
    "rows_kept": 1,
    "parent": "names",
    "events": "cost",
    "path": replace(WAY, reads=("as numbers",)),
}
NO_EDITS = {
    "fingerprint": "made of the domain and its spelling",
    "moment": "of columns that are made of others",
    "name": "of a table: another name is another table",
    "stands_for": "of questions, not of declarations",
}
TYPES = {"visits": "BIGINT", "names": "VARCHAR", "items": "BIGINT"}
"""What people are stored as in each source."""


def columns_edited(table: Table) -> Iterator[tuple[str, Table]]:
    for i, column in enumerate(table.columns):
        for name, value in COLUMN_EDITS.items():
            if (column, name) == (WHO, "name"):
                continue  # a table has the column of its people
            other = replace(column, **{name: value})
            edited = (*table.columns[:i], other, *table.columns[i + 1 :])
            yield f"{table.name}.{column.name} {name}", replace(table, columns=edited)


def edits() -> dict[str, Dataset]:
    """Return what the dataset may become by one edit."""
    found = {"a table beside": replace(PEOPLE, tables=(VISITS, ITEMS, NAMES))}
    for table in PEOPLE.tables:
        beside = tuple(each for each in PEOPLE.tables if each is not table)
        tables = dict(columns_edited(table))
        for name, value in TABLE_EDITS.items():
            if name != "path" or table.path is not None:
                tables[f"{table.name} {name}"] = replace(table, **{name: value})
        found |= {name: replace(PEOPLE, tables=(each, *beside)) for name, each in tables.items()}
    return found


def test_every_declaration_is_edited():
    known = {each.name for each in (*fields(Column), *fields(Table))}
    assert {*COLUMN_EDITS, *TABLE_EDITS, *NO_EDITS} == known


def stored(dataset: Dataset, name: str) -> object:
    """Return by what rows of a table are read, stored and found again on every kind of engine."""
    table = next(each for each in dataset.tables if each.name == name)
    recipe = CanonicalRecipe(dataset, table)
    people = {f"clinic.{each.name}": {"who": TYPES[each.source]} for each in dataset.tables}
    types = {"who": TYPES[table.source], **dict.fromkeys(("cost", "ward", "other"), "BIGINT")}
    copied = recipe.copied(types, "s", "postgres", whole=recipe.whole(people))
    on_the_way = [] if table.path is None else [step.table for step in table.path.steps]
    read = [e for e in dataset.tables if e.name in {name, *on_the_way}]
    sources = sorted((each.name, each.source, each.encoding, each.version or "") for each in read)
    return recipe.declared, recipe.stored(types, "s", salt="x"), table.copied and copied, sources


def declared(dataset: Dataset, name: str, url: str = "duckdb:") -> object:
    table = next(each for each in dataset.tables if each.name == name)
    return snapshots.group_of(dataset, table, url).declared


def going_on() -> list[str]:
    """Return the edits under which a version goes on though its stored rows are not found again."""
    found, every = [], {"": PEOPLE} | edits()
    for name in ("visits", "items"):
        seen = {edit: (declared(each, name), stored(each, name)) for edit, each in every.items()}
        for (one, (told, kept)), (other, (told_now, kept_now)) in combinations(seen.items(), 2):
            if told == told_now and kept != kept_now:
                found.append(f"{name}: {one} -> {other}")
    return found


def test_whatever_is_stored_otherwise_begins_a_version():
    assert going_on() == []


def declared_alone(group):
    """The broken twin: what a table declares of itself, whatever is stored of it."""
    return {name: table.declaration for name, table in group.tables.items()}


def test_the_twin_that_looks_at_the_declared_table_alone_goes_on(monkeypatch):
    monkeypatch.setattr(snapshots.Group, "declared", property(declared_alone))
    found = " ".join(going_on())
    for edit in ("cost hidden", "ward reviewed"):
        assert f"visits:  -> visits.{edit}" in found
    assert "visits:  -> a table beside" in found
    for edit in ("source", "encoding", "version"):
        assert f"items:  -> visits {edit}" in found


@pytest.mark.parametrize("name", ["rules", "rows_kept", "parent", "events"])
def test_what_changes_no_answer_begins_no_version(name):
    for table in PEOPLE.tables:
        assert declared(edits()[f"{table.name} {name}"], table.name) == declared(PEOPLE, table.name)


OTHER_PLACES = [
    ("duckdb:a.duckdb", "duckdb:b.duckdb"),
    ("duckdb:", "duckdb:a.duckdb"),
    ("duckdb:", "spark://local[2]"),
    ("spark://one:7077", "spark://other:7077"),
    ("spark://one:7077", "spark://local[2]"),
    ("postgresql://me@one/db", "postgresql://me@other/db"),
    ("postgresql://me@one:1/db", "postgresql://me@one:2/db"),
    ("postgresql://me@one/db", "postgresql://me@one/other"),
    ("postgresql://me@one/db", "postgresql://other@one/db"),
    ("postgresql:///db?host=one", "postgresql:///db?host=other"),
    ("postgresql://me@one/db", "postgresql://me@one/db?options=-csearch_path%3Dother"),
    ("postgresql://one,other/db", "postgresql://other/db"),
]
SAME_PLACES = [
    ("spark://local[2]", "local[8]"),
    ("postgres://me@one/db", "postgresql://me@one/db"),
    ("postgresql://me@one/db", "postgresql://me:secret@one/db"),
    ("postgresql://me@one/db", "postgresql://me@one/db?password=secret"),
    ("postgresql://one/db?port=1&host=x", "postgresql://one/db?host=x&port=1"),
]


@pytest.mark.parametrize(("one", "other"), OTHER_PLACES)
@pytest.mark.parametrize("name", ["visits", "items"])
def test_another_place_begins_a_version(name, one, other):
    assert declared(PEOPLE, name, one) != declared(PEOPLE, name, other)


@pytest.mark.parametrize(("one", "other"), SAME_PLACES)
def test_the_same_place_begins_none(one, other):
    assert declared(PEOPLE, "visits", one) == declared(PEOPLE, "visits", other)


def test_a_file_lies_in_no_database():
    tables = tuple(replace(each, source=f"{each.source}.csv") for each in PEOPLE.tables)
    files = replace(PEOPLE, tables=tables)
    told = {str(declared(files, "items", f"duckdb:{name}")) for name in ("", "a.duckdb")}
    assert len(told) == 1
