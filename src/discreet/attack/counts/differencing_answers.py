"""Answers to a differencing attack: exact, rounded, suppressed (with a tracker against such query auditing), private."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from discreet.attack.curator import Ask
from discreet.core.arrays import Bits, Integers
from discreet.core.numbers import Number
from discreet.errors import InvalidInput

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
