"""Which tables of a dataset hang together: a tree, people at its root, from the catalog alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.core.schema import Dataset, IdentifierDomain, Table
from discreet.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class LinkedTable:
    """One table of the tree.

    `key` is the identifier that it shares with its parent, None where that is the person's own;
    `children` are the names of the tables whose rows belong to rows of this one.
    """

    table: Table
    parent: str | None
    key: str | None
    children: tuple[str, ...]

    @property
    def name(self) -> str:
        """Return the table's name."""
        return self.table.name

    @property
    def unit(self) -> str:
        """Return the column that names the person."""
        assert self.table.unit is not None, "only tables of people are linked"
        assert self.table.unit.column is not None, "only tables of people are linked"
        return self.table.unit.column


@dataclass(frozen=True, slots=True)
class TableTree:
    """All tables of a dataset that hold people's rows, parents before children."""

    dataset: Dataset
    tables: tuple[LinkedTable, ...]

    def of(self, name: str) -> LinkedTable:
        """Return a table by name."""
        return next(each for each in self.tables if each.name == name)


def tree_of(dataset: Dataset) -> TableTree:
    """Return the tree of a dataset's tables, or say why there is none. Reads the catalog only.

    The root has `max_rows = 1`. Every other table belongs to it, by the column that names the
    person, unless it says `parent = "orders"`: then to that table, by the identifier both have.
    """
    private = [table for table in dataset.tables if not table.public]
    if any(table.unit is None or table.unit.column is None for table in private):
        raise InvalidInput(
            f"Not every table of '{dataset.name}' names the person in its rows: they cannot be linked.",
            hint="Declare unit = the column that names the person in each of them.",
        )
    roots = [table for table in private if table.max_rows == 1 and table.parent is None]
    if len(private) < 2 or len(roots) != 1:
        raise InvalidInput(
            f"A linked copy of '{dataset.name}' needs one table of people and others below it.",
            hint="Declare max_rows = 1 in the table that has one row for each person, and only there.",
        )
    order = _ordered(roots[0], private)
    return TableTree(dataset, tuple(_linked(each, roots[0], private) for each in order))


def _ordered(root: Table, tables: Sequence[Table]) -> list[Table]:
    """Return the tables, parents before children; a circle or an unknown parent is refused."""
    order, left = [root], [table for table in tables if table is not root]
    while left:
        known = {table.name.lower() for table in order}
        ready = [each for each in left if _parent_name(each, root).lower() in known]
        if not ready:
            raise InvalidInput(
                f"Table '{left[0].name}' has no way up to '{root.name}'.",
                hint="parent names another table of the same dataset; parents make no circle.",
            )
        order += ready
        left = [each for each in left if each not in ready]
    for table in order:
        if table.max_rows is None:
            raise InvalidInput(
                f"Table '{table.name}' does not say how many rows of a person count.",
                hint="Declare max_rows in discreet.toml.",
            )
    return order


def _parent_name(table: Table, root: Table) -> str:
    return root.name if table.parent is None else table.parent


def _linked(table: Table, root: Table, tables: Sequence[Table]) -> LinkedTable:
    children = tuple(
        each.name
        for each in tables
        if each is not root and _parent_name(each, root).lower() == table.name.lower()
    )
    if table is root:
        return LinkedTable(table, None, None, children)
    parent = next(t for t in tables if t.name.lower() == _parent_name(table, root).lower())
    return LinkedTable(table, parent.name, _key(table, parent, root), children)


def _key(table: Table, parent: Table, root: Table) -> str | None:
    """Return the identifier that two tables share, apart from the person's."""
    if parent is root:
        return None
    shared = [
        column.name
        for column in table.columns
        if isinstance(column.domain, IdentifierDomain)
        and column.name.lower() in {c.name.lower() for c in parent.columns}
        and (table.unit is None or column.name != table.unit.column)
    ]
    if len(shared) != 1:
        raise InvalidInput(
            f"Tables '{table.name}' and '{parent.name}' must share one identifier besides the person's.",
            hint='Declare it as { type = "identifier" } under the same name in both.',
        )
    return shared[0]
