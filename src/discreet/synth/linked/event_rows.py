"""Events in time: the first row of each parent, and every later row beside the one before it.

Generated SQL, judged by the kernel: rows of a parent are numbered by their day, and each meets the one
numbered one less. Nothing else is new to it: joins on the unit, ROW_NUMBER within the unit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from discreet.core.schema import IntegerDomain
from discreet.engine.dialect.functions import function
from discreet.plan.ir import CLOCK
from discreet.release.desk import Desk
from discreet.sql.write.blocks import Block, BlockWriter, number_of
from discreet.sql.write.cells import Cell
from discreet.synth.encoding.columns import Coded, fine
from discreet.synth.linked.joined_rows import (
    JoinedRelation,
    LinkedColumns,
    joined_relation,
    judged_block,
)
from discreet.synth.linked.table_tree import LinkedTable, TableTree
from discreet.synth.measure.sealing import SealedCodes

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
