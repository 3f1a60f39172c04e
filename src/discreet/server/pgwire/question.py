"""A SELECT over private tables: described for free, answered by the curator, paid by the caller.

Before that it is rewritten to PostgreSQL's semantics, where the parser reads the same words otherwise, and its expressions
get their types.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlglot import exp

from discreet.base.answer import Answer, Explanation, OutputColumn, OutputType
from discreet.base.schema import IntegerDomain
from discreet.curator import Curator, ParsedStatement, Planner, with_promise
from discreet.errors import InvalidInput, NotAllowed, QueryRefused
from discreet.server.access.auth import Principal
from discreet.server.access.tokens import AskedAs, Role
from discreet.server.jobs.long import curator_for
from discreet.server.jobs.queue import Job, Runner
from discreet.server.pgwire.catalog.rows import DATABASE
from discreet.server.pgwire.catalog.tables import PREVIEW, VisibleTable
from discreet.server.pgwire.messages import Failure
from discreet.server.pgwire.options import QuestionOptions
from discreet.server.pgwire.parameters import (
    beside,
    cast_type,
    filled,
    literal,
    output_names,
    samples,
)
from discreet.server.pgwire.results import StatementResult, rows_of
from discreet.server.pgwire.types import (
    ARRAYS,
    BOOL,
    DATE,
    FLOAT8,
    INT2,
    INT4,
    INT8,
    NUMERIC,
    TEXT,
    TIMESTAMP,
    TIMESTAMPTZ,
    PgType,
    WireColumn,
    read,
)
from discreet.server.workspace import Workspace

_READ_HERE = (BOOL, DATE)
_MOMENTS = (TIMESTAMP, TIMESTAMPTZ)


def as_postgres(tree: exp.Expr, tables: Sequence[VisibleTable]) -> exp.Expr:
    """Return the tree with PostgreSQL's meaning; the tree that is given may change.

    The words stay those that were parsed, once: only nodes are exchanged. Whether a question is
    private does not hang on it: the result takes the way of every question.
    """
    types = ExpressionTypes(tables)
    for node in list(tree.walk()):
        if isinstance(node, exp.ByteString):
            node.replace(exp.Literal.string(node.name))  # E'...' is text with escapes
    fold_dates(tree)
    for node in list(tree.find_all(exp.Cast)):
        _constant_cast(node)
    for node in list(tree.find_all(exp.Literal)):
        if node.is_string:
            _quoted_constant(node, types)
    for node in list(tree.find_all(exp.Any)):
        _quoted_array(node, types)
    found = [(node, types.of(node)) for node in tree.find_all(exp.Div)]
    for node, typed in reversed(found):  # inner ones first
        if typed.whole:
            # Cutting off writes the quotient three times: not of quotients, or trees would explode.
            alone = typed.signed and node.find(exp.IntDiv, exp.Ceil) is None
            node.replace(_truncated(node) if alone else _whole(node))
    return tree


def _constant_cast(node: exp.Cast) -> None:
    """Read '{1,2}'::int[] and '2020-01-01 12:00+02'::timestamptz here: arrays and zones are ours."""
    kind, inner = cast_type(node.to), node.this
    if kind.element and isinstance(inner, exp.Array):
        node.replace(inner.copy())
    elif kind is TIMESTAMPTZ and isinstance(inner, exp.Cast) and cast_type(inner.to) is TIMESTAMP:
        node.replace(inner.copy())  # a parameter, in UTC already
    elif (kind.element or kind in _MOMENTS) and isinstance(inner, exp.Literal) and inner.is_string:
        node.replace(literal(read(inner.name.encode("utf-8", "replace"), kind, 0)))


def _quoted_constant(node: exp.Literal, types: ExpressionTypes) -> None:
    """Read 't' beside a boolean, '1960-01-01 +00' beside a date: a quotation takes the type beside it."""
    other = beside(node)
    kind = None if other is None else types.of(other).kind
    if kind in _READ_HERE and not isinstance(node.parent, exp.Cast):
        with suppress(InvalidInput):  # the planner has a better sentence
            node.replace(literal(read(node.name.encode("utf-8", "replace"), kind, 0)))


def _quoted_array(node: exp.Any, types: ExpressionTypes) -> None:
    """Read age = ANY('{20,21}') as an array of what stands on the other side."""
    inner, comparison = node.this.unnest(), node.parent
    if not (isinstance(inner, exp.Literal) and inner.is_string and comparison is not None):
        return
    kind = ARRAYS.get(types.of(comparison.this).kind.oid, ARRAYS[TEXT.oid])
    with suppress(InvalidInput):  # the planner has a better sentence
        values = literal(read(inner.name.encode("utf-8", "replace"), kind, 0))
        node.set("this", exp.Paren(this=values))


def _whole(node: exp.Div) -> exp.Expr:
    return exp.Paren(this=exp.IntDiv(this=node.this.copy(), expression=node.expression.copy()))


def _truncated(node: exp.Div) -> exp.Expr:
    """Return a quotient cut off towards 0, as PostgreSQL does: -7 / 2 is -3.

    A quotient of quotients is rounded down instead, which differs below 0 only.
    """
    below = exp.LT(this=node.copy(), expression=exp.Literal.number("0"))
    up, down = exp.Ceil(this=node.copy()), exp.Floor(this=node.copy())
    return exp.Case(ifs=[exp.If(this=below, true=up)], default=down)


_PATTERNS = {
    "YYYY": "%Y", "MM": "%m", "DD": "%d", "HH24": "%H", "MI": "%M", "SS": "%S", "US": "%f",
}  # fmt: skip
_PART = re.compile("|".join(_PATTERNS))


def fold_dates(tree: exp.Expr) -> None:
    """Put the date in the place of a function of constants; what is not understood stays."""
    for node in list(tree.find_all(exp.Anonymous, exp.UnixToTime, exp.DateFromParts)):
        value = _value(node)
        if value is not None:
            node.replace(literal(value))


def _value(node: exp.Expr) -> dt.date | None:
    match node:
        case exp.DateFromParts():
            return _made([node.args.get(name) for name in ("year", "month", "day")])
        case exp.UnixToTime():  # TO_TIMESTAMP, as the parser calls it
            return _read(node.this, node.args.get("scale"))
        case exp.Anonymous() if node.name.upper() == "TO_DATE" and len(node.expressions) == 2:
            found = _read(*node.expressions)
            return None if found is None else found.date()
    return None


def _made(parts: list[exp.Expr | None]) -> dt.date | None:
    numbers = [part.name for part in parts if isinstance(part, exp.Literal) and part.is_int]
    try:
        return dt.date(*map(int, numbers)) if len(numbers) == 3 else None
    except (ValueError, OverflowError):
        return None


def _read(written: exp.Expr, form: exp.Expr | None) -> dt.datetime | None:
    if not (isinstance(written, exp.Literal) and isinstance(form, exp.Literal)):
        return None
    pattern = _PART.sub(lambda part: _PATTERNS[part.group()], form.name.upper().replace("%", "%%"))
    try:
        return dt.datetime.strptime(written.name, pattern)  # noqa: DTZ007  # dates have no zone
    except ValueError:
        return None


WHOLE = (INT2, INT4, INT8)


@dataclass(frozen=True, slots=True)
class Typed:
    """The type of an expression, and whether its value can be below 0 (noise apart).

    `declared`: it is a value of a declared column, and so within that column's bounds.
    """

    kind: PgType
    signed: bool = True
    declared: bool = False

    @property
    def whole(self) -> bool:
        """Return whether PostgreSQL computes with it in whole numbers."""
        return self.kind in WHOLE


_UNKNOWN = Typed(TEXT)
_COUNT = Typed(INT8, signed=False)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod)
_AS_INNER = (exp.Paren, exp.Window, exp.Filter, exp.Distinct, exp.Min, exp.Max, exp.Alias, exp.Abs)
_LIKE_PARTS = (exp.Case, exp.Coalesce, exp.Greatest, exp.Least, exp.If)


class ExpressionTypes:
    """Types within one question. What cannot be told is text, which changes nothing."""

    def __init__(self, tables: Sequence[VisibleTable]) -> None:
        self._tables = [seen for seen in tables if seen.schema != PREVIEW]
        self._known: dict[int, Mapping[str, Typed]] = {}

    def of(self, node: exp.Expr | None) -> Typed:
        """Return the type of an expression, which stands in its tree."""
        match node:
            case exp.Column():
                return self._column(node)
            case exp.Literal():
                return _literal(node)
            case exp.Neg():
                return Typed(self.of(node.this).kind)
            case exp.Cast():
                return Typed(cast_type(node.to), self.of(node.this).signed)
            case exp.Count() | exp.Length():
                return _COUNT
            case exp.Sum():
                inner = self.of(node.this)
                return Typed(INT8 if inner.kind in (INT2, INT4) else NUMERIC, inner.signed)
        if isinstance(node, _ARITHMETIC):
            return self._arithmetic(node)
        if isinstance(node, _LIKE_PARTS):
            return _widest([self.of(part) for part in _values(node)])
        if isinstance(node, _AS_INNER):
            inner = node.expressions[0] if isinstance(node, exp.Distinct) else node.this
            return self.of(inner)
        return _UNKNOWN

    def _arithmetic(self, node: exp.Expr) -> Typed:
        left, right = self.of(node.this), self.of(node.expression)
        if isinstance(node, exp.Sub) and left.kind is DATE and right.kind is DATE:
            return Typed(INT4)
        found = _widest([left, right])
        return Typed(found.kind, found.signed or isinstance(node, exp.Sub))

    def _column(self, node: exp.Column) -> Typed:
        name, table = node.name.lower(), node.table.lower()
        select = node.find_ancestor(exp.Select)
        while select is not None:
            for alias, columns in self._sources(select):
                if name in columns and table in ("", alias):
                    return columns[name]
            select = select.find_ancestor(exp.Select)
        return _UNKNOWN

    def _sources(self, select: exp.Select) -> Iterator[tuple[str, Mapping[str, Typed]]]:
        first = select.args.get("from_") or select.args.get("from")
        joined = [join.this for join in select.args.get("joins") or ()]
        for source in [*([first.this] if first is not None else []), *joined]:
            yield source.alias_or_name.lower(), self._columns(source)

    def _columns(self, source: exp.Expr) -> Mapping[str, Typed]:
        inner: exp.Expr | None = source.this if isinstance(source, exp.Subquery) else source
        if isinstance(inner, exp.Table):
            cte = None if inner.db else _defined(inner)
            if cte is None:
                return self._declared(inner)
            inner = cte.this
        while isinstance(inner, exp.SetOperation):
            inner = inner.this
        return self._outputs(inner) if isinstance(inner, exp.Select) else {}

    def _outputs(self, select: exp.Select) -> Mapping[str, Typed]:
        if id(select) not in self._known:
            self._known[id(select)] = {}  # a question that names itself ends here
            found: dict[str, Typed] = {}
            for node in select.expressions:
                if isinstance(node, exp.Star) or isinstance(node.this, exp.Star):
                    for _, columns in self._sources(select):
                        found = {**columns, **found}
                else:
                    found[node.alias_or_name.lower()] = self.of(node)
            self._known[id(select)] = found
        return self._known[id(select)]

    def _declared(self, table: exp.Table) -> Mapping[str, Typed]:
        name, schema = table.name.lower(), table.db.lower()
        for seen in self._tables:
            if seen.name.lower() == name and schema in ("", "public", seen.schema.lower()):
                return {
                    column.name.lower(): Typed(
                        kind,
                        not (isinstance(column.domain, IntegerDomain) and column.domain.lower >= 0),
                        declared=True,
                    )
                    for column, kind in seen.columns
                }
        return {}


def _defined(table: exp.Table) -> exp.CTE | None:
    """Return the common table expression that a bare table name means."""
    scope = table.find_ancestor(exp.Query)
    while scope is not None:
        with_ = scope.args.get("with_") or scope.args.get("with")
        for cte in with_.expressions if with_ is not None else ():
            if cte.alias.lower() == table.name.lower():
                found: exp.CTE = cte
                return found
        scope = scope.find_ancestor(exp.Query)
    return None


def _literal(node: exp.Literal) -> Typed:
    if node.is_string:
        return _UNKNOWN
    if not node.name.isdecimal():
        return Typed(NUMERIC, signed=False)
    return Typed(INT4 if int(node.name) < 2**31 else INT8, signed=False)


def _values(node: exp.Expr) -> Iterator[exp.Expr]:
    if isinstance(node, exp.Case):
        yield from (branch.args["true"] for branch in node.args.get("ifs") or ())
        if node.args.get("default") is not None:
            yield node.args["default"]
    elif isinstance(node, exp.If):
        yield from (
            node.args[part] for part in ("true", "false") if node.args.get(part) is not None
        )
    else:
        yield node.this
        yield from node.expressions


def _widest(parts: Sequence[Typed]) -> Typed:
    signed = any(part.signed for part in parts)
    if not parts or not all(part.whole for part in parts):
        return Typed(NUMERIC if parts else TEXT, signed)
    return Typed(max((part.kind for part in parts), key=WHOLE.index), signed)


Found = TypeVar("Found")

_TYPES = {
    OutputType.INTEGER: INT8,
    OutputType.NUMBER: FLOAT8,
    OutputType.TEXT: TEXT,
    OutputType.BOOLEAN: BOOL,
    OutputType.DATE: DATE,
    OutputType.TIMESTAMP: TIMESTAMP,
}
_ROWS_WANTED = {"star", "raw rows", "no aggregate", "distinct"}
"""Refusals after which somebody wanted to see rows; made-up ones can be had."""


@dataclass(frozen=True, slots=True)
class WireQuestion:
    """A SELECT over private tables, parsed once, and the tables that its caller may see."""

    asked: ParsedStatement
    tables: tuple[VisibleTable, ...]

    def filled(self, values: Sequence[Any]) -> ParsedStatement:
        """Return it with its parameters as constants of the tree, and told behind the text."""
        tree = filled(self.asked.tree, values)
        for table in tree.find_all(exp.Table):
            if table.db.lower() == "public":
                table.set("db", None)
            if table.catalog.lower() == DATABASE:
                table.set("catalog", None)
        told = ", ".join(f"${i} = {value}" for i, value in enumerate(values, 1))
        text = f"{self.asked.text} -- {told}" if told else self.asked.text
        try:
            return ParsedStatement(text, as_postgres(tree, self.tables), self.asked.unit)
        except RecursionError:
            raise Failure("54001", "This statement is nested too deeply.") from None

    def small_columns(self) -> set[int]:
        """Return the places of outputs that hold values of declared columns of four bytes."""
        tree, types = self.asked.tree, ExpressionTypes(self.tables)
        if not isinstance(tree, exp.Select):
            return set()
        found = [types.of(node) for node in tree.expressions]
        return {i for i, typed in enumerate(found) if typed.declared and typed.kind is INT4}


class Asker:
    """Puts one session's questions to the curator, in the queue that all front ends share."""

    def __init__(
        self, workspace: Workspace, runner: Runner, planner: Planner, caller: Principal
    ) -> None:
        self._workspace = workspace
        self._runner = runner
        self._planner = planner
        self.caller = caller
        self.job: Job | None = None

    async def columns(
        self, question: WireQuestion, types: Sequence[PgType]
    ) -> tuple[OutputColumn, ...]:
        """Return the columns of the answer; spends nothing."""
        self._may_ask()
        sql = question.filled(samples(types))
        return await self._run(
            lambda curator: curator.columns(sql), question.asked.tree, self.caller.asks_as()
        )

    async def answer(
        self, question: WireQuestion, values: Sequence[Any], asking: QuestionOptions
    ) -> Answer:
        """Return the private answer, charged before any row is read."""
        return await self._asked(lambda curator: curator.query, question, values, asking)

    async def explanation(
        self, question: WireQuestion, values: Sequence[Any], asking: QuestionOptions
    ) -> Explanation:
        """Return plan, price and expected error; spends nothing."""

        def explain(curator: Curator) -> Callable[..., Explanation]:
            return lambda sql, **asked: with_promise(curator.explain(sql, **asked), curator.catalog)

        return await self._asked(explain, question, values, asking)

    async def _asked(
        self,
        ask: Callable[[Curator], Callable[..., Found]],
        question: WireQuestion,
        values: Sequence[Any],
        asking: QuestionOptions,
    ) -> Found:
        self._may_ask()
        _needs_epsilon(asking)
        sql, payer = question.filled(values), self.caller.asks_as(asking.analyst)
        return await self._run(
            lambda curator: ask(curator)(
                sql,
                epsilon=asking.epsilon,
                within=asking.within,
                analyst=payer.name,
                fresh=asking.fresh,
                max_rows=asking.max_rows,
            ),
            question.asked.tree,
            payer,
        )

    def cancel(self) -> None:
        """Want no answer any more to what is being asked now."""
        job = self.job
        if job is not None:
            self._runner.cancel(job)

    def _may_ask(self) -> None:
        if self.caller.role is Role.REVIEWER:
            raise NotAllowed(
                "A reviewer sees budgets and the catalog, but asks no questions.",
                hint="Use an analyst's token.",
            )

    async def _run(self, ask: Callable[[Curator], Found], tree: exp.Expr, payer: AskedAs) -> Found:
        """Return what `ask` finds in the curator as `payer` sees it.

        Guarantee: names are bound in a catalog without the datasets in which the analyst has no
            share, as at the other doors, whatever was checked of the text before.
        """

        def work(job: Job) -> Found:
            with curator_for(job, self._workspace, payer, planner=self._planner) as curator:
                return ask(curator)

        try:
            return await self._done(work)
        except QueryRefused as error:
            raise _with_preview(error, tree) from None

    async def readable(self, text: str) -> None:
        """Refuse a text that the parser cannot read within the planner's limits."""

        def work(_job: Job) -> None:
            with self._workspace.curator() as curator:
                self._planner.check_text(curator.catalog, curator.engine.capabilities, text)

        await self._done(work)

    async def aside(self, work: Callable[..., Found], *arguments: Any) -> Found:
        """Return what `work` returns: in the queue, one of a caller's texts at a time."""
        return await self._done(lambda _job: work(*arguments))

    async def _done(self, work: Callable[[Job], Found]) -> Found:
        self.job = job = self._runner.submit(self.caller.key, work, plans=True)
        try:
            found: Found = await asyncio.wrap_future(job.future)
        finally:
            self.job = None
        return found


def _needs_epsilon(asking: QuestionOptions) -> None:
    if asking.epsilon is None and asking.within is None:
        raise InvalidInput(
            "The question does not say how much of the privacy budget to use.",
            hint="SET discreet.epsilon = 0.1, or write /* discreet.epsilon=0.1 */ into the question.",
        )


def _with_preview(error: QueryRefused, tree: exp.Expr) -> QueryRefused:
    tables = [table.name for table in tree.find_all(exp.Table)]
    if error.construct not in _ROWS_WANTED or not tables:
        return error
    hint = f"{error.hint} Made-up rows to look at: SELECT * FROM preview.{tables[0]} LIMIT 100."
    return QueryRefused(error.message, hint=hint, construct=error.construct)


def pg_columns(
    columns: Sequence[OutputColumn], question: WireQuestion, *, errors: bool
) -> tuple[WireColumn, ...]:
    """Return the answer's columns under PostgreSQL's names: count, not COUNT(*).

    With `errors`, each noisy one is followed by its error.
    """
    names = output_names(question.asked.tree) or ()
    known = names if len(names) == len(columns) else [column.name for column in columns]
    small = question.small_columns()
    found = []
    for place, (column, name) in enumerate(zip(columns, known, strict=True)):
        whole = column.type is OutputType.INTEGER and place in small
        found.append(WireColumn(name, INT4 if whole else _TYPES[column.type]))
        if errors and column.noisy:
            found.append(WireColumn(f"{name}_error95", FLOAT8))
    return tuple(found)


def pg_result(
    answer: Answer,
    outputs: Sequence[OutputColumn],
    columns: tuple[WireColumn, ...],
    *,
    errors: bool,
    notices: bool,
) -> StatementResult:
    """Return the answer as rows; as notices what it cost, the error of each noisy column and its provenance."""
    rows = []
    for row, halves in zip(answer.rows, answer.error95, strict=True):
        cells: list[Any] = []
        for output, value, half in zip(outputs, row, halves, strict=True):
            cells.append(value)
            if errors and output.noisy:
                cells.append(half)
        rows.append(cells)
    if not notices:
        return rows_of(columns, rows)
    shown = iter(columns)
    names = []
    for output in outputs:
        names.append(next(shown).name)
        if errors and output.noisy:
            next(shown)
    notes = [*answer.error_lines(names), *answer.provenance.notes]
    if not answer.provenance.private:
        notes.append("The noise was not secret, so this answer protects nobody.")
    return rows_of(columns, rows, answer.bill.spent_words(), *notes)


def explained(found: Explanation) -> list[str]:
    """Return an explanation as lines of text."""
    lines = [f"{name}: {said}" for name, said in found.lines()]
    return [*lines, f"promise: {found.words}", "This spends nothing."]
