"""How many rows a bound leaves out: a small paid look at how many rows people have, and what it tells.

The look is an ordinary question about one table. It asks for the number of people with 1 row, 2 rows, 3 rows and so
on (`ENDS`). Each person stands in one group, so the noise is that of one row however many she has, and what
`max_rows` leaves out can be told from it for every bound.

Let p_j be the people with more than e_(j-1) and at most e_j rows, and X_j the noise of the count that was paid for.
A person of bin j loses between (e_(j-1) + 1 - b)+ and (e_j - b)+ rows to a bound of b. So the loss lies between
two sums of p_j with known weights, and the noise of such a sum is a weighted sum of independent X_j.

Guarantee: each interval holds with at least 95%. For a weighted sum S of independent noises of variance v,
    P(S >= t) <= min over k of exp(-k t) * prod 1 / (1 - v (cosh(k w_j) - 1)),
    Chernoff's bound with the moment function of discrete Laplace noise; that of Gaussian noise of the same variance is
    smaller, so the kind of noise need not be known. Where the histogram is cut (people beyond are too few to be told
    from noise) was read from the noise, so the bound is taken for all cuts at once.

Guarantee: none of its own for the look. The question goes the way of every question (planned, sealed, charged, looked
    at once), over a catalog in which nothing differs but the table's `max_rows`: that bound is public, and the kernel
    derives from the SQL alone that a person moves one group by one. What is told from the answer is computed from
    noisy numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from discreet.ask.plan.ir import Statement, scans_of, signature
from discreet.ask.release.snapshots import label
from discreet.ask.release.stored_answers import unpack
from discreet.ask.sql.bind import bind
from discreet.base.answer import Answer
from discreet.base.arrays import Floats
from discreet.base.bill import OWNER
from discreet.base.schema import Dataset, Table
from discreet.data.catalog.catalog import Catalog
from discreet.data.engines.dialects import quoted
from discreet.errors import InvalidInput
from discreet.privacy.ledger.ledger import Ledger

ALPHA = 0.05
_STEPS = 400
_WINDOW = 4


@dataclass(frozen=True, slots=True)
class RowsLost:
    """Rows that a bound leaves out of the whole table, at 95%: those of people with at most `up_to` rows.

    At most `beyond` people have more; what they lose is in none of these.
    """

    bound: int
    low: int
    likely: int
    high: int
    up_to: int
    beyond: int

    def words(self) -> str:
        """Return the loss in words."""
        if self.beyond and not self.high:
            found = "that leaves out no rows that could be told from noise (paid for)"
        else:
            found = (
                f"that leaves out about {self.likely:,} rows of the whole table "
                f"({self.low:,} to {self.high:,} at 95%, paid for), which are not in the noise"
            )
        if self.beyond:
            rows = "1 row" if self.up_to == 1 else f"{self.up_to:,} rows"
            found += (
                f"; up to {self.beyond:,} people may have more than {rows}, and what "
                "they lose is not in that figure"
            )
        return found

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "max_rows": self.bound,
            "lost": self.likely,
            "lost_low": self.low,
            "lost_high": self.high,
            "up_to": self.up_to,
            "people_beyond": self.beyond,
        }


@dataclass(frozen=True, slots=True)
class RowsHistogram:
    """Noisy numbers of people by how many rows they have: bin j ends at `ends[j]`, the last has no end."""

    ends: tuple[int, ...]
    people: tuple[float, ...]
    variance: float

    def lost(self, bound: int) -> RowsLost:
        """Return the rows that a bound leaves out, with its interval."""
        people = np.asarray(self.people)
        share = ALPHA / 3 / len(self.ends)  # two ends and the people beyond, for every cut at once
        cut, beyond = self._cut(people, bound, share)
        ends = np.asarray(self.ends[: cut + 1], dtype=float)
        starts = np.concatenate([[1.0], ends[:-1] + 1])
        least, most = np.maximum(starts - bound, 0), np.maximum(ends - bound, 0)
        counted = people[: cut + 1]
        low = float(counted @ least) - spread(least, self.variance, share)
        high = float(counted @ most) + spread(most, self.variance, share)
        likely = float(counted @ (least + most)) / 2
        low, high = max(low, 0.0), max(high, 0.0)
        return RowsLost(
            bound=bound,
            low=int(np.floor(low)),
            likely=round(min(max(likely, low), high)),
            high=int(np.ceil(high)),
            up_to=int(ends[-1]),
            beyond=beyond,
        )

    def _cut(self, people: Floats, bound: int, share: float) -> tuple[int, int]:
        """Return the last bin that is counted, and how many people may stand beyond it.

        It is the last that shows people above the noise, or the end of the last few beyond it that do so
        together; but not below the bound.
        """
        cut = next((j for j, end in enumerate(self.ends) if end >= bound), len(self.ends) - 1)
        for wide in range(_WINDOW):
            sure = spread(np.ones(wide + 1), self.variance, share)
            shows = (
                j
                for j in range(len(self.ends) - 1, cut + wide, -1)
                if people[j - wide : j + 1].sum() > sure
            )
            cut = next(shows, cut)
        noise = spread(np.ones(len(people) - cut - 1), self.variance, share)
        return cut, max(int(np.floor(people[cut + 1 :].sum() + noise)), 0)


def spread(weights: Sequence[float] | Floats, variance: float, risk: float) -> float:  # fmt: skip
    """Return what a weighted sum of independent noises of this variance exceeds with at most `risk`."""
    sizes = np.asarray(weights, dtype=float)
    most = float(sizes.max(initial=0.0))
    if most <= 0 or variance <= 0:
        return 0.0
    edge = float(np.arccosh(1 + 1 / variance)) / most  # where the moments end
    steps = edge * np.linspace(0, 1, _STEPS + 2)[1:-1]
    moments = -np.log1p(-variance * (np.cosh(np.outer(steps, sizes)) - 1)).sum(axis=1)
    return float(((moments - np.log(risk)) / steps).min())


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
