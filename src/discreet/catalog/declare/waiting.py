"""Columns of a discreet.toml whose review is pending, in finished and unfinished datasets."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from discreet.catalog.declare.sections import parsed
from discreet.catalog.read.datasets import table_of
from discreet.catalog.read.file_shape import DatasetShape, FileShape, shape_of
from discreet.catalog.read.people import one_reading
from discreet.core.schema import Table


@dataclass(frozen=True, slots=True)
class DeclaredTable:
    """One table as it stands in the file, whether or not its unit and its budget are filled in."""

    dataset: str
    table: Table
    unit_known: bool
    budget_known: bool

    @property
    def waiting(self) -> tuple[str, ...]:
        """Return the columns that wait for review."""
        return tuple(c.name for c in self.table.columns if not c.reviewed and not c.hidden)


def declared_tables(text: str, *, base: Path, file: str) -> tuple[str, list[DeclaredTable]]:
    """Return the engine's address and every private table of the file, finished or not."""
    shape: FileShape = shape_of(parsed(text), file=file)
    found = []
    for name, dataset in shape.datasets.items():
        budget = dataset.epsilon is not None or dataset.budget is not None
        for table in _private_tables(name, dataset, base):
            known = dataset.tables[table.name].unit is not None
            found.append(DeclaredTable(name, table, known, budget))
    return shape.engine.url, found


def _private_tables(name: str, dataset: DatasetShape, base: Path) -> tuple[Table, ...]:
    """Return the tables as they are read; one without a unit yet counts as rows."""
    shapes = {
        table: settings if settings.unit else settings.model_copy(update={"unit": "row"})
        for table, settings in dataset.tables.items()
        if not settings.public
    }
    tables = [
        table_of(table, settings, place=f"table '{table}' of dataset '{name}'", base=base)
        for table, settings in shapes.items()
    ]
    return one_reading(name, tables, shapes)
