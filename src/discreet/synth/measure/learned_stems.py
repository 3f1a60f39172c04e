"""Codes with thousands of values: what is too rare alone is kept by how it begins, `A1*`, `A12*`.

Arithmetic on noisy histograms, one for each length of stems. Whether a column holds codes at all, its
digits say: names and free text have none behind their first letters, and stay as they were (common
ones kept, others missing).
"""

from __future__ import annotations

import math
import string
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.core.schema import CategoryDomain
from discreet.synth.encoding.columns import MOST_CODES, Coded, stem_text
from discreet.synth.measure.private_marginals import Measured

SHARE = Fraction(1, 4)
"""The part of a text column's budget that stems get; the rest finds common whole values."""

CLEAR = (6.0, 3.5, 3.5)
"""Standard deviations at which a stem of one, two, three letters is believed to have rows.

Noise must not make a column out of nothing, so the first letter is judged strictly: 62 of them seem to
have rows, where nobody has, less than once in ten million columns. Below a letter that is there, a stem
that nobody has costs next to nothing."""

LENGTHS = len(CLEAR)
_LETTERS = (
    string.ascii_letters + string.digits,
    string.ascii_uppercase + string.digits,
    string.ascii_uppercase + string.digits + ".-",
)
MOST_STEMS = 512


@dataclass(frozen=True, slots=True)
class StemLevel:
    """The noisy rows of all stems of one length that were counted, and which of them are clear."""

    rows: Mapping[str, float]
    deviation: float
    clear: Mapping[str, float]


def with_stems(name: str, words: Sequence[str], stems: Iterable[str]) -> Coded:
    """Return a column of whole values and of stems: the longer a stem, the earlier it is tried."""
    ordered = sorted(stems, key=lambda stem: (-len(stem), stem))
    values = (*words, *map(stem_text, ordered))
    return Coded(name, CategoryDomain(values), missing=True, stems=len(ordered))


def next_stems(words: Sequence[str], levels: Sequence[StemLevel]) -> list[str]:
    """Return the stems that are counted next: one letter longer than the clear ones so far.

    Those of the first histogram are public; no more than a column may have codes.
    """
    letters = _LETTERS[len(levels)]
    above = {"": 1.0} if not levels else levels[-1].clear
    room = (MOST_CODES - 1 - len(words)) // len(letters)
    best = sorted(above, key=lambda stem: -above[stem])[: max(room, 0)]
    taken = {*words}
    found = [stem + letter for stem in best for letter in letters]
    return [stem for stem in found if stem_text(stem) not in taken]


def seen_level(stems: Sequence[str], column: Coded, measured: Measured) -> StemLevel:
    """Return what a histogram of a column says about its stems."""
    assert isinstance(column.domain, CategoryDomain), "stems are of texts"
    place = {value: i for i, value in enumerate(column.domain.values)}
    rows = {stem: float(measured.values[place[stem_text(stem)]]) for stem in stems}
    deviation = math.sqrt(measured.variance)
    bar = CLEAR[len(stems[0]) - 1] * deviation
    return StemLevel(rows, deviation, {stem: many for stem, many in rows.items() if many > bar})


def stems_of_codes(levels: Sequence[StemLevel]) -> list[str]:
    """Return the stems to keep, of any length: only such as codes begin with.

    A shorter stem is kept for what the longer ones leave over, where that is clear. One without a
    digit is kept if most of its rows go on with one.
    """
    kept: dict[str, float] = {}
    for at, level in enumerate(levels):
        below = levels[at + 1] if at + 1 < len(levels) else None
        for stem, rows in level.clear.items():
            longer = [] if below is None else [r for s, r in below.clear.items() if s[:-1] == stem]
            bar = CLEAR[-1] * level.deviation * math.sqrt(1 + len(longer))
            of_codes = any(map(str.isdigit, stem)) or _goes_on(stem, below)
            if rows - sum(longer) > bar and of_codes:
                kept[stem] = rows
    return sorted(sorted(kept, key=lambda stem: -kept[stem])[:MOST_STEMS])


def _goes_on(stem: str, below: StemLevel | None) -> bool:
    """Return whether most rows that begin so, as far as they were counted, go on with a digit."""
    sums: dict[bool, float] = defaultdict(float)
    for longer, rows in ({} if below is None else below.rows).items():
        if longer[:-1] == stem:
            sums[longer[-1].isdigit()] += rows
    return sums[True] > max(sums[False], 0.0)
