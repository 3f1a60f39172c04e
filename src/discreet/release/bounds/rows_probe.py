"""A small paid look at how many rows people have: an ordinary question about one table, and what it tells.

It asks for the number of people with 1 row, 2 rows, 3 rows and so on (`ENDS`). Each person stands in one group, so the
noise is that of one row however many she has, and what `max_rows` leaves out can be told from it for every bound.

Guarantee: none of its own. The question goes the way of every question (planned, sealed, charged, looked at once), over a
    catalog in which nothing differs but the table's `max_rows`: that bound is public, and the kernel derives from the
    SQL alone that a person moves one group by one. What is told from the answer is computed from noisy numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from discreet.catalog.catalog import Catalog
from discreet.core.answers.answer import Answer
from discreet.core.owner import OWNER
from discreet.core.schema import Dataset, Table
from discreet.engine.dialect.names import quoted
from discreet.errors import InvalidInput
from discreet.ledger.ledger import Ledger
from discreet.plan.ir import Statement, scans_of, signature
from discreet.release.bars.row_losses import RowsHistogram
from discreet.release.kept.stored import unpack
from discreet.release.snapshots import label
from discreet.sql.bind import bind

ENDS = (
    1, 2, 3, 4, 5, 7, 10, 14, 20, 30, 40, 50, 70, 100, 140, 200, 300, 400, 500, 700, 1_000, 2_000, 5_000, 10_000,
)  # fmt: skip
_MOST = ENDS[-1] + 1
_COLUMNS = ("rows_up_to", "people")


def probe_sql(dataset: Dataset, table: Table) -> str:
    """Return the question: how many people have how many rows."""
    if table.unit is None or table.unit.is_row:
        raise InvalidInput(
            f"Every row of '{table.name}' is another unit's, so no bound leaves rows out."
        )
    # Words, not numbers: so the groups are a list that the plan knows.
    cases = " ".join(f"WHEN r.n <= {end} THEN '{end}'" for end in ENDS)
    upto = f"CASE {cases} ELSE '{_MOST}' END"
    person = quoted(str(table.unit.column))
    place = f"{quoted(dataset.name)}.{quoted(table.name)}"
    each = f"SELECT {person}, COUNT(*) AS n FROM {place} GROUP BY {person}"
    return (
        f"SELECT {upto} AS {_COLUMNS[0]}, COUNT(*) AS {_COLUMNS[1]} FROM ({each}) AS r GROUP BY 1"
    )


def probe_catalog(catalog: Catalog, dataset: Dataset, table: Table, max_rows: int = _MOST) -> Catalog:  # fmt: skip
    """Return the catalog with another bound for one table."""
    tables = tuple(
        replace(each, max_rows=max_rows, bounded=False, rows_kept=None, stands_for=each)
        if each.name == table.name
        else each
        for each in dataset.tables
    )
    datasets = {**catalog.datasets, dataset.name: replace(dataset, tables=tables)}
    return replace(catalog, datasets=datasets)


def histogram(answer: Answer) -> RowsHistogram | None:
    """Return what an answer to the question tells; None where it is no such answer."""
    if tuple(answer.columns) != _COLUMNS or answer.covariance is None:
        return None
    people = {int(row[0]): float(row[1]) for row in answer.rows}
    variance = max((float(cell[0][0]) for cell in answer.covariance), default=0.0)
    return RowsHistogram(ENDS, tuple(people.get(end, 0.0) for end in (*ENDS, _MOST)), variance)


def paid_histograms(
    statement: Statement,
    snapshots: Mapping[str, str],
    analyst: str | None,
    *,
    catalog: Catalog,
    ledger: Ledger,
) -> dict[str, RowsHistogram]:
    """Return what was paid for about the tables under a statement, by the asker or by the owner.

    The owner's is shown to everybody who may ask about the table: she bought it for that.
    """
    found: dict[str, RowsHistogram] = {}
    for scan in scans_of(statement.source):
        dataset, table = scan.dataset, scan.table
        if dataset is None or table.unit is None or table.unit.is_row:
            continue
        key = _key(_Declared(catalog, catalog.dataset(dataset.name)), table.name)
        version = label({table.name: snapshots[table.name]})
        for payer in dict.fromkeys((analyst, None, OWNER)):
            paid = ledger.find_answer(payer, dataset.name, key, version)
            told = None if paid is None else histogram(unpack(paid[1]).answer)
            if told is not None:
                found.setdefault(table.name, told)
    return found


class _Declared:
    """A dataset as it is declared in one catalog; equal only to itself."""

    __slots__ = ("catalog", "dataset")

    def __init__(self, catalog: Catalog, dataset: Dataset) -> None:
        self.catalog = catalog
        self.dataset = dataset

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Declared) and self.dataset is other.dataset

    def __hash__(self) -> int:
        return id(self.dataset)


@lru_cache(maxsize=64)
def _key(known: _Declared, name: str) -> str:
    # Every question about people asks for it: binding the probe anew would double its planning.
    table = next(each for each in known.dataset.tables if each.name == name)
    catalog = probe_catalog(known.catalog, known.dataset, table)
    return signature(bind(probe_sql(known.dataset, table), catalog))
