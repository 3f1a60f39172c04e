"""The private reads of a release, judged by the kernel before anything is charged, and their noisy measurements.

Few SELECTs; exact cells are counted in the engine and get their noise before anyone sees them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.ask.plan import expr as e
from discreet.ask.plan.expr import Expr
from discreet.ask.plan.ir import Filter, Key, Relation, Scan, Statement, rows_to_keep
from discreet.ask.plan.measure import Measure, to_measures
from discreet.ask.plan.plan import PublicGroups, Question
from discreet.ask.plan.regions import reach_of
from discreet.ask.release.sealing import axes_of, declared_scans, homes_of
from discreet.ask.sql.write.statement import render
from discreet.base.arrays import Integers
from discreet.base.event import EVERYONE, Region
from discreet.base.schema import Dataset, Domain, Table
from discreet.data.engines.base import Engine, PaidReader, open_exact, require_paid
from discreet.errors import InternalError
from discreet.privacy.kernel.canonical import dataset_of, region_of
from discreet.privacy.kernel.look import canonical
from discreet.privacy.kernel.mechanism import Law, Stability
from discreet.privacy.kernel.nodes import Unfit
from discreet.privacy.kernel.seal import Draft, Read, parse, sealed
from discreet.privacy.noise.rng import Rng
from discreet.work.publish.bound_tables import clock_names
from discreet.work.publish.families import Dimension, Family, FamilyAtoms, Member

MOST_LISTED = 10_000
"""A condition on more values than this is left to the grid: it only narrows whom a release bills."""


@dataclass(frozen=True, slots=True, eq=False)
class CellRead:
    """One sealed SELECT: sums by the pieces of some dimensions, which members are added up from.

    Guarantee: each row of a unit is in one group of the SELECT, and a member's cell adds up whole
        groups by a public rule. So a unit that moves the groups by at most some L1 or L2 length moves
        the member's cells by no more than the kernel's bound, in which all rows of a unit may lie in
        one group.
    """

    read: Read
    measure: Measure
    name: str
    bases: tuple[str, ...]
    domains: tuple[Domain, ...]
    region: Region


def used_dimensions(member: Member) -> tuple[int, ...]:
    """Return the dimensions that a member does not simply add up over."""
    return tuple(
        place
        for place, classes in enumerate(member.maps)
        if member.shape[place] > 1 or (classes < 0).any()
    )


def plan_reads(
    families: Sequence[Family],
    scans: Mapping[str, Scan],
    engine: Engine,
    snapshots: Mapping[str, str],
) -> dict[tuple[int, int], CellRead]:
    """Return the read of every member, facts included, by family and place: as few as possible."""
    found: dict[tuple[int, int], CellRead] = {}
    for number, family in enumerate(families):
        scan = scans[family.members[0].table.table.name]
        everyone = (*family.members, *family.facts)
        needs = [frozenset(used_dimensions(member)) for member in everyone]
        largest = [n for n in dict.fromkeys(needs) if not any(n < other for other in needs)]
        made = {need: _read(family, sorted(need), scan, engine, snapshots) for need in largest}
        for place, need in enumerate(needs):
            chosen = next(big for big in largest if need <= big)
            found[number, place] = made[chosen]
    return found


def _read(
    family: Family,
    places: Sequence[int],
    scan: Scan,
    engine: Engine,
    snapshots: Mapping[str, str],
) -> CellRead:
    table = family.members[0].table
    columns = {
        f.origin.column.name: e.ColumnRef(f.name) for f in scan.fields if f.origin is not None
    }
    columns |= {written: e.ColumnRef(name) for name, written in clock_names(scan).items()}
    used = [family.dimensions[place] for place in places]
    keys = tuple(
        Key(
            f"key{i}",
            dimension.atoms.expression(columns[dimension.base]),
            dimension.atoms.read_domain,
            dimension.atoms.missing,
        )
        for i, dimension in enumerate(used)
    )
    parts = [
        part
        for place, d in enumerate(family.dimensions)
        for part in _conditions(d, columns[d.base], grouped=place in places)
    ]
    parts += [e.substitute(part, columns) for part in table.residual]
    source: Relation = Filter(scan, e.all_of(tuple(parts))) if parts else scan
    aggregate = family.members[0].measure.aggregate
    if aggregate.operand is not None:
        aggregate = replace(aggregate, operand=e.substitute(aggregate.operand, columns))
    question = _question(
        Statement(source, keys, (("agg0", aggregate),), ()), table.dataset, snapshots
    )
    read, region = _sealed(question, table.table, engine)
    ((name, measure),) = question.measured.measures
    return CellRead(
        read=read,
        measure=measure,
        name=name,
        bases=tuple(dimension.base for dimension in used),
        domains=tuple(key.domain for key in keys),
        region=region,
    )


def _conditions(dimension: Dimension, column: e.ColumnRef, *, grouped: bool) -> list[Expr]:
    """Return which rows a family is about: declared values, and only those that some member counts.

    Where a column is grouped by, groups without a piece are dropped from the result instead.
    """
    atoms = dimension.atoms
    without = bool(dimension.leaf[-1] >= 0)
    found: list[Expr] = [] if without or grouped else [e.Not(e.IsNull(column))]
    counted = np.flatnonzero(dimension.leaf[:-1] >= 0)
    if atoms.starts is not None or len(counted) == atoms.size - 1 or len(counted) > MOST_LISTED:
        return found
    inside: Expr = e.In(column, tuple(atoms.values[place] for place in counted))
    if without:
        inside = e.Or((e.IsNull(column), inside)) if len(counted) else e.IsNull(column)
    return [*found, inside]


def _question(statement: Statement, dataset: Dataset, snapshots: Mapping[str, str]) -> Question:
    """Return the question of a read; its groups are the family's own grid, which may be large."""
    source = statement.source
    reach = reach_of(source, snapshots)
    single = all(e.columns_of(key.value) <= reach.axes.keys() for key in statement.keys)
    rows, enforced = rows_to_keep(source, single=False, units_only=False)
    groups = 1 if single else None
    return Question(
        statement=statement,
        dataset=dataset,
        groups=PublicGroups(()),
        measured=to_measures(statement, private_groups=False),
        stability=Stability(rows, bool(statement.keys), dataset.neighbours, groups=groups),
        region=reach.region,
        snapshots=dict(snapshots),
        enforced=enforced,
    )


def _sealed(question: Question, table: Table, engine: Engine) -> tuple[Read, Region]:
    drafts: tuple[Draft, ...] = render(question, engine)
    if len(drafts) != 1:
        raise InternalError("a read of sums is one SELECT")
    scans = declared_scans([(question.dataset, table)], engine)
    (draft,) = drafts
    tree = parse(draft.sql, engine.capabilities.dialect, engine.tree(draft.sql))
    read = sealed(draft, tree, scans)
    if dataset_of(read.facts, scans.tables).name != question.dataset.name:
        raise Unfit("a read of other people than are charged")
    axis, home = axes_of(question.snapshots), homes_of(question.snapshots)
    return read, region_of(read.facts, scans.tables, axis, home)


def bounding_region(regions: Sequence[Region]) -> Region:
    """Return the smallest box around several regions: what one charge for all of them bills."""
    first, *others = dict.fromkeys(regions)
    axes = dict(first.axes)
    for other in others:
        for name in list(axes):
            positions = other.on(name)
            if positions is None:
                del axes[name]
            else:
                axes[name] = axes[name] | positions
    return Region.of(axes) if axes else EVERYONE


_SAFE = 2**62


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ExactCells:
    """The exact groups of one read: their pieces along each dimension and their sums. Never shown."""

    pieces: tuple[Integers, ...]
    sums: Integers

    def __repr__(self) -> str:
        return "ExactCells(hidden)"


def count_cells(
    read: CellRead, family: Family, reader: PaidReader, *, seconds: float | None = None
) -> ExactCells:
    """Return the exact groups of a sealed read, whatever rows the engine found; after paying."""
    table = open_exact(require_paid(reader).run(read.read.draft.sql, seconds=seconds))
    atoms = {dimension.base: dimension.atoms for dimension in family.dimensions}
    pieces = tuple(
        _pieces(table.column(place), read.domains[place], atoms[base])
        for place, base in enumerate(read.bases)
    )
    ((name, bound),) = read.read.bounds.items()
    (output,) = read.read.draft.measures[name].places
    sums = _whole(table.column(len(pieces) + output), bound.grain)
    known = np.ones(len(sums), dtype=bool)
    for codes in pieces:
        known &= codes >= 0
    if known.all():
        return ExactCells(pieces, sums)
    return ExactCells(tuple(codes[known] for codes in pieces), sums[known])


def _pieces(column: pa.ChunkedArray, domain: Domain, atoms: FamilyAtoms) -> Integers:
    """Return the piece that each key of a result stands for, -1 for none; total, whatever it says."""
    whole = column.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = pa.concat_arrays(whole.chunks) if whole.num_chunks else pa.array([], whole.type)
    if pa.types.is_dictionary(whole.type):
        coded = whole
        nulls = np.array(coded.indices.is_null(), dtype=bool) if coded.null_count else None
        indices = coded.indices.fill_null(0)
    else:
        coded = whole.dictionary_encode(null_encoding="encode")
        nulls, indices = None, coded.indices
    places = {} if atoms.starts is not None else {v: i for i, v in enumerate(atoms.values[:-1])}
    last = atoms.size - 1
    table = np.array(
        [_place(value, domain, places, last) for value in coded.dictionary.to_pylist()] or [-1],
        dtype=np.int64,
    )
    found: Integers = table[np.asarray(indices)]
    if nulls is not None:
        found[nulls] = last
    return found


def _place(value: Any, domain: Domain, places: dict[Any, int], last: int) -> int:
    if value is None:
        return last
    found = canonical(value, domain)
    if found is None:
        return -1
    return places.get(found, -1) if places else int(found)


def _whole(column: pa.ChunkedArray, grain: int) -> Integers:
    """Return sums as whole numbers of grains; NULL, the sum of nothing, is 0."""
    if grain == 1:
        with suppress(pa.ArrowInvalid):  # wider than 64 bits: one by one, held inside them
            return np.asarray(column.cast(pa.int64()).fill_null(0), dtype=np.int64)
    values = [min(max(int(v or 0) // grain, -_SAFE), _SAFE) for v in column.to_pylist()]
    return np.array(values, dtype=np.int64)


def member_cells(exact: ExactCells, read: CellRead, family: Family, member: Member) -> Integers:
    """Return the exact cells of a member: groups added up by its public classes. Never shown."""
    flat = np.zeros(len(exact.sums), dtype=np.int64)
    inside = np.ones(len(exact.sums), dtype=bool)
    for place, dimension in enumerate(family.dimensions):
        if dimension.base in read.bases:
            # From piece to leaf class to the member's class; -1 stays -1.
            classes = np.append(member.maps[place], -1)[dimension.leaf]
            found = classes[exact.pieces[read.bases.index(dimension.base)]]
            inside &= found >= 0
        else:
            found = np.zeros(1, dtype=np.int64)
        flat = flat * member.shape[place] + found
    if not inside.all():
        flat, sums = flat[inside], exact.sums[inside]
    else:
        sums = exact.sums
    cells = np.zeros(member.cells, dtype=np.int64)
    np.add.at(cells, flat, sums)
    return cells.reshape(member.shape)


def noisy_cells(cells: Integers, law: Law, rng: Rng) -> Integers:
    """Return cells with fresh noise of a law on each: may be shown.

    Guarantee: every cell of the member gets its own draw, also the empty ones.
    """
    drawn = law.draw(cells.shape, rng)
    drawn += cells
    return drawn
