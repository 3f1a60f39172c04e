"""A planned release: families, reads, noise and price, from the spec and public facts alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.catalog.read.check import check_table
from discreet.core.arrays import Bits, Integers
from discreet.core.numbers import Delta
from discreet.core.schema import Dataset
from discreet.engine.base import Engine, Held
from discreet.errors import InvalidInput
from discreet.kernel.mechanism import Law
from discreet.ledger.entry import Payer
from discreet.plan.ir import Scan
from discreet.publish.assemble.agreements import Mappings, side_among
from discreet.publish.bind_spec import BoundSpec, Drafted, bind_spec, draft
from discreet.publish.facts import PlacedFact, check_facts, check_room, place_facts, zero_cells
from discreet.publish.families.bound import ReadPublicRows
from discreet.publish.families.find import Family, find_families
from discreet.publish.price.quote import Priced, price_release
from discreet.publish.price.shares import MeasureShare
from discreet.publish.reads import CellRead, plan_reads
from discreet.publish.reconcile.crossed_groupings import Widening
from discreet.publish.reconcile.problem import GridProblem, Sums, problem_of
from discreet.publish.reconcile.solve import Reconciled, reconcile, widening
from discreet.publish.specification.fact_files import check_published
from discreet.publish.specification.spec import Spec
from discreet.release.desk import Desk
from discreet.release.public_rows import read_public
from discreet.release.snapshots import hold_tables, label, snapshots_of


@dataclass(frozen=True, slots=True, eq=False)
class PlannedRelease:
    """Everything about a release that is decided before a private row is read.

    `wanted` lists the measured tables in the order of `priced`; `steps` are what one unit of each
    family's numbers stands for; `signed` which families can be negative.
    """

    spec: Spec
    dataset: Dataset
    bound: BoundSpec
    families: tuple[Family, ...]
    reads: Mapping[tuple[int, int], CellRead]
    wanted: tuple[MeasureShare, ...]
    priced: Priced
    facts: tuple[PlacedFact, ...]
    zeros: tuple[Bits | None, ...]
    steps: tuple[Fraction, ...]
    non_negative: tuple[bool, ...]
    payer: Payer
    snapshot: str

    @property
    def facts_from_data(self) -> tuple[PlacedFact, ...]:
        """Return the facts that are read from private rows and released as they are."""
        return tuple(fact for fact in self.facts if fact.spec.file is None)

    def laws_of(self, number: int) -> list[Law]:
        """Return the noise of the tables of one family, in the order of its members."""
        pairs = zip(self.wanted, self.priced.laws, strict=True)
        return [law for each, law in pairs if each.family == number]

    @property
    def body(self) -> str:
        """Return what a release's name stands for: asked again, all of it must be the same."""
        return f"publish {self.spec.digest} {self.snapshot}"


@contextmanager
def planned(spec: Spec, desk: Desk) -> Iterator[tuple[PlannedRelease, Held]]:
    """Lend the plan and the price of a release, and the state of the tables that it is about."""
    check_published(spec.files, base=spec.base, catalog=desk.catalog)
    drafted = draft(spec, desk.catalog)
    tables = []
    for scan in drafted.scans:
        assert scan.dataset is not None, "every table belongs to a dataset"
        check_table(scan.dataset, scan.table, desk.engine)
        tables.append((scan.dataset, scan.table))
    with hold_tables(tables, desk) as held:
        yield plan(drafted, desk, held=held), held


def plan(drafted: Drafted, desk: Desk, *, held: Held) -> PlannedRelease:
    """Return the plan of a release: depends on the spec, declarations and public tables only."""
    dataset = drafted.dataset
    spec = with_room(drafted.spec, desk.catalog.budget_of(dataset).delta)
    bound = bind_spec(drafted, _public_rows(desk.engine, held))
    families = find_families(bound.tables, [table for _, table in bound.facts])
    private: dict[str, Scan] = {s.table.name: s for s in drafted.scans if not s.public}
    snapshots: dict[str, str] = {}
    for scan in private.values():
        snapshots |= snapshots_of(scan, held)
    reads = plan_reads(families, private, desk.engine, snapshots)
    wanted = _wanted(spec, families, reads)
    measures = [reads[number, 0].measure for number in range(len(families))]
    steps = tuple(measure.step * measure.grain for measure in measures)
    non_negative = tuple(measure.low >= 0 for measure in measures)
    facts = place_facts(families, bound.facts, steps, non_negative, spec)
    zeros = tuple(zero_cells(family, bound.rules) for family in families)
    found = PlannedRelease(
        spec=spec,
        dataset=dataset,
        bound=bound,
        families=families,
        reads=reads,
        wanted=wanted,
        priced=price_release(spec, wanted),
        facts=facts,
        zeros=zeros,
        steps=steps,
        non_negative=non_negative,
        payer=Payer(None, dataset.name, dataset.budget),
        snapshot=f"publish {label(snapshots)}",
    )
    _check(found)
    return found


def reconciled_family(
    plan: PlannedRelease, number: int, noisy: Sequence[Integers], facts: Sequence[Integers]
) -> Iterator[Reconciled]:
    """Return the tables of one family as they are published, from measurements alone."""
    problem = _problem(plan, number, noisy, facts)
    return reconcile(problem, width=max(law.width95 for law in plan.laws_of(number)))


def widening_of(plan: PlannedRelease, number: int) -> Widening | None:
    """Return by how much the intervals of one family are wider than those of least squares, if they may be."""
    return widening(empty_problem(plan, number))


def empty_problem(plan: PlannedRelease, number: int) -> GridProblem:
    """Return what is reconciled of one family, with zeros for all numbers that are not known before the charge."""
    family = plan.families[number]
    noisy = [np.zeros(member.shape, dtype=np.int64) for member in family.members]
    facts = [np.zeros(fact.shape, dtype=np.int64) for fact in family.facts]
    return _problem(plan, number, noisy, facts)


def _problem(
    plan: PlannedRelease, number: int, noisy: Sequence[Integers], facts: Sequence[Integers]
) -> GridProblem:
    return problem_of(
        plan.families[number],
        noisy,
        [law.variance for law in plan.laws_of(number)],
        facts=facts,
        zero=plan.zeros[number],
        non_negative=plan.non_negative[number],
    )


def _public_rows(engine: Engine, held: Held) -> ReadPublicRows:
    """Return the reader of public tables; a table is read once."""
    known: dict[str, Mapping[str, Sequence[Any]]] = {}

    def rows(scan: Scan) -> Mapping[str, Sequence[Any]]:
        if scan.table.name not in known:
            known[scan.table.name] = read_public(scan, engine, held)
        return known[scan.table.name]

    return rows


def with_room(spec: Spec, whole: Delta) -> Spec:
    """Return the release with a delta that fits the ledger, which gives half of it to each book.

    A smaller delta is a stronger promise: what was written holds all the same.
    """
    if not spec.delta.value:
        return spec
    if not whole.value:
        raise InvalidInput(
            f"[release] asks for delta {spec.delta}, and dataset '{spec.dataset}' has none.",
            hint="Leave delta out, or give the dataset a delta in discreet.toml.",
        )
    return replace(spec, delta=min(spec.delta, Delta(whole.value / 2), key=lambda d: d.value))


def _wanted(
    spec: Spec, families: tuple[Family, ...], reads: Mapping[tuple[int, int], CellRead]
) -> tuple[MeasureShare, ...]:
    """Return every measured table with how far one unit moves it, as the kernel derived it."""
    written = {table.name: table for table in spec.tables}
    found = []
    for number, family in enumerate(families):
        for place, member in enumerate(family.members):
            read = reads[number, place].read
            (bound,) = read.bounds.values()
            stability, own = read.stability, written[member.table.name]
            found.append(
                MeasureShare(
                    family=number,
                    place=place,
                    member=member,
                    read=reads[number, place],
                    length=stability.l2_squared(bound) if spec.delta.value else stability.l1(bound),
                    share=own.share,
                    accuracy=own.accuracy,
                )
            )
    return tuple(found)


def _check(found: PlannedRelease) -> None:
    """Refuse facts that no table shows, that contradict each other or a rule, and rules on all cells."""
    for fact in found.facts:
        if side_among(found.families[fact.family].members, fact.member, Mappings({})) is None:
            raise InvalidInput(
                f"The exact fact '{fact.spec.sql[:60]}' is finer than every table of its family.",
                hint="Publish a table whose cells add up to the fact's.",
            )
    for number, family in enumerate(found.families):
        exact = tuple(
            Sums(f.member.maps, f.member.shape, f.values, 0.0)
            for f in found.facts
            if f.family == number and f.values is not None
        )
        check_room(family)
        zero = found.zeros[number]
        if zero is not None and zero.all():
            raise InvalidInput(
                f"The rules leave nobody to count: every cell of '{family.members[0].table.name}' "
                "is zero.",
                hint="Correct the rules, or leave the table out.",
            )
        if exact:
            non_negative = found.non_negative[number]
            check_facts(GridProblem(family.shape, (), exact, zero, non_negative))
