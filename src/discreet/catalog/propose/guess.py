"""A column's profile to a proposed type and domain, with what was seen as notes for the owner."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from discreet.catalog.declare.proposal import ColumnProposal
from discreet.catalog.propose import spelling
from discreet.catalog.propose.guess_spelled import (
    bare_texts,
    merged_values,
    misfits,
    spelled_date,
    spelled_number,
    with_spelling,
)
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
)
from discreet.catalog.propose.personal import personal
from discreet.catalog.propose.profile import Profile

FEW = 5
FITS = 0.99
"""The share of the rows that must fit a type; the rest is read as missing."""

_Guess: TypeAlias = Callable[[Profile, tuple[str, ...]], ColumnProposal]


def guess_column(profile: Profile) -> ColumnProposal:
    """Return the proposal for one column; everything learned from the data waits for review."""
    what = personal(profile)
    if what:
        return hidden_text(profile, (f"It seems to hold {what}, so it is hidden.",))
    for fits, guess in _KINDS:
        if fits(profile.values.type):
            empty = not profile.distinct and guess is not boolean
            return hidden_text(profile, ("It is empty.",)) if empty else guess(profile, ())
    return hidden_text(profile, ("Its type is not one that can be asked about.",))


def _text(profile: Profile, notes: tuple[str, ...]) -> ColumnProposal:
    bare, spelled = bare_texts(profile)
    empty = spelled.get("empty")
    if isinstance(empty, tuple):
        notes = (*notes, f"Read as missing: {', '.join(map(repr, empty))}.")
    if not bare.distinct:
        return hidden_text(bare, (*notes, "It is empty."))
    if spelled.get("trim"):
        notes = (*notes, "Some texts have spaces around them, which do not count.")
    return with_spelling(_read(bare, notes), spelled)


def _read(profile: Profile, notes: tuple[str, ...]) -> ColumnProposal:
    tries: tuple[tuple[str, Callable[[Profile], Profile | None], _Guess], ...] = (
        ("whole numbers", _as_whole, whole),
        ("numbers", _as_number, number),
        ("true or false", _as_boolean, boolean),
    )
    for what, convert, guess in tries:
        found = convert(profile)
        if found is not None:
            return guess(found, (*notes, *misfits(profile, found, what)))
    written = spelled_number(profile, notes)
    return (
        written or _dated(profile, notes) or spelled_date(profile, notes) or _words(profile, notes)
    )


def _as_whole(profile: Profile) -> Profile | None:
    plain = spelling.matches(profile.values, spelling.WHOLE)
    fitting = _fitting(profile, plain)
    # One text with decimals is no misfit: it makes all of them numbers.
    if fitting is None or (spelling.matches(profile.values, spelling.DECIMAL) & ~plain).any():
        return None
    bare = pc.replace_substring(fitting.values, "+", "")
    return replace(fitting, values=bare.cast(pa.int64()))


def _as_number(profile: Profile) -> Profile | None:
    fitting = _fitting(profile, spelling.matches(profile.values, spelling.DECIMAL))
    if fitting is None:
        return None
    read = pa.array([float(str(text)) for text in fitting.values], type=pa.float64())
    finite = pc.is_finite(read).to_numpy(zero_copy_only=False)
    return replace(fitting, values=read).keep(finite)


def _as_boolean(profile: Profile) -> Profile | None:
    return _fitting(profile, spelling.matches(profile.values, spelling.BOOLEAN))


def _dated(profile: Profile, notes: tuple[str, ...]) -> ColumnProposal | None:
    readings = []
    for way in spelling.DATES:
        times = spelling.days(profile.values, way)
        fitting = _fitting(profile, pc.is_valid(times).to_numpy(zero_copy_only=False))
        if fitting is not None:
            readings.append((way, replace(fitting, values=times.drop_null())))
    if not readings:
        return None
    way, found = readings[0]
    notes = (*notes, *misfits(profile, found, "dates"))
    if len(readings) > 1:
        notes = (*notes, "Day and month cannot be told apart here: check the format.")
    if way.timestamp:
        proposal = timestamp(found, notes)
    else:
        proposal = date(replace(found, values=found.values.cast(pa.date32())), notes)
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
    values, spelled, said = merged_values(profile)
    seen = [f"Seen: {len(values):,} distinct."]
    rare = int((profile.counts < FEW).sum())
    if rare:
        seen.append(
            f"{rare:,} of them occur in fewer than {FEW} rows: keep only what a public list has."
        )
    found = proposed(profile, {"type": "category", "values": values}, (*seen, *said, *notes))
    return with_spelling(found, spelled)


def _fitting(profile: Profile, mask: Any) -> Profile | None:
    kept = profile.keep(mask)
    return kept if kept.distinct and kept.present >= FITS * profile.present else None


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
