"""Exact alias tables: any finite law from one 64-bit word a draw, with two look-ups and no search.

The first bits of a word choose a cell; the others are the first bits of a uniform number that is
compared with the cell's threshold, and the cell's own or its other outcome results. Thresholds are
real numbers of which the table holds 64-bit words from certified bounds; where a draw ties with
such a word it is decided by further bits against further digits (Walker 1977; proof in note 0002).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from discreet.base.arrays import Integers
from discreet.errors import InternalError
from discreet.privacy.noise.certified import Bracket, Weights
from discreet.privacy.noise.rng import WORD_BITS, Rng, Words, is_below

FIRST_PRECISION = 160
"""Bits to start with; a table that needs more asks for more."""
MOST_PRECISION = 1 << 15


@dataclass(frozen=True, slots=True, eq=False)
class AliasTable:
    """A law on a power of two of outcomes, ready to be drawn from.

    `limits[cell]` is the first bits of the cell's threshold; `outcomes[2 * cell]` results below it
    and `outcomes[2 * cell + 1]` above. `gifts` is how the table was built: (from, to) pairs.
    """

    weights: Weights
    index_bits: int
    limits: Words
    outcomes: Integers
    gifts: tuple[tuple[int, int], ...]

    def draw(self, words: Words, rng: Rng) -> Integers:
        """Return one outcome for each word, with the same work whatever the outcomes are.

        Guarantee: for uniform words and rng, outcomes are independent and have exactly the
            probabilities weight / total. No floating point. [note 0002, claim 1]
        """
        rest_bits = np.uint64(WORD_BITS - self.index_bits)
        cells = words >> rest_bits
        rest = words & ((np.uint64(1) << rest_bits) - np.uint64(1))
        limits = self.limits[cells.view(np.int64)]
        slots = (cells << np.uint64(1)) | (rest >= limits).astype(np.uint64)
        drawn: Integers = self.outcomes[slots.view(np.int64)]
        for lane in np.flatnonzero(rest == limits).tolist():
            drawn[lane] = self._resolve(int(cells[lane]), int(rest[lane]), rng)
        return drawn

    def threshold(self, cell: int, bits: int) -> Bracket:
        """Return integers low <= 2^bits * threshold of `cell` <= high, to any precision."""
        guard = 2 * self.index_bits + 8  # a threshold is a sum of at most `count` shares
        work = bits + guard
        shares = _shares(self.weights.brackets(work), work)
        low, high = _replay(self.gifts, shares, work)[cell]
        return low >> guard, -(-high >> guard)

    def _resolve(self, cell: int, rest: int, rng: Rng) -> int:
        own, other = int(self.outcomes[2 * cell]), int(self.outcomes[2 * cell + 1])
        if own == other:  # the one full cell, whose threshold is exactly 1
            return own
        below = is_below(
            rest, WORD_BITS - self.index_bits, lambda bits: self.threshold(cell, bits), rng
        )
        return own if below else other


def build_table(weights: Weights, values: list[int]) -> AliasTable:
    """Return the table in which outcome i has value values[i] and a chance as weights[i]."""
    index_bits = len(values).bit_length() - 1
    if index_bits < 1 or len(values) != 1 << index_bits:
        raise ValueError("an alias table needs a power of two of outcomes, at least 2")
    precision = FIRST_PRECISION
    while True:
        shares = _shares(weights.brackets(precision), precision)
        gifts = _plan(shares, precision)
        limits = None if gifts is None else _limits(gifts, shares, precision, index_bits)
        if gifts is not None and limits is not None:
            break
        precision *= 2
        if precision > MOST_PRECISION:  # public: depends on the parameter alone
            raise InternalError("A table's shares cannot be told apart; please report its scale.")
    other = list(range(len(values)))
    for giver, taker in gifts:
        other[taker] = giver
    outcomes = [value for own, alias in enumerate(other) for value in (values[own], values[alias])]
    return AliasTable(
        weights=weights,
        index_bits=index_bits,
        limits=np.array(limits, dtype=np.uint64),
        outcomes=np.array(outcomes, dtype=np.int64),
        gifts=tuple(gifts),
    )


def _shares(weights: list[Bracket], precision: int) -> list[Bracket]:
    """Return brackets of count * weight / total: how many cells' worth each outcome has."""
    total_low, total_high = (sum(side) for side in zip(*weights, strict=True))
    factor = len(weights) << precision
    return [(low * factor // total_high, -(-high * factor // total_low)) for low, high in weights]


def _plan(shares: list[Bracket], precision: int) -> list[tuple[int, int]] | None:
    """Return who fills up whose cell, or None where the brackets are too wide to tell.

    An outcome with less than one cell's worth is filled up by one that certainly has at least
    one cell's worth; what a giver keeps is therefore never negative.
    """
    one = 1 << precision
    low = [bracket[0] for bracket in shares]
    high = [bracket[1] for bracket in shares]
    short = [i for i, top in enumerate(high) if top < one]
    rich = [i for i, bottom in enumerate(low) if bottom >= one]
    if len(short) + len(rich) != len(shares):
        return None
    gifts: list[tuple[int, int]] = []
    while len(gifts) < len(shares) - 1:
        if not short or not rich:
            return None
        taker, giver = short.pop(), rich[-1]
        gifts.append((giver, taker))
        low[giver] -= one - low[taker]
        high[giver] -= one - high[taker]
        if low[giver] >= one:
            continue
        rich.pop()
        if high[giver] < one:
            short.append(giver)
        elif len(gifts) < len(shares) - 1:  # only the very last one has exactly one cell's worth
            return None
    return gifts


def _replay(
    gifts: Iterable[tuple[int, int]], shares: list[Bracket], precision: int
) -> list[Bracket]:
    """Return brackets of the thresholds that follow from `gifts`."""
    one = 1 << precision
    low = [bracket[0] for bracket in shares]
    high = [bracket[1] for bracket in shares]
    for giver, taker in gifts:
        low[giver] -= one - low[taker]
        high[giver] -= one - high[taker]
    return list(zip(low, high, strict=True))


def _limits(
    gifts: list[tuple[int, int]], shares: list[Bracket], precision: int, index_bits: int
) -> list[int] | None:
    """Return the certified first bits of every threshold, or None where more precision is needed."""
    drop = precision - (WORD_BITS - index_bits)
    words = []
    full = gifts[-1][0]
    for cell, (low, high) in enumerate(_replay(gifts, shares, precision)):
        word = max(low, 0) >> drop  # a threshold is never negative, whatever its lower bound says
        if cell == full:
            word = (1 << (WORD_BITS - index_bits)) - 1
        elif word != high >> drop:
            return None
        words.append(word)
    return words
