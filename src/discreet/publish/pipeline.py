"""From exact groups to published numbers: the one way that releases and rehearsals both take.

A release counts its groups in the engine, a rehearsal makes them up; every step after that is the same
function, down to `contents_of` and `write_package`, so that a shape of release on which one of them fails
is found by a rehearsal, before any charge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from discreet.core.arrays import Integers
from discreet.core.progress import Progress, silent
from discreet.noise.rng import Rng
from discreet.publish.assemble.contents import MeasuredFamily
from discreet.publish.grid import narrowed
from discreet.publish.measure import ExactCells, member_cells, noisy_cells
from discreet.publish.prepare import PlannedRelease, reconciled_family
from discreet.publish.reads import CellRead
from discreet.publish.reconcile.solve import Reconciled

MemberPlace = tuple[int, int]
"""A family of the plan, and a table or fact in it."""

GroupsOf = Callable[[int, CellRead], ExactCells]
"""Returns the exact groups of a read of one family: counted, or made up."""


def noisy_tables(
    plan: PlannedRelease,
    families: Iterable[int],
    groups: GroupsOf,
    *,
    rng: Rng,
    progress: Progress = silent,
) -> dict[MemberPlace, Integers]:
    """Return the noisy cells of every table of these families."""
    wanted = set(families)
    found: dict[MemberPlace, Integers] = {}
    held: dict[int, ExactCells] = {}
    for each, law in zip(plan.wanted, plan.priced.laws, strict=True):
        if each.family not in wanted:
            continue
        progress(1, 4, f"counting {each.member.name}")
        if id(each.read) not in held:
            # One read in memory at a time: tables of one read come one after the other.
            held.clear()
            held[id(each.read)] = groups(each.family, each.read)
        family = plan.families[each.family]
        cells = member_cells(held[id(each.read)], each.read, family, each.member)
        found[each.family, each.place] = narrowed(noisy_cells(cells, law, rng))
        del cells
    return found


def exact_facts(
    plan: PlannedRelease,
    families: Iterable[int],
    groups: GroupsOf,
    *,
    published: Mapping[MemberPlace, Integers],
) -> dict[MemberPlace, Integers]:
    """Return the values of every fact of these families: `published` ones as they are."""
    wanted, found = set(families), dict(published)
    for fact in plan.facts:
        place = fact.family, fact.place
        if fact.family in wanted and place not in found:
            family = plan.families[fact.family]
            read = plan.reads[fact.family, len(family.members) + fact.place]
            found[place] = member_cells(groups(fact.family, read), read, family, fact.member)
    return found


def reconciled_tables(
    plan: PlannedRelease,
    families: Iterable[int],
    noisy: Mapping[MemberPlace, Integers],
    facts: Mapping[MemberPlace, Integers],
) -> Iterator[tuple[MemberPlace, Reconciled]]:
    """Yield every table of these families as it is published, from measurements alone."""
    for number in families:
        family = plan.families[number]
        measured = [noisy[number, place] for place in range(len(family.members))]
        known = [facts[number, place] for place in range(len(family.facts))]
        for place, result in enumerate(reconciled_family(plan, number, measured, known)):
            yield (number, place), result


def reconciled(
    plan: PlannedRelease,
    noisy: Mapping[MemberPlace, Integers],
    facts: Mapping[MemberPlace, Integers],
) -> MeasuredFamily:
    """Return everything that is published, from measurements alone: post-processing."""
    everything = reconciled_tables(plan, range(len(plan.families)), noisy, facts)
    return MeasuredFamily(noisy, {place: result.published for place, result in everything}, facts)
