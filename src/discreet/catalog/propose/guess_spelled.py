"""Proposals for texts as people write them: padded, in two cases, 1.234,50 EUR, 4/3/2024."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa

from discreet.catalog.declare.proposal import ColumnProposal, Setting
from discreet.catalog.propose import spelling
from discreet.catalog.propose import untidy_texts as odd
from discreet.catalog.propose.guess_values import date, number
from discreet.catalog.propose.profile import Profile

_LAST = ("missing", "constant", "review")


def bare_texts(profile: Profile) -> tuple[Profile, dict[str, Setting]]:
    """Return the texts that say something, and the settings by which they are read so."""
    found, padded = odd.trimmed(_counted(profile))
    bare = replace(
        profile, values=pa.array(found.texts, pa.string()), counts=np.array(found.counts, np.int64)
    )
    blank = spelling.is_missing(bare.values)
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
