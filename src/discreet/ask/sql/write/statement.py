"""A question to the SQL that an engine runs: one SELECT for all sums, one for each histogram.

Only the columns that the question reads are written into it. Clamps hold an operand between two integers, in the
forms that the kernel accepts.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from discreet.ask.plan import expr as e
from discreet.ask.plan.evaluate import computes, outermost_curves, replaced, tabulated
from discreet.ask.plan.expr import EPOCH, Expr, Operator, lattice
from discreet.ask.plan.ir import Filter, Join, PerUnit, Project, Relation, Scan, Statement
from discreet.ask.plan.measure import Choice, Measure
from discreet.ask.plan.plan import Question
from discreet.ask.sql.write.blocks import Block, BlockWriter
from discreet.ask.sql.write.expressions import Cell, Writer, clamped, short
from discreet.base.schema import CategoryDomain, DateDomain, TimestampDomain
from discreet.data.engines.base import Engine
from discreet.data.engines.dialects import DIALECTS
from discreet.data.engines.functions import function
from discreet.privacy.kernel.facts import LARGEST_SMALL
from discreet.privacy.kernel.mechanism import Kind
from discreet.privacy.kernel.seal import Draft, MeasureDraft


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
    used_below(statement.source, found)
    return frozenset(found)


def used_below(relation: Relation, found: set[str]) -> None:
    """Add every column that a relation reads of those below it."""
    match relation:
        case Scan():
            return
        case Filter(source=source, condition=condition):
            found |= e.columns_of(condition)
            used_below(source, found)
        case Project(source=source, values=values):
            for value in values:
                found |= e.columns_of(value)
            used_below(source, found)
        case Join(left=left, right=right, pairs=pairs):
            found |= {name for pair in pairs for name in pair}
            used_below(left, found)
            used_below(right, found)
        case PerUnit(source=source, aggregates=aggregates, keys=keys):
            for _, aggregate in aggregates:
                if aggregate.operand is not None:
                    found |= e.columns_of(aggregate.operand)
            for _, key in keys:
                found |= e.columns_of(key)
            used_below(source, found)


Clamp = tuple[int, int]
MOST_BRANCHES = 16
LONGEST = 500
"""A CASE of more branches or letters is computed in a column of its own and clamped: a variance writes its operand four times."""


def clamped_operand(writer: Writer, operand: Expr, clamp: Clamp) -> str:
    """Return SQL of a whole number within `clamp`: a stored column, a CASE of such, or clamped."""
    written = writer.write(operand)
    if writer.holds(written, clamp):
        return written
    return _held_in_branches(writer, operand, clamp) or clamped(written, *clamp)


def computed_before(writer: Writer, measure: Measure) -> Iterator[Expr]:
    """Yield what a clamp would write three times, and an engine compute as often."""
    operand, clamp = measure.operand, measure.clamp
    if operand is None or clamp is None or squared(writer, measure) is not None:
        return
    values: tuple[Expr, ...] = (operand,)
    if isinstance(operand, e.Case) and _held_in_branches(writer, operand, clamp) is not None:
        values = _values(operand)
    for value in values:
        bare = isinstance(value, e.ColumnRef | e.Literal)
        if not bare and not writer.holds(writer.write(value), clamp):
            yield value


def squared(writer: Writer, measure: Measure) -> tuple[str, Clamp] | None:
    """Return the stored column, and its range, whose squares are added up or counted; None for all else."""
    match measure:
        case Measure(
            kind=Kind.SUM | Kind.CENTRED | Kind.PRESENT,
            operand=e.Arithmetic(Operator.MULTIPLY, e.ColumnRef() as one, two) as operand,
        ) if one == two:
            cell = writer.cells[one.name]
            # To the kernel no square is below 0, and none need reach further up.
            if cell.held is not None and cell.held[0] == 0:
                same = writer.step(operand) == writer.step(one) ** 2
                if same and measure.clamp == (0, cell.held[1] ** 2):
                    return cell.value, cell.held
    return None


def _values(operand: e.Case) -> tuple[Expr, ...]:
    """Return what a CASE may choose."""
    return (*(value for _, value in operand.branches), operand.otherwise)


def _held_in_branches(writer: Writer, operand: Expr, clamp: Clamp) -> str | None:
    """Return a CASE that holds each value by itself, so that nothing is asked of rows that choose NULL.

    None where the values are counted in different steps, would not fill the clamp, or are many.
    """
    if not isinstance(operand, e.Case) or len(operand.branches) > MOST_BRANCHES:
        return None
    if not computes(operand) and tabulated(operand, writer.fields) is not None:
        return None
    step, ends, texts = writer.step(operand), [], []
    for value in _values(operand):
        if value == e.Literal(None):
            texts.append("NULL")
            continue
        if isinstance(value, e.Literal):
            texts.append(writer.scaled(value, step))
            ends.append(int(texts[-1]))
            continue
        if writer.step(value) != step:
            return None
        written = writer.write(value)
        own = next((c.held for c in writer.cells.values() if c.value == written and c.held), None)
        if own is None or not clamp[0] <= own[0] <= own[1] <= clamp[1]:
            written, own = clamped(written, *clamp), clamp
        texts.append(written)
        ends += own
    if all(isinstance(value, e.Literal) for value in _values(operand)):
        return None  # small numbers to an engine, which are written in another way
    if (min(ends), max(ends)) != clamp:
        return None
    tests = [f"WHEN {writer.write(when)} THEN" for when, _ in operand.branches]
    chosen = " ".join(f"{test} {text}" for test, text in zip(tests, texts, strict=False))
    written = f"CASE {chosen} ELSE {texts[-1]} END"
    return written if len(written) <= LONGEST else None


_PARTS: dict[Kind, tuple[str, ...]] = {
    Kind.ROWS: ("rows",),
    Kind.PRESENT: ("present",),
    Kind.DISTINCT: ("distinct",),
    Kind.SUM: ("sum",),
    Kind.CENTRED: ("sum", "present"),
    Kind.SQUARES: ("squares", "sum", "present"),
    Kind.UNITS: ("units",),
    Kind.DISTINCT_SUM: ("distinct sum",),
    Kind.DISTINCT_SQUARES: ("distinct squares",),
}
"""What the engine must add up for a measure; the parts of one measure share one clamped operand."""


def render(question: Question, engine: Engine) -> tuple[Draft, ...]:
    """Return all SELECTs that answer `question` exactly, for the kernel to judge."""
    drafts = [_linear(question, engine)] if question.measured.measures else []
    drafts += [_histogram(question, engine, *choice) for choice in question.measured.choices]
    for draft in drafts:
        short(len(draft.sql))
    return tuple(drafts)


def _prepared(question: Question, engine: Engine) -> tuple[BlockWriter, Block]:
    statement = question.statement
    blocks = BlockWriter(engine, used_columns(statement, question))
    block = blocks.block(statement.source)
    if question.enforced:
        block = blocks.bounded(block, question.stability.max_rows)
    return blocks, block


def _linear(question: Question, engine: Engine) -> Draft:
    blocks, block = _prepared(question, engine)
    keys = tuple(key.value for key in question.statement.keys)
    read = _Read(block, keys, dict(question.measured.measures))
    read = _with_zeros(read, blocks.writer(block))
    for parts in (_curves, _operands):
        read = _drawn_out(read, blocks, parts(read, blocks.writer(read.block)))
    clamps = {measure.operand: measure.clamp for measure in read.measures.values() if measure.clamp}
    outputs = _Outputs(blocks.writer(read.block), read.block, clamps)
    asked = {name: outputs.asked(measure) for name, measure in read.measures.items()}
    written = _keys(outputs.writer, read.keys)
    columns = [f"{key} AS k{i}" for i, key in enumerate(written)]
    columns += [f"{text} AS r{i}" for i, text in enumerate(outputs.places)]
    sql = f"SELECT {', '.join(columns)} {read.block.body()}{_group(len(written))}"
    return Draft(sql, asked)


@dataclass(frozen=True, slots=True)
class _Read:
    """What is grouped by and added up over a block."""

    block: Block
    keys: tuple[Expr, ...]
    measures: Mapping[str, Measure]

    @property
    def values(self) -> list[Expr]:
        """Return all that is computed of a row."""
        operands = [measure.operand for measure in self.measures.values()]
        return [*self.keys, *(operand for operand in operands if operand is not None)]

    @property
    def summed(self) -> Expr | None:
        """Return the one operand where nothing but its sum is asked for: a row where it is 0 adds nothing either."""
        match list(self.measures.values()):
            case [Measure(kind=Kind.SUM, clamp=(low, high)) as only] if low <= 0 <= high:
                return only.operand
        return None


def _with_zeros(read: _Read, writer: Writer) -> _Read:
    """Return ELSE 0 for the missing ELSE of a CASE that is all that is summed up: both add nothing.

    An engine adds a 0 up faster than it leaves out, or clamps, what is NULL.
    """
    match read.summed:
        case e.Case(otherwise=e.Literal(value=None)) as only:
            other = replace(only, otherwise=e.Literal(0))
            if writer.step(other) == writer.step(only):
                return replace(
                    read, measures={n: replace(m, operand=other) for n, m in read.measures.items()}
                )
    return read


def _curves(read: _Read, writer: Writer) -> Iterator[Expr]:
    """Yield what takes long to write and is written wherever it is read."""
    for value in read.values:
        yield from outermost_curves(value, writer.fields)


def _operands(read: _Read, writer: Writer) -> Iterator[Expr]:
    """Yield what is computed in a column of its own, to be clamped.

    Not what is grouped by: of a computed column the kernel cannot see that it is constant for a unit.
    """
    for measure in read.measures.values():
        for part in computed_before(writer, measure):
            if not any(part in e.walk(key) for key in read.keys):
                yield part


def _drawn_out(read: _Read, blocks: BlockWriter, parts: Iterator[Expr]) -> _Read:
    """Return what is read over a block that has each of these expressions as a column of its own."""
    drawn = dict.fromkeys(parts)
    if not drawn:
        return read
    writer, place = blocks.writer(read.block), blocks.aliases
    names = {part: e.ColumnRef(f"drawn.{place}.{i}") for i, part in enumerate(drawn)}
    cells = {
        name.name: Cell(writer.write(part), writer.domain(part)) for part, name in names.items()
    }
    keys = tuple(replaced(key, names) for key in read.keys)
    measures = {name: _over(measure, names) for name, measure in read.measures.items()}
    above = replace(read, keys=keys, measures=measures)
    used = {name for value in above.values for name in e.columns_of(value)}
    inner = replace(read.block, cells={**read.block.cells, **cells})
    grouped = {key.name for key in keys if isinstance(key, e.ColumnRef)}
    carried = [name for name in inner.cells if name in used]
    block = blocks.wrapped(inner, carried, grouped=grouped)
    return replace(above, block=block)


def _over(measure: Measure, drawn: Mapping[Expr, e.ColumnRef]) -> Measure:
    if measure.operand is None:
        return measure
    return replace(measure, operand=replaced(measure.operand, drawn))


@dataclass(slots=True)
class _Outputs:
    """Collects what a SELECT adds up, each expression once."""

    writer: Writer
    block: Block
    clamps: Mapping[Expr | None, tuple[int, int]]
    places: dict[str, int] = field(default_factory=dict)
    written: int = 0

    def asked(self, measure: Measure) -> MeasureDraft:
        if measure.kind is Kind.PRESENT:
            # What is clamped is counted as often as what is not: one count does for both.
            measure = replace(measure, clamp=self.clamps.get(measure.operand))
        places = tuple(self._place(self._part(part, measure)) for part in _PARTS[measure.kind])
        return MeasureDraft(measure.kind, places, measure.centre)

    def _place(self, text: str) -> int:
        if text not in self.places:
            # Each part may be short and all of them together more than an engine can parse.
            self.written += len(text)
            short(self.written)
        return self.places.setdefault(text, len(self.places))

    def _part(self, part: str, measure: Measure) -> str:
        dialect = self.writer.dialect
        if measure.operand is None:
            return "COUNT(*)" if part == "rows" else f"COUNT(DISTINCT {self.block.unit})"
        square = squared(self.writer, measure)
        value = self._value(measure.operand, measure.clamp) if square is None else square[0]
        match part:
            case "units":
                return f"COUNT(DISTINCT CASE WHEN ({value}) IS NOT NULL THEN {self.block.unit} END)"
            case "present":
                return f"COUNT({value})"
            case "distinct":
                return f"COUNT(DISTINCT {value})"
            case "sum" if square is not None:
                return _squares(*square, dialect)
            case "sum":
                most = max(map(abs, measure.clamp or (LARGEST_SMALL + 1,)))
                return function(_sum_up_to(most), dialect, value)
            case "distinct sum" | "distinct squares":
                inner = f"CAST({value} AS BIGINT)"
                summand = f"{inner} * {inner}" if part == "distinct squares" else value
                return function("sum_distinct", dialect, summand)
            case _:
                return _squares(value, measure.clamp or (0, 0), dialect)

    def _value(self, operand: Expr, clamp: tuple[int, int] | None) -> str:
        return (
            self.writer.write(operand)
            if clamp is None
            else clamped_operand(self.writer, operand, clamp)
        )


def _squares(value: str, clamp: tuple[int, int], dialect: str) -> str:
    most = max(map(abs, clamp))
    if most < 2**31:
        square = f"CAST({value} AS BIGINT) * CAST({value} AS BIGINT)"
        return function(_sum_up_to(most**2), dialect, square)
    wide = f"CAST({value} AS DECIMAL(19, 0))"
    return f"CAST(SUM({wide} * {wide}) AS DECIMAL(38, 0))"


def _sum_up_to(most: int) -> str:
    """Return the sum that holds numbers of up to this size, the faster one where it does."""
    return "sum_small" if most <= LARGEST_SMALL else "sum_integer"


def _histogram(question: Question, engine: Engine, name: str, choice: Choice) -> Draft:
    blocks, block = _prepared(question, engine)
    writer = blocks.writer(block)
    keys = [_key(writer, key.value) for key in question.statement.keys]
    bin_ = position_sql(writer, choice)
    if choice.width > 1:
        bin_ = function("divide", engine.capabilities.dialect, bin_, str(choice.width))
    bin_ = _bin_as_stored(writer, choice) or _in_8_bits(
        bin_, _positions(writer, choice), writer.dialect
    )
    columns = [f"{key} AS k{i}" for i, key in enumerate(keys)]
    columns += [f"{bin_} AS k{len(keys)}", "COUNT(*) AS r0"]
    sql = f"SELECT {', '.join(columns)} {block.body()}{_group(len(keys) + 1)}"
    return Draft(sql, {}, choice=name)


def position_sql(writer: Writer, choice: Choice) -> str:
    """Return SQL for the position of a value in the domain it is chosen from: 0, 1, ... or NULL."""
    domain = choice.domain
    written = writer.write(choice.operand)
    if isinstance(domain, DateDomain):
        first = function("day_number", writer.dialect, f"DATE '{domain.lower.isoformat()}'")
        return f"({function('day_number', writer.dialect, written)} - {first})"
    if isinstance(domain, TimestampDomain):
        unit = writer.domain(choice.operand)
        assert isinstance(unit, TimestampDomain), "a moment stays one"
        low = (domain.lower - EPOCH) // dt.timedelta(seconds=unit.step)
        shifted, factor = f"(({written}) - {low})", domain.step // unit.step
        return shifted if factor == 1 else function("divide", writer.dialect, shifted, str(factor))
    found = lattice(domain)
    assert found is not None, "only ordered domains have quantiles"
    # WHERE may have left a coarser step than the one the SQL counts in.
    step = writer.step(choice.operand)
    low, factor = int(found[0] / step), int(found[2] / step)
    shifted = f"(({written}) - {low})" if low else f"({written})"
    return shifted if factor == 1 else function("divide", writer.dialect, shifted, str(factor))


def _bin_as_stored(writer: Writer, choice: Choice) -> str | None:
    """Return the column to be grouped by whose numbers are the bins already, None where there is none."""
    if not isinstance(choice.operand, e.ColumnRef):
        return None
    cell = writer.cells[choice.operand.name]
    return cell.grouped if cell.held == _positions(writer, choice) else None


def _positions(writer: Writer, choice: Choice) -> tuple[int, int] | None:
    """Return the first and the last bin in which a stored column can be; None for what is computed."""
    if not isinstance(choice.operand, e.ColumnRef):
        return None
    held, found = writer.cells[choice.operand.name].held, lattice(choice.domain)
    if held is None or found is None:
        return None
    step = writer.step(choice.operand)
    low, factor = int(found[0] / step), int(found[2] / step) * choice.width
    return (held[0] - low) // factor, (held[1] - low) // factor


def _keys(writer: Writer, values: Sequence[Expr]) -> list[str]:
    """Return the keys' SQL: a category by itself as a text, which is then grouped in half the time."""
    match values:
        case [e.ColumnRef(name=name)] if writer.cells[name].grouped is not None:
            return [str(writer.cells[name].grouped)]
    return [_key(writer, value) for value in values]


def _key(writer: Writer, value: Expr) -> str:
    """Return a key's SQL: a stored column as it is stored, which is grouped faster."""
    if isinstance(value, e.ColumnRef):
        cell = writer.cells[value.name]
        if isinstance(cell.domain, CategoryDomain):
            return cell.raw or cell.value
        return cell.grouped or _in_8_bits(cell.raw or cell.value, cell.held, writer.dialect)
    return writer.write(value)


def _in_8_bits(number: str, held: tuple[int, int] | None, dialect: str) -> str:
    """Return a whole number as it is grouped by: DuckDB counts by one of 8 bits in two thirds of the time."""
    byte = DIALECTS[dialect].byte
    fits = byte is not None and held is not None and held[0] >= 0 and held[1] < 2**8
    return f"CAST({number} AS {byte})" if fits else number


def _group(keys: int) -> str:
    return f" GROUP BY {', '.join(str(i + 1) for i in range(keys))}" if keys else ""
