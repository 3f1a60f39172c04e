"""Sealed codes: the generated SQL that turns private rows into codes, each read judged by the kernel; and exact marginals.

Canonical, bounded, one small number a cell; only what is sealed here may run. Nothing that this package says
about rows of a unit, sizes or neighbours is believed: the kernel reads it off the SQL
(docs/notes/0039-sealed-codes.md).

Exact marginals are GROUP BY over codes that are stored once: the engine counts, rows stay there. Where very many marginals
of a small table are asked for, its codes are fetched once, packed into few numbers a row, and counted here; larger tables
never leave the engine. Another counter takes rows in memory: for benchmarks, tests and tables that are already codes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pyarrow as pa

from discreet.ask.plan.ir import Scan, bound_rows, structural_rows
from discreet.ask.release.sealing import declared_scans
from discreet.ask.sql.relations import complete_rows
from discreet.ask.sql.write.blocks import Block, BlockWriter
from discreet.ask.sql.write.expressions import Cell, clamped
from discreet.ask.sql.write.statement import used_below
from discreet.base.event import EVERYONE, Region
from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    Dataset,
    DateDomain,
    Domain,
    IntegerDomain,
    NumberDomain,
    Table,
    TimestampDomain,
)
from discreet.data.catalog.axes import home
from discreet.data.engines.base import Engine, PaidReader, open_exact, require_paid
from discreet.data.engines.dialects import DIALECTS
from discreet.data.engines.functions import function
from discreet.errors import InternalError
from discreet.measure.columns import Coded, shape_of
from discreet.measure.decoding import day_number
from discreet.measure.private_marginals import CountSensitivity
from discreet.measure.shape import Codes, Columns, Counts, Shape, joint_codes
from discreet.privacy.kernel.canonical import CatalogScans, ReadScope, dataset_of
from discreet.privacy.kernel.cells import constant, enum_type
from discreet.privacy.kernel.facts import codes_of
from discreet.privacy.kernel.mechanism import Kind
from discreet.privacy.kernel.nodes import Unfit
from discreet.privacy.kernel.seal import Draft, MeasureDraft, parse, sealed

LONGEST_WORD = 200
"""Texts of more characters are never learned as a category; they count as missing."""


def rows_block(scan: Scan, engine: Engine, names: Sequence[str]) -> Block:
    """Return the canonical rows of a table with these columns, bounded where a person has several.

    The same rows as those of questions: a row that lacks a value of a complete column is not among them.

    How many rows of one unit there are at most, the kernel reads off the SQL.
    """
    rows = complete_rows(scan)
    used = {scan.id_of(name) for name in names}
    if scan.unit is not None:
        used.add(scan.unit)
    used_below(rows, used)
    writer = BlockWriter(engine, frozenset(used))
    block = writer.block(rows)
    if structural_rows(scan) is not None:
        return block
    return writer.bounded(block, bound_rows(scan))


def cell_of(block: Block, scan: Scan, name: str) -> Cell:
    """Return the canonical value of one column of a block."""
    return block.cells[scan.id_of(name)]


def codes_sql(scan: Scan, engine: Engine, columns: Sequence[Coded]) -> str:
    """Return the SELECT of all codes, c0, c1, ...: rows with an undeclared gap are left out.

    Written for `discreet.privacy.kernel.facts`, which reads off the SQL that no code can leave its table.
    """
    block = rows_block(scan, engine, [column.name for column in columns])
    cells = [cell_of(block, scan, column.name) for column in columns]
    return block_codes_sql(block, cells, columns, engine)


def block_codes_sql(
    block: Block, cells: Sequence[Cell], columns: Sequence[Coded], engine: Engine
) -> str:
    """Return the SELECT of the codes of some cells of a block that is bounded already."""
    dialect = engine.capabilities.dialect
    small = DIALECTS[dialect].small
    # Positions first, bins around them: otherwise each edge of a bin would compute its cell again.
    inner = [
        f"{place_sql(cell, column, engine)} AS p{i}"
        for i, (cell, column) in enumerate(zip(cells, columns, strict=True))
    ]
    if block.unit is not None:
        inner.append(f"{block.unit} AS u")
    outer = [
        f"CAST({code_sql(f'p.p{i}', cell, column, dialect)} AS {small}) AS c{i}"
        for i, (cell, column) in enumerate(zip(cells, columns, strict=True))
    ]
    complete = [f"p.p{i} IS NOT NULL" for i, column in enumerate(columns) if not column.missing]
    where = f" WHERE {' AND '.join(complete)}" if complete else ""
    places = f"SELECT {', '.join(inner)} {block.body()}"
    return f"SELECT {', '.join(outer)} FROM ({places}) AS p{where}"


def words_sql(scan: Scan, engine: Engine, name: str) -> str:
    """Return the SELECT of a column's texts, each with the number of units that have it."""
    block = rows_block(scan, engine, [name])
    unit = "" if block.unit is None else f", {block.unit} AS u"
    count = "COUNT(*)" if block.unit is None else "COUNT(DISTINCT w.u)"
    inner = f"SELECT {cell_of(block, scan, name).value} AS v{unit} {block.body()}"
    return (
        f"SELECT w.v AS v, {count} AS n FROM ({inner}) AS w WHERE w.v IS NOT NULL "
        f"AND length(w.v) BETWEEN 1 AND {LONGEST_WORD} GROUP BY w.v"
    )


def place_sql(cell: Cell, column: Coded, engine: Engine) -> str:
    """Return SQL for the position of a cell in its column's domain, NULL where it has none."""
    domain, dialect = column.domain, engine.capabilities.dialect
    if isinstance(domain, CategoryDomain):
        if column.stems:
            return _place_by_stem(cell, domain, column.stems, engine)
        return _place_in_list(cell, domain, engine)
    if isinstance(domain, BooleanDomain):
        return f"CASE WHEN {cell.value} THEN 1 WHEN NOT ({cell.value}) THEN 0 END"
    return position_sql(cell, domain, dialect)


def code_sql(place: str, cell: Cell, column: Coded, dialect: str) -> str:
    """Return SQL for the code of a position; the last code where NULL has one of its own."""
    found = place
    if column.edges is not None:
        found = cell_sql(place, column.edges, dialect)
    elif not _is_certain(cell, column):
        found = clamped(place, 0, column.positions - 1)
    if not column.missing:
        return found
    return f"CASE WHEN {place} IS NOT NULL THEN {found} ELSE {column.values} END"


def _is_certain(cell: Cell, column: Coded) -> bool:
    """Return whether a position cannot lie outside, as the SQL alone shows."""
    if isinstance(column.domain, BooleanDomain | CategoryDomain):
        return True
    days = isinstance(column.domain, DateDomain | TimestampDomain)
    return cell.domain == column.domain and not days


def _place_in_list(cell: Cell, domain: CategoryDomain, engine: Engine) -> str:
    dialect = engine.capabilities.dialect
    if DIALECTS[dialect].enums:
        if engine.capabilities.canonical and cell.raw != cell.value and cell.domain == domain:
            return f"enum_code({cell.raw})"
        # Looked up by hash; a CASE walks through the list.
        return f"enum_code(TRY_CAST({cell.value} AS {enum_type(domain)}))"
    cases = " ".join(
        f"WHEN {cell.value} = {constant(value, dialect)} THEN {i}"
        for i, value in enumerate(domain.values)
    )
    return f"CASE {cases} END"


def _place_by_stem(cell: Cell, domain: CategoryDomain, stems: int, engine: Engine) -> str:
    """Return SQL for the place of a text: as a whole value, else by its longest stem."""
    first = len(domain.values) - stems
    lists: list[tuple[str, int, list[str]]] = [(cell.value, 0, list(domain.values[:first]))]
    for i, written in enumerate(domain.values[first:], start=first):
        stem = written[:-1]
        value = f"substr({cell.value}, 1, {len(stem)})"
        if lists[-1][0] != value:
            lists.append((value, i, []))
        lists[-1][2].append(stem)
    parts = []
    for value, start, listed in lists:
        if listed:
            place = _place_in_list(Cell(value, cell.domain), CategoryDomain(tuple(listed)), engine)
            parts.append(f"CAST({place} AS BIGINT) + {start}")
    return f"COALESCE({', '.join(parts)})"


def position_sql(cell: Cell, domain: Domain, dialect: str) -> str:
    """Return SQL for the position of a number or day, counted from the lower bound of `domain`.

    The cell may have been read with a wider domain: then the position can lie outside.
    """
    match domain:
        case IntegerDomain(lower=lower):
            return _minus(cell.value, lower)
        case NumberDomain(lower=lower, step=step):
            own = cell.domain.step if isinstance(cell.domain, NumberDomain) else Fraction(1)
            shifted = _minus(cell.value, int(lower / own))
            # A learned range may count in coarser steps than the declared one.
            coarser = step / own
            if coarser == 1:
                return shifted
            return function("divide", dialect, shifted, str(int(coarser)))
        case DateDomain(lower=first):
            return _minus(function("day_number", dialect, cell.value), day_number(first))
        case TimestampDomain(lower=moment):
            return _minus(function("day_number", dialect, cell.value), day_number(moment.date()))
        case _:
            raise InternalError("only numbers and days have positions")


def cell_sql(position: str, edges: Sequence[int], dialect: str) -> str:
    """Return SQL for the bin of a position that is not NULL: below the second edge 0, and so on.

    Runs of equally wide bins are divided instead of compared, and the run is found by halving: a
    row passes a few comparisons, not one for each of a thousand edges.
    """
    return _halved(position, _runs(edges), dialect)


@dataclass(frozen=True, slots=True)
class _Run:
    """Bins `first`, `first` + 1, ... `last`, from `start` on, each `width` positions wide."""

    start: int
    width: int
    first: int
    last: int


def _runs(edges: Sequence[int]) -> list[_Run]:
    found: list[_Run] = []
    for i, edge in enumerate(edges):
        width = edges[i + 1] - edge if i + 1 < len(edges) else 0
        before = found[-1] if found else None
        if before is not None and width in (0, before.width):
            # The last bin has no end: whatever its width, it may close a run.
            found[-1] = replace(before, last=i)
        else:
            found.append(_Run(edge, width, i, i))
    return found


def _halved(position: str, runs: Sequence[_Run], dialect: str) -> str:
    if len(runs) > 1:
        middle = len(runs) // 2
        below = _halved(position, runs[:middle], dialect)
        above = _halved(position, runs[middle:], dialect)
        return f"CASE WHEN {position} < {runs[middle].start} THEN {below} ELSE {above} END"
    (run,) = runs
    if run.first == run.last:
        return str(run.first)
    # Held inside the run first: then the quotient is, too, and nobody has to believe it.
    behind = run.start + run.width * (run.last - run.first)
    inside = _minus(clamped(position, run.start, behind), run.start)
    divided = function("divide", dialect, inside, str(run.width))
    return f"{run.first} + COALESCE({divided}, 0)"


def _minus(value: str, lower: int) -> str:
    return f"(({value}) - ({lower}))" if lower else f"({value})"


@dataclass(frozen=True, slots=True)
class SealedSource:
    """Whose rows a read is of, as the SQL itself says: a dataset, and the tables of it that are read."""

    dataset: Dataset
    tables: tuple[Table, ...]

    def region(self, snapshots: Mapping[str, str]) -> Region:
        """Return where these people sit in these versions of the tables.

        Rows without a value are left out, but nobody is billed less for it.
        """
        region = EVERYONE
        for table in self.tables:
            region &= home(self.dataset, table, snapshots.get(table.name, ""))
        return region

    def check(self, other: SealedSource) -> None:
        """Refuse a read of other people than these, which are the ones that were charged."""
        if other.dataset.name != self.dataset.name or other.region({}) != self.region({}):
            raise Unfit("a read of other people than were charged")


@dataclass(frozen=True, slots=True)
class SealedCodes:
    """A SELECT of codes that may run, the tables they index, and how far one unit can move counts."""

    sql: str
    shape: Shape
    unit: CountSensitivity
    source: SealedSource


@dataclass(frozen=True, slots=True)
class SealedWords:
    """A SELECT of texts with their units that may run; a unit moves at most `groups`, by one each."""

    sql: str
    groups: int
    source: SealedSource


def seal_codes(scan: Scan, engine: Engine, columns: Sequence[Coded]) -> SealedCodes:
    """Return the SELECT of a table's codes, judged. An unfit one is our own bug and never runs."""
    return judged_codes(codes_sql(scan, engine, columns), columns, scans_of(scan, engine), engine)


def judged_codes(
    sql: str, columns: Sequence[Coded], scans: CatalogScans, engine: Engine
) -> SealedCodes:
    """Return a SELECT of codes over these declared tables, judged by the kernel."""
    shape = shape_of(columns)
    tree = parse(sql, engine.capabilities.dialect, engine.tree(sql))
    found = codes_of(tree, shape.sizes, scans)
    unit = CountSensitivity(found.rows, dataset_of(found, scans.tables).neighbours)
    return SealedCodes(sql, shape, unit, source_of(found, scans))


def seal_words(scan: Scan, engine: Engine, name: str) -> SealedWords:
    """Return the SELECT of a column's texts and how many units have each, judged.

    Guarantee: a unit is counted once at most for each text that its rows hold, so it moves at most
        `groups` numbers by one each, whatever its rows say: in squared L2 as far as in L1.
    """
    sql = words_sql(scan, engine, name)
    scans = scans_of(scan, engine)
    tree = parse(sql, engine.capabilities.dialect, engine.tree(sql))
    kind = Kind.ROWS if scan.unit is None else Kind.UNITS
    read = sealed(Draft(sql, {"n": MeasureDraft(kind, (0,))}), tree, scans)
    once = read.facts.person or read.stability.max_rows == 1
    if read.facts.keys != 1 or len(read.facts.outputs) != 1 or not once:
        raise Unfit("texts that are not counted by units")
    if read.facts.person and kind is not Kind.UNITS:
        raise Unfit("a threshold on something other than units")
    return SealedWords(sql, read.stability.coordinates, source_of(read.facts, scans))


def scans_of(scan: Scan, engine: Engine) -> CatalogScans:
    """Return a table as the kernel asks for it."""
    assert scan.dataset is not None, "every table belongs to a dataset"
    return declared_scans([(scan.dataset, scan.table)], engine)


def source_of(found: ReadScope, scans: CatalogScans) -> SealedSource:
    """Return whose rows a judged read is of."""
    tables = tuple(scans.tables[name].table for name in sorted(found.private))
    return SealedSource(dataset_of(found, scans.tables), tables)


class MemoryCounter:
    """Exact marginals of a matrix of codes."""

    def __init__(self, codes: Codes, shape: Shape) -> None:
        self._codes = codes[:, : shape.width].astype(np.int64, order="F")  # read by column
        self._shape = shape

    def marginals(self, wanted: Sequence[Columns]) -> list[Counts]:
        """Return the exact counts of several marginals."""
        return [self._marginal(columns) for columns in wanted]

    def _marginal(self, columns: Columns) -> Counts:
        place = joint_codes(self._codes, columns, self._shape.sizes)
        counts = np.bincount(place, minlength=self._shape.cells(columns))
        return counts.reshape(self._shape.of(columns))


BATCH = 16
"""Marginals counted by one statement: fewer round trips, and none of them runs for long."""

PATIENCE = 3600.0
"""Seconds for one batch."""

MANY = 64
"""From so many marginals at once, fetching the codes pays."""

MOST_CELLS = 50_000_000
"""Rows times columns of codes that are held in memory at most: 400 MB."""

REMEMBERED = 256 << 20
"""Bytes of exact marginals that are kept: adaptive methods ask for the same ones every round."""


def store_codes(reader: PaidReader, codes: SealedCodes) -> SqlCounter:
    """Return the counter of codes, stored for as long as the state is held. After paying."""
    return SqlCounter(reader, require_paid(reader).keep(_judged(codes).sql), codes.shape)


def unstored_counter(reader: PaidReader, codes: SealedCodes) -> SqlCounter:
    """Return the counter of codes that are read where they are: for a single look. After paying."""
    return SqlCounter(reader, f"({_judged(codes).sql}) AS z", codes.shape)


def _judged(codes: SealedCodes) -> SealedCodes:
    if not isinstance(codes, SealedCodes):
        raise TypeError("The kernel comes before a look: only sealed codes are counted.")
    return codes


class SqlCounter:
    """Counts marginals of stored codes; see `discreet.measure.private_marginals.Counter`.

    Guarantee: every statement counts rows of sealed codes, by some of their columns, and nothing else;
        so a marginal is what `discreet.privacy.kernel.facts.SelectedCodes` says: each row lies in one of its cells.
    """

    def __init__(self, reader: PaidReader, relation: str, shape: Shape) -> None:
        self._reader = require_paid(reader)
        self._relation = relation
        self._shape = shape
        self._known: OrderedDict[Columns, Counts] = OrderedDict()
        self._bytes = 0
        self._fetched: MemoryCounter | None = None
        self._large = False

    def __repr__(self) -> str:
        return "SqlCounter(hidden)"

    def marginals(self, wanted: Sequence[Columns]) -> list[Counts]:
        """Return the exact counts of several marginals, each in the shape of its columns."""
        found: dict[Columns, Counts] = {c: self._known[c] for c in wanted if c in self._known}
        fresh = [columns for columns in dict.fromkeys(wanted) if columns not in found]
        if len(fresh) >= MANY and self._fetched is None and not self._large:
            self._fetch()
        if self._fetched is not None:
            found |= dict(zip(fresh, self._fetched.marginals(fresh), strict=True))
            return [found[columns].copy() for columns in wanted]
        for start in range(0, len(fresh), BATCH):
            batch = fresh[start : start + BATCH]
            for columns, counts in zip(batch, self._count(batch), strict=True):
                found[columns] = counts
                self._remember(columns, counts)
        return [found[columns].copy() for columns in wanted]

    def _fetch(self) -> None:
        """Bring the codes of a small table here; a large one stays where it is."""
        count = self._reader.run(f"SELECT COUNT(*) AS n FROM {self._relation}", seconds=PATIENCE)
        rows = int(integers(open_exact(count).column("n"))[0])
        if rows * self._shape.width > MOST_CELLS:
            self._large = True
            return
        groups = _packed(self._shape)
        packs = ", ".join(f"{_pack(group, self._shape)} AS k{i}" for i, group in enumerate(groups))
        sql = f"SELECT {packs} FROM {self._relation}"
        table = open_exact(self._reader.run(sql, seconds=PATIENCE))
        codes = np.empty((rows, self._shape.width), dtype=np.int32, order="F")
        for i, group in enumerate(groups):
            rest = integers(table.column(f"k{i}"))
            for column in reversed(group):
                rest, codes[:, column] = np.divmod(rest, self._shape.sizes[column])
        self._fetched = MemoryCounter(codes, self._shape)

    def _count(self, batch: Sequence[Columns]) -> list[Counts]:
        sql = " UNION ALL ".join(
            _group(i, columns, self._shape, self._relation) for i, columns in enumerate(batch)
        )
        table = open_exact(self._reader.run(sql, seconds=PATIENCE))
        which, place, rows = (integers(table.column(name)) for name in ("m", "k", "n"))
        counts = []
        for i, columns in enumerate(batch):
            mine = which == i
            dense = np.zeros(self._shape.cells(columns), dtype=np.int64)
            dense[place[mine]] = rows[mine]
            counts.append(dense.reshape(self._shape.of(columns)))
        return counts

    def _remember(self, columns: Columns, counts: Counts) -> None:
        self._known[columns] = counts
        self._bytes += counts.nbytes
        while self._bytes > REMEMBERED and self._known:
            _, gone = self._known.popitem(last=False)
            self._bytes -= gone.nbytes


def _packed(shape: Shape) -> list[list[int]]:
    """Return the columns in groups whose codes fit together into one whole number of 62 bits."""
    groups: list[list[int]] = [[]]
    cells = 1
    for column, size in enumerate(shape.sizes):
        if cells * size >= 2**62:
            groups.append([])
            cells = 1
        groups[-1].append(column)
        cells *= size
    return groups


def _pack(columns: Sequence[int], shape: Shape) -> str:
    place = "CAST(0 AS BIGINT)"
    for column in columns:
        place = f"({place} * {shape.sizes[column]} + c{column})"
    return place


def _group(number: int, columns: Columns, shape: Shape, relation: str) -> str:
    """Return the SELECT of one marginal: grouped by bare columns, each group told by its place."""
    place = _pack(columns, shape)
    by = f" GROUP BY {', '.join(f'c{column}' for column in columns)}" if columns else ""
    return f"SELECT {number} AS m, {place} AS k, COUNT(*) AS n FROM {relation}{by}"


def integers(column: pa.ChunkedArray) -> Counts:
    """Return a column of whole numbers as an array."""
    if not len(column):
        return np.zeros(0, dtype=np.int64)
    whole = column.cast(pa.int64()).combine_chunks()
    return np.from_dlpack(whole).astype(np.int64, copy=False)
