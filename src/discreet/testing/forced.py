"""Random words that make an alias table draw a chosen value."""

from __future__ import annotations

import numpy as np

from discreet.errors import InternalError
from discreet.noise.alias_tables import AliasTable
from discreet.noise.rng import WORD_BITS


def words_for(table: AliasTable, value: int) -> list[int]:
    """Return words that make `table` say `value`: one for the draw, then those that refine it."""
    rest_bits = WORD_BITS - table.index_bits
    slots: list[int] = np.flatnonzero(table.outcomes == value).tolist()
    for slot in slots:
        cell, above = divmod(slot, 2)
        limit = int(table.limits[cell])
        if above and limit < (1 << rest_bits) - 1:
            return [(cell << rest_bits) | (limit + 1)]
        if not above and limit > 0:
            return [(cell << rest_bits) | (limit - 1)]
    if not slots:
        raise InternalError(f"The table has no outcome {value}.")
    # Rarer than a word can say: tie with the table's word, then go on with zeros until below.
    cell = next(slot // 2 for slot in slots if slot % 2 == 0)
    words = [(cell << rest_bits) | int(table.limits[cell])]
    known = rest_bits
    while table.threshold(cell, known)[0] <= 0:
        words.append(0)
        known += WORD_BITS
    return words
