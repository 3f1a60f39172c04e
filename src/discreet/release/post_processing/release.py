"""Private questions released together, then the step over their answers; or what that would cost."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from discreet.core.answers.answer import Answer, Provenance
from discreet.core.answers.explanation import Explanation
from discreet.core.answers.output import OutputColumn, OutputType
from discreet.core.answers.rank_error import RankError, Ranks, worst
from discreet.core.bill import NO_BILL, NOTHING_SPENT, Bill
from discreet.core.numbers import Epsilon
from discreet.engine.duckdb.scratch import outcome
from discreet.ledger.entry import Payer, free_bill
from discreet.plan.ir import scans_of
from discreet.release.assembled import balance_of
from discreet.release.bars.selected import notes_without_errors
from discreet.release.desk import Desk
from discreet.release.finish import plain_value
from discreet.release.kept.stored import pack
from discreet.release.pipeline import explain_question, release_together
from discreet.release.post_processing.tables import (
    answered,
    columns_of,
    part_shapes,
    public_tables,
    question,
    typed,
    written,
)
from discreet.release.request import Request
from discreet.sql.bind import bind
from discreet.sql.parse import ParsedQuestion
from discreet.sql.post_processing.lineage import CellSources, selection_of, shows_errors, sources_of
from discreet.sql.post_processing.program import Program
from discreet.sql.refuse import refusal

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
        f"r{i}": answered(answer, shape)
        for i, (answer, shape) in enumerate(zip(answers, shapes, strict=True))
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
