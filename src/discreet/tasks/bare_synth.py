"""A bare file made ready for a copy: declared, its types paid for, the rest of the budget named."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from discreet.api import open as open_curator
from discreet.catalog.propose.bare_file import Bare, bare_table, is_untyped, retype
from discreet.core.numbers import Delta, Epsilon
from discreet.synth.measure.learned_types import TypeMeans, learn_types

PURE = (Fraction(1, 10), Fraction(9, 10))
"""Parts of epsilon for the types of a text file's columns and for the copy, without a delta."""

CONCENTRATED = (Fraction(1, 5), Fraction(94, 100))
"""The same with a delta: squares of these add up to less than 1, as zCDP adds."""

RISK = Fraction(1, 10)
"""The part of delta for the types."""


@dataclass(frozen=True, slots=True)
class ReadyFile:
    """Where the table of a file is declared, and what is left for its copy; `paid`: types cost."""

    config: Path
    table: str
    epsilon: Epsilon
    delta: Delta | None
    paid: bool = False


def ready_file(
    path: Path,
    *,
    config: Path | None,
    epsilon: Epsilon,
    delta: Delta | None,
    unit: str,
    accept: bool,
) -> ReadyFile:
    """Return a bare file declared for a copy; types that nobody declared are paid for first.

    Guarantee: nothing of the rows is read for free but, with `accept`, what is declared public.
    """
    found = bare_table(
        path, config=config, epsilon=epsilon, delta=delta, unit=unit, accept=accept, untyped=True
    )
    if not is_untyped(found):
        return ReadyFile(found.config, found.table, epsilon, delta)
    types, copy = CONCENTRATED if delta else PURE
    risk = Delta((delta.value if delta else Fraction(0)) * RISK)
    pay_types(found, Epsilon(epsilon.value * types), risk)
    left = None if delta is None else Delta(delta.value - risk.value)
    return ReadyFile(found.config, found.table, Epsilon(epsilon.value * copy), left, paid=True)


def pay_types(bare: Bare, epsilon: Epsilon, delta: Delta) -> None:
    """Learn the types of a table's columns with budget, and write them into its discreet.toml."""
    with open_curator(bare.config) as curator:
        means = TypeMeans(curator.catalog, curator.ledger, curator.engine, curator.rng)
        types = learn_types(bare.table, means, epsilon=epsilon, delta=delta)
    retype(bare, types)
