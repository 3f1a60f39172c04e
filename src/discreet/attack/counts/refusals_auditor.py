"""Query auditing: auditors of counting queries over secret bits, and what their refusals tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import combinations

import numpy as np

from discreet.core.arrays import Bits, Integers
from discreet.errors import InvalidInput

MOST_PEOPLE = 16
"""The auditor looks at all 2^n databases: that is the point, and the limit."""


class Auditor(Enum):
    """How a desk decides which counts to refuse."""

    NONE = "answers everything"
    LOOKING = "refuses what would determine somebody"
    BLIND = "refuses what could determine somebody"


@dataclass(frozen=True, slots=True, eq=False)
class PossibleDatabases:
    """What an attacker has after a row of questions, as the databases that remain possible.

    `by_answers` reads the answers alone (what the auditor believes is known), `by_all` the
    refusals too.
    """

    by_answers: Bits
    by_all: Bits
    refused: int


def databases(people: int) -> Bits:
    """Return all 2^people databases, one a row."""
    if not 1 <= people <= MOST_PEOPLE:
        raise InvalidInput(f"The exact auditor is for 1 to {MOST_PEOPLE} people.")
    return (np.arange(1 << people)[:, None] >> np.arange(people) & 1).astype(bool)


def questions(people: int) -> Bits:
    """Return the questions of the attack: everybody together, all threes, all twos."""
    rows = [np.ones(people, dtype=bool)]
    for size in (3, 2):
        for chosen in combinations(range(people), size):
            row = np.zeros(people, dtype=bool)
            row[list(chosen)] = True
            rows.append(row)
    return np.array(rows)


def determined(possible: Bits, every: Bits) -> Bits:
    """Return for each person whether their bit is the same in all databases that are possible."""
    left = every[possible]
    return np.asarray(left.all(0) | ~left.any(0))


def risky_answers(possible: Bits, counts: Integers, every: Bits) -> Bits:
    """Return for each answer 0, 1, ... whether hearing it would determine somebody's bit."""
    most = int(counts.max())
    risky = np.zeros(most + 1, dtype=bool)
    for answer in range(most + 1):
        left = possible & (counts == answer)
        risky[answer] = bool(left.any()) and bool(determined(left, every).any())
    return risky


def interview(secret: Bits, asked: Bits, every: Bits, auditor: Auditor) -> PossibleDatabases:
    """Return what is known after asking an auditor all questions in order.

    The attacker knows how the auditor works, so keeps exactly those databases for which it would have
    answered, and refused, the same.
    """
    by_answers = np.ones(len(every), dtype=bool)
    by_all = by_answers.copy()
    refused = 0
    for query in asked:
        counts = every[:, query].sum(1)
        truth = int(secret[query].sum())
        risky = np.zeros(int(counts.max()) + 1, dtype=bool)
        if auditor is not Auditor.NONE:
            risky = risky_answers(by_answers, counts, every)
        if auditor is Auditor.BLIND and risky.any():
            # Decided without looking at the data: the attacker could have said so beforehand.
            refused += 1
        elif risky[truth]:
            refused += 1
            by_all &= risky[counts]
        else:
            by_answers &= counts == truth
            by_all &= counts == truth
    return PossibleDatabases(by_answers, by_all, refused)


def best_guess(possible: Bits, every: Bits) -> Bits:
    """Return each person's likelier bit, all possible databases being equally likely."""
    return np.asarray(every[possible].mean(0) > 0.5)


def guess_from_noisy(asked: Bits, answers: Sequence[float], every: Bits, *, epsilon: float) -> Bits:
    """Return each person's likelier bit given counts with discrete Laplace noise of 1 / epsilon."""
    gaps = np.zeros(len(every))
    for query, answer in zip(asked, answers, strict=True):
        gaps += np.abs(every[:, query].sum(1) - answer)
    weights = np.exp(-epsilon * (gaps - gaps.min()))
    return np.asarray(weights @ every > 0.5 * weights.sum())
