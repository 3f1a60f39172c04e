"""A source as canonical rows read it: every cell in plain spelling, under a name of the kernel's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from discreet.core.schema import Column, Table
from discreet.engine.declared import filled_name
from discreet.engine.dialect.names import quoted
from discreet.kernel.canonical.cells import source_cell, unit_cell
from discreet.kernel.canonical.spelled import plain_cell, present_cell


def unit_column(table: Table) -> Column | None:
    """Return the column that says whose row it is, None for rows that are nobody's or their own."""
    if table.unit is None or table.unit.column is None:
        return None
    return table.column(table.unit.column)


class PlainSource:
    """The rows of a source as `s`, and SQL for their canonical cells.

    Where the owner declared a spelling, an inner SELECT rewrites those cells once; otherwise the
    source itself is read. `counted` also carries whether each cell held anything.
    """

    def __init__(
        self,
        table: Table,
        columns: Mapping[int, Column],
        types: Mapping[str, str],
        dialect: str,
        relation: str,
        *,
        counted: bool = False,
    ) -> None:
        self._columns = dict(columns)
        self._unit = unit_column(table)
        self._dialect = dialect
        self._types = types
        listed = {f"n{i}": column for i, column in columns.items()}
        if self._unit is not None:
            listed["nu"] = self._unit
        self._spelled = any(not column.spelling.plain for column in listed.values())
        self.rows = f"{relation} AS s"
        if self._spelled:
            cells = [f"{self._plain(c, 'w')[0]} AS {key}" for key, c in listed.items()]
            if counted:
                cells += [f"{self._present(c)} AS h{i}" for i, c in columns.items()]
            self.rows = f"(SELECT {', '.join(cells)} FROM {relation} AS w) AS s"

    def cell(self, place: int) -> str:
        """Return SQL for the canonical value of the column at this place of the table."""
        column = self._columns[place]
        plain, kind = self._plain(column, "s")
        return source_cell(column, f"s.n{place}" if self._spelled else plain, kind, self._dialect)

    def present(self, place: int) -> str:
        """Return SQL that is NULL where the cell held nothing, or what the owner called empty."""
        if self._spelled:
            return f"s.h{place}"
        filled = filled_name(self._columns[place].name)
        if (
            filled in self._types
        ):  # read as declared already: the cell itself would hide what was lost
            return f"s.{quoted(filled, self._dialect)}"
        return f"s.{quoted(self._columns[place].name, self._dialect)}"

    def unit(self, *, whole: bool) -> str | None:
        """Return SQL for whose row it is, None where that is nobody or the row itself."""
        if self._unit is None:
            return None
        plain, kind = self._plain(self._unit, "s")
        bare = "s.nu" if self._spelled else plain
        return unit_cell(self._unit, bare, kind, self._dialect, whole=whole)

    def _plain(self, column: Column, alias: str) -> tuple[str, str]:
        bare = f"{alias}.{quoted(column.name, self._dialect)}"
        if column.moment is not None:
            # Its second is read from the same plain text as its day.
            column = replace(column, domain=column.moment, moment=None)
        return plain_cell(column, bare, self._types.get(column.name.lower(), ""), self._dialect)

    def _present(self, column: Column) -> str:
        filled = filled_name(column.name)
        if filled in self._types:
            return f"w.{quoted(filled, self._dialect)}"
        bare = f"w.{quoted(column.name, self._dialect)}"
        return present_cell(column, bare, self._types.get(column.name.lower(), ""), self._dialect)
