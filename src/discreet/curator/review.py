"""What an owner should see before declaring columns: what is lost, what is rare, what repeats.

Read from the rows, for the owner's eyes only; front ends show it to nobody else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.base.schema import Column, Table
from discreet.data.catalog.proposal import repeat_words
from discreet.data.engines.base import Engine
from discreet.privacy.kernel.losses import ColumnLoss, TableLosses, table_losses

_BOUNDS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)


@dataclass(frozen=True, slots=True)
class SeenColumn:
    """One column as declared, beside what its declaration does to the rows."""

    column: Column
    loss: ColumnLoss | None

    @property
    def doubts(self) -> tuple[str, ...]:
        """Return why this declaration needs a look; nothing where it may be accepted as it stands."""
        found = []
        if self.loss is not None and self.loss.lost:
            found.append(self.loss.words())
        if self.loss is not None and self.loss.rare:
            found.append(rare_words(self.loss.rare))
        found += [] if self.loss is None else self.loss.odd
        return tuple(found)

    def to_json(self) -> dict[str, Any]:
        """Return plain values, for the owner."""
        kind = type(self.column.domain).__name__.removesuffix("Domain").lower()
        loss = self.loss
        return {
            "name": self.column.name,
            "type": kind,
            "domain": self.column.domain.words(),
            "waits": not self.column.reviewed,
            "hidden": self.column.hidden,
            "filled": None if loss is None else loss.filled,
            "lost": 0 if loss is None else loss.lost,
            "examples": [] if loss is None else [list(example) for example in loss.examples],
            "rare": 0 if loss is None else loss.rare,
            "safe": not self.doubts,
            "doubts": list(self.doubts),
        }


@dataclass(frozen=True, slots=True)
class SeenTable:
    """A table as declared, with what the owner should know of each column and of the unit."""

    table: Table
    losses: TableLosses
    columns: tuple[SeenColumn, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return what is doubtful about whom the table protects."""
        rows = self.losses.rows
        found = [repeat_words(column, distinct, rows) for column, distinct in self.losses.repeats]
        if self.losses.without_unit:
            found.append(
                f"{self.losses.without_unit:,} of {rows:,} rows say not whose they are, and are "
                "left out of every answer."
            )
        bound = self.table.max_rows
        if self.losses.people and bound is not None and self.losses.kept(bound) < 1:
            found.append(
                f"max_rows = {bound:,} leaves out {left_out(self.losses.kept(bound))} of the rows, "
                "without a mark in any answer but the sentence below it."
            )
        return tuple(found)

    @property
    def trade(self) -> tuple[tuple[int, float], ...]:
        """Return numbers of rows of a person that may count, and the share of rows that each keeps.

        Noise of sums and counts grows in proportion to the number.
        """
        if not self.losses.people:
            return ()
        most = max(n for n, _ in self.losses.people)
        return (*((n, self.losses.kept(n)) for n in _BOUNDS if n < most), (most, 1.0))

    def to_json(self) -> dict[str, Any]:
        """Return plain values, for the owner."""
        return {
            "rows": self.losses.rows,
            "max_rows": [{"rows": n, "kept": kept} for n, kept in self.trade],
            "warnings": list(self.warnings),
            "columns": [column.to_json() for column in self.columns],
        }


def see_table(engine: Engine, name: str, table: Table) -> SeenTable:
    """Return what the declarations of `table` do to the engine's table `name`."""
    losses = table_losses(engine, name, table)
    by_name = {loss.column: loss for loss in losses.columns}
    unit = None if table.unit is None else table.unit.column
    columns = [
        SeenColumn(column, by_name.get(column.name))
        for column in table.columns
        if column.name != unit
    ]
    return SeenTable(table, losses, tuple(columns))


def left_out(kept: float) -> str:
    """Return the share that is not kept, in words."""
    share = 100 * (1 - kept)
    return f"{share:.2g}%" if share >= 0.01 else "less than 0.01%"


def rare_words(rare: int) -> str:
    """Return the sentence about values that few people have."""
    one = "1 value is" if rare == 1 else f"{rare:,} values are"
    return f"{one} that of fewer than 5: a list with it may tell that somebody is in the data"
