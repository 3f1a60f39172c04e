"""Identifiers that repeat: a sign that a row is not a person. For the owner's eyes only."""

from __future__ import annotations

from collections.abc import Iterable

from discreet.catalog.declare.proposal import ColumnProposal
from discreet.catalog.propose.profile import Profile, count_distinct
from discreet.engine.base import Engine


def repeat_warnings(
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
