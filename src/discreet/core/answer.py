"""An answer: values with their error bars, a price and a provenance."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

from discreet.core.machine.extras import needs
from discreet.core.rendering.answer_chart import Chart, chart_of
from discreet.core.rendering.answer_text import PrintedTable

REHEARSAL = "rehearsal: not private"
"""What stands on everything that was made with noise that repeats."""

# Spreadsheets run cells that begin with these as formulas.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class Spent:
    """An amount of budget in the two numbers that people read."""

    epsilon: Fraction
    delta: Fraction

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.epsilon + other.epsilon, self.delta + other.delta)

    def __sub__(self, other: Spent) -> Spent:
        return Spent(self.epsilon - other.epsilon, self.delta - other.delta)

    def to_json(self) -> dict[str, float]:
        """Return plain numbers."""
        return {"epsilon": float(self.epsilon), "delta": float(self.delta)}

    @classmethod
    def from_json(cls, found: Mapping[str, float]) -> Self:
        """Return what `to_json` wrote: the numbers as they are spelled."""
        return cls(Fraction(repr(found["epsilon"])), Fraction(repr(found["delta"])))

    def __str__(self) -> str:
        price = f"{float(self.epsilon):.6g}"
        return f"{price}, delta {float(self.delta):.6g}" if self.delta else price


NOTHING_SPENT = Spent(Fraction(0), Fraction(0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Charged:
    """What was charged for something that is handed out, and the budget around that charge."""

    cost: Spent
    before: Spent
    after: Spent
    limit: Spent
    free: bool

    def bill_json(self) -> dict[str, Any]:
        """Return the price and the budget as commands print them."""
        around = {"before": self.before, "after": self.after, "limit": self.limit}
        budget = {name: spent.to_json() for name, spent in around.items()}
        return {"cost": self.cost.to_json(), "budget": budget}

    @staticmethod
    def bill_from(found: Mapping[str, Any]) -> dict[str, Any]:
        """Return what `bill_json` wrote, and whether it was free, by the names of these fields."""
        said = {"cost": found["cost"], **found["budget"]}
        names = ("cost", "before", "after", "limit")
        return {name: Spent.from_json(said[name]) for name in names} | {"free": found["free"]}


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where an answer comes from: what was asked, of which snapshot, and how it was protected."""

    dataset: str
    snapshot: str
    unit: str
    mechanisms: tuple[str, ...]
    sql: tuple[str, ...]
    notes: tuple[str, ...] = ()
    private: bool = True
    watermark: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return plain lists and texts."""
        marked = {"watermark": self.watermark} if self.watermark else {}
        return marked | {
            "dataset": self.dataset,
            "snapshot": self.snapshot,
            "unit": self.unit,
            "mechanisms": list(self.mechanisms),
            "sql": list(self.sql),
            "notes": list(self.notes),
            "private": self.private,
        }

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:
        """Return what `to_json` wrote."""
        lists = {name: tuple(found[name]) for name in ("mechanisms", "sql", "notes")}
        return cls(**{**found, **lists})


@dataclass(frozen=True, slots=True, repr=False)
class Answer(Charged):
    """A private answer. It prints as a table with a "noise ±" column beside each noisy one.

    `error95` is, for each cell, the half-width of an interval that holds the noise with at least
    95% probability; None for keys, and where no such number is known. `intervals` has the ends,
    which need not lie evenly around the value and may be infinite (null in JSON). `covariance` is the noise covariance of the noisy
    columns within each row (rows are independent), None where a column is not linear. `noisy` are
    the columns that carry noise.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    error95: tuple[tuple[float | None, ...], ...]
    request_id: str
    provenance: Provenance
    keys: int = 0
    intervals: tuple[tuple[tuple[float, float] | None, ...], ...] = ()
    covariance: tuple[tuple[tuple[float, ...], ...], ...] | None = None
    noisy: tuple[int, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the object that `discreet query --json` prints."""
        mark = self.provenance.watermark
        return ({"watermark": mark} if mark else {}) | {
            "columns": list(self.columns),
            "rows": [list(row) for row in self.rows],
            "error95": [list(errors) for errors in self.error95],
            **self.bill_json(),
            "free": self.free,
            "request_id": self.request_id,
            "noisy": list(self.noisy),
            "intervals": [[_ends(pair) for pair in row] for row in self.intervals],
            "provenance": self.provenance.to_json(),
        }

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:
        """Return the answer that a server sent: `to_json()` and the number of keys."""
        return cls(
            **cls.bill_from(found),
            columns=tuple(found["columns"]),
            rows=tuple(tuple(row) for row in found["rows"]),
            error95=tuple(tuple(row) for row in found["error95"]),
            request_id=found["request_id"],
            provenance=Provenance.from_json(found["provenance"]),
            keys=found["keys"],
            intervals=tuple(tuple(_interval(ends) for ends in row) for row in found["intervals"]),
            noisy=tuple(found["noisy"]),
        )

    def to_arrow(self) -> Any:
        """Return a pyarrow table: each noisy column is followed by its error as `NAME ±`."""
        import pyarrow as pa

        names, columns = self._with_errors()
        return pa.table(dict(zip(names, columns, strict=True)))

    def to_pandas(self) -> Any:
        """Return a pandas data frame with the columns of `to_arrow`."""
        with needs("pandas", extra="pandas"):
            import pandas as pd
        names, columns = self._with_errors()
        return pd.DataFrame(dict(zip(names, columns, strict=True)))

    def to_csv(self, path: str | Path | None = None) -> str:
        """Return the answer as CSV, and write it to `path` if one is given.

        Text that a spreadsheet would run as a formula gets a leading apostrophe.
        """
        names, columns = self._with_errors()
        buffer = io.StringIO()
        # Only signs of the line end are quoted: with "\n" alone, a "\r" in a cell would begin a
        # new row for a spreadsheet, and with it a new formula.
        writer = csv.writer(buffer, lineterminator="\r\n")
        writer.writerow([_harmless(name) for name in names])
        writer.writerows([_harmless(cell) for cell in row] for row in zip(*columns, strict=True))
        if path is not None:
            Path(path).write_bytes(buffer.getvalue().encode("utf-8"))
        return buffer.getvalue()

    def plot(self) -> Chart:
        """Return a chart of the first noisy column with its error bars."""
        return chart_of(
            self.columns,
            self.rows,
            self.error95,
            noisy=self.noisy,
            keys=self.keys,
            watermark=self.provenance.watermark,
        )

    def _with_errors(self) -> tuple[list[str], list[list[Any]]]:
        names: list[str] = []
        columns: list[list[Any]] = []
        for i, name in enumerate(self.columns):
            names.append(name)
            columns.append([row[i] for row in self.rows])
            if i in self.noisy:
                names.append(f"{name} ±")
                columns.append([errors[i] for errors in self.error95])
        if self.provenance.watermark:  # in every row, so that no cut of an export loses it
            names.append("watermark")
            columns.append([self.provenance.watermark] * len(self.rows))
        return names, columns

    def _shown(self) -> PrintedTable:
        parts = (self.columns, self.rows, self.error95, self.intervals)
        return PrintedTable.of(*parts, noisy=self.noisy)

    def __repr__(self) -> str:
        return self._shown().as_text(self._footer())

    def __str__(self) -> str:
        return repr(self)

    def _repr_html_(self) -> str:
        return self._shown().as_html(self._footer())

    def _footer(self) -> str:
        left = float(self.limit.epsilon - self.after.epsilon)
        used = "free" if self.free else f"uses {float(self.cost.epsilon):g}"
        if self.provenance.watermark:
            return f"{self.provenance.watermark}; nothing was spent"
        return f"{used}, leaves {max(left, 0):g} of {float(self.limit.epsilon):g}"


def _ends(pair: tuple[float, float] | None) -> list[float | None] | None:
    return None if pair is None else [end if math.isfinite(end) else None for end in pair]


def _harmless(cell: Any) -> Any:
    if isinstance(cell, str) and cell.startswith(_FORMULA_STARTS):
        return f"'{cell}"
    return "" if cell is None else cell


def _interval(ends: Sequence[float | None] | None) -> tuple[float, float] | None:
    if ends is None:
        return None
    low, high = ends  # null is an end that lies at infinity
    return -math.inf if low is None else low, math.inf if high is None else high
