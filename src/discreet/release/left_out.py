"""What an answer leaves out besides noise: rows of people who have more than may count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from discreet.core.schema import Table
from discreet.plan.ir import Statement, scans_of
from discreet.release.bars.row_losses import RowsHistogram

NOTHING_PAID: Mapping[str, RowsHistogram] = MappingProxyType({})


def bounding_notes(
    statement: Statement, paid: Mapping[str, RowsHistogram] = NOTHING_PAID
) -> tuple[str, ...]:
    """Return a sentence for each table of people whose rows are bounded; nothing private.

    An interval is about the noise. What the bound leaves out is not in it, so it stands beside it:
    as the owner declares it, or as a paid look at the rows of people tells (`paid`, by table).
    """
    tables = {scan.table.name: scan.table for scan in scans_of(statement.source) if not scan.public}
    return tuple(_notes(tables, statement.max_rows, paid))


def _notes(
    tables: dict[str, Table], asked: int | None, paid: Mapping[str, RowsHistogram]
) -> Iterator[str]:
    for name, table in sorted(tables.items()):
        if table.unit is None or table.unit.is_row:
            continue
        bound = table.max_rows if asked is None or table.bounded else asked
        if bound is None:
            continue
        if asked not in (None, bound):
            yield f"max_rows = {asked:,} was not used: '{name}' is bounded as a whole by its owner."
        rows = "1 row counts" if bound == 1 else f"{bound:,} rows count"
        known = paid[name].lost(bound).words() if name in paid else _known(table, bound)
        yield f"Of one person in '{name}' at most {rows}; {known}."


def _known(table: Table, bound: int) -> str:
    """Return what is publicly known about the rows that are left out."""
    if table.rows_kept is None or table.max_rows is None or bound < table.max_rows:
        return "how many rows that leaves out is not known, and not in the noise"
    return (
        f"its owner declares that this keeps at least {float(100 * table.rows_kept):g}% of the rows"
    )
