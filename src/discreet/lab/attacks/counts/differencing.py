"""Differencing: two counts that differ in one person, and the desks that answer them.

The desks answer exactly, rounded, with suppression (and the tracker against such query auditing), or privately.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np

from discreet.base.arrays import Bits, Integers
from discreet.base.display import Progress
from discreet.base.numbers import Number
from discreet.errors import InvalidInput
from discreet.lab.attacks.attacks import (
    Attack,
    AttackSettings,
    Knob,
    Outcome,
    Score,
    score_bars,
    score_grid,
)
from discreet.lab.attacks.counts.people import (
    OWN_FILE,
    Blocks,
    blocks_of,
    secret_bits,
    with_balanced_targets,
)
from discreet.lab.attacks.curator import MOST_KEYS, Ask, curator_over
from discreet.show.document import Figure

Count: TypeAlias = Callable[[Bits], int | None]
"""A desk that counts the people of a query set, or declines (None)."""


def left_over(everyone: tuple[int, int], without: tuple[int, int]) -> bool:
    """Return the bit of the one person in whom two published (people, of whom yes) pairs differ.

    >>> left_over((3005, 202), (3004, 201))     # the student who left was one of the 202
    True
    >>> left_over((91, 71), (90, 70))           # the voter who came late said yes
    True
    """
    if everyone[0] - without[0] != 1 or everyone[1] - without[1] not in (0, 1):
        raise InvalidInput("The two tables must differ in exactly one person.")
    return everyone[1] - without[1] == 1


def rounded(counts: Integers, base: int) -> Integers:
    """Return counts to the nearest multiple of `base`, halves upwards."""
    return (2 * counts + base) // (2 * base) * base


def suppressing(size: int, least: int) -> Count:
    """Return a desk that declines every count below `least` or above `size - least`."""

    def count(query_set: Bits) -> int | None:
        found = int(query_set.sum())
        return found if least <= found <= size - least else None

    return count


def tracker(count: Count, *, group: Bits, others: Bits, secret: Bits) -> bool | None:
    """Return the bit of the one person in `group` but not in `others`, by allowed counts only.

    With A the group and T = A and not the person, the person's bit is
    count(T or (A and secret)) - count(T): both sets are large although the person is one
    (the individual tracker of Denning, Denning and Schwartz, 1979). None where a count is declined.
    """
    first = count(others | (group & secret))
    second = count(others)
    return None if first is None or second is None else first - second == 1


def guess(everyone: Any, without: Any) -> Bits:
    """Return the likelier bit given noisy counts with and without the person."""
    return np.asarray(np.asarray(everyone) - np.asarray(without) >= 1)


def ceiling(epsilon: float) -> float:
    """Return how often anyone can be right about which of two neighbouring datasets was answered from.

    Also about a fair bit of somebody who takes part, where only one of its values is counted; with both
    counted it is `ceiling(2 * epsilon)` under add-remove neighbours.

    >>> round(ceiling(1.0), 3)
    0.731
    """
    return 1.0 / (1.0 + math.exp(-epsilon))


def question(table: str, *, others_only: bool) -> str:
    """Return the SQL that counts each block's secrets, with or without the person at place 0."""
    condition = "secret AND place > 0" if others_only else "secret"
    return f"SELECT block, COUNT(*) AS n FROM {table} WHERE {condition} GROUP BY block"


def asked(ask: Ask, sql: str, epsilon: Number) -> Integers:
    """Return the counts that a curator answers, in the order of their blocks."""
    answer = ask(sql, epsilon)
    found = sorted((int(block), int(count)) for block, count in answer.rows)
    return np.array([count for _, count in found], dtype=np.int64)


ATTACK = Attack(
    name="differencing",
    title="Differencing",
    words="Subtract two harmless-looking totals and read off the one person in whom they differ.",
    knobs=(
        Knob("people", 20_000, "people in the town", 1_000, 200_000, 1_000),
        Knob("places", 20, "neighbours in a block", 5, 200, 5),
        Knob("rounding", 5, "counts are rounded to multiples of this", 2, 20, 1),
        Knob("pairs", 40, "pairs of rounded tables that the attacker compares", 1, 100, 1),
        Knob("least", 5, "smaller counts are suppressed", 2, 20, 1),
        Knob("epsilon", 1.0, "price of each private answer", 0.1, 8.0, 0.1),
        Knob("seed", 0, "which town, and the attacker's dice", 0, 1_000_000, 1),
        *OWN_FILE,
    ),
)


def run(chosen: AttackSettings, *, progress: Progress) -> Outcome:
    """Return how often the gap between two counts gives a person away, by kind of answer."""
    rng = np.random.default_rng(chosen.whole("seed"))
    progress(0, 4, "making the town")
    bits = secret_bits(chosen, people=chosen.whole("people"), town="smoker")
    blocks = blocks_of(bits, places=chosen.whole("places"), rng=rng)
    game = with_balanced_targets(Blocks(blocks.secret[:MOST_KEYS]), rng)
    progress(1, 4, "subtracting published counts")
    found = _published(game, chosen, rng)
    progress(2, 4, "asking the curator")
    both, strongest = _private(game, chosen.number("epsilon"))
    found["private, both noisy"] = both
    found["private, rest known"] = strongest
    progress(3, 4, "writing the report")
    return _outcome(chosen, game, found)


def _published(game: Blocks, chosen: AttackSettings, rng: np.random.Generator) -> dict[str, Score]:
    secret, truth = game.secret, game.secret[:, 0]
    base, least, pairs = (chosen.whole(name) for name in ("rounding", "least", "pairs"))
    without = secret[:, 1:].sum(1)
    desk = suppressing(secret.size, least)
    direct = [desk(row[:1]) for row in secret]
    group = np.ones(game.places, dtype=bool)
    others = np.arange(game.places) > 0
    tracked = [tracker(desk, group=group, others=others, secret=row) for row in secret]
    groups = [_rounded_gap(secret, base, rng) for _ in range(pairs)]
    return {
        "exact": Score.of_bits(guess(without + truth, without), truth),
        f"rounded to {base}, one pair": Score.of_bits(groups[0], truth),
        f"rounded to {base}, {pairs} pairs": Score.of_bits(np.any(groups, axis=0), truth),
        f"below {least} suppressed": Score.of_bits(np.array([bool(bit) for bit in direct]), truth),
        "suppressed, tracker": Score.of_bits(np.array([bool(bit) for bit in tracked]), truth),
    }


def _rounded_gap(secret: Bits, base: int, rng: np.random.Generator) -> Bits:
    """Return where rounded counts of a random group with and without the person differ."""
    # Any public group will do: its own and the next few blocks, thinned at random, so that its
    # count lies at another place between two multiples of the base each time.
    near = np.concatenate([secret[:, 1:], *(np.roll(secret, i, axis=0) for i in (1, 2, 3))], axis=1)
    others = (near & (rng.random(near.shape) < rng.uniform(0.3, 1.0))).sum(1)
    return np.asarray(rounded(others + secret[:, 0], base) > rounded(others, base))


def _private(game: Blocks, epsilon: float) -> tuple[Score, Score]:
    truth = game.secret[:, 0]
    price = repr(epsilon)
    # Twice the decimal that is written: twice the binary number may print as less.
    total = str(2 * Decimal(price))
    with curator_over({"people": game.exhibit()}, epsilon=total) as ask:
        everyone = asked(ask, question("people", others_only=False), price)
        without = asked(ask, question("people", others_only=True), price)
    exactly = game.secret[:, 1:].sum(1)
    return Score.of_bits(guess(everyone, without), truth), Score.of_bits(
        guess(everyone, exactly), truth
    )


def _outcome(chosen: AttackSettings, game: Blocks, found: Mapping[str, Score]) -> Outcome:
    epsilon = chosen.number("epsilon")
    bound = ceiling(epsilon)
    strongest = found["private, rest known"]
    return Outcome(
        knew="The attacker knows that the person lives in the block, and nothing of the answer.",
        released=f"How many smoke in each of {game.blocks:,} blocks of {game.places}, and how many "
        "without the person: exact, rounded, with small counts suppressed, or private.",
        did="The attacker subtracts one count from the other. Against rounding the same is done for "
        "several groups of neighbours; against suppression the person is hidden in a large set.",
        lesson="An aggregate over many people is not safe: two of them differ in one person.",
        score=found["exact"],
        private=strongest,
        private_words=f"At epsilon {epsilon:g} even an attacker who knows everyone else was right "
        f"{strongest.success:.1%} of the time; in the long run none can be right more than {bound:.1%}.",
        details={
            "ceiling": bound,
            "targets": game.blocks,
            "by_answer": {name: score.to_json() for name, score in found.items()},
        },
        blocks=(
            Figure(
                "How often the person's answer is read off",
                score_bars(found),
                f"{game.blocks:,} targets, half of them smokers, so guessing is right half the "
                f"time. No attacker can pass {bound:.3f} against one answer at epsilon {epsilon:g}.",
            ),
            score_grid(
                ("answers", "right", "95% from", "to", "guessing"),
                found,
                "Share of targets whose bit was guessed right (Clopper-Pearson limits).",
            ),
        ),
    )
