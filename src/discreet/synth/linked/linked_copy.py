"""A copy of linked tables: rows of each, whose keys join, and what they cost."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from discreet.core.bill import Charged
from discreet.core.display import result_lines
from discreet.core.display.lines import ShownInLines, ShownLines
from discreet.errors import InvalidInput
from discreet.report.csv_text import CsvStyle, style_from
from discreet.report.rows import write_rows
from discreet.synth.encoding.copy_style import decimals_of
from discreet.synth.linked.linked_model import LinkedModel, linked_tables


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class LinkedSynthetic(ShownInLines, Charged):
    """Synthetic copies of the tables of a dataset. `sample` draws others, free of charge."""

    model: LinkedModel
    tables: Mapping[str, pa.Table]
    request_id: str
    notices: tuple[str, ...]
    seconds: float

    @property
    def private(self) -> bool:
        """Return whether the noise came from the operating system's entropy."""
        return bool(self.model.facts.get("private", True))

    def sample(self, rows: int | None = None) -> dict[str, pa.Table]:
        """Return other rows from the same models, free; `rows` is the number of people."""
        return linked_tables(self.model, rows)

    def write(self, path: str | Path) -> None:
        """Write one CSV file for each table into a folder, or into a .zip file."""
        csv = self.model.facts.get("csv", {})
        styles = {
            part.name: style_from(csv.get(part.name), decimals_of(part.columns.columns))
            for part in self.model.parts
        }
        write_linked(self.tables, Path(path), styles)

    def to_json(self) -> dict[str, Any]:
        """Return the facts that `discreet synth --json` prints; not the rows themselves."""
        return {
            "rows": sum(table.num_rows for table in self.tables.values()),
            "tables": {
                name: {"rows": table.num_rows, "columns": table.column_names}
                for name, table in self.tables.items()
            },
            "columns": [
                f"{name}.{column}"
                for name, table in self.tables.items()
                for column in table.column_names
            ],
            "method": "auto",
            **self.bill.to_json(),
            "seconds": round(self.seconds, 3),
            "agreement": min(part.saved.facts["agreement"] for part in self.model.parts),
            "request_id": self.request_id,
            "notices": list(self.notices),
        }

    def lines(self) -> ShownLines:
        """Return what a person reads."""
        return result_lines.linked_lines(self.to_json())


def write_linked(
    tables: Mapping[str, pa.Table], path: Path, styles: Mapping[str, CsvStyle]
) -> None:
    """Write tables as CSV files into a folder that is made if needed, or into one .zip file."""
    if path.suffix.lower() == ".zip":
        with TemporaryDirectory() as scratch:
            write_linked(tables, Path(scratch), styles)
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                for name in tables:
                    archive.write(Path(scratch) / f"{name}.csv", f"{name}.csv")
        return
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise InvalidInput(f"The folder '{path}' cannot be made.") from None
    for name, table in tables.items():
        write_rows(table, path / f"{name}.csv", style=styles[name])
