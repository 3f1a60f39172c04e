"""A column's profile to a proposed type and domain, with what was seen as notes for the owner."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from discreet.catalog.declare.proposal import ColumnProposal
from discreet.catalog.propose import spelling
from discreet.catalog.propose.guess_values import (
    MOST_CATEGORIES,
    NEARLY_UNIQUE,
    boolean,
    date,
    hidden_text,
    identifier,
    names_things,
    number,
    proposed,
    timestamp,
    whole,
    with_values,
)
from discreet.catalog.propose.profile import Profile

FEW = 5
FITS = 0.99
"""The share of the rows that must fit a type; the rest is read as missing."""

_Guess: TypeAlias = Callable[[Profile, tuple[str, ...]], ColumnProposal]


def guess_column(profile: Profile) -> ColumnProposal:
    """Return the proposal for one column; everything learned from the data waits for review."""
    for fits, guess in _KINDS:
        if fits(profile.values.type):
            return guess(profile, ())
    return hidden_text(profile, ("Its type is not one that can be asked about.",))


def _text(profile: Profile, notes: tuple[str, ...]) -> ColumnProposal:
    blank = spelling.is_missing(profile.values)
    if blank.any():
        words = ", ".join(repr(str(v)) for v in profile.values.filter(pa.array(blank)))
        notes = (*notes, f"Read as missing: {words}.")
        profile = profile.keep(~blank)
    if not profile.distinct:
        return hidden_text(profile, (*notes, "It is empty."))
    tries: tuple[tuple[str, Callable[[Profile], Profile | None], _Guess], ...] = (
        ("whole numbers", _as_whole, whole),
        ("numbers", _as_number, number),
        ("true or false", _as_boolean, boolean),
    )
    for what, convert, guess in tries:
        found = convert(profile)
        if found is not None:
            return guess(found, (*notes, *_misfits(profile, found, what)))
    if spelling.are_padded_numbers(profile.values):
        return hidden_text(
            profile, (*notes, "Its numbers have spaces around them: remove those from the source.")
        )
    return _dated(profile, notes) or _words(profile, notes)


def _as_whole(profile: Profile) -> Profile | None:
    plain = spelling.matches(profile.values, spelling.WHOLE)
    fitting = _fitting(profile, plain)
    # One text with decimals is no misfit: it makes all of them numbers.
    if fitting is None or (spelling.matches(profile.values, spelling.DECIMAL) & ~plain).any():
        return None
    bare = pc.replace_substring(fitting.values, "+", "")
    return with_values(fitting, bare.cast(pa.int64()))


def _as_number(profile: Profile) -> Profile | None:
    fitting = _fitting(profile, spelling.matches(profile.values, spelling.DECIMAL))
    if fitting is None:
        return None
    read = pa.array([float(str(text)) for text in fitting.values], type=pa.float64())
    finite = pc.is_finite(read).to_numpy(zero_copy_only=False)
    return with_values(fitting, read).keep(finite)


def _as_boolean(profile: Profile) -> Profile | None:
    return _fitting(profile, spelling.matches(profile.values, spelling.BOOLEAN))


def _dated(profile: Profile, notes: tuple[str, ...]) -> ColumnProposal | None:
    readings = []
    for way in spelling.DATES:
        times = spelling.days(profile.values, way)
        fitting = _fitting(profile, pc.is_valid(times).to_numpy(zero_copy_only=False))
        if fitting is not None:
            readings.append((way, with_values(fitting, times.drop_null())))
    if not readings:
        return None
    way, found = readings[0]
    notes = (*notes, *_misfits(profile, found, "dates"))
    if len(readings) > 1:
        notes = (*notes, "Day and month cannot be told apart here: check the format.")
    if way.timestamp:
        proposal = timestamp(found, notes)
    else:
        proposal = date(with_values(found, found.values.cast(pa.date32())), notes)
    if way.format in spelling.ISO:
        return proposal
    kept = {key: value for key, value in proposal.settings.items() if key != "review"}
    settings = {**kept, "format": way.format, "review": True}
    return replace(proposal, settings=settings)


def _words(profile: Profile, notes: tuple[str, ...]) -> ColumnProposal:
    texts = profile.values
    if spelling.matches(texts, spelling.UUID).all() or names_things(profile, dense=False):
        return identifier(profile, notes)
    unique = profile.distinct >= NEARLY_UNIQUE * profile.present and profile.present > 2 * FEW
    if profile.distinct <= MOST_CATEGORIES and not unique:
        return _category(profile, notes)
    spaced = spelling.matches(texts, r"\s").mean()
    if unique and spaced < 0.5:
        return identifier(profile, notes)
    many = f"It has {profile.distinct:,} distinct texts."
    if not unique:
        many += " If they are codes of a public list, write type category and values_from a file."
    return hidden_text(profile, (many, *notes))


def _category(profile: Profile, notes: tuple[str, ...]) -> ColumnProposal:
    values = tuple(sorted(str(value) for value in profile.values))
    seen = [f"Seen: {profile.distinct:,} distinct."]
    rare = int((profile.counts < FEW).sum())
    if rare:
        seen.append(
            f"{rare:,} of them occur in fewer than {FEW} rows: keep only what a public list has."
        )
    return proposed(profile, {"type": "category", "values": values}, (*seen, *notes))


def _fitting(profile: Profile, mask: Any) -> Profile | None:
    kept = profile.keep(mask)
    return kept if kept.distinct and kept.present >= FITS * profile.present else None


def _misfits(before: Profile, after: Profile, what: str) -> tuple[str, ...]:
    lost = before.present - after.present
    return (f"{lost:,} rows are not {what} and count as missing.",) if lost else ()


_KINDS: tuple[tuple[Callable[[pa.DataType], bool], _Guess], ...] = (
    (pa.types.is_boolean, boolean),
    (pa.types.is_integer, whole),
    (lambda kind: pa.types.is_decimal(kind) and kind.scale == 0, whole),
    (pa.types.is_floating, number),
    (pa.types.is_decimal, number),
    (pa.types.is_date, date),
    (pa.types.is_timestamp, timestamp),
    (pa.types.is_string, _text),
    (pa.types.is_large_string, _text),
)
