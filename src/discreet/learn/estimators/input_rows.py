"""Where an estimator's rows are: a declared table of a curator, or rows in memory with their domains."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.catalog.policy_file import loads
from discreet.catalog.toml_text import Setting, composed, dataset_lines, table_lines
from discreet.engine.connect import connect
from discreet.errors import BadRows
from discreet.learn.estimators.budget import DATASET, LearnBudget
from discreet.learn.estimators.frames import as_table, declared, setting_of
from discreet.learn.estimators.parameters import PrivateEstimator, warn_of_column
from discreet.release.desk import Desk, PlainDesk

TABLE = "rows"
FEWEST = 2


@contextmanager
def table_of(
    holder: PrivateEstimator, rows: Any, more: tuple[str, Any, Any] | None = None
) -> Iterator[tuple[Desk, str]]:
    """Lend the desk and the name of the table that `rows` means.

    A text is the name of a declared table. `more` is a column beside the rows: its name, its values
    and its domain.
    """
    if isinstance(rows, str):
        if holder.curator is None:
            raise BadRows("A table by its name needs a curator: curator=discreet.open().")
        yield holder.curator, rows
        return
    if holder.budget is None:
        raise BadRows(
            "Rows in memory need a budget that remembers what was spent.",
            hint="budget=LearnBudget('rows.db', epsilon=1, delta=1e-6)",
        )
    table = as_table(rows)
    if table.num_rows < FEWEST:
        raise BadRows(f"n_samples = {table.num_rows}: a minimum of {FEWEST} is required.")
    # The unit's own column needs no domain.
    needed = table.drop_columns([n for n in table.column_names if n == holder.budget.unit])
    columns = declared(needed, holder.domains, accept=holder.accept)
    if more is not None:
        name, values, domain = more
        table = table.append_column(name, values)
        columns[name] = domain
    with _held(holder.budget, table, columns, accepted=holder.accept) as desk:
        yield desk, TABLE


@contextmanager
def _held(
    budget: LearnBudget,
    table: pa.Table,
    columns: Mapping[str, Mapping[str, Setting]],
    *,
    accepted: bool,
) -> Iterator[Desk]:
    """Lend the rows in the same way as any table's: declared, snapshotted, read once paid.

    Every copy of them is gone afterwards.
    """
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
    policy = budget.policy
    promise = {
        "epsilon": policy.epsilon.value,
        "delta": policy.delta.value,
        "neighbours": policy.neighbours.value,
        "accepted": accepted,
    }
    facts = {"source": f"{TABLE}.parquet", "unit": budget.unit, "max_rows": budget.max_rows}
    asked = {name: settings for name, settings in columns.items() if name != budget.unit}
    return composed(dataset_lines(DATASET, promise), table_lines(DATASET, TABLE, facts, asked))


def labels_of(
    values: Any, rows: Any, classes: Sequence[Any] | None, *, accept: bool
) -> tuple[Any, pa.Array]:
    """Return the classes, and each row's as text; other labels than the declared ones are gaps."""
    found = column_of(values, rows)
    if classes is None:
        if not accept:
            raise BadRows(
                "The classes are not declared.", hint="Give classes=['no', 'yes'], or accept=True."
            )
        if found.dtype.kind == "f" and not np.array_equal(found, np.floor(found)):
            raise BadRows("Unknown label type: continuous. A classifier predicts classes.")
        classes = np.unique(found).tolist()
    if len(classes) < 2:
        raise BadRows("There is one class only: nothing to predict.")
    kept = np.array(classes, dtype=found.dtype if found.dtype.kind in "iufU" else None)
    return kept, pa.array([str(value) for value in found.tolist()])


def column_of(values: Any, rows: Any) -> np.ndarray[Any, Any]:
    """Return the target as one column, as long as the rows are."""
    if values is None:
        raise BadRows("requires y to be passed, but the target y is None")
    found = np.asarray(values)
    if found.ndim == 2 and found.shape[1] == 1:
        warn_of_column(3)
        found = found[:, 0]
    if found.ndim != 1:
        raise BadRows("The target must be one column.")
    if found.dtype.kind == "c":
        raise BadRows("Complex data not supported.")
    if found.dtype.kind == "f" and not np.isfinite(found).all():
        raise BadRows("The target contains NaN or infinity.")
    if len(found) != as_table(rows).num_rows:
        raise BadRows("Rows and target have inconsistent numbers of samples.")
    return found


def class_setting(classes: Any) -> Mapping[str, Setting]:
    """Return the declared values of the target."""
    return setting_of("target", [str(each) for each in classes.tolist()])


def checked_features(names: Sequence[str], rows: Any, who: str) -> pa.Table:
    """Return the rows to predict, refused where their columns are not the fitted ones."""
    table = as_table(rows)
    named = isinstance(rows, Mapping | pa.Table) or hasattr(rows, "columns")
    if table.num_columns != len(names) and not (named and set(names) <= set(table.column_names)):
        raise BadRows(
            f"X has {table.num_columns} features, but {who} is expecting {len(names)} features as input."
        )
    return table
