"""Relations to FROM and WHERE: each relation becomes a block of SQL whose columns are known cells."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace

from discreet.ask.plan import expr as e
from discreet.ask.plan.ir import (
    CLOCK,
    Aggregate,
    Field,
    Filter,
    Function,
    Join,
    PerUnit,
    Project,
    Relation,
    Scan,
    bound_rows,
    fields_of,
    unit_of,
)
from discreet.ask.plan.regions import domains_of, to_box
from discreet.ask.plan.values import MEAN, mean_domain, mean_parts
from discreet.ask.sql.write.expressions import (
    Cell,
    Writer,
    bare_of,
    carried,
    clamped,
    in_positions,
    whole_range,
)
from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    Domain,
    IdentifierDomain,
)
from discreet.data.catalog.catalog import engine_name
from discreet.data.engines.base import Engine
from discreet.data.engines.dialects import DIALECTS, canon
from discreet.data.engines.functions import function
from discreet.privacy.kernel.canonical import (
    canonical_select,
    column_types,
    grouped_columns,
    ranked_select,
    stored_columns,
)
from discreet.privacy.kernel.cells import constant


@dataclass(frozen=True, slots=True)
class Block:
    """`FROM source WHERE where`, with a cell for each column and the unit's own column.

    `rank`: columns that, with the unit, tell its rows apart, None where there are none. `kept`: the
    rows of each unit are bounded already.
    """

    source: str
    cells: Mapping[str, Cell]
    where: tuple[str, ...] = ()
    unit: str | None = None
    rank: tuple[str, ...] | None = None
    kept: bool = False

    def body(self) -> str:
        """Return FROM and WHERE."""
        clause = f" WHERE {' AND '.join(self.where)}" if self.where else ""
        return f"FROM {self.source}{clause}"


class BlockWriter:
    """Writes blocks for one engine. `used` names the columns that anything above still reads."""

    def __init__(self, engine: Engine, used: frozenset[str]) -> None:
        self.engine = engine
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
        stored = self.engine.capabilities.canonical or table.copied
        named = canon(name, self.dialect)
        alias = self.alias()
        source = f"{named if stored else f'({self._canonical(scan)})'} AS {alias}"
        places = {(c.name, c.moment is not None): i for i, c in stored_columns(table).items()}
        grouped = grouped_columns(table) if self.engine.capabilities.canonical else frozenset()
        cells = {
            field.name: self._column(field, alias, places.get(_declared(scan, field)), grouped)
            for field in scan.fields
        }
        if scan.unit is None:
            return Block(source, cells)
        rank = (f"{alias}.r",) if stored or table.bounded else None
        block = Block(source, cells, unit=f"{alias}.u", rank=rank)
        within = f"{alias}.{'w' if self.engine.capabilities.canonical else 'r'} <= {table.max_rows}"
        return replace(block, where=(within,), kept=True) if table.bounded else block

    def at_most(self, block: Block, max_rows: int) -> Block:
        """Return a scan with its first rows of each unit only: by the rank that is stored with them."""
        assert block.rank is not None, "only scans with a rank"
        return replace(block, where=(*block.where, f"{block.rank[0]} <= {max_rows}"), kept=True)

    def _column(self, field: Field, alias: str, place: int | None, grouped: frozenset[int]) -> Cell:
        """Return the cell of a column by its place among those that are kept; the others are the unit."""
        if place is None:
            return Cell(f"{alias}.u", field.domain, f"{alias}.u")
        bare = f"{alias}.c{place}"
        beside = f"{alias}.g{place}" if place in grouped else None
        if not DIALECTS[self.dialect].enums or not isinstance(field.domain, CategoryDomain):
            return Cell(bare, field.domain, bare, whole_range(field.domain), beside)
        return Cell(beside or f"CAST({bare} AS VARCHAR)", field.domain, bare, grouped=beside)

    def _canonical(self, scan: Scan) -> str:
        """Return the SELECT of canonical rows on an engine that does not store them."""
        assert scan.dataset is not None, "every table belongs to a dataset"
        table = scan.table
        relation = self.engine.relation(engine_name(scan.dataset, table))
        types, whole = column_types(scan.dataset, table, self.engine)
        if table.bounded:
            return ranked_select(table, types, self.dialect, relation, whole=whole)
        used = {_declared(scan, field) for field in scan.fields if field.name in self.used}
        columns = [
            i for i, c in stored_columns(table).items() if (c.name, c.moment is not None) in used
        ]
        return canonical_select(table, columns, types, self.dialect, relation, whole=whole)

    def _extreme(self, name: str, domain: Domain) -> str:
        # PostgreSQL has no least or greatest truth value.
        named = DIALECTS[self.dialect].truth if isinstance(domain, BooleanDomain) else {}
        return named.get(name, name)

    def _filter(self, relation: Filter) -> Block:
        below = self.block(relation.source)
        box = to_box(relation.condition, domains_of(relation.source))
        parts = [
            condition
            for name, positions in sorted(box.positions.items())
            if (condition := in_positions(below.cells[name], positions, self.dialect)) is not None
        ]
        if box.residual != e.TRUE:
            parts.append(self.writer(below).write(box.residual))
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

    def wrapped(
        self, block: Block, names: list[str], *, extra: str = "", grouped: Container[str] = ()
    ) -> Block:
        """Return a block over a subquery that computes the named cells once.

        Of `grouped` the columns that are stored to be grouped by are carried along too.
        """
        alias = self.alias()
        columns: list[str] = []
        cells: dict[str, Cell] = {}
        known: dict[str, str] = {}
        for i, name in enumerate(names):
            inner, cells[name] = carried(block.cells[name], f"{alias}.c{i}")
            columns.append(f"{inner} AS c{i}")
            known.setdefault(inner, f"c{i}")
            beside = block.cells[name].grouped
            if beside is not None and name in grouped:
                columns.append(f"{beside} AS g{i}")
                cells[name] = replace(cells[name], grouped=f"{alias}.g{i}")
        if block.unit is not None:
            columns.append(f"{block.unit} AS u")
        # A column that is there already tells rows apart under the name it has.
        ranks = tuple(known.get(inner, f"r{i}") for i, inner in enumerate(block.rank or ()))
        columns += [
            f"{inner} AS {name}"
            for inner, name in zip(block.rank or (), ranks, strict=True)
            if inner not in known
        ]
        if extra:
            columns.append(extra)
        inner = f"SELECT {', '.join(columns) or '1 AS c0'} {block.body()}"
        return Block(
            f"({inner}) AS {alias}",
            cells,
            unit=None if block.unit is None else f"{alias}.u",
            rank=None if block.rank is None else tuple(f"{alias}.{name}" for name in ranks),
            kept=block.kept,
        )

    def _join(self, relation: Join) -> Block:
        left, right = self.block(relation.left), self.block(relation.right)
        kept = [field.name for field in fields_of(relation.right)]
        keys = [name for _, name in relation.pairs]
        if relation.copies is not None:
            right = self._copies(right, keys, kept, relation.copies)
            if left.kept and left.where:
                # The bound holds of these rows, not of their copies.
                left = self.wrapped(left, [name for name in left.cells if name in self.used])
            rank = left.rank if relation.copies == 1 else None
            on = self._ons(left, right, relation.pairs)
        else:
            left = self._met(left, relation.left, [*left.cells])
            right = self._met(
                right, relation.right, [n for n in kept if n in self.used or n in keys]
            )
            known = left.rank is not None and right.rank is not None
            rank = (*(left.rank or ()), *(right.rank or ())) if known else None
            units = (unit_of(relation.left), unit_of(relation.right))
            others = tuple(pair for pair in relation.pairs if pair != units)
            on = [f"{left.unit} = {right.unit}", *self._ons(left, right, others)]
        cells = {**left.cells, **right.cells}
        source = f"{left.source} {relation.kind.value} JOIN {right.source} ON {' AND '.join(on)}"
        return Block(source, cells, left.where, left.unit, rank, kept=left.kept)

    def _ons(self, left: Block, right: Block, pairs: tuple[tuple[str, str], ...]) -> list[str]:
        return [f"{bare_of(left.cells[one])} = {bare_of(right.cells[two])}" for one, two in pairs]

    def _met(self, block: Block, relation: Relation, names: list[str]) -> Block:
        """Return a private block that may meet another: few rows of each unit, in a subquery."""
        met = block if block.kept else self._cut(block, relation, bound_rows(relation))
        if not met.where:
            return met
        return self.wrapped(met, [name for name in names if name in met.cells])

    def _cut(self, block: Block, relation: Relation, most: int) -> Block:
        """Return the block of `relation` with at most `most` rows of each unit: of a whole table the first ones."""
        while isinstance(relation, Project):
            relation = relation.source
        whole = isinstance(relation, Scan) and block.rank is not None
        return self.at_most(block, most) if whole else self.bounded(block, most)

    def _copies(self, block: Block, keys: list[str], kept: list[str], copies: int) -> Block:
        """Return a public table with at most `copies` rows for one key: enforced, not believed."""
        names = [name for name in kept if name in self.used or name in keys]
        inner = self.wrapped(block, names) if block.where else block
        by = ", ".join(bare_of(inner.cells[name]) for name in keys)
        order = ", ".join(f"{bare_of(inner.cells[name])} NULLS FIRST" for name in names)
        number = f"ROW_NUMBER() OVER (PARTITION BY {by} ORDER BY {order}) AS n"
        found = self.wrapped(inner, names, extra=number)
        return self.wrapped(replace(found, where=(f"{number_of(found)} <= {copies}",)), names)

    def _per_unit(self, relation: PerUnit) -> Block:
        below = self.block(relation.source)
        if relation.cut:
            below = self._cut(below, relation.source, relation.most)
        writer = self.writer(below)
        alias = self.alias()
        assert below.unit is not None, "only person units are grouped by"
        columns, cells = [f"{below.unit} AS u"], {}
        rank: list[str] = []
        for i, (name, key) in enumerate(relation.keys):
            value, cells[name] = _key(writer, key, f"{alias}.k{i}")
            columns.append(f"{value} AS k{i}")
            # First in the order of its text: that of a stored category is another one elsewhere.
            rank += dict.fromkeys((cells[name].value, f"{alias}.k{i}"))
        # By their places: a constant would be taken for one.
        by = ", ".join(str(place + 1) for place in range(len(columns)))
        domains = {field.name: field.domain for field in relation.fields}
        places: dict[str, str] = {}
        for name, aggregate in relation.aggregates:
            own = [
                places.setdefault(
                    self._unit_aggregate(writer, part, below.unit), f"{alias}.a{len(places)}"
                )
                for part in _parts(aggregate)
            ]
            if aggregate.function is Function.AVG:
                cells[name] = self._mean(own, aggregate, writer, relation.most)
            else:
                cells[name] = self._clamped(own[0], domains[name])
        columns += [f"{text} AS {place.rsplit('.', 1)[1]}" for text, place in places.items()]
        cells[relation.unit] = Cell(f"{alias}.u", domains[relation.unit], f"{alias}.u")
        inner = f"SELECT {', '.join(columns)} {below.body()} GROUP BY {by}"
        return Block(
            f"({inner}) AS {alias}",
            cells,
            unit=f"{alias}.u",
            rank=tuple(rank),
            kept=below.kept or relation.cut or not relation.keys,
        )

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

    def _mean(self, places: list[str], aggregate: Aggregate, writer: Writer, most: int) -> Cell:
        """Return a person's mean from her sum and her count, which are of the same rows."""
        assert aggregate.operand is not None, "means are of something"
        parts = mean_parts(aggregate.operand, writer.fields, most)
        cells = {
            name: self._clamped(place, domain)
            for place, (name, domain) in zip(places, parts.items(), strict=True)
        }
        written = Writer(cells, self.dialect).write(MEAN)
        return Cell(f"({written})", mean_domain(aggregate.operand, writer.fields, most))

    def _clamped(self, value: str, domain: Domain) -> Cell:
        """Return a person's own aggregate, held inside its declared range by an explicit CASE."""
        found = whole_range(domain)
        if found is None:
            return Cell(value, domain, value)
        return Cell(clamped(value, *found, cast=True), domain, held=found)

    def bounded(self, block: Block, max_rows: int) -> Block:
        """Return the block with at most `max_rows` rows of each unit.

        Which rows stay depends on the unit's own rows only: they are ordered by their stored rank, or
        by a hash of what they say and then by what they say, so neither other people's rows nor the
        physical order can matter.
        """
        assert block.unit is not None, "rows are bounded for people only"
        names = [name for name in block.cells if name in self.used]
        order = block.rank
        if order is None:
            order = self._content([block.cells[name] for name in names])
        over = f"PARTITION BY {block.unit} ORDER BY {', '.join(order) or block.unit}"
        found = self.wrapped(block, names, extra=f"ROW_NUMBER() OVER ({over}) AS n")
        return replace(found, where=(f"{number_of(found)} <= {max_rows}",), kept=True)

    def in_order(self, block: Block, by: list[str], *, within: list[str]) -> Block:
        """Return the block with the rows of a unit (and of keys) numbered in the order of columns.

        Rows that are equal there follow each other by a hash of what they say, so that rows of
        other people decide nothing. `number_of` is the number's column.
        """
        names = [name for name in block.cells if name in self.used]
        parts = [str(block.unit), *(bare_of(block.cells[name]) for name in within)]
        content = self._content([block.cells[name] for name in names])
        order = ", ".join((*(bare_of(block.cells[name]) for name in by), *content))
        over = f"PARTITION BY {', '.join(parts)} ORDER BY {order}"
        bare = replace(block, rank=None)
        return self.wrapped(bare, names, extra=f"ROW_NUMBER() OVER ({over}) AS n")

    def _content(self, cells: list[Cell]) -> tuple[str, ...]:
        """Return what rows are ordered by: a hash of all they say, then what they say."""
        values = [carried(cell, "")[0] for cell in cells]
        texts = [
            f"COALESCE({function('text_of_any', self.dialect, value)}, '')"
            for cell, value in zip(cells, values, strict=True)
            if not isinstance(cell.domain, IdentifierDomain)
        ]
        said = f" || {constant('|', self.dialect)} || ".join(texts) if texts else "''"
        return (f"md5({said})", *values)


def _key(writer: Writer, key: e.Expr, place: str) -> tuple[str, Cell]:
    """Return what a group goes by, and the cell that it becomes at `place`."""
    if isinstance(key, e.ColumnRef):
        return carried(writer.cells[key.name], place)
    return writer.write(key), Cell(place, writer.domain(key), place)


def _parts(aggregate: Aggregate) -> tuple[Aggregate, ...]:
    """Return what the engine works out of a person's rows: of a mean the sum and the count."""
    if aggregate.function is not Function.AVG:
        return (aggregate,)
    return tuple(replace(aggregate, function=f) for f in (Function.SUM, Function.COUNT))


def number_of(block: Block) -> str:
    """Return the column that numbers the rows of a block that was given numbers."""
    return f"{block.source.rsplit(' ', 1)[1]}.n"


def _declared(scan: Scan, field: Field) -> tuple[str, bool]:
    """Return the declared column behind a field of a table, and whether it is its time of day."""
    day = field.name.removesuffix(CLOCK)
    origin = next(known.origin for known in scan.fields if known.name == day)
    assert origin is not None, "a table's columns come from the table"
    return origin.column.name, day != field.name
