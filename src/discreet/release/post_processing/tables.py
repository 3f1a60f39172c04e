"""The tables that a step reads: answers to private questions, and public tables as they are declared."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from sqlglot import exp

from discreet.catalog.sources import check_table
from discreet.core.answers.answer import Answer
from discreet.core.answers.output import OutputColumn, OutputType
from discreet.core.schema import Table
from discreet.engine.duckdb.scratch import ScratchTable, outcome_types
from discreet.release.desk import Desk
from discreet.release.public_rows import read_public
from discreet.release.shape import shape_of, type_of
from discreet.release.snapshots import hold_tables
from discreet.sql.parse import ParsedQuestion
from discreet.sql.post_processing.grammar import total
from discreet.sql.post_processing.program import Program
from discreet.sql.relations import declared_scan


def written(program: Program) -> str:
    """Return the SQL of the step after the noise."""
    return total(program.after).sql(dialect="duckdb")


def question(program: Program, part: int, text: str) -> ParsedQuestion:
    """Return a private question of a program; its text is what the analyst wrote."""
    several = f" /* part {part + 1} of {len(program.parts)} */" if len(program.parts) > 1 else ""
    return ParsedQuestion(f"{text}{several}", program.parts[part])


def part_shapes(program: Program, desk: Desk) -> list[tuple[OutputColumn, ...]]:
    """Return the columns of each private question's answer."""
    return [shape_of(ParsedQuestion("", part), desk) for part in program.parts]


def columns_of(program: Program, desk: Desk) -> tuple[OutputColumn, ...]:
    """Return the columns of the outcome, as types of empty tables tell them; refuses what cannot be."""
    return typed(program, part_shapes(program, desk))


def typed(program: Program, shapes: list[tuple[OutputColumn, ...]]) -> tuple[OutputColumn, ...]:
    """Return the columns of the outcome from those of the parts."""
    tables = {f"r{i}": _with_ends(tuple(c.type for c in shape)) for i, shape in enumerate(shapes)}
    tables |= {
        f"p{i}": ScratchTable(tuple(type_of(c.by_day().domain) for c in shown(table)))
        for i, (_, table) in enumerate(program.public)
    }
    found = outcome_types(written(program), tables)[: len(program.columns)]
    moments = any(c.type is OutputType.TIMESTAMP for shape in shapes for c in shape)
    named = zip(program.columns, found, noisy_outputs(program, shapes), strict=True)
    return tuple(
        OutputColumn(name, _shown_as(kind, moments=moments), noisy)
        for name, (_, kind), noisy in named
    )


def _shown_as(kind: OutputType, *, moments: bool) -> OutputType:
    # The first day of a month is a moment to DuckDB, and a day to everybody else.
    return OutputType.TEXT if kind is OutputType.TIMESTAMP and not moments else kind


def noisy_outputs(program: Program, shapes: list[tuple[OutputColumn, ...]]) -> list[bool]:
    """Return which outputs carry noise: all but public columns and keys that are passed on."""
    if not program.parts:
        return [False] * len(program.columns)
    if program.bars is None:
        return [not _is_key(program, i) for i in range(len(program.columns))]
    shape = shapes[program.bars.part]
    return [place is None or shape[place].noisy for place in program.bars.columns]


def _is_key(program: Program, place: int) -> bool:
    """Return whether an output is a key of the private question: nothing numeric is computed."""
    after = program.after
    if not isinstance(after, exp.Select) or place >= len(after.expressions):
        return False
    inner = after.expressions[place].unalias()
    ours = re.compile(f"k[0-9]+{program.mark}")
    return isinstance(inner, exp.Column) and ours.fullmatch(inner.name) is not None


def shown(table: Table) -> list[Any]:
    """Return the columns of a public table that may be read."""
    return [column for column in table.columns if not column.hidden and column.reviewed]


def answered(answer: Answer, shape: tuple[OutputColumn, ...]) -> ScratchTable:
    """Return an answer as a table."""
    kinds = tuple(column.type for column in shape)
    rows = [
        (*(_read(v, kind) for v, kind in zip(row, kinds, strict=True)), *_flat(ends))
        for row, ends in zip(answer.rows, answer.intervals, strict=True)
    ]
    return _with_ends(kinds, rows)


def _with_ends(kinds: tuple[OutputType, ...], rows: Sequence[Sequence[Any]] = ()) -> ScratchTable:
    """Return a result with the ends of each column's error bars beside it: l0, h0, l1, h1, ..."""
    names = [f"{end}{i}" for i in range(len(kinds)) for end in ("l", "h")]
    return ScratchTable((*kinds, *(OutputType.NUMBER,) * len(names)), rows, tuple(names))


def _flat(ends: tuple[tuple[float, float] | None, ...]) -> list[float | None]:
    return [end for pair in ends for end in (pair or (None, None))]


def _read(value: Any, kind: OutputType) -> Any:
    if not isinstance(value, str) or kind not in {OutputType.DATE, OutputType.TIMESTAMP}:
        return value
    if kind is OutputType.DATE:
        return dt.date.fromisoformat(value)
    return dt.datetime.fromisoformat(value)


def public_tables(program: Program, desk: Desk) -> dict[str, ScratchTable]:
    """Return the public tables of a program, read as they are now; they hold nobody's data."""
    if not program.public:
        return {}
    for dataset, table in program.public:
        check_table(dataset, table, desk.engine)
    found = {}
    with hold_tables(program.public, desk) as held:
        for i, (dataset, table) in enumerate(program.public):
            rows = read_public(declared_scan(dataset, table), desk.engine, held)
            columns = shown(table)
            values = [[_plain(value) for value in rows[column.name]] for column in columns]
            kinds = tuple(type_of(column.by_day().domain) for column in columns)
            found[f"p{i}"] = ScratchTable(kinds, sorted(zip(*values, strict=True), key=repr))
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, Fraction):
        return float(value)
    return value if isinstance(value, bool | int | str | dt.date) or value is None else str(value)
