"""The codes of a table beside those of its parent row: generated SQL, judged by the kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from discreet.catalog.catalog import Catalog
from discreet.core.schema import IntegerDomain
from discreet.engine.dialect.names import quoted
from discreet.errors import InternalError
from discreet.plan.ir import CLOCK, Relation, fields_of
from discreet.release.desk import Desk
from discreet.release.sealing import declared_scans
from discreet.release.snapshots import tables_of
from discreet.sql.bind import bind
from discreet.sql.write.blocks import Block, BlockWriter
from discreet.sql.write.cells import Cell
from discreet.sql.write.used import used_below
from discreet.synth.encoding.columns import Coded, Encoding, binned
from discreet.synth.linked.table_tree import LinkedTable, TableTree
from discreet.synth.measure.codes_sql import block_codes_sql
from discreet.synth.measure.sealing import SealedCodes, judged_codes


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
