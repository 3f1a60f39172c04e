"""From what the owner wrote on the command line to a discreet.toml on disk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from discreet.catalog.declare.change_file import refuse_existing, write_file
from discreet.catalog.declare.proposal import Proposal
from discreet.catalog.declare.render import render_toml
from discreet.catalog.propose.infer import TellStep, propose, refuse_wide
from discreet.catalog.propose.request import InitRequest
from discreet.catalog.read.policy_file import loads
from discreet.catalog.read.sources import Sources, find_sources
from discreet.engine.base import Engine
from discreet.engine.connect import connect
from discreet.engine.kinds import kind_of
from discreet.errors import EngineFailed, InvalidInput


def propose_file(
    request: InitRequest,
    *,
    progress: TellStep = lambda _: None,
    look: Callable[[Engine, str], None] = lambda _engine, _text: None,
) -> Proposal:
    """Return the proposal after writing it to `request.out`.

    `look` is called with the engine and the text of the file before it is written.
    """
    if not request.force:
        refuse_existing(request.out)
    base = request.out.parent
    if not base.is_dir():
        raise InvalidInput(f"There is no folder '{base}' to write to.")
    found = find_sources(request.files, base=base)
    kind_of(found.engine_url).check_reach(found.engine_url, found.tables)
    for name, columns in found.widths.items():
        refuse_wide(name, columns)
    progress(", ".join(found.tables.values()))
    try:
        engine = connect(found.engine_url, found.tables, base=base, encodings=found.encodings)
        try:
            proposal = propose(engine, found, request, progress=progress)
            proposal = _with_encodings(proposal, found)
            text = render_toml(proposal)
            loads(text, base=base)  # what we write must read back; refused before it is on disk
            look(engine, text)
        finally:
            engine.close()
            progress("")
    except EngineFailed:
        raise InvalidInput(
            f"The engine could not read {', '.join(found.tables.values())}.",
            hint="Check that every line has as many cells as the first, and the file is whole.",
        ) from None
    write_file(request.out, text, force=request.force)
    return proposal


def _with_encodings(proposal: Proposal, found: Sources) -> Proposal:
    tables = tuple(
        replace(
            table,
            encoding=found.encodings.get(table.name),
            warnings=(*table.warnings, *filter(None, [found.notes.get(table.name)])),
        )
        for table in proposal.tables
    )
    return replace(proposal, tables=tables)


def summary(proposal: Proposal, out: Path) -> dict[str, Any]:
    """Return what `discreet init --json` prints: names and types, nothing from the data."""
    waiting = [
        f"{table.name}.{column.name}"
        for table in proposal.tables
        for column in table.columns
        if column.settings.get("review")
    ]
    return {
        "out": str(out),
        "dataset": proposal.dataset,
        "accepted": proposal.accepted,
        "tables": {
            table.name: {column.name: column.type for column in table.columns}
            for table in proposal.tables
        },
        "review": waiting,
        "warnings": [warning for table in proposal.tables for warning in table.warnings],
        "todo": _todo(proposal, waiting),
    }


def _todo(proposal: Proposal, waiting: list[str]) -> list[str]:
    todo = []
    if proposal.epsilon is None:
        todo.append("fill in epsilon, the most that one person can lose over all answers.")
    if any(table.unit is None for table in proposal.tables):
        todo.append("fill in unit for each table: whom the budget protects.")
    if any(table.max_rows is None and table.suggested_rows for table in proposal.tables):
        todo.append(
            "choose max_rows, the most rows of one person that count, or say it in queries."
        )
    if waiting:
        many = "1 column waits" if len(waiting) == 1 else f"{len(waiting)} columns wait"
        todo.append(
            f"{many} for your word. 'discreet review' shows what each would lose and reveal."
        )
    return todo
