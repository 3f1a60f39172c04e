"""Relations to FROM and WHERE: each relation becomes a block of SQL whose columns are known cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from discreet.catalog.catalog import engine_name
from discreet.core.schema import (
    BooleanDomain,
    CategoryDomain,
    Dataset,
    DateDomain,
    Domain,
    IntegerDomain,
    NumberDomain,
    Table,
)
from discreet.engine.base import Engine
from discreet.engine.functions import function
from discreet.kernel.canonical import (
    canonical_select,
    content_order,
    ranked_select,
    stored_columns,
    unit_column,
    units_are_whole,
)
from discreet.kernel.literals import column_name
from discreet.plan import expr as e
from discreet.plan.box import to_box
from discreet.plan.ir import (
    Aggregate,
    Field,
    Filter,
    Function,
    Join,
    JoinKind,
    PerUnit,
    Project,
    Relation,
    Scan,
    fields_of,
)
from discreet.plan.regions import domains_of
from discreet.plan.values import lattice
from discreet.sql.cells import Cell, in_positions
from discreet.sql.expressions import Writer


@dataclass(frozen=True, slots=True)
class Block:
    """`FROM source WHERE where`, with a cell for each column and the unit's own column.

    `plain`: the rows of one source, so reading them again costs less than keeping them.
    """

    source: str
    cells: Mapping[str, Cell]
    where: tuple[str, ...] = ()
    unit: str | None = None
    plain: bool = False

    def body(self) -> str:
        """Return FROM and WHERE."""
        clause = f" WHERE {' AND '.join(self.where)}" if self.where else ""
        return f"FROM {self.source}{clause}"


class BlockWriter:
    """Writes blocks for one engine. `used` names the columns that anything above still reads."""

    def __init__(
        self, engine: Engine, used: frozenset[str], views: Mapping[str, str] | None = None
    ) -> None:
        self.engine = engine
        self.views = views or {}
        self.dialect = engine.capabilities.dialect
        self.used = used
        self.aliases = 0

    def alias(self) -> str:
        """Return a fresh table alias."""
        self.aliases += 1
        return f"t{self.aliases - 1}"

    def writer(self, block: Block) -> Writer:
        """Return the expression writer over a block's cells."""
        return Writer(block.cells, self.dialect)

    def block(self, relation: Relation) -> Block:
        """Return the block of `relation`."""
        match relation:
            case Scan():
                return self._scan(relation)
            case Filter():
                return self._filter(relation)
            case Project():
                return self._project(relation)
            case Join():
                return self._join(relation)
            case PerUnit():
                return self._per_unit(relation)

    def _scan(self, scan: Scan) -> Block:
        """Return the block of a table's canonical rows: c0, c1, ... and u, under names of ours."""
        assert scan.dataset is not None, "every table belongs to a dataset"
        name, table = engine_name(scan.dataset, scan.table), scan.table
        stored = self.views.get(name)
        if self.engine.capabilities.canonical or table.copied:
            source = f"canon.{column_name(name, self.dialect)}"
        elif stored is not None:
            source = stored
        else:
            source = f"({self._canonical(scan)})"
        alias = self.alias()
        cells = {field.name: self._column(scan, field, alias) for field in scan.fields}
        where: tuple[str, ...] = ()
        if table.bounded and stored is None:
            assert table.max_rows is not None, "the catalog asks for max_rows"
            where = (f"{alias}.r <= {table.max_rows}",)
        unit = None if scan.unit is None else f"{alias}.u"
        return Block(f"{source} AS {alias}", cells, where, unit, plain=True)

    def _column(self, scan: Scan, field: Field, alias: str) -> Cell:
        assert field.origin is not None, "a table's columns come from the table"
        for i, column in stored_columns(scan.table).items():
            if column.name == field.origin.column.name:
                bare = f"{alias}.c{i}"
                if self.dialect == "duckdb" and isinstance(field.domain, CategoryDomain):
                    return Cell(f"CAST({bare} AS VARCHAR)", field.domain, bare)
                return Cell(bare, field.domain, bare)
        return Cell(f"{alias}.u", field.domain, f"{alias}.u")

    def _canonical(self, scan: Scan) -> str:
        """Return the SELECT of canonical rows on an engine that does not store them."""
        assert scan.dataset is not None, "every table belongs to a dataset"
        table = scan.table
        relation = self.engine.relation(engine_name(scan.dataset, table))
        types, whole = self._types(scan.dataset, table)
        if table.bounded:
            return ranked_select(table, types, self.dialect, relation, whole=whole)
        used = {f.origin.column.name for f in scan.fields if f.origin and f.name in self.used}
        columns = [i for i, column in stored_columns(table).items() if column.name in used]
        return canonical_select(table, columns, types, self.dialect, relation, whole=whole)

    def _types(self, dataset: Dataset, table: Table) -> tuple[dict[str, str], bool]:
        """Return the engine's types of a table, and whether its people go by integers."""
        found = {}
        for other in dataset.tables:
            name = engine_name(dataset, other)
            if other is table or (unit_column(other) is not None and self.engine.has(name)):
                found[other.name] = {c.lower(): kind for c, kind in self.engine.columns(name)}
        return found[table.name], units_are_whole(dataset.tables, found)

    def view_sql(self, scan: Scan) -> str:
        """Return the SELECT whose stored result is the bounded table."""
        columns = ", ".join([*(f"v.c{i} AS c{i}" for i in stored_columns(scan.table)), "v.u AS u"])
        return f"SELECT {columns} FROM ({self._canonical(scan)}) AS v WHERE v.r <= {scan.table.max_rows}"

    def _extreme(self, name: str, domain: Domain) -> str:
        # PostgreSQL has no least or greatest truth value.
        if self.dialect == "postgres" and isinstance(domain, BooleanDomain):
            return {"MIN": "BOOL_AND", "MAX": "BOOL_OR"}[name]
        return name

    def _filter(self, relation: Filter) -> Block:
        below = self.block(relation.source)
        box = to_box(relation.condition, domains_of(relation.source))
        parts = [
            condition
            for name, positions in sorted(box.positions.items())
            if (condition := in_positions(below.cells[name], positions, self.dialect)) is not None
        ]
        if box.residual != e.TRUE:
            parts.append(self.writer(below).condition(box.residual))
        return replace(below, where=(*below.where, *parts))

    def _project(self, relation: Project) -> Block:
        below = self.block(relation.source)
        writer = self.writer(below)
        cells = {}
        for field, value in zip(relation.fields, relation.values, strict=True):
            if field.name not in self.used and field.name != relation.unit:
                continue
            if isinstance(value, e.ColumnRef):
                cells[field.name] = below.cells[value.name]
            else:
                cells[field.name] = Cell(f"({writer.write(value)})", field.domain)
        return replace(below, cells=cells)

    def wrapped(self, block: Block, names: list[str], *, extra: str = "") -> Block:
        """Return a block over a subquery that computes the named cells once."""
        alias = self.alias()
        columns, cells = [], {}
        for i, name in enumerate(names):
            cell = block.cells[name]
            columns.append(f"{cell.value} AS c{i}")
            cells[name] = Cell(f"{alias}.c{i}", cell.domain, f"{alias}.c{i}")
        if block.unit is not None:
            columns.append(f"{block.unit} AS u")
        if extra:
            columns.append(extra)
        inner = f"SELECT {', '.join(columns) or '1 AS c0'} {block.body()}"
        unit = None if block.unit is None else f"{alias}.u"
        return Block(f"({inner}) AS {alias}", cells, unit=unit)

    def _join(self, relation: Join) -> Block:
        left, right = self.block(relation.left), self.block(relation.right)
        kept = [field.name for field in fields_of(relation.right)]
        keys = [name for _, name in relation.pairs]
        if relation.copies is not None:
            right = self._at_most(right, keys, kept, relation.copies)
        elif relation.kind is JoinKind.LEFT or right.where:
            right = self.wrapped(right, [n for n in kept if n in self.used or n in keys])
        cells = {**left.cells, **right.cells}
        on = " AND ".join(
            f"{_key(left.cells[one])} = {_key(right.cells[two])}" for one, two in relation.pairs
        )
        source = f"{left.source} {relation.kind.value} JOIN {right.source} ON {on}"
        return Block(source, cells, left.where, left.unit)

    def _at_most(self, block: Block, keys: list[str], kept: list[str], copies: int) -> Block:
        """Return a public table with at most `copies` rows for one key: enforced, not believed."""
        names = [name for name in kept if name in self.used or name in keys]
        by = ", ".join(f"({block.cells[name].value})" for name in keys)
        order = ", ".join(f"({block.cells[name].value}) NULLS FIRST" for name in names)
        number = f"ROW_NUMBER() OVER (PARTITION BY {by} ORDER BY {order}) AS n"
        found = self.wrapped(block, names, extra=number)
        alias = found.source.rsplit(" ", 1)[1]
        return self.wrapped(replace(found, where=(f"{alias}.n <= {copies}",)), names)

    def _per_unit(self, relation: PerUnit) -> Block:
        below = self.block(relation.source)
        writer = self.writer(below)
        alias = self.alias()
        assert below.unit is not None, "only person units are grouped by"
        columns, cells, by = [f"{below.unit} AS u"], {}, [below.unit]
        for i, (name, key) in enumerate(relation.keys):
            columns.append(f"{writer.write(key)} AS k{i}")
            by.append(f"({writer.write(key)})")
            cells[name] = Cell(f"{alias}.k{i}", writer.domain(key), f"{alias}.k{i}")
        domains = {field.name: field.domain for field in relation.fields}
        for i, (name, aggregate) in enumerate(relation.aggregates):
            columns.append(f"{self._unit_aggregate(writer, aggregate, below.unit)} AS a{i}")
            cells[name] = self._clamped(f"{alias}.a{i}", domains[name])
        named = below.cells.get(relation.unit)
        shown = "u"
        if named is not None and named.value != below.unit:
            # What a join compares is the canonical name, not the source's own type.
            columns.append(f"MIN({named.value}) AS i")
            shown = "i"
        cells[relation.unit] = Cell(f"{alias}.{shown}", domains[relation.unit], f"{alias}.{shown}")
        inner = f"SELECT {', '.join(columns)} {below.body()} GROUP BY {', '.join(by)}"
        return Block(f"({inner}) AS {alias}", cells, unit=f"{alias}.u")

    def _unit_aggregate(self, writer: Writer, aggregate: Aggregate, unit: str) -> str:
        if aggregate.operand is None:
            return "COUNT(*)"
        if isinstance(aggregate.operand, e.ColumnRef):
            cell = writer.cells[aggregate.operand.name]
            value = unit if cell.raw == unit else cell.value
        else:
            value = writer.write(aggregate.operand)
        match aggregate.function:
            case Function.COUNT:
                return f"COUNT({value})"
            case Function.COUNT_DISTINCT:
                return f"COUNT(DISTINCT {value})"
            case Function.SUM:
                return function("sum_integer", self.dialect, value)
            case _:
                name = "MIN" if aggregate.quantile == 0 else "MAX"
                return f"{self._extreme(name, writer.domain(aggregate.operand))}({value})"

    def _clamped(self, value: str, domain: object) -> Cell:
        """Return a person's own aggregate, held inside its declared range by an explicit CASE."""
        match domain:
            case IntegerDomain() | NumberDomain():
                found = lattice(domain)
                assert found is not None
                low, high = int(found[0] / found[2]), int(found[1] / found[2])
                clamped = (
                    f"CASE WHEN {value} < {low} THEN {low} WHEN {value} > {high} THEN {high} "
                    f"ELSE CAST({value} AS BIGINT) END"
                )
                return Cell(clamped, domain)
            case DateDomain():
                return Cell(value, domain, value)
            case _:
                return Cell(value, domain, value)  # type: ignore[arg-type]  # MIN/MAX keep the domain

    def bounded(self, block: Block, max_rows: int) -> Block:
        """Return the block with at most `max_rows` rows of each unit.

        Which rows stay depends on the unit's own rows only: they are ordered by a hash of what
        they say, so neither other people's rows nor the physical order can matter. Only units
        with too many rows are sorted at all; the others pass as they are.
        """
        assert block.unit is not None, "rows are bounded for people only"
        names = [name for name in block.cells if name in self.used]
        alias = self.alias()
        carried = [
            self._carried(block.cells[name], f"{alias}.c{i}") for i, name in enumerate(names)
        ]
        columns = [f"{inner} AS c{i}" for i, (inner, _) in enumerate(carried)]
        kept = ", ".join([*(f"c{i}" for i in range(len(names))), "u"])
        ordered = f"ROW_NUMBER() OVER (PARTITION BY b.u ORDER BY {content_order([f'b.c{i}' for i in range(len(names))], self.dialect)}) AS n"
        inner = (
            f"WITH b AS {self._kept(block)}"
            f"(SELECT {', '.join([*columns, f'{block.unit} AS u'])} {block.body()}), "
            f"h AS (SELECT u FROM b GROUP BY u HAVING COUNT(*) > {max_rows}) "
            f"SELECT {kept} FROM b WHERE NOT EXISTS (SELECT 1 FROM h WHERE h.u = b.u) "
            f"UNION ALL SELECT {kept} FROM (SELECT b.*, {ordered} FROM b JOIN h ON h.u = b.u) AS w "
            f"WHERE w.n <= {max_rows}"
        )
        cells = {name: cell for name, (_, cell) in zip(names, carried, strict=True)}
        return Block(f"({inner}) AS {alias}", cells, unit=f"{alias}.u")

    def _carried(self, cell: Cell, place: str) -> tuple[str, Cell]:
        """Return what bounding carries along for a cell, and the cell that it becomes.

        A stored category becomes a text only afterwards, for the rows that are left.
        """
        if isinstance(cell.domain, CategoryDomain) and cell.raw not in {None, cell.value}:
            return str(cell.raw), Cell(f"CAST({place} AS VARCHAR)", cell.domain, place)
        return cell.value, Cell(place, cell.domain, place)

    def _kept(self, block: Block) -> str:
        """Return whether rows that are read three times are kept; Spark decides by itself."""
        if self.dialect == "spark":
            return ""
        return "NOT MATERIALIZED " if block.plain else "MATERIALIZED "


def _key(cell: Cell) -> str:
    return f"({cell.value})"
