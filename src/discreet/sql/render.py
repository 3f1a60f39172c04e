"""A question to the SQL that an engine runs: one SELECT for the sums, one for each histogram."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.core.schema import BooleanDomain, CategoryDomain, DateDomain, IntegerDomain
from discreet.engine.base import Engine
from discreet.engine.functions import function
from discreet.plan import expr as e
from discreet.plan.expr import Expr
from discreet.plan.ir import Filter, Join, PerUnit, Project, Relation, Scan, Statement
from discreet.plan.measure import Choice, Kind, Measure
from discreet.plan.plan import Question
from discreet.plan.values import lattice
from discreet.sql.blocks import Block, BlockWriter
from discreet.sql.expressions import Writer


@dataclass(frozen=True, slots=True)
class Raw:
    """One column that the engine adds up: its kind (rows, present, sum, ...) and operand."""

    kind: str
    operand: Expr | None


@dataclass(frozen=True, slots=True)
class Read:
    """One SELECT. Its columns are the keys, then `raws` in order (or a bin and its count)."""

    sql: str
    raws: tuple[Raw, ...]
    choice: str | None = None


_RAWS: dict[Kind, tuple[str, ...]] = {
    Kind.ROWS: ("rows",),
    Kind.PRESENT: ("present",),
    Kind.DISTINCT: ("distinct",),
    Kind.SUM: ("sum",),
    Kind.CENTRED: ("sum", "present"),
    Kind.SQUARES: ("squares", "sum", "present"),
    Kind.UNITS: ("units",),
}


def raws_of(measure: Measure) -> tuple[Raw, ...]:
    """Return what the engine must add up for `measure`."""
    return tuple(Raw(kind, measure.operand) for kind in _RAWS[measure.kind])


def render(
    question: Question,
    engine: Engine,
    *,
    widths: Mapping[str, int],
    views: Mapping[str, str] | None = None,
) -> tuple[Read, ...]:
    """Return all SELECTs that answer `question` exactly.

    `widths` gives each histogram's bin width; `views` the stored bounded tables that there are.
    """
    reads = []
    stored = views or {}
    if question.measured.measures:
        reads.append(_linear(question, engine, stored))
    for name, choice in question.measured.choices:
        reads.append(_histogram(question, engine, (name, choice, widths[name]), stored))
    return tuple(reads)


def bounded_view(scan: Scan, engine: Engine) -> str:
    """Return the SELECT whose stored result is the bounded table of `scan`."""
    return BlockWriter(engine, frozenset(field.name for field in scan.fields)).view_sql(scan)


def _prepared(
    question: Question, engine: Engine, views: Mapping[str, str]
) -> tuple[BlockWriter, Block]:
    statement = question.statement
    blocks = BlockWriter(engine, used_columns(statement, question), views)
    block = blocks.block(statement.source)
    if question.stability.enforced:
        block = blocks.bounded(block, question.stability.max_rows)
    return blocks, block


def _linear(question: Question, engine: Engine, views: Mapping[str, str]) -> Read:
    blocks, block = _prepared(question, engine, views)
    writer = blocks.writer(block)
    raws: dict[Raw, None] = {}
    for _, measure in question.measured.measures:
        raws.update(dict.fromkeys(raws_of(measure)))
    additive = not any(raw.kind in {"distinct", "units"} for raw in raws)
    keys = [_key(writer, key.value, bare=additive) for key in question.statement.keys]
    columns = [f"{key} AS k{i}" for i, key in enumerate(keys)]
    columns += [
        f"{_raw(writer, raw, block, engine.capabilities.dialect)} AS r{i}"
        for i, raw in enumerate(raws)
    ]
    return Read(f"SELECT {', '.join(columns)} {block.body()}{_group(len(keys))}", tuple(raws))


def _histogram(
    question: Question,
    engine: Engine,
    wanted: tuple[str, Choice, int],
    views: Mapping[str, str],
) -> Read:
    name, choice, width = wanted
    blocks, block = _prepared(question, engine, views)
    writer = blocks.writer(block)
    keys = [_key(writer, key.value, bare=True) for key in question.statement.keys]
    bin_ = position_sql(writer, choice)
    if width > 1:
        bin_ = function("divide", engine.capabilities.dialect, bin_, str(width))
    columns = [f"{key} AS k{i}" for i, key in enumerate(keys)]
    columns += [f"{bin_} AS b", "COUNT(*) AS n"]
    group = ", ".join([*(str(i + 1) for i in range(len(keys))), str(len(keys) + 1)])
    sql = f"SELECT {', '.join(columns)} {block.body()} GROUP BY {group}"
    return Read(sql, (), choice=name)


def position_sql(writer: Writer, choice: Choice) -> str:
    """Return SQL for the position of a value in the domain it is chosen from: 0, 1, ... or NULL."""
    domain = choice.domain
    written = writer.write(choice.operand)
    if isinstance(domain, DateDomain):
        first = function("day_number", writer.dialect, f"DATE '{domain.lower.isoformat()}'")
        return f"({function('day_number', writer.dialect, written)} - {first})"
    found = lattice(domain)
    assert found is not None, "only ordered domains have quantiles"
    # WHERE may have left a coarser step than the one the SQL counts in.
    step = writer.step(choice.operand)
    low, factor = int(found[0] / step), int(found[2] / step)
    shifted = f"(({written}) - {low})" if low else f"({written})"
    return shifted if factor == 1 else function("divide", writer.dialect, shifted, str(factor))


_BARE = IntegerDomain | CategoryDomain | BooleanDomain


def _key(writer: Writer, value: Expr, *, bare: bool) -> str:
    """Return a key's SQL. A bare column may be grouped as it is: undeclared values are dropped,
    or added to NULL, after the counting, which is the same sum and much faster."""
    if bare and isinstance(value, e.ColumnRef):
        cell = writer.cells[value.name]
        # Not days: a database holds days that Python's calendar does not.
        if cell.raw is not None and isinstance(cell.domain, _BARE):
            return cell.raw
    return writer.write(value)


def _raw(writer: Writer, raw: Raw, block: Block, dialect: str) -> str:
    if raw.operand is None:
        return "COUNT(*)" if raw.kind == "rows" else f"COUNT(DISTINCT {block.unit})"
    value = writer.write(raw.operand)
    match raw.kind:
        case "units":
            return f"COUNT(DISTINCT CASE WHEN ({value}) IS NOT NULL THEN {block.unit} END)"
        case "present":
            return f"COUNT({value})"
        case "distinct":
            return f"COUNT(DISTINCT {value})"
        case "sum":
            return function("sum_integer", dialect, value)
        case _:
            return _squares(writer, raw.operand, value, dialect)


def _squares(writer: Writer, operand: Expr, value: str, dialect: str) -> str:
    found = lattice(writer.domain(operand))
    assert found is not None, "squares are summed of numbers"
    largest = max(abs(found[0]), abs(found[1])) / found[2]
    if largest < 2**31:
        if isinstance(operand, e.Literal):
            value = f"CAST({value} AS BIGINT)"  # a bare constant is read as 32 bits
        return function("sum_integer", dialect, f"({value}) * ({value})")
    wide = f"CAST({value} AS DECIMAL(19, 0))"
    return f"CAST(SUM({wide} * {wide}) AS DECIMAL(38, 0))"


def _group(keys: int) -> str:
    return f" GROUP BY {', '.join(str(i + 1) for i in range(keys))}" if keys else ""


def used_columns(statement: Statement, question: Question) -> frozenset[str]:
    """Return every column that anything in the statement reads."""
    found: set[str] = set()
    for key in statement.keys:
        found |= e.columns_of(key.value)
    for _, measure in question.measured.measures:
        if measure.operand is not None:
            found |= e.columns_of(measure.operand)
    for _, choice in question.measured.choices:
        found |= e.columns_of(choice.operand)
    _used_below(statement.source, found)
    return frozenset(found)


def _used_below(relation: Relation, found: set[str]) -> None:
    match relation:
        case Scan():
            return
        case Filter(source=source, condition=condition):
            found |= e.columns_of(condition)
            _used_below(source, found)
        case Project(source=source, values=values):
            for value in values:
                found |= e.columns_of(value)
            _used_below(source, found)
        case Join(left=left, right=right, pairs=pairs):
            found |= {name for pair in pairs for name in pair}
            _used_below(left, found)
            _used_below(right, found)
        case PerUnit(source=source, aggregates=aggregates, keys=keys):
            for _, aggregate in aggregates:
                if aggregate.operand is not None:
                    found |= e.columns_of(aggregate.operand)
            for _, key in keys:
                found |= e.columns_of(key)
            _used_below(source, found)
