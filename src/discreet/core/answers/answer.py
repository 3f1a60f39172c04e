"""An answer: values with their error bars, a price and a provenance."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from discreet.core.answers.answer_chart import Chart, chart_of
from discreet.core.answers.answer_text import PrintedTable
from discreet.core.answers.rank_error import Ranks, ranks_from_json, ranks_json
from discreet.core.bill import Bill, Charged
from discreet.core.system.extras import needs

REHEARSAL = "rehearsal: not private"
"""What stands on everything that was made with noise that repeats."""

# Spreadsheets run cells that begin with these as formulas.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


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
    the columns that carry noise. `ranks` says of cells that were chosen, such as medians, how many ranks they are
    off by; empty where there are none.
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
    ranks: Ranks = ()

    def to_json(self) -> dict[str, Any]:
        """Return the object that `discreet query --json` prints."""
        mark = self.provenance.watermark
        return ({"watermark": mark} if mark else {}) | {
            "columns": list(self.columns),
            "rows": [list(row) for row in self.rows],
            "error95": [list(errors) for errors in self.error95],
            **self.bill.to_json(),
            "request_id": self.request_id,
            "noisy": list(self.noisy),
            "intervals": [[_ends(pair) for pair in row] for row in self.intervals],
            "provenance": self.provenance.to_json(),
            "keys": self.keys,
            "covariance": _lists(self.covariance),
            **({"ranks": ranks_json(self.ranks)} if self.ranks else {}),
        }

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:
        """Return what `to_json` wrote, here or on a server; older ones have no covariance."""
        return cls(
            bill=Bill.from_json(found),
            columns=tuple(found["columns"]),
            rows=tuple(tuple(row) for row in found["rows"]),
            error95=tuple(tuple(row) for row in found["error95"]),
            request_id=found["request_id"],
            provenance=Provenance.from_json(found["provenance"]),
            keys=found["keys"],
            intervals=tuple(tuple(_interval(ends) for ends in row) for row in found["intervals"]),
            covariance=_tuples(found.get("covariance")),
            noisy=tuple(found["noisy"]),
            ranks=ranks_from_json(found.get("ranks", ())),
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
                columns.append(self._errors(i))
        if self.provenance.watermark:  # in every row, so that no cut of an export loses it
            names.append("watermark")
            columns.append([self.provenance.watermark] * len(self.rows))
        return names, columns

    def _errors(self, column: int) -> list[Any]:
        """Return the errors of a noisy column: numbers, or texts where values were chosen."""
        halves = [errors[column] for errors in self.error95]
        ranks = [row[column] for row in self.ranks]
        if not any(ranks):
            return halves
        return [
            half if rank is None else rank.words for half, rank in zip(halves, ranks, strict=True)
        ]

    def error_lines(self, names: Sequence[str] | None = None) -> list[str]:
        """Return a sentence for each noisy column: its error at 95%. `names`: what the columns are called."""
        return self._shown(names).error_lines()

    def _shown(self, names: Sequence[str] | None = None) -> PrintedTable:
        columns = self.columns if names is None else tuple(names)
        parts = (columns, self.rows, self.error95, self.intervals, self.ranks)
        return PrintedTable.of(*parts, noisy=self.noisy)

    def __repr__(self) -> str:
        return self._shown().as_text(self._footer())

    def __str__(self) -> str:
        return repr(self)

    def _repr_html_(self) -> str:
        return self._shown().as_html(self._footer())

    def _footer(self) -> str:
        if self.provenance.watermark:
            return f"{self.provenance.watermark}; nothing was spent"
        return self.bill.paid_words()


def _ends(pair: tuple[float, float] | None) -> list[float | None] | None:
    return None if pair is None else [end if math.isfinite(end) else None for end in pair]


def _lists(found: Any) -> Any:
    return [_lists(each) for each in found] if isinstance(found, tuple) else found


def _tuples(found: Any) -> Any:
    return tuple(_tuples(each) for each in found) if isinstance(found, list | tuple) else found


def _harmless(cell: Any) -> Any:
    if isinstance(cell, str) and cell.startswith(_FORMULA_STARTS):
        return f"'{cell}"
    return "" if cell is None else cell


def _interval(ends: Sequence[float | None] | None) -> tuple[float, float] | None:
    if ends is None:
        return None
    low, high = ends  # null is an end that lies at infinity
    return -math.inf if low is None else low, math.inf if high is None else high
