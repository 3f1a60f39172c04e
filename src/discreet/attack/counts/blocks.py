"""The town cut into blocks of neighbours: what the attacks on counts are played on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from discreet.attack.curator import BOOLEAN, AttackTable, whole_numbers
from discreet.core.arrays import Bits
from discreet.errors import InvalidInput


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """Blocks of equal size; `secret[b, p]` is the bit of the person at place `p` of block `b`."""

    secret: Bits

    @property
    def blocks(self) -> int:
        """Return how many blocks there are."""
        return int(self.secret.shape[0])

    @property
    def places(self) -> int:
        """Return how many people live in each."""
        return int(self.secret.shape[1])

    def exhibit(self) -> AttackTable:
        """Return the table that a curator guards: block and place are public, the bit is not."""
        block, place = np.indices(self.secret.shape)
        rows = pa.table(
            {
                "block": pa.array(block.ravel()),
                "place": pa.array(place.ravel()),
                "secret": pa.array(self.secret.ravel()),
            }
        )
        return AttackTable(
            rows,
            {
                "block": whole_numbers(0, self.blocks - 1),
                "place": whole_numbers(0, self.places - 1),
                "secret": BOOLEAN,
            },
        )


def blocks_of(secret: Bits, *, places: int, rng: np.random.Generator) -> Blocks:
    """Return the people in blocks of `places`, shuffled; whoever is left over moves away."""
    if secret.size < places:
        raise InvalidInput(
            f"A block of {places} people needs at least as many people.",
            hint="Make the blocks smaller or the town larger.",
        )
    blocks = secret.size // places
    return Blocks(rng.permutation(secret)[: blocks * places].reshape(blocks, places))


def with_balanced_targets(blocks: Blocks, rng: np.random.Generator) -> Blocks:
    """Return the blocks whose people differ, renumbered: place 0 is the target.

    Half of the targets have the bit: the coin of the game that an attacker has to guess, so that
    guessing without looking is right half the time, however rare the bit is.
    """
    mixed = blocks.secret[blocks.secret.any(1) & ~blocks.secret.all(1)].copy()
    mixed = mixed[: len(mixed) // 2 * 2]
    if not len(mixed):
        raise InvalidInput(
            "In every block all people have the same answer.", hint="Make the blocks larger."
        )
    wanted = rng.permutation(np.arange(len(mixed)) % 2).astype(bool)
    keys = np.where(mixed == wanted[:, None], rng.random(mixed.shape), 2.0)
    target = keys.argmin(1)
    rows = np.arange(len(mixed))
    mixed[rows, target], mixed[rows, 0] = mixed[rows, 0].copy(), mixed[rows, target].copy()
    return Blocks(mixed)
