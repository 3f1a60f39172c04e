"""A bare file made ready for a copy: declared, its types paid for, the rest of the budget named."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import sqlglot

from discreet.api import open as open_curator
from discreet.catalog.propose.bare_file import Bare, bare_table, is_untyped, retype
from discreet.catalog.read.policy_file import load
from discreet.core.numbers import Delta, Epsilon
from discreet.errors import InvalidInput
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
    conditions: Sequence[str] = (),
) -> ReadyFile:
    """Return a bare file declared for a copy; types that nobody declared are paid for first.

    `conditions` that name columns which are not there are refused before that.

    Guarantee: nothing of the rows is read for free but, with `accept`, what is declared public.
    """
    found = bare_table(
        path, config=config, epsilon=epsilon, delta=delta, unit=unit, accept=accept, untyped=True
    )
    if not is_untyped(found):
        return ReadyFile(found.config, found.table, epsilon, delta)
    _check_names(found, conditions)
    types, copy = CONCENTRATED if delta else PURE
    risk = Delta((delta.value if delta else Fraction(0)) * RISK)
    pay_types(found, Epsilon(epsilon.value * types), risk)
    left = None if delta is None else Delta(delta.value - risk.value)
    return ReadyFile(found.config, found.table, Epsilon(epsilon.value * copy), left, paid=True)


def _check_names(bare: Bare, conditions: Sequence[str]) -> None:
    dataset, _, name = bare.table.rpartition(".")
    table = load(bare.config).table(name, dataset)
    known = {column.name.lower() for column in table.columns}
    for text in conditions:
        with suppress(
            sqlglot.errors.SqlglotError
        ):  # what cannot be read is refused in its own words
            for column in sqlglot.parse_one(text, read="duckdb").find_all(sqlglot.exp.Column):
                if column.name.lower() not in known:
                    raise InvalidInput(f"The synthetic table has no column '{column.name}'.")


def pay_types(bare: Bare, epsilon: Epsilon, delta: Delta) -> None:
    """Learn the types of a table's columns with budget, and write them into its discreet.toml."""
    with open_curator(bare.config) as curator:
        means = TypeMeans(curator.catalog, curator.ledger, curator.engine, curator.rng)
        types = learn_types(bare.table, means, epsilon=epsilon, delta=delta)
    retype(bare, types)
