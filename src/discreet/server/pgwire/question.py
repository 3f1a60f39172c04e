"""A SELECT over private tables: described for free, answered by the curator, paid by the caller."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlglot import exp

from discreet.api import Curator, ParsedStatement, Planner, with_promise
from discreet.core.answer import Answer, Explanation, OutputColumn, OutputType
from discreet.errors import InvalidInput, NotAllowed, QueryRefused
from discreet.server.access.auth import Principal
from discreet.server.access.tokens import AskedAs, Role
from discreet.server.jobs.long import curator_for
from discreet.server.jobs.queue import Job, Runner
from discreet.server.pgwire.catalog.rows import DATABASE
from discreet.server.pgwire.catalog.tables import VisibleTable
from discreet.server.pgwire.meaning import ExpressionTypes, as_postgres
from discreet.server.pgwire.messages import Failure
from discreet.server.pgwire.options import QuestionOptions
from discreet.server.pgwire.parameters import filled, output_names, samples
from discreet.server.pgwire.results import StatementResult, rows_of
from discreet.server.pgwire.types import (
    BOOL,
    DATE,
    FLOAT8,
    INT4,
    INT8,
    TEXT,
    TIMESTAMP,
    PgType,
    WireColumn,
)
from discreet.server.workspace import Workspace

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
