"""Codes drawn so that their counts stay within one of what is expected."""

from __future__ import annotations

import numpy as np

from discreet.core.arrays import Floats, Integers
from discreet.synth.encoding.shape import Codes
from discreet.synth.models.model import Dice

_RADIX = 1 << 16


def draw_codes(
    chances: Floats,
    place: Integers,
    dice: Dice,
) -> Codes:
    """Return a code for each row, by the chances in the row of `chances` that `place` names.

    Systematic sampling: of the m rows at a place, code x gets floor or ceiling of m * chance(x),
    each row with exactly that chance. Independent draws would add the error of a bootstrap sample
    (on 48,842 rows as much as a quarter of the error that the noise leaves) for nothing.
    """
    # Shuffled first, then sorted stably: within a place the order is random.
    shuffled = dice.permutation(place.size)
    narrow = np.uint16 if chances.shape[0] <= _RADIX else np.int64  # 16 bits sort by radix
    order = shuffled[np.argsort(place[shuffled].astype(narrow), kind="stable")]
    used, many = np.unique(place, return_counts=True)
    counts = _shares(chances[used], many, dice)
    codes = np.empty(place.size, dtype=np.int32)
    codes[order] = np.repeat(
        np.tile(np.arange(chances.shape[1], dtype=np.int32), used.size), counts.ravel()
    )
    return codes


def _shares(
    chances: Floats,
    many: Integers,
    dice: Dice,
) -> Integers:
    """Return whole counts for each row of chances that add up to `many`."""
    edges = np.cumsum(chances, axis=1)
    edges *= (many / edges[:, -1])[:, None]
    edges += dice.random(many.size)[:, None]
    whole = np.floor(edges).astype(np.int64)
    whole[:, -1] = many  # the last edge is the sum itself, whatever rounding says
    np.minimum(whole, many[:, None], out=whole)
    return np.diff(whole, axis=1, prepend=0)
