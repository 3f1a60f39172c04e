"""A proposal of discreet.toml, inferred from the data: the checked request, the tables and columns, the file on disk.

For the owner only: what is inferred is not private.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from discreet.base.numbers import Delta, Epsilon
from discreet.base.requests.fields import checked
from discreet.base.requests.unpaid import InitFields
from discreet.data.catalog.edits import accepted
from discreet.data.catalog.guess import (
    bare_texts,
    guess_column,
    identifier,
    round_up_to,
    unread_column,
)
from discreet.data.catalog.policy_file import loads
from discreet.data.catalog.profile import (
    Profile,
    constant_columns,
    count_distinct,
    read_profile,
    rows_per_unit,
)
from discreet.data.catalog.sources import Sources, find_sources
from discreet.data.catalog.toml_text import (
    ColumnProposal,
    Proposal,
    Setting,
    TableProposal,
    render_toml,
)
from discreet.data.catalog.writer import refuse_existing, write_file
from discreet.data.engines.base import Engine
from discreet.data.engines.connect import connect, kind_of
from discreet.errors import EngineFailed, InvalidInput


@dataclass(frozen=True, kw_only=True)
class InitRequest(InitFields):
    """What the owner asks `discreet init` for, checked; `files` are those to propose for, or tables."""

    files: tuple[str, ...] = ()

    if TYPE_CHECKING:
        epsilon: Epsilon | None
        delta: Delta | None
        out: Path

    @classmethod
    def of(cls, *files: str | Path, **words: Any) -> InitRequest:
        """Return a checked request from the fields of `InitFields`."""
        asked = checked(InitFields(**words))
        if asked["accept"] and (asked["epsilon"] is None or asked["unit"] is None):
            raise InvalidInput(
                "--accept needs --epsilon and --unit: the budget and whom it protects are the owner's "
                "choice."
            )
        return cls(**asked | {"files": tuple(map(str, files)), "out": Path(asked["out"])})


MOST_COLUMNS = 5_000
"""Every column is read once, and shown to an owner who must judge it."""
TellStep: TypeAlias = Callable[[str], None]
"""Told the name of what is read now."""


def propose(
    engine: Engine,
    found: Sources,
    request: InitRequest,
    *,
    progress: TellStep = lambda _: None,
) -> Proposal:
    """Return a proposal for the tables that `engine` has attached under the names of `found`.

    Guarantee: none. This reads the private rows, and every list, bound and comment in the proposal
        depends on them; so each is marked for review, unless the owner says with `accept` that the
        domains are public.
    """
    tables = tuple(
        _table(engine, name, source, request, progress) for name, source in found.tables.items()
    )
    return Proposal(
        dataset=request.dataset or next(iter(found.tables)),
        tables=_read_alike(tables),
        engine_url=found.engine_url,
        epsilon=request.epsilon,
        delta=request.delta,
        accepted=request.accept,
    )


def refuse_wide(table: str, columns: int) -> None:
    """Refuse a table with so many columns that nobody would look at each."""
    if columns > MOST_COLUMNS:
        raise InvalidInput(
            f"The source of table '{table}' has {columns:,} columns; at most {MOST_COLUMNS:,} can be "
            "proposed.",
            hint="Split it into several tables, or make one row of each group of like columns.",
        )


def _table(
    engine: Engine, name: str, source: str, request: InitRequest, progress: TellStep
) -> TableProposal:
    unit = request.unit
    names = [column for column, _ in engine.columns(name)]
    refuse_wide(name, len(names))
    person = None if unit in (None, "row") else _person_column(names, unit or "", name)
    profiles: dict[str, Profile | None] = {}
    for number, column in enumerate(names, start=1):
        progress(f"{name}.{column} ({number:,} of {len(names):,})")
        profiles[column] = read_profile(engine, name, column)
    rows = max((p.rows for p in profiles.values() if p is not None), default=0)
    if not rows:
        raise InvalidInput(f"The source of table '{name}' has column names but no rows.")
    columns = [_column(column, profiles[column], person) for column in names]
    table = TableProposal(
        name=name, source=source, columns=tuple(columns), unit=unit, seen=(f"Seen: {rows:,} rows.",)
    )
    if person is None:
        warnings = _repeat_warnings(engine, name, columns, profiles)
        table = replace(table, warnings=warnings, seen=(*table.seen, *warnings))
    else:
        progress(f"{name}: rows of a person")
        table = _person_table(engine, replace(table, unit=person), person, accept=request.accept)
        if request.max_rows is not None:
            table = replace(table, max_rows=request.max_rows, suggested_rows=None)
    return _accepted(table) if request.accept else table


def _repeat_warnings(
    engine: Engine,
    table: str,
    columns: Iterable[ColumnProposal],
    profiles: dict[str, Profile | None],
) -> tuple[str, ...]:
    """Return a sentence with figures for each identifier that says the same in several rows."""
    found = []
    for column in columns:
        profile = profiles[column.name]
        if profile is None or column.type != "identifier":
            continue
        distinct = count_distinct(engine, table, profile)
        if 1 < distinct < profile.rows - profile.missing:
            found.append(repeat_words(column.name, distinct, profile.rows))
    return tuple(found)


def repeat_words(column: str, distinct: int, rows: int) -> str:
    """Return the warning about an identifier that repeats where every row counts as a person."""
    return (
        f"'{column}' has {distinct:,} different values in {rows:,} rows. If it says whose row it is, "
        f"the unit \"row\" protects single rows, not people: let '{column}' be the unit."
    )


def _column(name: str, profile: Profile | None, person: str | None) -> ColumnProposal:
    if profile is None:
        return unread_column(name)
    if name == person:
        return replace(
            identifier(profile), settings={"type": "identifier", **_unit_spelling(profile)}
        )
    return guess_column(profile)


def _unit_spelling(profile: Profile) -> Mapping[str, Setting]:
    """Return how the texts that name people are read: 'P7 ' is P7, 'n/a' is nobody."""
    if not pa.types.is_string(profile.values.type) or not profile.distinct:
        return {}
    return bare_texts(profile)[1]


def _read_alike(tables: tuple[TableProposal, ...]) -> tuple[TableProposal, ...]:
    """Return the tables with one spelling of the person: what one of them needs, all of them have."""
    spelled = [_person_settings(table) for table in tables]
    trim = any(settings.get("trim") for settings in spelled)
    words = {str(word) for settings in spelled for word in _listed(settings.get("empty"))}
    found: dict[str, Setting] = {"type": "identifier"}
    found |= {"trim": True} if trim else {}
    found |= {"empty": tuple(sorted(words))} if words else {}
    return tuple(
        replace(
            table,
            columns=tuple(
                replace(column, settings=found) if column.name == table.unit else column
                for column in table.columns
            ),
        )
        for table in tables
    )


def _person_settings(table: TableProposal) -> Mapping[str, Setting]:
    return next((c.settings for c in table.columns if c.name == table.unit), {})


def _listed(setting: Setting | None) -> tuple[str, ...]:
    return setting if isinstance(setting, tuple) else ()


def _person_column(names: list[str], unit: str, table: str) -> str:
    for name in names:
        if name.lower() == unit.lower():
            return name
    raise InvalidInput(
        f"Table '{table}' has no column '{unit}', which --unit names.",
        hint="Write --unit row if every row is another person.",
    )


def _person_table(
    engine: Engine, table: TableProposal, person: str, *, accept: bool
) -> TableProposal:
    bound, most, kept = rows_per_unit(engine, table.name, person)
    bound = int(round_up_to(Fraction(bound)))
    note = f"Seen: at most {most:,} rows of one person; {bound:,} rows cover 95% of the people"
    note += f" and at least {100 * kept:.3g}% of the rows."
    finite = [c.name for c in table.columns if c.type not in ("text", "identifier")]
    constant = constant_columns(engine, table.name, person, finite)
    columns = tuple(_constant(c) if c.name in constant else c for c in table.columns)
    return replace(
        table,
        columns=columns,
        max_rows=bound if accept else None,
        suggested_rows=None if accept else bound,
        seen=(*table.seen, note),
    )


def _constant(column: ColumnProposal) -> ColumnProposal:
    settings: dict[str, Setting] = {**column.settings, "constant": True}
    settings["review"] = settings.pop("review")  # the mark comes last
    return replace(column, settings=settings)


def _accepted(table: TableProposal) -> TableProposal:
    columns = tuple(replace(c, settings=accepted(c.settings)) for c in table.columns)
    return replace(table, columns=columns)


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
