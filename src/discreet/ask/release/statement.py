"""Release of a SQL statement: its private questions together, then post-processing of their answers.

Or what that would cost.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from sqlglot import exp

from discreet.ask.plan.ir import scans_of
from discreet.ask.release import pipeline, post_processing
from discreet.ask.release.answer import balance_of, plain_value
from discreet.ask.release.desk import Desk, Request
from discreet.ask.release.pipeline import explain_question, release_together
from discreet.ask.release.post_processing import (
    Nested,
    answered,
    columns_of,
    explained,
    nested_in,
    part_shapes,
    public_tables,
    public_values,
    question,
    refuse_too_dear,
    require_short_id,
    summed,
    told_of_inner,
    typed,
    written,
)
from discreet.ask.release.selection import notes_without_errors
from discreet.ask.release.stored_answers import pack
from discreet.ask.sql.bind import bind
from discreet.ask.sql.parse import ParsedQuestion, read_checked
from discreet.ask.sql.post_processing.lineage import (
    CellSources,
    selection_of,
    shows_errors,
    sources_of,
)
from discreet.ask.sql.post_processing.split import split, with_constants
from discreet.ask.sql.post_processing.steps import Program, units_of
from discreet.ask.sql.refuse import refusal
from discreet.base.answer import Answer, Explanation, OutputColumn, OutputType, Provenance
from discreet.base.answer_text import RankError, Ranks, worst
from discreet.base.bill import NO_BILL, NOTHING_SPENT, Bill
from discreet.base.numbers import Epsilon
from discreet.data.catalog.catalog import Catalog
from discreet.data.engines.duckdb.scratch import outcome
from discreet.privacy.ledger.entry import Payer, free_bill

ONE = Epsilon(Fraction(1))


def release_steps(program: Program, request: Request, desk: Desk) -> Answer:
    """Return the outcome of a program.

    Guarantee: rows of people are read by `pipeline.release_together` alone, each question under an id
        of its own that follows from this request's, all of them charged in one transaction or none;
        what cannot be computed from answers of their types is refused before that. The same request
        id gets the same outcome, free.
    """
    payer = payer_of(program, request, desk)
    shapes = part_shapes(program, desk)
    columns = typed(program, shapes)
    answers = release_together(
        [part_request(program, i, request) for i in range(len(program.parts))],
        desk,
    )
    tables = {
        f"r{i}": answered(answer, post_processing)
        for i, (answer, post_processing) in enumerate(zip(answers, shapes, strict=True))
    }
    rows = outcome(written(program), tables | public_tables(program, desk))
    found = _answer(program, request, answers, columns, rows)
    if not answers:
        now = balance_of(desk.ledger, payer)
        found = replace(found, bill=free_bill(now))
    if request.named:
        keep_outcome(found, payer, request, desk)
    return found


def explain_steps(program: Program, request: Request, desk: Desk) -> Explanation:
    """Return the explanations of all private questions as one, with the step after them."""
    payer = payer_of(program, request, desk)
    columns_of(program, desk)
    parts = [
        explain_question(part_request(program, i, request), desk) for i in range(len(program.parts))
    ]
    now = balance_of(desk.ledger, payer)
    step = f"after the noise, for nothing: {written(program)}"
    return Explanation(
        dataset=payer.dataset,
        columns=program.columns,
        sql="\n".join([*(part.sql for part in parts), f"-- {step}"]),
        mechanisms=tuple(said for part in parts for said in part.mechanisms),
        bill=Bill(
            cost=sum((part.cost for part in parts), NOTHING_SPENT),
            before=now.spent,
            # As if all parts touched the same person: never less than it will be.
            after=sum((part.after - part.before for part in parts), now.spent),
            limit=now.limit,
            free=all(part.free for part in parts),
        ),
        expected_error=_errors(program, parts),
        region=" and ".join(dict.fromkeys(part.region for part in parts)) or "nobody",
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
    )


def _errors(program: Program, parts: list[Explanation]) -> dict[str, float | None]:
    if program.bars is None:
        return dict.fromkeys(program.columns, None) if parts else {}
    part = parts[program.bars.part]
    found: dict[str, float | None] = {}
    for name, place in zip(program.columns, program.bars.columns, strict=True):
        if place is None:
            found[name] = None
        elif part.columns[place] in part.expected_error:
            found[name] = part.expected_error[part.columns[place]]
    return found


def keep_outcome(found: Answer, payer: Payer, request: Request, desk: Desk) -> None:
    """Let the id that the caller chose stand for an outcome."""
    packed = pack(found, (), request.epsilon or ONE)
    desk.ledger.stored.keep_free(payer, packed, request_id=request.request_id, body=request.body)


def part_request(program: Program, part: int, request: Request) -> Request:
    """Return the request of one private question: an equal share, and an id that follows."""
    if request.within is not None and (len(program.parts) != 1 or program.bars is None):
        raise refusal("within")
    epsilon = request.epsilon
    if epsilon is not None:
        epsilon = Epsilon(epsilon.value / len(program.parts))
    return replace(
        request,
        sql=question(program, part, str(request.sql)),
        epsilon=epsilon,
        later=selection_of(program, part),
        request_id=f"{request.request_id}.{part + 1}",
        part=f"{request.part} {part + 1} of {len(program.parts)}",
    )


def payer_of(program: Program, request: Request, desk: Desk) -> Payer:
    """Return who pays for a program: all of its private questions are about one dataset."""
    catalog = desk.catalog
    found = {}
    for part in program.parts:
        source = bind(ParsedQuestion("", part), catalog).source
        for dataset in datasets_of(source):
            found[dataset.name] = dataset
    if len(found) > 1:
        raise refusal("two datasets")
    public = {dataset.name: dataset for dataset, _ in program.public}
    for dataset in public.values():
        if request.analyst is not None:
            catalog.cap(request.analyst, dataset)
    if not found and not public:
        tables = ", ".join(t.name for d in catalog.datasets.values() for t in d.tables)
        raise refusal("no from", tables=tables)
    dataset = next(iter((found or public).values()))
    return Payer(request.analyst, dataset.name, dataset.budget)


def datasets_of(source: Any) -> list[Any]:
    """Return the datasets whose people a relation reads."""
    return [scan.dataset for scan in scans_of(source) if scan.dataset and not scan.public]


def _answer(
    program: Program,
    request: Request,
    answers: list[Answer],
    columns: tuple[OutputColumn, ...],
    rows: list[tuple[Any, ...]],
) -> Answer:
    width = len(program.columns)
    ends = [_ends(program, answers, row) for row in rows]
    moments = [column.type is OutputType.TIMESTAMP for column in columns]
    values = [
        tuple(_shown(v, moment=m) for v, m in zip(row[:width], moments, strict=True))
        for row in rows
    ]
    noisy = tuple(i for i, column in enumerate(columns) if column.noisy)
    leading = next((i for i in range(width) if i in noisy), width)
    return Answer(
        columns=program.columns,
        rows=tuple(values),
        error95=tuple(tuple(half for half, _ in row) for row in ends),
        bill=_bill_of_all(answers) if answers else NO_BILL,
        request_id=request.request_id,
        provenance=_provenance(program, answers),
        keys=leading,
        intervals=tuple(tuple(interval for _, interval in row) for row in ends),
        noisy=noisy,
        ranks=_ranks(program, answers, rows),
    )


def _ranks(program: Program, answers: list[Answer], rows: list[tuple[Any, ...]]) -> Ranks:
    """Return the errors of cells that were chosen, and of those that are made of such: by the worst of them."""
    if not any(answer.ranks for answer in answers):
        return ()
    sources = sources_of(program.after)[: len(program.columns)]
    bars = program.bars

    def found(source: CellSources, row: tuple[Any, ...]) -> RankError | None:
        known: list[RankError | None] = []
        for part, column in source.cells:
            ranks = answers[part].ranks
            alone = bars is not None and bars.part == part and ranks and not source.gathers
            known += [line[column] for line in ([ranks[row[-1]]] if alone else ranks)]
        return worst(known, computed=not source.same)

    return tuple(tuple(found(source, row) for source in sources) for row in rows)


def _bill_of_all(answers: list[Answer]) -> Bill:
    return Bill(
        cost=sum((answer.cost for answer in answers), NOTHING_SPENT),
        before=answers[0].before,
        after=answers[-1].after,
        limit=answers[0].limit,
        free=all(answer.free for answer in answers),
    )


def _shown(value: Any, *, moment: bool) -> Any:
    """Return a value of a step's outcome in the form that answers have; `moment`: with its time."""
    if isinstance(value, Decimal):
        value = int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, dt.datetime) and value.time() == dt.time() and not moment:
        value = value.date()
    return plain_value(value)


def _ends(
    program: Program, answers: list[Answer], row: tuple[Any, ...]
) -> list[tuple[float | None, tuple[float, float] | None]]:
    """Return the error bar of each cell that is passed on from an answer."""
    if program.bars is None:
        return [(None, None)] * len(program.columns)
    answer, place = answers[program.bars.part], row[-1]
    return [
        (None, None)
        if column is None
        else (answer.error95[place][column], answer.intervals[place][column])
        for column in program.bars.columns
    ]


def _provenance(program: Program, answers: list[Answer]) -> Provenance:
    step = "Computed from noisy results and public tables, which costs nothing."
    if not answers:
        name = program.public[0][0].name if program.public else ""
        note = "Only public tables were read: they hold nobody's data."
        return Provenance(name, "", "nobody", (), (), (note,))
    first = answers[0].provenance
    found = [note for answer in answers for note in answer.provenance.notes]
    notes = dict.fromkeys(found if shows_errors(program) else notes_without_errors(found))
    return replace(
        first,
        mechanisms=tuple(m for answer in answers for m in answer.provenance.mechanisms),
        sql=(*(s for answer in answers for s in answer.provenance.sql), written(program)),
        notes=(*notes, step),
        private=all(answer.provenance.private for answer in answers),
    )


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
        return post_processing.shape_of(sql, desk)
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
