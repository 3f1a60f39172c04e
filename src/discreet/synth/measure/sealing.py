"""The private reads of a synthesis, each judged by the kernel: only what is sealed here may run.

Nothing that this package says about rows of a unit, sizes or neighbours is believed: the kernel reads it
off the SQL (docs/notes/0039-sealed-codes.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from discreet.catalog.axes import home
from discreet.core.region import EVERYONE, Region
from discreet.core.schema import Dataset, Table
from discreet.engine.base import Engine
from discreet.kernel.codes import codes_of
from discreet.kernel.derive.scans import CatalogScans, ReadScope, dataset_of
from discreet.kernel.seal import Draft, MeasureDraft, parse, sealed
from discreet.kernel.sensitivity import Kind
from discreet.kernel.trees.nodes import Unfit
from discreet.plan.ir import Scan
from discreet.release.sealing import declared_scans
from discreet.synth.encoding.columns import Coded, shape_of
from discreet.synth.encoding.shape import Shape
from discreet.synth.measure.codes_sql import codes_sql, words_sql
from discreet.synth.measure.private_marginals import CountSensitivity


@dataclass(frozen=True, slots=True)
class SealedSource:
    """Whose rows a read is of, as the SQL itself says: a dataset, and the tables of it that are read."""

    dataset: Dataset
    tables: tuple[Table, ...]

    def region(self, snapshots: Mapping[str, str]) -> Region:
        """Return where these people sit in these versions of the tables.

        Rows without a value are left out, but nobody is billed less for it.
        """
        region = EVERYONE
        for table in self.tables:
            region &= home(self.dataset, table, snapshots.get(table.name, ""))
        return region

    def check(self, other: SealedSource) -> None:
        """Refuse a read of other people than these, which are the ones that were charged."""
        if other.dataset.name != self.dataset.name or other.region({}) != self.region({}):
            raise Unfit("a read of other people than were charged")


@dataclass(frozen=True, slots=True)
class SealedCodes:
    """A SELECT of codes that may run, the tables they index, and how far one unit can move counts."""

    sql: str
    shape: Shape
    unit: CountSensitivity
    source: SealedSource


@dataclass(frozen=True, slots=True)
class SealedWords:
    """A SELECT of texts with their units that may run; a unit moves at most `groups`, by one each."""

    sql: str
    groups: int
    source: SealedSource


def seal_codes(scan: Scan, engine: Engine, columns: Sequence[Coded]) -> SealedCodes:
    """Return the SELECT of a table's codes, judged. An unfit one is our own bug and never runs."""
    return judged_codes(codes_sql(scan, engine, columns), columns, scans_of(scan, engine), engine)


def judged_codes(
    sql: str, columns: Sequence[Coded], scans: CatalogScans, engine: Engine
) -> SealedCodes:
    """Return a SELECT of codes over these declared tables, judged by the kernel."""
    shape = shape_of(columns)
    tree = parse(sql, engine.capabilities.dialect, engine.tree(sql))
    found = codes_of(tree, shape.sizes, scans)
    unit = CountSensitivity(found.rows, dataset_of(found, scans.tables).neighbours)
    return SealedCodes(sql, shape, unit, source_of(found, scans))


def seal_words(scan: Scan, engine: Engine, name: str) -> SealedWords:
    """Return the SELECT of a column's texts and how many units have each, judged.

    Guarantee: a unit is counted once at most for each text that its rows hold, so it moves at most
        `groups` numbers by one each, whatever its rows say: in squared L2 as far as in L1.
    """
    sql = words_sql(scan, engine, name)
    scans = scans_of(scan, engine)
    tree = parse(sql, engine.capabilities.dialect, engine.tree(sql))
    kind = Kind.ROWS if scan.unit is None else Kind.UNITS
    read = sealed(Draft(sql, {"n": MeasureDraft(kind, (0,))}), tree, scans)
    once = read.facts.person or read.stability.max_rows == 1
    if read.facts.keys != 1 or len(read.facts.outputs) != 1 or not once:
        raise Unfit("texts that are not counted by units")
    if read.facts.person and kind is not Kind.UNITS:
        raise Unfit("a threshold on something other than units")
    return SealedWords(sql, read.stability.coordinates, source_of(read.facts, scans))


def scans_of(scan: Scan, engine: Engine) -> CatalogScans:
    """Return a table as the kernel asks for it."""
    assert scan.dataset is not None, "every table belongs to a dataset"
    return declared_scans([(scan.dataset, scan.table)], engine)


def source_of(found: ReadScope, scans: CatalogScans) -> SealedSource:
    """Return whose rows a judged read is of."""
    tables = tuple(scans.tables[name].table for name in sorted(found.private))
    return SealedSource(dataset_of(found, scans.tables), tables)
