"""What a release package holds: the frozen values between measuring a release and writing it down.

Everything here may be shown to anyone: noisy values, what was computed from them, and public facts.
Amounts are exact fractions; rows are Arrow tables, or anything that hands out batches of one schema.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Protocol

import pyarrow as pa

from discreet.base.event import PrivacyEvent
from discreet.privacy.noise.laws import NoiseLaw, law_of


class PublishedRows(Protocol):
    """Rows that are read once, from first to last; a pyarrow.Table is one."""

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        ...

    @property
    def num_rows(self) -> int:
        """How many rows there are."""
        ...

    def to_batches(self) -> Iterable[pa.RecordBatch]:
        """Return the rows in their order, in pieces."""
        ...


@dataclass(frozen=True, slots=True)
class PublishedKey:
    """A column that a published table is grouped by; `values` are all of its values, in order."""

    name: str
    meaning: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MeasureColumn:
    """A published count or sum; its interval stands in NAME_low and NAME_high.

    `step` is what one unit of the published number stands for: 1 for counts. `non_negative` says
    that no true value can be below zero, so that no published one is either.
    """

    name: str
    meaning: str
    step: Fraction = Fraction(1)
    non_negative: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class PublishedTable:
    """A reconciled table: keys as text, then for each measure m the integers m, m_low and m_high.

    The columns of `rows` are exactly the keys' names, then m, m_low, m_high for each measure. Every
    public key appears once, in the order of the keys' `values`: the first key changes slowest.
    """

    name: str
    sql: str
    keys: tuple[PublishedKey, ...]
    measures: tuple[MeasureColumn, ...]
    rows: PublishedRows


@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """The unbiased noisy cells of one measure of one table, before anything was reconciled.

    The columns of `rows` are the table's keys, then `value` (an integer) and `scale` (a number, as
    the law of the noise shows it), the same in all rows that one event made. `name`
    is the table's, or TABLE.MEASURE where a table has several measures.
    """

    name: str
    table: str
    measure: str
    rows: PublishedRows


@dataclass(frozen=True, slots=True)
class PriceEvent:
    """One noisy vector, as the accountants price it.

    `scale` is the size of the law, `sensitivity` the move of one unit: squared in L2 where the law is
    `concentrated`, else in L1. `measurement` names the Measurement. `coordinates` is the greatest number of cells that one unit can move, None if unknown.
    """

    measurement: str
    law: str
    scale: Fraction
    sensitivity: Fraction
    cells: int
    coordinates: int | None = None

    @property
    def noise(self) -> NoiseLaw:
        """Return the law itself."""
        return law_of(self.law, self.scale)

    @property
    def event(self) -> PrivacyEvent:
        """Return what the accountants are told."""
        moved = self.sensitivity
        return self.noise.event(
            l1=lambda: moved, l2_squared=lambda: moved, coordinates=self.coordinates
        )


@dataclass(frozen=True, slots=True)
class PublicMapping:
    """A public table that says which coarse value each fine value belongs to: region -> county."""

    name: str
    fine: str
    coarse: str
    pairs: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SumLink:
    """Where one column of a sum comes from: a key of the table, itself or through a mapping."""

    name: str
    key: str
    mapping: str | None = None


@dataclass(frozen=True, slots=True)
class KeyFilter:
    """Cells whose key (itself or through a mapping) has one of `values`."""

    key: str
    values: tuple[str, ...]
    mapping: str | None = None


@dataclass(frozen=True, slots=True)
class Side:
    """One measure of one table, its cells filtered by all of `only` and added up to `by`."""

    table: str
    measure: str
    by: tuple[SumLink, ...]
    only: tuple[KeyFilter, ...] = ()


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two sides whose sums are equal for every value of their common columns (`by`, same names).

    A coarse table that is the sum of a fine one has all of its own keys in `left.by`; two crossed
    tables agree on what they have in common; no columns at all are the grand totals.
    """

    left: Side
    right: Side


@dataclass(frozen=True, slots=True, eq=False)
class Fact:
    """Exact numbers that the release keeps: the columns of `rows` are side.by's names and `value`.

    `source` "file": published elsewhere, changes no guarantee. "data": computed from the rows and
    released exactly, without a guarantee for itself.
    """

    name: str
    side: Side
    rows: PublishedRows
    source: Literal["file", "data"]
    reason: str
    approver: str | None = None


@dataclass(frozen=True, slots=True)
class ZeroRule:
    """Cells that are zero by a declared rule: those that match all of one group of `cells`."""

    text: str
    table: str
    measure: str
    cells: tuple[tuple[KeyFilter, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Contents:
    """All that a package says. `epsilon` and `delta` are the price; `rho` the same in zCDP.

    `rho` is None for a batch that zCDP cannot express. `neighbours` is "add-remove" or
    "replace-one" as priced; `unit` says who is protected. `created` is the charge's time, so that
    the same release is the same bytes. `ledger` are the lines of the history about this release, as
    stored, the position of the one that paid, and the head they lead to (`excerpt_of`). `well` and `badly` are sentences about what the release
    supports; `warnings` whatever a reader must know first.
    """

    name: str
    dataset: str
    unit: str
    neighbours: str
    epsilon: Fraction
    delta: Fraction
    rho: Fraction | None
    events: tuple[PriceEvent, ...]
    tables: tuple[PublishedTable, ...]
    measurements: tuple[Measurement, ...]
    ledger: Mapping[str, Any]
    created: str
    snapshot: str
    spec: str
    mappings: tuple[PublicMapping, ...] = ()
    agreements: tuple[Agreement, ...] = ()
    facts: tuple[Fact, ...] = ()
    rules: tuple[ZeroRule, ...] = ()
    well: tuple[str, ...] = ()
    badly: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    private: bool = True
