"""Whom an attack questions: a real curator over tables or a town of its own, or a running server."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from discreet.base.answer import Answer
from discreet.base.arrays import Bits
from discreet.base.numbers import Delta, Epsilon, Number
from discreet.curator import Curator
from discreet.curator import open as open_curator
from discreet.curator.client import Client, connect
from discreet.data.catalog.edits import with_totals
from discreet.data.catalog.policy_file import FILE_NAME
from discreet.data.catalog.toml_text import (
    WrittenTable,
    analyst_lines,
    composed,
    dataset_lines,
    engine_and_ledger,
    table_lines,
)
from discreet.data.catalog.writer import change_file, write_file
from discreet.errors import InvalidInput
from discreet.lab.town import Town, town
from discreet.work.learn.regression import Regressor, regress
from discreet.work.learn.training_plan import LearnRequest
from discreet.work.synth.prepare import SynthRequest
from discreet.work.synth.run import synthesize

Ask: TypeAlias = Callable[[str, Number], Answer]
"""What an attacker holds of a curator: a question and an epsilon in, an answer out."""
AnsweringService: TypeAlias = Curator | Client
"""What an analyst holds: a curator here or a server elsewhere."""
TOKEN = "DISCREET_TOKEN"  # noqa: S105  # the name of a variable
OTHER_TOKEN = "DISCREET_OTHER_TOKEN"  # noqa: S105  # the name of a variable
_FOLDER = "discreet-attack-"
DATASET = "victim"
MOST_KEYS = 10_000
"""A curator lists at most so many groups of one answer as public."""


@dataclass(frozen=True, slots=True)
class AttackTable:
    """One table of the victim: its rows and, for discreet.toml, each column's declaration."""

    rows: pa.Table
    columns: Mapping[str, WrittenTable]
    public_copies: int | None = None
    """None for private rows; otherwise a public table with this many rows a key."""
    people: WrittenTable = field(default_factory=lambda: {"unit": "row"})
    """Whose the private rows are, and how many of each person count; one a person unless said."""


BOOLEAN: WrittenTable = {"type": "boolean"}
"""The declaration of a column of yes and no."""


def whole_numbers(low: int, high: int) -> WrittenTable:
    """Return the declaration of a column of whole numbers."""
    return {"type": "integer", "lower": low, "upper": high}


def categories(values: Sequence[str]) -> WrittenTable:
    """Return the declaration of a column of words."""
    return {"type": "category", "values": tuple(values)}


def people_table(bits: Bits, key: str) -> AttackTable:
    """Return a table of people: a public place each, under the name `key`, and a secret bit."""
    rows = pa.table({key: pa.array(np.arange(bits.size)), "secret": pa.array(bits)})
    return AttackTable(rows, {key: whole_numbers(0, max(1, bits.size - 1)), "secret": BOOLEAN})


def subsets_table(subsets: Bits, key: str) -> AttackTable:
    """Return the public table of who is in which subset, one a row; `key` is the column of places."""
    subset, place = np.nonzero(subsets)
    count, places = subsets.shape
    return AttackTable(
        pa.table({key: pa.array(place), "subset": pa.array(subset)}),
        {key: whole_numbers(0, places - 1), "subset": whole_numbers(0, count - 1)},
        public_copies=int(subsets.sum(0).max()),
    )


@contextmanager
def curator_of(
    tables: Mapping[str, AttackTable],
    *,
    epsilon: Number,
    delta: Number = 0,
    shares: Mapping[str, Number] | None = None,
) -> Iterator[Curator]:
    """Lend a curator over these tables, with a ledger of its own; it is cleared away afterwards.

    With `shares` every analyst named has a part of the budget.
    """
    with TemporaryDirectory(prefix=_FOLDER) as folder:
        path = _write(Path(folder), tables, epsilon, delta, shares or {})
        with open_curator(path) as curator:
            yield curator


@contextmanager
def curator_over(tables: Mapping[str, AttackTable], *, epsilon: Number) -> Iterator[Ask]:
    """Return `ask` of a curator over these tables, with a ledger of its own that forgets nothing.

    Guarantee: the answers are those of `discreet.ask.release`, as any analyst gets them: charged first,
        refused beyond `epsilon` in total, with noise from the operating system's entropy.
    """
    with curator_of(tables, epsilon=epsilon) as curator:
        yield lambda sql, price: curator.query(sql, epsilon=price)


@contextmanager
def temporary_town(people: int, *, tables: Sequence[str], **more: int) -> Iterator[Town]:
    """Yield a town that exists until the block ends: its budget is nobody's but the attack's.

    `more` are seed and sizes, as `town` takes them.
    """
    with TemporaryDirectory(prefix=_FOLDER) as folder:
        yield town(people, folder=folder, tables=tables, **more)


@contextmanager
def curated(config: Path, *, epsilon: float) -> Iterator[Curator]:
    """Yield the curator of a staged town after its owner set every dataset's total to `epsilon`."""
    change_file(config, lambda text: with_totals(text, {"epsilon": Epsilon.of(epsilon).value}))
    with open_curator(config) as curator:
        yield curator


def running(url: str, variable: str = TOKEN) -> Client:
    """Return a client of a running server; its token is read from the environment, never a command."""
    token = os.environ.get(variable, "")
    if not token:
        raise InvalidInput(
            f"Put the token for {url} into the variable {variable}.",
            hint="Options of a command can be seen by everybody on the machine.",
        )
    return connect(url, token=token)


def synthetic_copy(exhibit: AttackTable, *, epsilon: Number, delta: Number) -> pa.Table:
    """Return the rows that our synthesizer makes of a table at this price."""
    request = SynthRequest.of("people", epsilon=epsilon, method="tree", rows=exhibit.rows.num_rows)
    with curator_of({"people": exhibit}, epsilon=epsilon, delta=delta) as curator:
        return synthesize(request, curator).table


def regressions(
    exhibit: AttackTable, *, target: str, epsilons: Sequence[float], delta: float
) -> list[Regressor]:
    """Return the regression that discreet learn makes of a table at each price, each bought on its own."""
    total = 2 * sum(Fraction(repr(epsilon)) for epsilon in epsilons)
    risk = 4 * len(epsilons) * Fraction(repr(delta))
    requests = [
        LearnRequest.of("people", target=target, task="regress", epsilon=repr(epsilon), delta=delta)
        for epsilon in epsilons
    ]
    with curator_of({"people": exhibit}, epsilon=float(total), delta=float(risk)) as curator:
        return [regress(request, curator).model for request in requests]


def part_of(epsilon: float, parts: int) -> Fraction:
    """Return an even share of a price, down to a millionth: the ledger rounds every price up.

    >>> part_of(1.0, 3)
    Fraction(333333, 1000000)
    """
    return Fraction(int(Fraction(repr(epsilon)) * 10**6 / parts), 10**6)


def _write(
    base: Path,
    tables: Mapping[str, AttackTable],
    epsilon: Number,
    delta: Number,
    shares: Mapping[str, Number],
) -> Path:
    """Return the discreet.toml over these tables, written into a folder with their rows."""
    total = {"epsilon": Epsilon.of(epsilon).value, "delta": Delta.of(delta).value}
    parts = [engine_and_ledger(), dataset_lines(DATASET, total)]
    for name, exhibit in tables.items():
        pq.write_table(exhibit.rows.select(list(exhibit.columns)), base / f"{name}.parquet")
        copies = exhibit.public_copies
        kind = exhibit.people if copies is None else {"public": True, "key_copies": copies}
        facts = {"source": f"{name}.parquet", **kind}
        parts.append(table_lines(DATASET, name, facts, exhibit.columns))
    for name, share in shares.items():
        parts.append(analyst_lines(name, {DATASET: {"epsilon": Epsilon.of(share).value}}))
    path = base / FILE_NAME
    write_file(path, composed(*parts))
    return path
