"""What a program would cost and how exact it would be; nothing is spent."""

from __future__ import annotations

from discreet.core.answer import NOTHING_SPENT
from discreet.core.explanation import Explanation
from discreet.release.afterwards.release import part_request, payer_of
from discreet.release.afterwards.tables import columns_of, written
from discreet.release.assembled import balance_of, limit_of, spent_so_far
from discreet.release.desk import Desk
from discreet.release.pipeline import explain
from discreet.release.request import Request
from discreet.sql.afterwards.program import Program


def explain_steps(program: Program, request: Request, desk: Desk) -> Explanation:
    """Return the explanations of all private questions as one, with the step after them."""
    payer = payer_of(program, request, desk)
    columns_of(program, desk)
    parts = [explain(part_request(program, i, request), desk) for i in range(len(program.parts))]
    now = balance_of(desk.ledger, payer)
    before = spent_so_far(now)
    step = f"after the noise, for nothing: {written(program)}"
    return Explanation(
        dataset=payer.dataset,
        columns=program.columns,
        sql="\n".join([*(part.sql for part in parts), f"-- {step}"]),
        mechanisms=tuple(said for part in parts for said in part.mechanisms),
        cost=sum((part.cost for part in parts), NOTHING_SPENT),
        before=before,
        # As if all parts touched the same person: never less than it will be.
        after=sum((part.after - part.before for part in parts), before),
        limit=limit_of(now),
        expected_error=_errors(program, parts),
        region=" and ".join(dict.fromkeys(part.region for part in parts)) or "nobody",
        free=all(part.free for part in parts),
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
