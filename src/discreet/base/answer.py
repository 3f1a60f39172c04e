"""An answer: values with their error bars, a price and a provenance; its columns, its chart, its explanation.

The columns are known before anything is paid. A chart is a Vega-Lite specification with error bars, drawn only when
asked for. An explanation says what a query would cost and how exact it would be; for it, nothing was spent.
"""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Self

from discreet.base.answer_text import (
    PrintedTable,
    RankError,
    Ranks,
    ranks_from_json,
    ranks_json,
    shown_up,
)
from discreet.base.bill import Bill, Charged
from discreet.base.display import lines_html, lines_text, visible
from discreet.base.packages import needs
from discreet.errors import InvalidInput


class OutputType(Enum):
    """What the cells of a column are."""

    INTEGER = "integer"
    NUMBER = "number"
    TEXT = "text"
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"


@dataclass(frozen=True, slots=True)
class OutputColumn:
    """One column of an answer."""

    name: str
    type: OutputType
    noisy: bool


ACCENT = "#1F5F5B"
QUIET = "#5C6166"
CHART_FILES = (".svg", ".png", ".html", ".json")


@dataclass(frozen=True, slots=True)
class Chart:
    """A Vega-Lite specification; notebooks draw it, `save` writes SVG, PNG, HTML or JSON."""

    spec: dict[str, Any]

    def _repr_mimebundle_(self, **_options: Any) -> dict[str, Any]:
        return {"application/vnd.vegalite.v5+json": self.spec, "text/plain": "Chart"}

    def to_svg(self) -> str:
        """Return the chart as SVG."""
        return str(_converter().vegalite_to_svg(json.dumps(self.spec)))

    def save(self, path: str | Path) -> None:
        """Write the chart; the ending of `path` says how."""
        target = check_chart(path)
        match target.suffix.lower():
            case ".json":
                target.write_text(json.dumps(self.spec, indent=2), encoding="utf-8")
            case ".svg":
                target.write_text(self.to_svg(), encoding="utf-8")
            case ".png":
                target.write_bytes(_converter().vegalite_to_png(json.dumps(self.spec), scale=2))
            case ".html":
                page = _converter().vegalite_to_html(json.dumps(self.spec), bundle=True)
                target.write_text(page, encoding="utf-8")


def check_chart(path: str | Path) -> Path:
    """Return the path of a picture if it can be drawn on this machine; refuse it before the answer is paid."""
    target = Path(path)
    ending = target.suffix.lower()
    if ending not in CHART_FILES:
        raise InvalidInput(
            f"A chart cannot be saved as '{ending}'.", hint="Use .svg, .png, .html or .json."
        )
    if ending != ".json":
        _converter()
    return target


def _converter() -> Any:
    with needs("vl-convert-python", extra="plot"):
        import vl_convert
    return vl_convert


def chart_of(
    columns: tuple[str, ...],
    rows: tuple[tuple[Any, ...], ...],
    errors: tuple[tuple[Any, ...], ...],
    *,
    noisy: tuple[int, ...],
    keys: int,
    watermark: str = "",
) -> Chart:
    """Return points with intervals: the first key across, the first noisy column of numbers upwards.

    One whose errors are known comes first; without any, the axis says that there is none to draw. A watermark
    stands over the picture.
    """
    drawn = [i for i in noisy if all(isinstance(row[i], int | float | None) for row in rows)]
    if not drawn or not rows:
        raise InvalidInput("There is nothing noisy to draw in this answer.")
    value = next((i for i in drawn if any(each[i] is not None for each in errors)), drawn[0])
    known = any(each[value] is not None for each in errors)
    labels = [i for i in range(len(columns)) if i not in noisy and i < max(keys, 1)]
    points = []
    for row, error in zip(rows, errors, strict=True):
        if row[value] is None:
            continue
        half = error[value] or 0
        label = ", ".join(_label(row[i]) for i in labels) or columns[value]
        points.append(
            {"key": label, "value": row[value], "low": row[value] - half, "high": row[value] + half}
        )
    title = ", ".join(columns[i] for i in labels)
    bars = "noise ±, 95%" if known else "its error is not an interval: see the table"
    x = {"field": "key", "type": "nominal", "title": title or None, "sort": None}
    y = {"type": "quantitative", "title": f"{columns[value]} ({bars})"}
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "data": {"values": points},
        "encoding": {"x": x},
        "layer": [
            {
                "mark": {"type": "rule", "color": QUIET},
                "encoding": {"y": {"field": "low", **y}, "y2": {"field": "high"}},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 50, "color": ACCENT},
                "encoding": {"y": {"field": "value", **y}},
            },
        ],
    }
    return Chart({"title": watermark, **spec} if watermark else spec)


def _label(value: Any) -> str:
    if value is None:
        return "missing"
    return value.isoformat() if isinstance(value, dt.date) else str(value)


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


@dataclass(frozen=True, slots=True)
class StatedNoise:
    """The noise ± to expect at 95% for groups of a size that was named, by output; spends nothing.

    None in `noise`: unbounded, so small a group drowns. `ranks`: how many rows the rank of a quantile is
    off by at most. `appears_from`: how many noisy people a group needs to appear, where keys are private.
    """

    rows: int
    noise: Mapping[str, float | None]
    ranks: Mapping[str, int]
    appears_from: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return plain values, and the ranks in words."""
        return asdict(self) | {"words": self.words()}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:
        """Return what `to_json` wrote."""
        return cls(found["rows"], found["noise"], found["ranks"], found["appears_from"])

    def words(self) -> dict[str, str]:
        """Return what is said of each rank among so many rows."""
        return {name: RankError(error, self.rows).words for name, error in self.ranks.items()}

    def lines(self) -> list[tuple[str, str]]:
        """Return what a person reads."""
        widths = [
            f"{visible(name)} ± {'unbounded' if width is None else f'at most {shown_up(width)}'}"
            for name, width in self.noise.items()
        ]
        ranks = [f"{visible(name)} {words}" for name, words in self.words().items()]
        group = f"for groups of {self.rows:,} rows: {', '.join(widths + ranks)}"
        appear = () if self.appears_from is None else (f"from {self.appears_from:,} people on",)
        return [("noise (95%)", group), *(("groups", words) for words in appear)]


@dataclass(frozen=True, slots=True)
class Explanation(Charged):
    """What a question would cost and how exact it would be; nothing was spent.

    `after` is the payer's bill as the ledger would record it: that of the worst-hit person, not the
    sum of all prices. `words` says what the price promises, where a server answered.
    """

    dataset: str
    columns: tuple[str, ...]
    sql: str
    mechanisms: tuple[str, ...]
    expected_error: dict[str, float | None]
    region: str
    notes: tuple[str, ...]
    words: str = ""
    stated: StatedNoise | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the object that `discreet query --explain --json` prints."""
        return {
            "dataset": self.dataset,
            "columns": list(self.columns),
            "sql": self.sql,
            "mechanisms": list(self.mechanisms),
            **self.bill.to_json(),
            "expected_error": self.expected_error,
            "region": self.region,
            "spends": False,
            "notes": list(self.notes),
            "stated": None if self.stated is None else self.stated.to_json(),
            **({"words": self.words} if self.words else {}),
        }

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:
        """Return what `to_json` wrote, with the words that a server added."""
        return cls(
            bill=Bill.from_json(found),
            dataset=found["dataset"],
            columns=tuple(found["columns"]),
            sql=found["sql"],
            mechanisms=tuple(found["mechanisms"]),
            expected_error=found["expected_error"],
            region=found["region"],
            notes=tuple(found["notes"]),
            words=found.get("words", ""),
            stated=StatedNoise.from_json(found["stated"]) if found.get("stated") else None,
        )

    def lines(self) -> list[tuple[str, str]]:
        """Return what a person reads: a name and a sentence in each line."""
        noise = [
            f"{visible(name)} ± {'depends on the data' if error is None else shown_up(error)}"
            for name, error in self.expected_error.items()
        ]
        return [
            ("price", self.bill.foreseen_words()),
            ("noise (95%)", ", ".join(noise) or "none"),
            *([] if self.stated is None else self.stated.lines()),
            ("about", visible(self.region)),
            *(("mechanism", visible(each)) for each in self.mechanisms),
            *(("note", visible(note)) for note in self.notes),
            *(("runs", visible(line)) for line in self.sql.splitlines()),
        ]

    def __str__(self) -> str:
        return lines_text(self.lines())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return lines_html(self.lines())
