"""Base of the estimators: parameters, a budget for rows in memory, and rows as a declared table."""

from __future__ import annotations

import math
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import pyarrow as pa

from discreet.ask.release.desk import Desk, PlainDesk
from discreet.base.numbers import Number
from discreet.base.unit import Neighbours
from discreet.data.catalog.policy_file import loads
from discreet.data.catalog.toml_text import Setting, composed, dataset_lines, table_lines
from discreet.data.engines.connect import connect
from discreet.errors import BadRows
from discreet.privacy.ledger.budget import BudgetPolicy, Policy
from discreet.privacy.ledger.ledger import Ledger
from discreet.privacy.noise.rng import Rng, SystemRng

DATASET = "rows"
"""The one dataset of such a ledger: rows in memory have no name of their own."""


class LearnBudget:
    """How much may ever be learned about the people behind some rows; survives the process.

    `ledger` is a file, made when first used. `unit` is "row", or the column that says whose row it
    is. The same file again goes on where it stood; another limit is entered into its history.
    """

    def __init__(
        self,
        ledger: str | Path,
        *,
        epsilon: Number,
        delta: Number = 0,
        unit: str = "row",
        max_rows: int | None = None,
        neighbours: str = "add-remove",
        rng: Rng | None = None,
    ) -> None:
        self.path = Path(ledger).expanduser().absolute()
        if not self.path.parent.is_dir():
            raise BadRows(f"There is no folder '{self.path.parent}' for the ledger.")
        self.policy = BudgetPolicy.of(epsilon, delta, Neighbours(neighbours))
        self.unit = unit
        self.max_rows = max_rows
        self.rng: Rng = SystemRng() if rng is None else rng

    @cached_property
    def ledger(self) -> Ledger:
        """The open ledger; its history is checked when it is first needed."""
        return Ledger.open(
            f"sqlite:{self.path}", Policy({DATASET: self.policy}, {}), base=self.path.parent
        )

    @property
    def spent(self) -> dict[str, float]:
        """Return what has been spent so far, and the limit."""
        found = self.ledger.spent(DATASET)
        return found.spent.to_json() | {"limit": found.limit.to_json()["epsilon"]}

    def close(self) -> None:
        """Close the ledger; it opens again when needed."""
        opened: Any = self.__dict__.pop("ledger", None)
        if opened is not None:
            opened.close()

    def __getstate__(self) -> dict[str, Any]:
        # A copy opens the same file: what one of them spends, all have spent.
        return {name: value for name, value in self.__dict__.items() if name != "ledger"}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"LearnBudget({self.path.name!r})"


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateEstimator:
    """Parameters are the arguments of `__init__`, kept as they were given; copies share the ledger.

    Rows are in a declared table of `curator`, or in memory: then out of `budget`, with the `domains` that
    were declared, or on `accept` those that the rows show.
    """

    _kind = "estimator"

    epsilon: Number
    curator: Desk | None = None
    budget: LearnBudget | None = None
    domains: Mapping[str, Any] | Sequence[Any] | None = None
    accept: bool = False

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002  # scikit-learn's word
        """Return the parameters by name."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def set_params(self, **params: Any) -> Self:
        """Return the estimator after changing some parameters."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise BadRows(
                    f"{type(self).__name__} has no parameter '{name[:40]}'.",
                    hint=f"There are: {', '.join(known)}.",
                )
            setattr(self, name, value)
        return self

    def __sklearn_clone__(self) -> Self:
        # Never a copy of the ledger: what a copy spends, everybody has spent.
        return type(self)(**self.get_params())

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_")

    def _learned_from(self, rows: Any, names: Sequence[str]) -> None:
        """Keep how many features there were, and their names where the rows name them."""
        self.n_features_in_ = len(names)
        if hasattr(rows, "columns"):
            self.feature_names_in_ = np.array(names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        words = import_module("sklearn.utils")
        kind = self._kind
        return words.Tags(
            estimator_type=kind if kind in {"classifier", "regressor", "clusterer"} else None,
            target_tags=words.TargetTags(required=kind in {"classifier", "regressor"}),
            classifier_tags=words.ClassifierTags(poor_score=True) if kind == "classifier" else None,
            regressor_tags=words.RegressorTags(poor_score=True) if kind == "regressor" else None,
            transformer_tags=words.TransformerTags() if kind == "transformer" else None,
            input_tags=words.InputTags(allow_nan=True, string=True),
            non_deterministic=True,
        )

    def __repr__(self) -> str:
        said = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items())
        return f"{type(self).__name__}({said})"


def warn_of_column(place: int) -> None:
    """Warn, as scikit-learn does and in its own words where it is in use, of a target in two dimensions."""
    known = sys.modules.get("sklearn.exceptions")
    warnings.warn(
        "A column-vector y was passed when a 1d array was expected. Use y.ravel().",
        UserWarning if known is None else known.DataConversionWarning,
        stacklevel=place + 1,
    )


def not_fitted(estimator: PrivateEstimator) -> Exception:
    """Return the refusal of a model that was not trained; scikit-learn's own where that is in use."""
    known = sys.modules.get("sklearn.exceptions")
    said = f"This {type(estimator).__name__} is not fitted yet: call fit first."
    return BadRows(said) if known is None else known.NotFittedError(said)


Settings = dict[str, Setting]
FINENESS = 10_000
"""Steps, at least, that a declared range of numbers is divided into."""


def as_table(rows: Any) -> pa.Table:
    """Return rows in memory as a table: Arrow, pandas, a mapping, or an array with columns x0, x1, ..."""
    if isinstance(rows, pa.Table):
        return rows
    if hasattr(rows, "toarray"):  # before the mappings: one of scipy's sparse kinds is one
        raise TypeError("Sparse input is not supported: hand in a dense array or a table.")
    if isinstance(rows, Mapping):
        return pa.table({str(name): _arrow(np.asarray(values)) for name, values in rows.items()})
    if hasattr(rows, "columns") and hasattr(rows, "__getitem__"):
        names = [str(name) for name in rows.columns]
        return pa.table(
            {n: _arrow(rows[c].to_numpy()) for n, c in zip(names, rows.columns, strict=True)}
        )
    found = np.asarray(rows)
    if found.ndim != 2:
        raise BadRows(
            "Expected 2D array: rows and columns. Reshape your data with .reshape(-1, 1) for one "
            "column, or with .reshape(1, -1) for one row."
        )
    if found.dtype.kind == "c":
        raise BadRows("Complex data not supported.")
    if not found.shape[1]:
        raise BadRows(
            f"0 feature(s) (shape=({found.shape[0]}, 0)) while a minimum of 1 is required."
        )
    return pa.table({f"x{i}": _arrow(found[:, i]) for i in range(found.shape[1])})


def _arrow(values: Any) -> pa.Array:
    """Return one column: numbers as numbers (NaN is a gap), everything else as text."""
    found = np.asarray(values)
    if found.ndim != 1:
        raise BadRows("A column is a list of values, one for each row.")
    if found.dtype.kind in "iuf":
        return pa.array(found, from_pandas=True)
    if found.dtype.kind == "O" and all(_is_number(v) for v in found):
        return pa.array([None if v is None or v != v else float(v) for v in found])  # noqa: PLR0124  # NaN
    return pa.array([None if v is None or v != v else str(v) for v in found.tolist()])  # noqa: PLR0124


def _is_number(value: Any) -> bool:
    return value is None or (
        isinstance(value, int | float | np.number) and not isinstance(value, bool)
    )


def declared(
    table: pa.Table, domains: Mapping[str, Any] | Sequence[Any] | None, *, accept: bool
) -> dict[str, Settings]:
    """Return the settings of every column, from what was declared, or from the rows on `accept`.

    `domains` maps a column to (lower, upper) or to a list of values; a single pair is for all columns.
    """
    if domains is None:
        if not accept:
            raise BadRows(
                "No domains are declared for these columns, and reading them off the rows is a look.",
                hint="Give domains={'age': (0, 120), 'sex': ['Female', 'Male']}, or accept=True to "
                "declare public what the rows show.",
            )
        return {name: _seen(table.column(name)) for name in table.column_names}
    if not isinstance(domains, Mapping):
        domains = dict.fromkeys(table.column_names, domains)
    missing = [name for name in table.column_names if name not in domains]
    if missing:
        raise BadRows(f"No domain is declared for column '{missing[0][:60]}'.")
    return {name: setting_of(name, domains[name]) for name in table.column_names}


def setting_of(name: str, domain: Any) -> Settings:
    """Return a declared domain as a setting of the catalog: a pair is a range, a list is values."""
    if isinstance(domain, tuple) and len(domain) == 2 and all(_is_number(end) for end in domain):
        return _range(name, *domain)
    values = tuple(dict.fromkeys(str(value) for value in domain))
    if not values:
        raise BadRows(f"Column '{name[:60]}' has no declared value.")
    return {"type": "category", "values": values}


def _range(name: str, lower: float, upper: float) -> Settings:
    low, high = float(lower), float(upper)
    if not (math.isfinite(low) and math.isfinite(high)) or low > high:
        raise BadRows(f"The declared range of column '{name[:60]}' is none.", hint="(lower, upper)")
    if isinstance(lower, int) and isinstance(upper, int):
        return {"type": "integer", "lower": lower, "upper": upper, "missing": True}
    step = Fraction(10) ** (
        math.floor(math.log10((high - low) or 1.0)) - round(math.log10(FINENESS))
    )
    first, last = math.floor(Fraction(low) / step), math.ceil(Fraction(high) / step)
    ends = {"lower": _decimal(first * step), "upper": _decimal(max(last, first + 1) * step)}
    return {"type": "number", **ends, "step": _decimal(step), "missing": True}


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _seen(column: pa.ChunkedArray) -> Settings:
    """Return what a column shows, declared public by the owner's word alone."""
    known = column.drop_null()
    if pa.types.is_string(column.type):
        values = sorted(set(known.to_pylist())) or ["?"]
        return {"type": "category", "values": tuple(values)}
    numbers = np.asarray(known.to_numpy(), dtype=np.float64)
    if not len(numbers):
        return _range("", 0.0, 1.0)
    if np.isinf(numbers).any():
        raise BadRows("The rows hold infinity, which is no number to learn from.")
    if pa.types.is_integer(column.type):
        return _range("", int(numbers.min()), int(numbers.max()))
    return _range("", float(numbers.min()), float(numbers.max()))


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
