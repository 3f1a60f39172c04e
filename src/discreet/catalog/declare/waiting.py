"""The columns of a discreet.toml that wait for their owner, in finished and unfinished datasets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from discreet.catalog.declare.sections import parsed
from discreet.catalog.read.datasets import table_of
from discreet.catalog.read.file_shape import FileShape, shape_of
from discreet.core.path import UnitPath
from discreet.core.schema import Table


@dataclass(frozen=True, slots=True)
class DeclaredTable:
    """One table as it stands in the file, whether or not its unit and its budget are filled in."""

    dataset: str
    table: Table
    unit_known: bool
    budget_known: bool

    @property
    def path(self) -> UnitPath | None:
        """Return the path to the people of this table, its tables by the engine's names."""
        if self.table.path is None:
            return None
        steps = tuple(
            replace(step, table=f"{self.dataset}.{step.table}") for step in self.table.path.steps
        )
        return replace(self.table.path, steps=steps)

    @property
    def waiting(self) -> tuple[str, ...]:
        """Return the columns that wait for review."""
        return tuple(c.name for c in self.table.columns if not c.reviewed and not c.hidden)


def declared_tables(text: str, *, base: Path, file: str) -> tuple[str, list[DeclaredTable]]:
    """Return the engine's address and every private table of the file, finished or not."""
    shape: FileShape = shape_of(parsed(text), file=file)
    found = []
    for name, dataset in shape.datasets.items():
        for table, settings in dataset.tables.items():
            if settings.public:
                continue
            known = settings.unit is not None
            filled = settings if known else settings.model_copy(update={"unit": "row"})
            place = f"table '{table}' of dataset '{name}'"
            budget = dataset.epsilon is not None or dataset.budget is not None
            declared = table_of(table, filled, place=place, base=base)
            found.append(DeclaredTable(name, declared, known, budget))
    return shape.engine.url, found
