"""Post-processing of statements in several steps: private questions are released one by one, the rest is free.

The columns of an answer, known before anything is paid (names, types, and which are noisy); the tables that a step
reads (answers to private questions, and public tables as they are declared); and inner questions of a condition,
answered before the statement around them.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sqlglot import exp

from discreet.ask.plan import expr as e
from discreet.ask.plan.expr import Expr, Operator, kind
from discreet.ask.plan.kinds import SCALARS, kind_of
from discreet.ask.plan.plan import Question, ask
from discreet.ask.release.desk import Desk, Request
from discreet.ask.release.public_rows import read_public
from discreet.ask.release.snapshots import hold, hold_tables, snapshots_of
from discreet.ask.sql.bind import bind
from discreet.ask.sql.parse import ParsedQuestion
from discreet.ask.sql.post_processing.split import (
    MOST_LISTED,
    Inner,
    inner_questions,
    with_constants,
)
from discreet.ask.sql.post_processing.steps import Program, total
from discreet.ask.sql.refuse import refusal
from discreet.ask.sql.relations import declared_scan
from discreet.base.answer import Answer, Explanation, OutputColumn, OutputType
from discreet.base.bill import NOTHING_SPENT
from discreet.base.numbers import Epsilon, plain, plain_below
from discreet.base.schema import Domain, IntegerDomain, Table
from discreet.data.catalog.catalog import Catalog
from discreet.data.catalog.sources import check_table
from discreet.data.engines.duckdb.scratch import ScratchTable, outcome, outcome_types
from discreet.errors import BudgetExceeded, InvalidInput, QueryRefused, from_facts
from discreet.privacy.kernel.functions import Whole


def shape_of(sql: str | ParsedQuestion, desk: Desk) -> tuple[OutputColumn, ...]:
    """Return the columns of the answer to `sql`. Depends on public facts only; spends nothing."""
    statement = bind(sql, desk.catalog)
    with hold(statement.source, desk) as held:
        question = ask(statement, desk.catalog, snapshots_of(statement.source, held))
    kinds, whole = _facts(question)
    random = {name for name, _ in question.measured.measures}
    random |= {name for name, _ in question.measured.choices}
    return tuple(
        OutputColumn(name, _type(value, kinds, whole), bool(e.columns_of(value) & random))
        for name, value in question.outputs
    )


def _facts(question: Question) -> tuple[dict[str, str], dict[str, bool]]:
    """Return the kind of each key, measure and choice, and whether it is a whole number."""
    kinds: dict[str, str] = {}
    whole: dict[str, bool] = {}
    for key in question.statement.keys:
        kinds[key.name] = kind(key.domain)
        whole[key.name] = isinstance(key.domain, IntegerDomain)
    for name, _ in question.measured.measures:
        kinds[name], whole[name] = "number", True
    for name, choice in question.measured.choices:
        kinds[name] = kind(choice.domain)
        whole[name] = isinstance(choice.domain, IntegerDomain)
    return kinds, whole


_TYPES = {
    "boolean": OutputType.BOOLEAN,
    "date": OutputType.DATE,
    "moment": OutputType.TIMESTAMP,
    "number": OutputType.NUMBER,
}


def _type(expr: Expr, kinds: Mapping[str, str], whole: Mapping[str, bool]) -> OutputType:
    found = _TYPES.get(kind_of(expr, kinds), OutputType.TEXT)
    if found is OutputType.NUMBER and is_whole(expr, whole):
        return OutputType.INTEGER
    return found


def type_of(domain: Domain) -> OutputType:
    """Return the type in which the values of a domain are told."""
    if isinstance(domain, IntegerDomain):
        return OutputType.INTEGER
    return _TYPES.get(kind(domain), OutputType.TEXT)


def is_whole(expr: Expr, whole: Mapping[str, bool]) -> bool:
    """Return whether a number is always a whole one; False where that is not certain."""
    rule = _WHOLE.get(type(expr))
    return rule is not None and rule(expr, whole)


def _literal(node: e.Literal, _whole: Mapping[str, bool]) -> bool:
    return node.value is None or (
        isinstance(node.value, int | Fraction) and Fraction(node.value).denominator == 1
    )


def _arithmetic(node: e.Arithmetic, whole: Mapping[str, bool]) -> bool:
    if node.operator is Operator.DIVIDE:
        return False
    return is_whole(node.left, whole) and is_whole(node.right, whole)


def _case(node: e.Case, whole: Mapping[str, bool]) -> bool:
    values = (*(value for _, value in node.branches), node.otherwise)
    return all(is_whole(value, whole) for value in values)


def _all(node: e.Extreme | e.Coalesce, whole: Mapping[str, bool]) -> bool:
    return all(is_whole(operand, whole) for operand in node.operands)


def _call(node: e.Call, whole: Mapping[str, bool]) -> bool:
    known = SCALARS[node.function].whole
    if known is Whole.ALWAYS or (node.function == "round" and not node.options):
        return True
    return known is Whole.AS_OPERAND and is_whole(node.operand, whole)


_WHOLE: dict[type, Callable[[Any, Mapping[str, bool]], bool]] = {
    e.ColumnRef: lambda node, whole: whole.get(node.name, False),
    e.Literal: _literal,
    e.Arithmetic: _arithmetic,
    e.Negate: lambda node, whole: is_whole(node.operand, whole),
    e.Case: _case,
    e.Extreme: _all,
    e.Coalesce: _all,
    e.DatePart: lambda _node, _whole: True,
    e.Call: _call,
}


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


_SAMPLES: dict[OutputType, Any] = {
    OutputType.INTEGER: 1,
    OutputType.NUMBER: 1,
    OutputType.TEXT: "",
    OutputType.BOOLEAN: True,
    OutputType.DATE: dt.date(2000, 1, 1),
    OutputType.TIMESTAMP: dt.datetime(2000, 1, 1),  # noqa: DTZ001  # without a zone
}


@dataclass(frozen=True, slots=True)
class Nested:
    """A statement with inner questions in its conditions."""

    tree: exp.Expr
    inner: tuple[Inner, ...]

    @property
    def private(self) -> list[Inner]:
        """Return the inner questions that are paid for."""
        return [each for each in self.inner if each.private]

    def sampled(self, catalog: Catalog) -> exp.Expr:
        """Return the statement with any value in place of each inner question; reads no row."""
        values = [
            [1 if each.program is None else _SAMPLES[typed(each.program, [])[0].type]]
            for each in self.inner
        ]
        return with_constants(self.tree, catalog, values)

    def share(self, request: Request) -> Request:
        """Return the request of each of its questions: equal shares, fixed before any of them."""
        if not self.private:
            return request
        if request.epsilon is None:
            raise refusal("within")
        return replace(request, epsilon=Epsilon(request.epsilon.value / (len(self.private) + 1)))

    def asked(self, place: int, request: Request) -> Request:
        """Return the request of a private inner question, under an id that follows."""
        text = f"{request.sql} /* inner {place + 1} */"
        return replace(
            self.share(request),
            sql=ParsedQuestion(text, self.inner[place].select.copy()),
            request_id=f"{request.request_id}.in{place + 1}",
            part=f"inside {place + 1}",
        )


LONGEST_ID = 160
"""Letters of a request id under which a statement is asked whose questions get longer ones."""


def require_short_id(request: Request) -> None:
    """Refuse an id from which no other can be made, before anything is charged under one of them."""
    if len(request.request_id) > LONGEST_ID:
        raise InvalidInput(
            f"The request id has more than {LONGEST_ID} characters, and this statement needs room to "
            "number the questions inside it.",
            hint="Use a shorter one. Nothing was charged.",
        )


def nested_in(tree: exp.Expr, catalog: Catalog) -> Nested | None:
    """Return a statement with its inner questions, None where it has none."""
    inner = tuple(inner_questions(tree, catalog))
    if not inner:
        return None
    for each in inner:
        if each.private:
            _same_people(each, tree, catalog)
    return Nested(tree, inner)


def _same_people(inner: Inner, tree: exp.Expr, catalog: Catalog) -> None:
    """Refuse an inner question about other people than those of the statement around it."""
    inside = list(inner.select.find_all(exp.Table))
    own = {id(table) for table in inside}
    named = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    desk = [
        table
        for table in tree.find_all(exp.Table)
        if id(table) not in own and (table.db or table.name.lower() not in named)
    ]
    mine = _asked_about(inside, catalog)
    if len(mine) != 1 or mine != _asked_about(desk, catalog):
        raise refusal("two datasets")


def _asked_about(tables: list[exp.Table], catalog: Catalog) -> set[str]:
    """Return the datasets whose people these tables hold; a public one may be of any."""
    found = (catalog.find(table.name, table.db or None) for table in tables)
    return {dataset.name for dataset, table in found if not table.public}


def public_values(inner: Inner, request: Request, desk: Desk) -> list[Any]:
    """Return what a subquery over public tables gives."""
    program = inner.program
    assert program is not None, "only public ones are read for nothing"
    for dataset, _ in program.public:
        if request.analyst is not None:
            desk.catalog.cap(request.analyst, dataset)
    rows = outcome(written(program), public_tables(program, desk))
    most = MOST_LISTED if inner.listed else 1
    if len(rows) > most:
        raise QueryRefused(
            f"A subquery in a condition gives {len(rows):,} values, more than {most:,}.",
            hint="Join the public table instead, or aggregate in the subquery.",
            construct="subquery",
        )
    return [row[0] for row in rows]


def summed(outer: Answer, inner: list[Answer], request: Request) -> Answer:
    """Return the outer answer with the price of all."""
    return replace(
        outer,
        bill=replace(
            outer.bill,
            cost=sum((answer.cost for answer in (*inner, outer)), NOTHING_SPENT),
            before=inner[0].before,
            free=outer.free and all(answer.free for answer in inner),
        ),
        request_id=request.request_id,
    )


def explained(outer: Explanation, inner: list[Explanation]) -> Explanation:
    """Return the explanation of a statement and its inner questions as one."""
    every = [*inner, outer]
    note = "The inner answer becomes a constant of the outer question; here 1 stands for it."
    return replace(
        outer,
        sql="\n".join(part.sql for part in every),
        mechanisms=tuple(said for part in every for said in part.mechanisms),
        bill=replace(
            outer.bill,
            cost=sum((part.cost for part in every), NOTHING_SPENT),
            after=sum((part.after - part.before for part in every), outer.before),
            free=all(part.free for part in every),
        ),
        notes=tuple(dict.fromkeys((note, *(n for part in every for n in part.notes)))),
    )


def refuse_too_dear(foreseen: Explanation) -> None:
    """Refuse a statement whose own share does not allow all its questions, before the first of them."""
    after, limit = foreseen.after, foreseen.limit
    if after.epsilon <= limit.epsilon and after.delta <= limit.delta:
        return
    left = max(Fraction(0), limit.epsilon - foreseen.before.epsilon)
    raise BudgetExceeded(
        f"The budget does not allow this statement and the questions inside it, epsilon "
        f"{plain(foreseen.cost.epsilon)} in all. Nothing was charged.",
        hint=f"Of epsilon {plain(limit.epsilon)}, {plain_below(left)} is left: lower epsilon, or ask the data owner.",
        asked=plain(foreseen.cost.epsilon),
        left=plain_below(left),
        limit=plain(limit.epsilon),
    )


@contextmanager
def told_of_inner() -> Iterator[None]:
    """Say that the inner questions were paid for when others leave no room for the rest meanwhile."""
    try:
        yield
    except BudgetExceeded as error:
        paid = "The questions inside it were charged and answered; the same request goes on from there."
        said = error.message.replace("Nothing was charged.", paid)
        raise from_facts(error.facts() | {"message": said}) from None
