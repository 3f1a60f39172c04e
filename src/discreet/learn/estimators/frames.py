"""Rows in memory as an Arrow table, and the domains that were declared for their columns."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.catalog.toml_text import Setting
from discreet.errors import BadRows

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
