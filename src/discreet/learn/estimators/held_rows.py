"""Rows in memory behind the same door as any table: declared, snapshotted, read by the engine once paid."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from discreet.catalog.declare import toml_text as toml
from discreet.catalog.declare.proposal import Setting
from discreet.catalog.read.policy_file import loads
from discreet.engine.connect import connect
from discreet.learn.estimators.budget import DATASET, LearnBudget
from discreet.release.desk import Desk, PlainDesk

TABLE = "rows"


@contextmanager
def held_rows(
    budget: LearnBudget,
    table: pa.Table,
    columns: Mapping[str, Mapping[str, Setting]],
    *,
    accepted: bool,
) -> Iterator[Desk]:
    """Lend the rows as a declared table; every copy of them is gone afterwards."""
    from pyarrow import parquet

    # Only this user can read the folder (mode 700), and nothing in it outlives the training.
    with tempfile.TemporaryDirectory(prefix="discreet-rows-") as folder:
        base = Path(folder)
        parquet.write_table(table, base / f"{TABLE}.parquet")
        catalog = loads(_toml(budget, columns, accepted=accepted), base=base)
        engine = connect("duckdb:", catalog.sources, base=base, state=base / "state")
        try:
            yield PlainDesk(catalog, budget.ledger, engine, budget.rng)
        finally:
            engine.close()


def _toml(
    budget: LearnBudget, columns: Mapping[str, Mapping[str, Setting]], *, accepted: bool
) -> str:
    lines = [
        f"[datasets.{DATASET}]",
        f"epsilon = {toml.number(budget.policy.epsilon.value)}",
        f"delta = {toml.number(budget.policy.delta.value)}",
        f"neighbours = {toml.text(budget.policy.neighbours.value)}",
        f"accepted = {toml.value(accepted)}",
        f"[datasets.{DATASET}.tables.{TABLE}]",
        f"source = {toml.text(TABLE + '.parquet')}",
        f"unit = {toml.text(budget.unit)}",
        *([] if budget.max_rows is None else [f"max_rows = {budget.max_rows}"]),
        f"[datasets.{DATASET}.tables.{TABLE}.columns]",
    ]
    lines += [
        f"{toml.key(name)} = {toml.inline_table(settings)}"
        for name, settings in columns.items()
        if name != budget.unit
    ]
    return "\n".join(lines) + "\n"
