"""A real curator for an attack to question: tables in, `ask(sql, epsilon)` out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from discreet.catalog.catalog import Catalog
from discreet.catalog.read.policy_file import load
from discreet.core.answer import Answer
from discreet.core.numbers import Number
from discreet.engine.connect import connect
from discreet.kernel.canonical.paths import every_path
from discreet.learn.regress import regress
from discreet.learn.regressor import Regressor
from discreet.learn.request import LearnRequest
from discreet.ledger.ledger import Ledger
from discreet.ledger.policy import BudgetPolicy, Policy
from discreet.noise.rng import Rng, SystemRng
from discreet.release.desk import Desk, PlainDesk
from discreet.release.pipeline import release
from discreet.release.request import Request
from discreet.synth.request import SynthRequest
from discreet.synth.run import synthesize

Ask: TypeAlias = Callable[[str, Number], Answer]
"""What an attacker holds of a curator: a question and an epsilon in, an answer out."""
DATASET = "victim"
MOST_KEYS = 10_000
"""A curator lists at most so many groups of one answer as public."""


@dataclass(frozen=True, slots=True)
class Exhibit:
    """One table of the victim: its rows and, for discreet.toml, each column's declaration."""

    rows: pa.Table
    columns: Mapping[str, str]
    public_copies: int | None = None
    """None for private rows, one a person; otherwise a public table with this many rows a key."""


@contextmanager
def curator_over(
    tables: Mapping[str, Exhibit],
    *,
    epsilon: Number,
    delta: Number = 0,
    rng: Rng | None = None,
) -> Iterator[Ask]:
    """Return `ask` of a curator over these tables, with a ledger of its own that forgets nothing.

    Guarantee: the answers are those of `discreet.release`, as any analyst gets them: charged first,
        refused beyond `epsilon` in total, with noise from the operating system's entropy.
    """
    with _desk(tables, epsilon, delta, rng) as desk:
        yield lambda sql, price: release(Request.of(sql, epsilon=price), desk)


@contextmanager
def _desk(
    tables: Mapping[str, Exhibit], epsilon: Number, delta: Number, rng: Rng | None = None
) -> Iterator[Desk]:
    """Lend a desk over these tables; it is cleared away afterwards."""
    with TemporaryDirectory(prefix="discreet-attack-") as folder:
        base = Path(folder)
        catalog = _write(base, tables, epsilon, delta)
        with (
            closing(_ledger(catalog)) as ledger,
            closing(
                connect(
                    catalog.engine_url,
                    catalog.sources,
                    base=base,
                    state=base,
                    encodings=catalog.encodings,
                    paths=every_path(catalog.datasets.values(), catalog.engine_url),
                )
            ) as engine,
        ):
            yield PlainDesk(catalog, ledger, engine, SystemRng() if rng is None else rng)


def synthetic_copy(
    exhibit: Exhibit,
    *,
    epsilon: Number,
    delta: Number,
    method: str = "tree",
    rng: Rng | None = None,
) -> pa.Table:
    """Return the rows that our synthesizer makes of a table at this price."""
    request = SynthRequest.of("people", epsilon=epsilon, method=method, rows=exhibit.rows.num_rows)
    with _desk({"people": exhibit}, epsilon, delta, rng) as desk:
        return synthesize(request, desk).table


def regressions(
    exhibit: Exhibit, *, target: str, epsilons: Sequence[float], delta: float
) -> list[Regressor]:
    """Return the regression that discreet learn makes of a table at each price, each bought on its own."""
    total = 2 * sum(Fraction(repr(epsilon)) for epsilon in epsilons)
    risk = 4 * len(epsilons) * Fraction(repr(delta))
    requests = [
        LearnRequest.of("people", target=target, task="regress", epsilon=repr(epsilon), delta=delta)
        for epsilon in epsilons
    ]
    with _desk({"people": exhibit}, float(total), float(risk)) as desk:
        return [regress(request, desk).model for request in requests]


def part_of(epsilon: float, parts: int) -> Fraction:
    """Return an even share of a price, down to a millionth: the ledger rounds every price up.

    >>> part_of(1.0, 3)
    Fraction(333333, 1000000)
    """
    return Fraction(int(Fraction(repr(epsilon)) * 10**6 / parts), 10**6)


def _ledger(catalog: Catalog) -> Ledger:
    budgets = {
        name: BudgetPolicy(budget.epsilon, budget.delta, budget.neighbours)
        for name, budget in catalog.budgets.items()
    }
    return Ledger.open(catalog.ledger_url, Policy(budgets, {}), base=catalog.base)


def _write(base: Path, tables: Mapping[str, Exhibit], epsilon: Number, delta: Number) -> Catalog:
    return load(write_catalog(base, tables, epsilon, delta))


def write_catalog(
    base: Path, tables: Mapping[str, Exhibit], epsilon: Number, delta: Number
) -> Path:
    """Return the discreet.toml over these tables, written into a folder with their rows."""
    lines = [
        '[engine]\nurl = "duckdb:"\n[ledger]\nurl = "sqlite:ledger.db"',
        f"[datasets.{DATASET}]\nepsilon = {epsilon}\ndelta = {delta}",
    ]
    for name, exhibit in tables.items():
        pq.write_table(exhibit.rows.select(list(exhibit.columns)), base / f"{name}.parquet")
        place = f"datasets.{DATASET}.tables.{name}"
        copies = exhibit.public_copies
        kind = 'unit = "row"' if copies is None else f"public = true\nkey_copies = {copies}"
        lines += [f'[{place}]\nsource = "{name}.parquet"\n{kind}\n[{place}.columns]']
        lines += [f"{column} = {{ {domain} }}" for column, domain in exhibit.columns.items()]
    path = base / "discreet.toml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
