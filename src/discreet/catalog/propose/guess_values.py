"""Proposals for columns whose values have a type already: numbers, dates, booleans, names."""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from discreet.catalog.declare.proposal import ColumnProposal, Setting
from discreet.catalog.propose.profile import MOST_VALUES, Profile
from discreet.catalog.propose.round_bounds import (
    as_decimal,
    round_bounds,
    round_whole_bounds,
    step_for,
    whole_years,
)
from discreet.catalog.propose.spelling import names_a_person, sounds_like_identifier

MOST_CATEGORIES = 200
NEARLY_UNIQUE = 0.95
LOOKED_AT = 50_000
"""Decimals are counted on this many distinct values."""

_LARGEST = 10**18 - 1


def unread_column(name: str) -> ColumnProposal:
    """Return the proposal for a column that the engine could not read."""
    return ColumnProposal(name, {"type": "text", "hidden": True}, ("It could not be read.",))


def identifier(profile: Profile, notes: tuple[str, ...] = ()) -> ColumnProposal:
    """Return the proposal for a column that names persons or things."""
    return _proposal(profile, {"type": "identifier", "review": True}, (_distinct(profile), *notes))


def whole(profile: Profile, notes: tuple[str, ...]) -> ColumnProposal:
    """Return the proposal for a column of whole numbers."""
    low, high = (int(bound) for bound in _extremes(profile))
    if names_things(profile, dense=high - low < 3 * profile.distinct):
        return identifier(profile, notes)
    if max(abs(low), abs(high)) > _LARGEST:
        return identifier(profile, (*notes, "Its numbers are too large to count with."))
    lower, upper = round_whole_bounds(low, high)
    seen = f"Seen: {low:,} to {high:,}, {_how_many(profile)} distinct."
    return proposed(profile, {"type": "integer", "lower": lower, "upper": upper}, (seen, *notes))


def number(profile: Profile, notes: tuple[str, ...]) -> ColumnProposal:
    """Return the proposal for a column of numbers with decimals."""
    bounds = _extremes(profile)
    if not all(math.isfinite(bound) for bound in bounds):
        return hidden_text(profile, (*notes, "It holds infinite values."))
    low, high = (Fraction(_decimal(bound)) for bound in bounds)
    decimals = _decimals(profile.values)
    if not decimals and profile.complete and max(abs(low), abs(high)) < 2**53:
        ints = pa.array([int(value) for value in profile.values.to_pylist()], type=pa.int64())
        return whole(replace(profile, values=ints), notes)
    step = step_for(decimals, low, high)
    low, high = _outwards(low, high, Fraction(step))
    lower, upper = _outwards(*round_bounds(low, high), Fraction(step))
    settings: dict[str, Setting] = {
        "type": "number",
        "lower": as_decimal(lower),
        "upper": as_decimal(upper),
        "step": step,
    }
    seen = f"Seen: {as_decimal(low):,f} to {as_decimal(high):,f}, {_how_many(profile)} distinct."
    if max(abs(lower), abs(upper)) / Fraction(step) > _LARGEST:
        return hidden_text(profile, (seen, *notes, "Its range is too large to count with."))
    return proposed(profile, settings, (seen, *notes))


def boolean(profile: Profile, notes: tuple[str, ...]) -> ColumnProposal:
    """Return the proposal for a column of true and false."""
    return proposed(profile, {"type": "boolean"}, notes)


def date(profile: Profile, notes: tuple[str, ...]) -> ColumnProposal:
    """Return the proposal for a column of days."""
    low, high = _extremes(profile)
    lower, upper = whole_years(low, high)
    seen = f"Seen: {low} to {high}, {profile.distinct:,} distinct."
    return proposed(profile, {"type": "date", "lower": lower, "upper": upper}, (seen, *notes))


def timestamp(profile: Profile, notes: tuple[str, ...]) -> ColumnProposal:
    """Return the proposal for a column of times."""
    if pc.all(pc.equal(profile.values, pc.floor_temporal(profile.values, unit="day"))).as_py():
        return date(replace(profile, values=profile.values.cast(pa.date32())), notes)
    low, high = (bound.replace(microsecond=0) for bound in _extremes(profile))
    first, last = whole_years(low.date(), high.date())
    settings: dict[str, Setting] = {
        "type": "timestamp",
        "lower": dt.datetime.combine(first, dt.time()),
        "upper": dt.datetime.combine(last, dt.time(23, 59, 59)),
    }
    return proposed(profile, settings, (f"Seen: {low} to {high}.", *notes))


def names_things(profile: Profile, *, dense: bool) -> bool:
    """Return whether the column names persons or things rather than measuring something."""
    if names_a_person(profile.name) and profile.distinct > 1:
        return True
    if profile.distinct <= MOST_CATEGORIES and profile.present > profile.distinct:
        return False
    if sounds_like_identifier(profile.name):
        return True
    unique = profile.distinct >= NEARLY_UNIQUE * profile.present
    return unique and dense and profile.present > MOST_CATEGORIES


def proposed(
    profile: Profile, settings: dict[str, Setting], notes: tuple[str, ...]
) -> ColumnProposal:
    """Return the proposal with these settings, marked for review."""
    lacking: dict[str, Setting] = {"missing": True} if profile.missing else {}
    return _proposal(profile, {**settings, **lacking, "review": True}, notes)


def hidden_text(profile: Profile, notes: tuple[str, ...]) -> ColumnProposal:
    """Return the proposal for a column that nobody can ask about."""
    return _proposal(profile, {"type": "text", "hidden": True}, notes)


def _proposal(
    profile: Profile, settings: dict[str, Setting], notes: tuple[str, ...]
) -> ColumnProposal:
    share = profile.missing / profile.rows if profile.rows else None
    return ColumnProposal(profile.name, settings, (*notes, *_missing(profile)), share)


def _extremes(profile: Profile) -> tuple[Any, Any]:
    if profile.extremes is not None:
        return profile.extremes
    found = pc.min_max(profile.values).as_py()
    return found["min"], found["max"]


def _decimal(value: object) -> Decimal:
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(str(value))


def _decimals(values: pa.Array) -> int:
    """Return the greatest number of decimals that a value has."""
    if pa.types.is_decimal(values.type):
        return int(values.type.scale)
    texts = pc.cast(values[:LOOKED_AT], pa.string()).drop_null()
    powers = pc.match_substring(texts, "e")
    after = pc.replace_substring_regex(texts.filter(pc.invert(powers)), r"^[^.]*\.?", "")
    most = pc.max(pc.utf8_length(pc.utf8_rtrim(after, "0"))).as_py() or 0
    for text in texts.filter(powers).to_pylist():
        exponent = Decimal(text).normalize().as_tuple().exponent
        most = max(most, -exponent if isinstance(exponent, int) else 0)
    return int(most)


def _outwards(low: Fraction, high: Fraction, step: Fraction) -> tuple[Fraction, Fraction]:
    return low // step * step, -(-high // step) * step


def _how_many(profile: Profile) -> str:
    return f"{profile.distinct:,}" if profile.complete else f"over {MOST_VALUES:,}"


def _distinct(profile: Profile) -> str:
    if not profile.complete:
        return "Seen: very many distinct values."
    return f"Seen: {profile.distinct:,} distinct values in {profile.present:,} rows."


def _missing(profile: Profile) -> tuple[str, ...]:
    notes = []
    if profile.missing and profile.rows:
        notes.append(f"{100 * profile.missing / profile.rows:.3g}% of the rows have no value.")
    if not profile.complete:
        notes.append(f"Judged by {profile.distinct:,} of its values.")
    return tuple(notes)
