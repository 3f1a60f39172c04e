"""Guesses of a column's type and domain from its profile, with what was seen as notes for the owner.

Columns of typed values (numbers, dates, booleans, names); texts as people write them (padded, in two cases,
1.234,50 EUR, 4/3/2024); bounds rounded outwards to numbers that a person would have chosen.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.data.catalog import text_patterns
from discreet.data.catalog import text_patterns as odd
from discreet.data.catalog.profile import MOST_VALUES, Profile
from discreet.data.catalog.text_patterns import names_a_person, personal, sounds_like_identifier
from discreet.data.catalog.toml_text import ColumnProposal, Setting

EXACT_SPAN = 20
"""A range of whole numbers as short as this (grades, stars, months) is kept as it is."""

_STEPS = tuple(Fraction(tenths, 10) for tenths in (10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100))


def round_up_to(value: Fraction) -> Fraction:
    """Return the least round number that is not below a positive `value`: 90 gives 100, 109 120."""
    power = _power_of_ten(value)
    return next(step * power for step in _STEPS if step * power >= value)


def round_bounds(low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
    """Return round bounds around [low, high]: 17 to 90 gives 0 to 100, 1934 to 2005 1930 to 2010."""
    if low >= 0 and 2 * low <= high:
        return Fraction(0), round_up_to(high) if high else Fraction(1)
    if high <= 0 and 2 * high >= low:
        return -round_up_to(-low), Fraction(0)
    if low < 0 < high:
        return -round_up_to(-low), round_up_to(high)
    unit = _power_of_ten(high - low) if high > low else _power_of_ten(abs(high))
    return low // unit * unit, -(-high // unit) * unit


def round_whole_bounds(low: int, high: int) -> tuple[int, int]:
    """Return round whole bounds around [low, high]; short ranges stay as they are."""
    if high - low <= EXACT_SPAN and abs(low) <= EXACT_SPAN:
        return low, high
    lower, upper = round_bounds(Fraction(low), Fraction(high))
    return lower.__floor__(), upper.__ceil__()


def whole_years(low: dt.date, high: dt.date) -> tuple[dt.date, dt.date]:
    """Return the first and the last day of the years of `low` and `high`."""
    return dt.date(low.year, 1, 1), dt.date(high.year, 12, 31)


def step_for(decimals: int, low: Fraction, high: Fraction) -> Decimal:
    """Return a power of ten: the last decimal seen, at most six, at least a millionth of the range."""
    span = high - low
    if decimals <= 6:
        return Decimal(1).scaleb(-decimals)
    if not span:
        return Decimal("0.000001")
    exponent = 0
    power = _power_of_ten(span / 1_000_000)
    while power < 1:
        power, exponent = power * 10, exponent - 1
    return Decimal(1).scaleb(exponent)


def as_decimal(value: Fraction) -> Decimal:
    """Return a fraction whose denominator is a power of ten as an exact decimal."""
    places = 0
    while (value * 10**places).denominator != 1:
        places += 1
    return Decimal(int(value * 10**places)).scaleb(-places)


def _power_of_ten(value: Fraction) -> Fraction:
    """Return the greatest power of ten that is not above a positive `value`."""
    power = Fraction(1)
    while power * 10 <= value:
        power *= 10
    while power > value:
        power /= 10
    return power


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


_LAST = ("missing", "constant", "review")


def bare_texts(profile: Profile) -> tuple[Profile, dict[str, Setting]]:
    """Return the texts that say something, and the settings by which they are read so."""
    found, padded = odd.trimmed(_counted(profile))
    bare = replace(
        profile, values=pa.array(found.texts, pa.string()), counts=np.array(found.counts, np.int64)
    )
    blank = text_patterns.is_missing(bare.values)
    settings: dict[str, Setting] = {"trim": True} if padded else {}
    empty = tuple(sorted(str(v) for v in bare.values.filter(pa.array(blank)) if str(v)))
    if empty:
        settings["empty"] = empty
    return bare.keep(~blank), settings


def spelled_number(profile: Profile, notes: tuple[str, ...]) -> ColumnProposal | None:
    """Return the proposal for texts such as 1.234,50 or $5; None where they are no numbers."""
    found = _counted(profile)
    written = odd.number_spelling(found)
    if written is None or not written.numeral or _has_codes(found.texts):
        return None
    values = [odd.read_number(text, written) for text in found.texts]
    floats = pa.array([None if v is None else float(v) for v in values], pa.float64())
    fits = np.asarray(floats.is_valid())
    kept = replace(profile.keep(fits), values=floats.drop_null())
    if odd.ambiguous(written, found.texts):
        notes = (*notes, "Comma and point could be meant the other way round: check them.")
    proposal = number(kept, (*notes, *misfits(profile, kept, "numbers")))
    if proposal.type not in ("integer", "number"):
        return proposal
    settings: dict[str, Setting] = {}
    if written.thousands:
        settings["thousands"] = written.thousands
    if written.decimal != ".":
        settings["decimal"] = written.decimal
    if written.signs:
        settings["signs"] = written.signs
    return with_spelling(proposal, settings)


def spelled_date(profile: Profile, notes: tuple[str, ...]) -> ColumnProposal | None:
    """Return the proposal for dates in several spellings; None where the texts are no dates."""
    found = _counted(profile)
    formats = odd.date_spellings(found)
    if not formats:
        return None
    days = pa.array([_first_day(text, formats) for text in found.texts], pa.date32())
    kept = replace(profile.keep(np.asarray(days.is_valid())), values=days.drop_null())
    said = "" if len(formats) < 2 else f"Dates are spelled in {len(formats)} ways."
    notes = (*notes, *filter(None, [said]), *misfits(profile, kept, "dates"))
    if odd.either_way(found, formats):
        notes = (*notes, "Day and month cannot be told apart here: check the format.")
    written: Setting = formats if len(formats) > 1 else formats[0]
    return with_spelling(date(kept, notes), {"format": written})


def merged_values(
    profile: Profile,
) -> tuple[tuple[str, ...], dict[str, Setting], tuple[str, ...]]:
    """Return the values of a category, the settings that merge spellings, and what to say of it."""
    values, any_case, same = odd.merged(_counted(profile))
    settings: dict[str, Setting] = {"any_case": True} if any_case else {}
    notes = []
    if any_case:
        notes.append("Capital and small letters are read as the same.")
    if same:
        settings["same"] = same
        notes += [f"{', '.join(forms)} is read as {value}." for value, forms in same.items()]
    return values, settings, tuple(notes)


def with_spelling(proposal: ColumnProposal, spelled: Mapping[str, Setting]) -> ColumnProposal:
    """Return the proposal with these settings before its last ones; a hidden column needs none."""
    if not spelled or proposal.settings.get("hidden"):
        return proposal
    first = {key: value for key, value in proposal.settings.items() if key not in _LAST}
    last = {key: value for key, value in proposal.settings.items() if key in _LAST}
    return replace(proposal, settings={**first, **spelled, **last})


def misfits(before: Profile, after: Profile, what: str) -> tuple[str, ...]:
    """Return the sentence about rows whose texts are not of the kind of the others."""
    lost = before.present - after.present
    if not lost:
        return ()
    one = "1 row is" if lost == 1 else f"{lost:,} rows are"
    return (f"{one} not {what} and would count as missing.",)


def _counted(profile: Profile) -> odd.Counted:
    return odd.Counted(tuple(profile.values.to_pylist()), tuple(profile.counts.tolist()))


def _has_codes(texts: tuple[str, ...]) -> bool:
    return any(len(text) > 1 and text[0] == "0" and text[1].isdigit() for text in texts)


def _first_day(text: str, formats: tuple[str, ...]) -> object:
    return next((day for f in formats if (day := odd.read_date(text, f))), None)


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
    plain = text_patterns.matches(profile.values, text_patterns.WHOLE)
    fitting = _fitting(profile, plain)
    # One text with decimals is no misfit: it makes all of them numbers.
    if (
        fitting is None
        or (text_patterns.matches(profile.values, text_patterns.DECIMAL) & ~plain).any()
    ):
        return None
    bare = pc.replace_substring(fitting.values, "+", "")
    return replace(fitting, values=bare.cast(pa.int64()))


def _as_number(profile: Profile) -> Profile | None:
    fitting = _fitting(profile, text_patterns.matches(profile.values, text_patterns.DECIMAL))
    if fitting is None:
        return None
    read = pa.array([float(str(text)) for text in fitting.values], type=pa.float64())
    finite = pc.is_finite(read).to_numpy(zero_copy_only=False)
    return replace(fitting, values=read).keep(finite)


def _as_boolean(profile: Profile) -> Profile | None:
    return _fitting(profile, text_patterns.matches(profile.values, text_patterns.BOOLEAN))


def _dated(profile: Profile, notes: tuple[str, ...]) -> ColumnProposal | None:
    readings = []
    for way in text_patterns.DATES:
        times = text_patterns.days(profile.values, way)
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
    if way.format in text_patterns.ISO:
        return proposal
    kept = {key: value for key, value in proposal.settings.items() if key != "review"}
    settings = {**kept, "format": way.format, "review": True}
    return replace(proposal, settings=settings)


def _words(profile: Profile, notes: tuple[str, ...]) -> ColumnProposal:
    texts = profile.values
    if text_patterns.matches(texts, text_patterns.UUID).all() or names_things(profile, dense=False):
        return identifier(profile, notes)
    unique = profile.distinct >= NEARLY_UNIQUE * profile.present and profile.present > 2 * FEW
    if profile.distinct <= MOST_CATEGORIES and not unique:
        return _category(profile, notes)
    spaced = text_patterns.matches(texts, r"\s").mean()
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
