"""The private reads of a release: few SELECTs, judged by the kernel before anything is charged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.core.region import EVERYONE, Region
from discreet.core.schema import Dataset, Domain, Table
from discreet.engine.base import Engine
from discreet.errors import InternalError
from discreet.kernel.derive.scans import dataset_of, region_of
from discreet.kernel.seal import Draft, Read, parse, sealed
from discreet.kernel.sensitivity import Stability
from discreet.kernel.trees.nodes import Unfit
from discreet.plan import expr as e
from discreet.plan.expr import Expr
from discreet.plan.ir import (
    Filter,
    Key,
    Relation,
    Scan,
    Statement,
)
from discreet.plan.keys import PublicGroups
from discreet.plan.measure import Measure, to_measures
from discreet.plan.plan import Question
from discreet.plan.regions import reach_of
from discreet.plan.stability import rows_to_keep
from discreet.publish.families.bound import clock_names
from discreet.publish.families.find import Dimension, Family, Member
from discreet.release.sealing import axes_of, declared_scans, homes_of
from discreet.sql.write.statement import render

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
