"""SQL clamps: an operand held between two integers, in the forms the kernel accepts."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.kernel.mechanism import Kind
from discreet.plan import expr as e
from discreet.plan.evaluate import computes, tabulated
from discreet.plan.expr import Expr, Operator
from discreet.plan.measure import Measure
from discreet.sql.write.cells import clamped
from discreet.sql.write.expressions import Writer

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
