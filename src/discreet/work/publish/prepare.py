"""A planned release: families, reads, noise and price, from the spec and public facts alone.

With it: which published tables must add up to which, so that a verifier can check it from labels alone, and
what the owner and every reader should know beside the price.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.ask.plan.ir import Scan
from discreet.ask.release.desk import Desk
from discreet.ask.release.public_rows import read_public
from discreet.ask.release.snapshots import hold_tables, label, snapshots_of
from discreet.base.arrays import Bits, Integers
from discreet.base.numbers import Delta, counted, plain
from discreet.base.schema import Dataset
from discreet.base.unit import Neighbours
from discreet.data.catalog.sources import check_table
from discreet.data.engines.base import Engine, Held
from discreet.errors import InvalidInput
from discreet.privacy.kernel.mechanism import Law
from discreet.privacy.ledger.entry import Payer
from discreet.work.publish.bound_tables import (
    BoundRule,
    BoundSpec,
    Drafted,
    ReadPublicRows,
    bind_spec,
    draft,
)
from discreet.work.publish.contents import Agreement, KeyFilter, PublicMapping, Side, SumLink
from discreet.work.publish.facts import PlacedFact, check_facts, check_room, place_facts, zero_cells
from discreet.work.publish.families import Family, Member, ShownKey, find_families
from discreet.work.publish.measure import CellRead, plan_reads
from discreet.work.publish.price import MeasureShare, Priced, price_release
from discreet.work.publish.reconcile.least_squares import Widening
from discreet.work.publish.reconcile.problem import GridProblem, Sums, linked, problem_of, refines
from discreet.work.publish.reconcile.solve import Reconciled, reconcile, widening
from discreet.work.publish.specification import Spec, check_published


@dataclass(slots=True)
class Mappings:
    """The mappings from labels to labels that links use, each written once."""

    found: dict[str, PublicMapping]

    def link(self, fine: ShownKey, coarse: ShownKey, owner: Integers) -> SumLink | None:
        """Return how labels of `coarse` follow from labels of `fine`, None where they do not."""
        wanted = [coarse.labels[code] for code in coarse.codes[owner]]
        pairs: dict[str, str] = {}
        for code, coarser in zip(fine.codes, wanted, strict=True):
            if pairs.setdefault(fine.labels[code], coarser) != coarser:
                return None
        return self.told(fine.name, coarse.name, list(pairs.items()))

    def told(self, fine: str, coarse: str, pairs: Sequence[tuple[str, str]]) -> SumLink:
        """Return the link from each label of the key `fine` to its label of `coarse`."""
        if all(one == two for one, two in pairs):
            return SumLink(coarse, fine)
        return SumLink(coarse, fine, self._name(fine, coarse, dict(pairs)))

    def _name(self, fine: str, coarse: str, pairs: dict[str, str]) -> str:
        plain = "".join(c if c.isalnum() else "_" for c in f"{fine}-to-{coarse}".replace("-", " "))
        name, number = plain[:60], 1
        while name in self.found and dict(self.found[name].pairs) != pairs:
            number += 1
            name = f"{plain[:60]}_{number}"
        # Both columns of the file need names of their own.
        self.found[name] = PublicMapping(
            name, f"{fine}_fine" if fine == coarse else fine, coarse, pairs
        )
        return name


def side_of(fine: Member, coarse: Member, mappings: Mappings) -> Side | None:
    """Return how the cells of `coarse` are sums of those of `fine`, None where labels cannot say."""
    links: list[SumLink] = []
    only: list[KeyFilter] = []
    owners = linked(fine.maps, coarse.maps, fine.shape)
    for axis, owner in enumerate(owners):
        mine = [key for key in fine.keys if key.dimension == axis]
        if (owner < 0).any():
            held = _held(mine, owner)
            if held is None:
                return None
            only.append(held)
        for wanted in (key for key in coarse.keys if key.dimension == axis):
            inside = owner >= 0
            kept = [ShownKey(k.name, k.dimension, k.labels, k.codes[inside]) for k in mine]
            found = (mappings.link(key, wanted, owner[inside]) for key in kept)
            link = next((each for each in found if each is not None), None)
            if link is None:
                return None
            links.append(link)
    order = {key.name: i for i, key in enumerate(coarse.keys)}
    by = tuple(sorted(links, key=lambda link: order[link.name]))
    return Side(fine.table.name, fine.measure.name, by, tuple(only))


def side_among(members: Sequence[Member], coarse: Member, mappings: Mappings) -> Side | None:
    """Return the same of the first member whose labels can say it, None where no finer one can."""
    finer = (member for member in members if refines(member.maps, coarse.maps))
    return next((side for fine in finer if (side := side_of(fine, coarse, mappings))), None)


def _held(keys: Sequence[ShownKey], owner: Integers) -> KeyFilter | None:
    """Return the labels of the classes that are counted, None where no one key tells them apart."""
    for key in keys:
        inside = {key.labels[code] for code in key.codes[owner >= 0]}
        outside = {key.labels[code] for code in key.codes[owner < 0]}
        if not inside & outside:
            return KeyFilter(key.name, tuple(sorted(inside)))
    return None


def agreements_of(family: Family, mappings: Mappings) -> list[Agreement]:
    """Return one agreement for each table that is a sum of a finer one, and for crossed pairs."""
    found = []
    members = sorted(family.members, key=lambda member: member.cells)
    for i, coarse in enumerate(members):
        finer = [fine for fine in members[i + 1 :] if refines(fine.maps, coarse.maps)]
        for fine in finer[:1]:
            side = side_of(fine, coarse, mappings)
            if side is not None:
                own = tuple(SumLink(key.name, key.name) for key in coarse.keys)
                found.append(Agreement(Side(coarse.table.name, coarse.measure.name, own), side))
        if not finer:
            found += _crossed(coarse, members[i + 1 :], mappings)
    return found


def _crossed(one: Member, others: Sequence[Member], mappings: Mappings) -> list[Agreement]:
    """Return what a table has in common with others that are not sums of it, nor it of them."""
    found = []
    for other in others:
        if refines(one.maps, other.maps) or _support(one) != _support(other):
            continue
        shared: dict[str, tuple[SumLink, SumLink]] = {}
        for key in one.keys:
            for also in (each for each in other.keys if each.dimension == key.dimension):
                links = _common(one, key, other, also, mappings)
                if links is not None:
                    shared.setdefault(links[0].name, links)
        left, right = (
            tuple(pair[0] for pair in shared.values()),
            tuple(pair[1] for pair in shared.values()),
        )
        found.append(
            Agreement(
                Side(one.table.name, one.measure.name, left),
                Side(other.table.name, other.measure.name, right),
            )
        )
    return found


def _support(member: Member) -> list[bytes]:
    return [(classes >= 0).tobytes() for classes in member.maps]


def _common(
    one: Member, key: ShownKey, other: Member, also: ShownKey, mappings: Mappings
) -> tuple[SumLink, SumLink] | None:
    """Return how two keys tell the same labels: they are one, or one of them follows from the other."""
    first, second = one.maps[key.dimension], other.maps[also.dimension]
    inside = (first >= 0) & (second >= 0)
    codes = np.unique(np.stack([key.codes[first[inside]], also.codes[second[inside]]]), axis=1)
    pairs = [(key.labels[a], also.labels[b]) for a, b in codes.T]
    if len({label for _, label in pairs}) == len(pairs):
        return SumLink(key.name, key.name), mappings.told(
            also.name, key.name, [p[::-1] for p in pairs]
        )
    if len({label for label, _ in pairs}) == len(pairs):
        return mappings.told(key.name, also.name, pairs), SumLink(also.name, also.name)
    return None


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


def notices_of(plan: PlannedRelease) -> tuple[str, ...]:
    """Return sentences about exact facts, rules and domains: from the plan, so known before paying."""
    found = []
    if plan.facts_from_data:
        epsilon, delta = float(plan.spec.epsilon.value), plan.spec.delta.value
        both = 2 * plan.spec.epsilon.value
        grown = Fraction(math.ceil((1 + math.exp(min(epsilon, 700.0))) * 1000), 1000) * delta
        words = (
            f"{counted(len(plan.facts_from_data), 'exact fact')} from the rows, without a "
            f"guarantee of {'its' if len(plan.facts_from_data) == 1 else 'their'} own. "
        )
        if plan.dataset.neighbours is Neighbours.ADD_REMOVE:
            words += (
                "The rest protects the values of one person, compared with other values where all "
                f"facts agree, at epsilon {plain(both)} and delta {plain(grown)}: twice the price "
                "below, which is that of the noisy tables alone."
            )
        found.append(words)
    found += [
        f"The rule '{text}' is about no cell: check its names and values."
        for text in dict.fromkeys(rule.text for rule in plan.bound.rules)
        if all(zero_cells(family, _named(plan, text)) is None for family in plan.families)
    ]
    for number, step in enumerate(plan.steps):
        names = sorted({member.measure.name for member in plan.families[number].members})
        if step != 1:
            found.append(
                f"The numbers of {', '.join(names)} are whole steps of {plain(step)}: "
                f"12345 stands for {plain(12345 * step)}."
            )
    for number, family in enumerate(plan.families):
        wider = widening_of(plan, number)
        if wider is not None:
            crossed = ", ".join(member.name for member in family.members)
            found.append(
                f"The 95% intervals of {crossed} may be wider than they need be: those of least squares "
                f"take too long to compute for tables that cross in so many ways. {_measured(wider)}"
            )
    if plan.dataset.accepted:
        found.append("The domains were read from the data and declared public unseen.")
    return tuple(found)


def _named(plan: PlannedRelease, text: str) -> list[BoundRule]:
    return [rule for rule in plan.bound.rules if rule.text == text]


def _measured(wider: Widening) -> str:
    most = f"up to {math.ceil(100 * wider.factor) / 100:.2f} times as wide"
    if wider.measured == wider.cells:
        return f"They are {most}."
    return (
        f"Measured at {wider.measured:,} of {wider.cells:,} cells they are {most}; at others it may "
        "be more."
    )
