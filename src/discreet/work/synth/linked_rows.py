"""Linked tables as a tree with people at its root, and the generated SQL that reads their rows, judged by the kernel.

The tree follows from the catalog alone. The codes of a table are read beside those of its parent row. Events
in time: rows of a parent are numbered by their day, and each meets the one numbered one less. Nothing else is
new to it: joins on the unit, ROW_NUMBER within the unit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from discreet.ask.plan.ir import CLOCK, Relation, fields_of
from discreet.ask.release.desk import Desk
from discreet.ask.release.sealing import declared_scans
from discreet.ask.release.snapshots import tables_of
from discreet.ask.sql.bind import bind
from discreet.ask.sql.write.blocks import Block, BlockWriter, number_of
from discreet.ask.sql.write.expressions import Cell
from discreet.ask.sql.write.statement import used_below
from discreet.base.schema import Dataset, IdentifierDomain, IntegerDomain, Table
from discreet.data.catalog.catalog import Catalog
from discreet.data.engines.dialects import quoted
from discreet.data.engines.functions import function
from discreet.errors import InternalError, InvalidInput
from discreet.measure.columns import Coded, Encoding, binned, fine
from discreet.measure.sealing import SealedCodes, block_codes_sql, judged_codes


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


@dataclass(frozen=True, slots=True)
class LinkedColumns:
    """The columns that the model of one table sees: its own, numbers of child rows, its parent's."""

    own: tuple[Coded, ...]
    numbers: tuple[Coded, ...]
    above: tuple[Coded, ...]

    @property
    def below(self) -> tuple[Coded, ...]:
        """Return what is drawn for a row: its own columns and how many children it has."""
        return (*self.own, *self.numbers)

    @property
    def every(self) -> tuple[Coded, ...]:
        """Return all columns, those of the parent last."""
        return (*self.below, *self.above)


def columns_of(
    node: LinkedTable, tree: TableTree, encodings: Mapping[str, Encoding]
) -> LinkedColumns:
    """Return the columns of one table's model; names of the parent's have its name before them."""
    own = encodings[node.name].coded
    numbers = tuple(_number(tree.of(child)) for child in node.children)
    if node.parent is None:
        return LinkedColumns(own, numbers, ())
    parent = tree.of(node.parent)
    above = (*encodings[parent.name].coded, *(_number(tree.of(c)) for c in parent.children))
    named = tuple(replace(column, name=f"{parent.name}.{column.name}") for column in above)
    return LinkedColumns(own, numbers, named)


def _number(child: LinkedTable) -> Coded:
    """Return the column that counts child rows: 1 to the most that count; missing means none."""
    assert child.table.max_rows is not None, "checked when the tree was made"
    return binned(
        Coded(f"number of {child.name}", IntegerDomain(1, child.table.max_rows), missing=True)
    )


def seal_linked(
    node: LinkedTable, tree: TableTree, columns: LinkedColumns, most: int, desk: Desk
) -> SealedCodes:
    """Return the SELECT of a table's codes with its parent's, judged. An unfit one never runs.

    At most `most` rows of a person are among them, chosen by a hash of the person's own rows.

    Guarantee: how many rows of one person it counts is read off the SQL by the kernel, joins and all.
    """
    joined = joined_relation(node, tree, columns, desk.catalog)
    writer = BlockWriter(desk.engine, joined.every)
    block = writer.block(joined.relation)
    if node.key is not None or (node.parent is not None and most != node.table.max_rows):
        # Ordered by a hash of all that a row says: joined rows have no rank of their own that the
        # kernel could tell apart, and rows that say the same are the same.
        block = writer.bounded(replace(block, rank=None), most)
    return judged_block(block, [block.cells[i] for i in joined.ids], columns, joined, desk)


def judged_block(
    block: Block, cells: list[Cell], columns: LinkedColumns, joined: JoinedRelation, desk: Desk
) -> SealedCodes:
    """Return the SELECT of the codes of some cells of a bounded block, judged."""
    sql = block_codes_sql(block, cells, columns.every, desk.engine)
    scans = declared_scans(tables_of(joined.relation), desk.engine)
    return judged_codes(sql, columns.every, scans, desk.engine)


@dataclass(frozen=True, slots=True)
class JoinedRelation:
    """A table's rows beside their parents: the relation, and the field of each column of a model."""

    relation: Relation
    ids: list[str]

    @property
    def every(self) -> frozenset[str]:
        """Return all fields, and those below that keys are read from: nothing above reads them."""
        found = {field.name for field in fields_of(self.relation)}
        used_below(self.relation, found)
        return frozenset(found)

    def of(self, table: str, name: str) -> str:
        """Return the field of a declared column of one of the tables."""
        return _field(self.relation, table, name)


def joined_relation(
    node: LinkedTable, tree: TableTree, columns: LinkedColumns, catalog: Catalog
) -> JoinedRelation:
    """Return the rows of a table beside their parents', with the numbers of children."""
    relation = bind(_joined_sql(node, tree), catalog).source
    return JoinedRelation(relation, _ids(relation, node, columns))


def _field(relation: Relation, table: str, name: str) -> str:
    for field in fields_of(relation):
        origin = field.origin
        if origin is not None and (origin.table, origin.column.name) == (table, name):
            return field.name
    raise InternalError("a column that its own table does not have")


def _joined_sql(node: LinkedTable, tree: TableTree) -> str:
    """Return SQL of the public grammar whose rows are those of a table beside their parent's."""
    parts = [f"SELECT COUNT(*) AS n FROM {_table(tree, node)} AS t"]
    if node.parent is not None:
        parent = tree.of(node.parent)
        keys = [(node.unit, parent.unit), *([(node.key, node.key)] if node.key else [])]
        on = " AND ".join(f"t.{quoted(one)} = p.{quoted(two)}" for one, two in keys)
        parts.append(f"JOIN {_table(tree, parent)} AS p ON {on}")
    counted = [("t", tree.of(child)) for child in node.children]
    if node.parent is not None:
        counted += [("p", tree.of(child)) for child in tree.of(node.parent).children]
    for i, (side, child) in enumerate(counted):
        owner = node if side == "t" else tree.of(str(node.parent))
        by = [child.unit, *([child.key] if child.key else [])]
        listed = ", ".join(map(quoted, by))
        inner = f"SELECT {listed}, COUNT(*) AS n FROM {_table(tree, child)} GROUP BY {listed}"
        pairs = zip(by, [owner.unit, *by[1:]], strict=True)
        on = " AND ".join(f"k{i}.{quoted(one)} = {side}.{quoted(two)}" for one, two in pairs)
        parts.append(f"LEFT JOIN ({inner}) AS k{i} ON {on}")
    return " ".join(parts)


def _ids(relation: Relation, node: LinkedTable, columns: LinkedColumns) -> list[str]:
    """Return the field of each column of a model, in its order."""
    fields = fields_of(relation)
    numbers = [f.name for f in fields if f.origin is None and not f.name.endswith(CLOCK)]

    def of(table: str, names: Sequence[str]) -> list[str]:
        return [_field(relation, table, name) for name in names]

    own = of(node.name, [column.name for column in columns.own])
    mine, theirs = numbers[: len(columns.numbers)], numbers[len(columns.numbers) :]
    above = columns.above[: len(columns.above) - len(theirs)]
    prefix = f"{node.parent}."
    named = of(str(node.parent), [column.name.removeprefix(prefix) for column in above])
    return [*own, *mine, *named, *theirs]


def _table(tree: TableTree, node: LinkedTable) -> str:
    return f"{quoted(tree.dataset.name)}.{quoted(node.name)}"


_BEFORE = "previous "
_GAP = "days between"


@dataclass(frozen=True, slots=True)
class EventColumns:
    """The columns of two models: of first rows, and of rows that follow another.

    `place` is that of the day among the table's own columns. In `later` the days since the row
    before stand there instead, and above it, before the parent's, that row's own columns.
    """

    first: LinkedColumns
    later: LinkedColumns
    place: int


def event_columns(node: LinkedTable, columns: LinkedColumns) -> EventColumns:
    """Return the columns of both models of a table whose rows are events."""
    place = next(i for i, column in enumerate(columns.own) if column.name == node.table.events)
    day = columns.own[place]
    gap = fine(Coded(f"{_GAP} {day.name}", IntegerDomain(0, day.positions - 1)))
    before = tuple(replace(column, name=f"{_BEFORE}{column.name}") for column in columns.own)
    later = LinkedColumns(
        (*columns.own[:place], gap, *columns.own[place + 1 :]),
        columns.numbers,
        (*before, *columns.above),
    )
    return EventColumns(columns, later, place)


def seal_first(
    node: LinkedTable, tree: TableTree, columns: EventColumns, most: int, desk: Desk
) -> SealedCodes:
    """Return the SELECT of the codes of every parent's first row, judged.

    Guarantee: how many rows of one person it counts is read off the SQL by the kernel: one where
        parents are people, else at most `most`.
    """
    joined = joined_relation(node, tree, columns.first, desk.catalog)
    writer = BlockWriter(desk.engine, joined.every)
    block = _numbered(writer, joined, node)
    block = replace(block, where=(*block.where, f"{number_of(block)} <= 1"))
    if node.key is not None:
        block = writer.bounded(block, most)
    cells = [block.cells[i] for i in joined.ids]
    return judged_block(block, cells, columns.first, joined, desk)


def seal_later(
    node: LinkedTable, tree: TableTree, columns: EventColumns, most: int, desk: Desk
) -> SealedCodes:
    """Return the SELECT of the codes of rows beside the row before them, judged.

    Guarantee: at most `most` rows of one person, chosen by a hash of the person's own rows; the
        kernel reads that off the SQL.
    """
    joined = joined_relation(node, tree, columns.first, desk.catalog)
    own = joined.ids[: len(columns.first.own)]
    before = {name: f"{_BEFORE}{name}" for name in own}
    writer = BlockWriter(desk.engine, joined.every | {*before.values(), _GAP})
    row, last = (_numbered(writer, joined, node) for _ in range(2))
    following = f"CAST({number_of(last)} AS BIGINT) + 1"  # numbers have 32 bits on some engines
    tests = [f"{row.unit} = {last.unit}", f"{number_of(row)} = {following}"]
    if node.key is not None:
        key = joined.of(node.name, node.key)
        tests.append(f"{row.cells[key].value} = {last.cells[key].value}")
    source = f"{row.source} INNER JOIN {last.source} ON {' AND '.join(tests)}"
    day = own[columns.place]
    days = [
        function("day_number", desk.engine.capabilities.dialect, each.cells[day].value)
        for each in (row, last)
    ]
    span = columns.first.own[columns.place].positions
    cells = {
        **row.cells,
        **{name: last.cells[old] for old, name in before.items()},
        # Wider than the column of the codes: they are held inside it where they are made.
        _GAP: Cell(f"({days[0]} - {days[1]})", IntegerDomain(-span, span)),
    }
    block = writer.bounded(Block(source, cells, unit=row.unit), most)
    ids = [*joined.ids]
    ids[columns.place] = _GAP
    below = len(columns.first.below)
    wanted = [*ids[:below], *before.values(), *ids[below:]]
    return judged_block(block, [block.cells[name] for name in wanted], columns.later, joined, desk)


def _numbered(writer: BlockWriter, joined: JoinedRelation, node: LinkedTable) -> Block:
    """Return the rows of a table beside their parents, numbered by their day within each parent."""
    block = writer.block(joined.relation)
    day = joined.of(node.name, str(node.table.events))
    by = [name for name in (day, f"{day}{CLOCK}") if name in block.cells]
    there = f"{block.cells[day].value} IS NOT NULL"
    within = [] if node.key is None else [joined.of(node.name, node.key)]
    return writer.in_order(replace(block, where=(*block.where, there)), by, within=within)
