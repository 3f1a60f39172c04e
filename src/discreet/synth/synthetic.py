"""A synthetic table: rows, the model they come from, its price, and what the reader should know."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.core.bill import Charged
from discreet.core.display import result_lines
from discreet.core.display.lines import ShownInLines, ShownLines
from discreet.core.requests.synth import MOST_ROWS
from discreet.core.system.extras import needs
from discreet.errors import InvalidInput
from discreet.report.csv_text import CsvStyle, style_from
from discreet.report.rows import write_rows
from discreet.synth.encoding.columns import Coded, Encoding
from discreet.synth.encoding.copy_style import decimals_of
from discreet.synth.encoding.decode import NULL, Places, to_table
from discreet.synth.encoding.shape import Codes
from discreet.synth.measure.private_marginals import Measured
from discreet.synth.model_file import Saved, write_model
from discreet.synth.models.drawing import draw
from discreet.synth.models.model import Model
from discreet.synth.rules import read_condition, read_rules

AT_ONCE = 500_000
"""Rows that are drawn and decoded together: what lies between stays small."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class SyntheticRows:
    """Made-up rows, as values and as codes, and what happened while they were drawn."""

    table: pa.Table
    codes: Codes
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Synthetic(ShownInLines, Charged):
    """A synthetic copy of one table.

    `saved` holds the model, the encoding and the noisy tables behind it: all of it paid for.
    `rows` is one sample; `sample` draws others, free of charge. `private` is false where a seeded
    generator drew the noise.
    """

    saved: Saved
    rows: SyntheticRows
    method: str
    request_id: str
    notices: tuple[str, ...]
    seconds: float

    @property
    def model(self) -> Model:
        """Return the fitted model."""
        return self.saved.model

    @property
    def encoding(self) -> Encoding:
        """Return how values and codes belong together."""
        return self.saved.encoding

    @property
    def measured(self) -> tuple[Measured, ...]:
        """Return the noisy tables that the method saw, each with the law of its noise."""
        return self.saved.measured

    @property
    def table(self) -> pa.Table:
        """Return the made-up rows."""
        return self.rows.table

    @property
    def private(self) -> bool:
        """Return whether the noise came from the operating system's entropy."""
        return bool(self.saved.facts.get("private", True))

    def to_arrow(self) -> pa.Table:
        """Return the rows as a pyarrow table."""
        return self.rows.table

    def to_pandas(self) -> Any:
        """Return the rows as a pandas data frame."""
        with needs("pandas", extra="pandas"):
            return self.rows.table.to_pandas()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the rows as an Arrow stream: `polars.DataFrame(synthetic)`, `pyarrow.table(synthetic)`."""
        return self.rows.table.__arrow_c_stream__(requested_schema)

    def write(self, path: str | Path) -> None:
        """Write the rows to a .csv or .parquet file."""
        write_rows(self.rows.table, Path(path), style=csv_style(self.saved))

    def save_model(self, path: str | Path) -> None:
        """Write the model to a file that `load_model` reads; sampling from it is free."""
        write_model(self.saved, Path(path))

    def sample(self, rows: int, *, where: str | None = None) -> pa.Table:
        """Return other made-up rows from the same model, free of charge."""
        return sample_rows(self.saved, rows, where=where).table

    def to_json(self) -> dict[str, Any]:
        """Return the facts that `discreet synth --json` prints; not the rows themselves."""
        return {
            "rows": self.rows.table.num_rows,
            "columns": self.rows.table.column_names,
            "method": self.method,
            **self.bill.to_json(),
            "seconds": round(self.seconds, 3),
            "estimated_rows": round(self.model.total),
            "agreement": self.saved.facts.get("agreement"),
            "request_id": self.request_id,
            "notices": list(self.notices),
        }

    def lines(self) -> ShownLines:
        """Return what a person reads."""
        return result_lines.synthetic_lines(self.to_json())


def sample_rows(
    saved: Saved, rows: int | None = None, *, where: str | None = None, seed: int | None = None
) -> SyntheticRows:
    """Return made-up rows of a paid model: as many as the real table has, unless `rows` says so.

    `seed` makes the sample repeatable; the guarantee hangs on the model, not on these dice.
    """
    wanted = saved.usual_rows if rows is None else rows
    if isinstance(wanted, bool) or not 0 <= wanted <= MOST_ROWS:
        raise InvalidInput(f"The number of rows must be a whole number from 0 to {MOST_ROWS:,}.")
    condition = None if where is None else read_condition(where, saved.encoding)
    rules = read_rules(saved.rules, saved.encoding)
    dice = np.random.default_rng(seed)  # no guarantee hangs on these dice: the model is paid for
    tables, codes, repeated = [], [], 0
    for start in range(0, max(wanted, 1), AT_ONCE):
        part = min(AT_ONCE, wanted - start)
        drawn = draw(saved.model, saved.encoding, part, dice=dice, where=condition, rules=rules)
        tables.append(to_table(drawn.places, saved.encoding, dice, first=start + 1, rows=wanted))
        codes.append(codes_of(drawn.places, saved.encoding))
        repeated += drawn.repeated
    notices = []
    if repeated:
        notices.append(
            f"{repeated:,} rows are repeated from others: the model hardly ever satisfies "
            "the condition and the rules."
        )
    return SyntheticRows(pa.concat_tables(tables), np.concatenate(codes), tuple(notices))


def csv_style(saved: Saved) -> CsvStyle:
    """Return how rows of a model are written as CSV."""
    return style_from(saved.facts.get("csv"), decimals_of(saved.encoding.columns))


def codes_of(places: Places, encoding: Encoding) -> Codes:
    """Return the codes of decoded rows: the bin of each position, the last code for NULL."""
    codes = np.empty(places.shape, dtype=np.int32, order="F")
    for i, column in enumerate(encoding.coded):
        codes[:, i] = _codes(places[:, i], column)
    return codes


def _codes(places: Places, column: Coded) -> Any:
    known = places
    if column.edges is not None:
        known = np.searchsorted(np.array(column.edges), places, side="right") - 1
    return np.where(places == NULL, column.values, known) if column.missing else known
