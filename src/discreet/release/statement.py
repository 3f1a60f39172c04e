"""Release a SQL statement: its private questions, then post-processing of their answers."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from discreet.catalog.catalog import Catalog
from discreet.core.answers.answer import Answer
from discreet.core.answers.explanation import Explanation
from discreet.core.answers.output import OutputColumn
from discreet.ledger.entry import Payer
from discreet.release import pipeline, shape
from discreet.release.desk import Desk
from discreet.release.post_processing.constants import (
    Nested,
    explained,
    nested_in,
    public_values,
    refuse_too_dear,
    require_short_id,
    summed,
    told_of_inner,
)
from discreet.release.post_processing.release import (
    datasets_of,
    explain_steps,
    keep_outcome,
    release_steps,
)
from discreet.release.post_processing.tables import columns_of
from discreet.release.request import Request
from discreet.sql.bind import bind
from discreet.sql.parse import ParsedQuestion, read_checked
from discreet.sql.post_processing.inner import with_constants
from discreet.sql.post_processing.needed import units_of
from discreet.sql.post_processing.program import Program
from discreet.sql.post_processing.split import split
from discreet.sql.refuse import refusal


def release(request: Request, desk: Desk) -> Answer:
    """Return the private answer to a statement.

    Guarantee: the private questions in it are released by `pipeline.release_together`: all of them are
        charged or none, each before its own look; everything else is computed from their answers and
        public tables.
    """
    before = pipeline.stored_answer_of(request, desk.ledger)
    if before is not None:
        return before  # whatever its tables are called by now
    request, tree = _checked(request, desk.catalog)
    nested = nested_in(tree, desk.catalog)
    if nested is None:
        return _released(request, desk)
    # Whatever would be refused is refused before the first of its questions is charged.
    shape_of(str(request.sql), desk, nested=nested)
    values = [
        [] if inner.private else public_values(inner, request, desk) for inner in nested.inner
    ]
    if nested.private:
        require_short_id(request)
        refuse_too_dear(explain(request, desk))
    answers = []
    for place, inner in enumerate(nested.inner):
        if inner.private:
            answers.append(_released(nested.asked(place, request), desk))
            values[place] = [row[0] for row in answers[-1].rows]  # the one noisy number
    sql = ParsedQuestion(str(request.sql), with_constants(nested.tree, desk.catalog, values))
    if not answers:
        return _released(replace(request, sql=sql), desk)
    name = f"{request.request_id}.out"
    outer = replace(nested.share(request), sql=sql, request_id=name, part="desk")
    with told_of_inner():
        found = summed(_released(outer, desk), answers, request)
    if request.named:
        keep_outcome(found, payer_of_question(sql, request, desk.catalog), request, desk)
    return found


def _released(request: Request, desk: Desk) -> Answer:
    program = steps(request.sql, desk.catalog)
    if program is None:
        return pipeline.release_question(request, desk)
    return release_steps(program, request, desk)


def explain(request: Request, desk: Desk, *, group_size: int | None = None) -> Explanation:
    """Return the plan, the price and the expected error of a statement; spends nothing.

    `group_size` names rows of a group for which means, variances and quantiles tell theirs; what is
    computed afterwards tells none.
    """
    request, tree = _checked(request, desk.catalog)
    nested = nested_in(tree, desk.catalog)
    if nested is None:
        return _explained(request, desk, group_size)
    parts = [
        _explained(nested.asked(place, request), desk, None)
        for place, inner in enumerate(nested.inner)
        if inner.private
    ]
    values = [
        [1] if inner.private else public_values(inner, request, desk) for inner in nested.inner
    ]
    sql = ParsedQuestion(str(request.sql), with_constants(nested.tree, desk.catalog, values))
    outer = _explained(replace(nested.share(request), sql=sql), desk, group_size)
    return explained(outer, parts) if parts else outer


def _explained(request: Request, desk: Desk, group_size: int | None) -> Explanation:
    program = steps(request.sql, desk.catalog)
    if program is None:
        return pipeline.explain_question(request, desk, group_size=group_size)
    return explain_steps(program, request, desk)


def shape_of(
    sql: str | ParsedQuestion, desk: Desk, *, nested: Nested | None = None
) -> tuple[OutputColumn, ...]:
    """Return the columns of the answer to `sql`. Depends on public facts only; spends nothing.

    `nested`: its inner questions, where they are known already.
    """
    nested = nested or nested_in(read_checked(sql), desk.catalog)
    if nested is not None:
        sql = ParsedQuestion(str(sql), nested.sampled(desk.catalog))
    program = steps(sql, desk.catalog)
    if program is None:
        return shape.shape_of(sql, desk)
    return columns_of(program, desk)


def _checked(request: Request, catalog: Catalog) -> tuple[Request, exp.Expr]:
    """Return the request with its statement read, once for everything that follows, and the tree."""
    tree = read_checked(request.sql)
    if request.unit is not None:
        units = units_of(tree, catalog)
        if units != {request.unit.lower()}:
            raise refusal("other unit", what=request.unit[:40], unit=" and ".join(units) or "none")
    return replace(request, sql=ParsedQuestion(str(request.sql), tree, ready=True)), tree


def payer_of_question(sql: ParsedQuestion, request: Request, catalog: Catalog) -> Payer:
    """Return who pays for a statement that reads one dataset."""
    program = steps(sql, catalog)
    parts = [sql] if program is None else [ParsedQuestion("", part) for part in program.parts]
    (dataset, *_) = datasets_of(bind(parts[0], catalog).source)
    return Payer(request.analyst, dataset.name, dataset.budget)


def steps(sql: str | ParsedQuestion, catalog: Catalog) -> Program | None:
    """Return the steps of a statement, None where it is one private question."""
    return split(read_checked(sql), catalog)
