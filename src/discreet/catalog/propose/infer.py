"""Propose a discreet.toml from the data. For the owner only: what it returns is not private."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

import pyarrow as pa

from discreet.catalog.declare.columns import accepted
from discreet.catalog.declare.proposal import ColumnProposal, Proposal, Setting, TableProposal
from discreet.catalog.propose.guess import guess_column
from discreet.catalog.propose.guess_spelled import bare_texts
from discreet.catalog.propose.guess_values import identifier, unread_column
from discreet.catalog.propose.profile import (
    Profile,
    constant_columns,
    count_distinct,
    read_profile,
    rows_per_unit,
)
from discreet.catalog.propose.request import InitRequest
from discreet.catalog.propose.round_bounds import round_up_to
from discreet.catalog.read.sources import Sources
from discreet.engine.base import Engine
from discreet.errors import InvalidInput

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
