"""Inner questions of a condition, answered before the statement around them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sqlglot import exp

from discreet.catalog.catalog import Catalog
from discreet.core.answers.answer import Answer
from discreet.core.answers.explanation import Explanation
from discreet.core.answers.output import OutputType
from discreet.core.bill import NOTHING_SPENT
from discreet.core.numbers import Epsilon, plain, plain_below
from discreet.engine.duckdb.scratch import outcome
from discreet.errors import BudgetExceeded, InvalidInput, QueryRefused, from_facts
from discreet.release.desk import Desk
from discreet.release.post_processing.tables import public_tables, typed, written
from discreet.release.request import Request
from discreet.sql.parse import ParsedQuestion
from discreet.sql.post_processing.inner import MOST_LISTED, Inner, inner_questions, with_constants
from discreet.sql.refuse import refusal

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
