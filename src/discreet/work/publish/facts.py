"""Exact facts and structural zeros, placed on the grids of families."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.base.arrays import Bits, Integers
from discreet.base.numbers import plain, to_fraction
from discreet.errors import DiscreetError, InvalidInput
from discreet.work.publish.bound_tables import BoundCondition, BoundRule, BoundTable
from discreet.work.publish.families import Dimension, Family, Member, mask_of
from discreet.work.publish.reconcile.least_squares import check_crossing, finest_facts
from discreet.work.publish.reconcile.problem import (
    GridProblem,
    Sums,
    add_up,
    implies,
    linked,
    open_cells,
)
from discreet.work.publish.reconcile.solve import (
    check_several,
    contradiction,
    fact_classes,
    settle_facts,
)
from discreet.work.publish.specification import FactSpec, Spec, read_rows

LARGEST = 2**53
MADE_UP = 5.0
"""People in a made-up class, on average: a few, as in those that are hard to settle."""


@dataclass(frozen=True, slots=True, eq=False)
class PlacedFact:
    """A fact on its family's grid; `values` are known beforehand where they stand in a file."""

    spec: FactSpec
    family: int
    place: int
    member: Member
    values: Integers | None


def place_facts(
    families: Sequence[Family],
    facts: Sequence[tuple[FactSpec, BoundTable]],
    steps: Sequence[Fraction],
    non_negative: Sequence[bool],
    release: Spec,
) -> tuple[PlacedFact, ...]:
    """Return every fact at its place; facts with a file are read now."""
    found = []
    for spec, bound in facts:
        for number, family in enumerate(families):
            for place, member in enumerate(family.facts):
                if member.table is not bound:
                    continue
                values = None
                if spec.file is not None:
                    names = [*(key.name for key in member.keys), member.measure.name]
                    rows = read_rows(
                        release.base / spec.file, spec.file, names, release.files.get(spec.file)
                    )
                    lowest = 0 if non_negative[number] else -LARGEST
                    values = _from_rows(rows, spec.file, member, steps[number], lowest)
                found.append(PlacedFact(spec, number, place, member, values))
    return tuple(found)


def _from_rows(
    rows: Sequence[Mapping[str, str]], shown: str, member: Member, step: Fraction, lowest: int
) -> Integers:
    """Return the numbers of a published file, each key once; anything else is refused.

    No cell is quoted: should the file be another than was meant, it may hold anything.
    """
    names = [key.name for key in member.keys]
    cells = np.zeros(member.cells, dtype=np.int64)
    there = np.zeros(member.cells, dtype=bool)
    places = [{label: i for i, label in enumerate(key.labels)} for key in member.keys]
    by_classes = _by_labels(member)
    for line, row in enumerate(rows, start=1):
        labels = tuple(place.get(row[name], -1) for place, name in zip(places, names, strict=True))
        cell = by_classes.get(labels)
        if cell is None:
            raise InvalidInput(f"Row {line:,} of '{shown}' is about no declared group.")
        if there[cell]:
            raise InvalidInput(f"'{shown}' has two rows for one group.")
        there[cell] = True
        place = f"Row {line:,} of '{shown}'"
        cells[cell] = _number(row[member.measure.name], place, step, lowest)
    if not there.all():
        raise InvalidInput(
            f"'{shown}' lacks {int((~there).sum()):,} of {member.cells:,} groups.",
            hint="A fact needs one row for every group of its SELECT.",
        )
    return cells.reshape(member.shape)


def _number(text: str, place: str, step: Fraction, lowest: int) -> int:
    try:
        value = to_fraction(text.strip()) / step
    except DiscreetError:
        value = Fraction(1, 2)
    if value.denominator != 1 or not lowest <= value < LARGEST:
        what = "a whole number" if step == 1 else f"a multiple of {plain(step)}"
        raise InvalidInput(f"{place} has something else where {what} should stand.")
    return int(value)


def _by_labels(member: Member) -> dict[tuple[int, ...], int]:
    """Return the flat cell of every combination of labels."""
    grids = np.indices(member.shape).reshape(len(member.shape), -1)
    labels = [key.codes[grids[key.dimension]] for key in member.keys]
    return (
        {tuple(int(code) for code in codes): i for i, codes in enumerate(zip(*labels, strict=True))}
        if labels
        else {(): 0}
    )


def zero_cells(family: Family, rules: Sequence[BoundRule]) -> Bits | None:
    """Return the leaf cells that rules say are empty, None where none are."""
    found: Bits | None = None
    places = {dimension.base: i for i, dimension in enumerate(family.dimensions)}
    source = family.members[0].table.table.name
    for rule in rules:
        if rule.source != source or any(c.base not in places for c in rule.conditions):
            continue
        masks = [_leaf_mask(dimension, rule) for dimension in family.dimensions]
        if not all(mask.any() for mask in masks):
            continue
        box = np.ones((1,) * len(masks), dtype=bool)
        for axis, mask in enumerate(masks):
            box = box & mask.reshape([-1 if d == axis else 1 for d in range(len(masks))])
        found = box if found is None else found | box
    return found


def _leaf_mask(dimension: Dimension, rule: BoundRule) -> Bits:
    """Return the leaf classes of a column that a rule is wholly about.

    A class that a rule cuts belongs to no table that groups by the rule's columns: those tell it apart.
    """
    held = held_pieces(dimension, rule.conditions)
    counted = dimension.leaf >= 0
    inside = np.bincount(dimension.leaf[counted & held], minlength=dimension.size)
    whole = np.bincount(dimension.leaf[counted], minlength=dimension.size)
    mask: Bits = inside == whole
    return mask


def held_pieces(dimension: Dimension, conditions: Sequence[BoundCondition]) -> Bits:
    """Return the pieces of a column for which all conditions on it hold."""
    held = np.ones(dimension.atoms.size, dtype=bool)
    for condition in conditions:
        if condition.base == dimension.base:
            held &= mask_of(dimension.atoms, condition)
    return held


def check_room(family: Family) -> None:
    """Refuse facts, also those of the rows, that could not be settled once they are known."""
    facts = [Sums(f.maps, f.shape, np.zeros(f.shape, dtype=np.int64), 0.0) for f in family.facts]
    kept = finest_facts(facts)
    if len(kept) > 1:
        check_crossing(kept)
        classes = fact_classes(GridProblem(family.shape, ()), kept)
        check_several(math.prod(int(each.max()) + 1 for each in classes))


def settle_made_up(problem: GridProblem) -> None:
    """Require whole numbers to be found in time that meet facts which cross, made up on their own classes.

    What is left to do with the facts of the rows is the same at the same size, so that a release is
    refused before its charge where that takes too long.
    """
    kept = finest_facts(problem.exact)
    if len(kept) < 2:
        return
    classes = fact_classes(problem, kept)
    shape = tuple(int(each.max()) + 1 for each in classes)
    open_ = np.ones(shape, dtype=bool)
    if problem.zero is not None:
        open_ = open_cells(problem.zero, classes, shape)
    dice = np.random.default_rng(0)  # no guarantee hangs on made-up rows
    people = np.where(open_, dice.poisson(MADE_UP, shape), 0)
    facts = []
    for fact in kept:
        links = tuple(linked(classes, fact.maps, shape))
        facts.append(Sums(links, fact.shape, add_up(people, links, fact.shape), 0.0))
    own = [np.arange(size) for size in shape]
    near = people + dice.normal(0.0, math.sqrt(MADE_UP), shape)
    settle_facts(
        GridProblem(shape, (), tuple(facts), ~open_, problem.non_negative), facts, own, near
    )


def check_facts(problem: GridProblem) -> None:
    """Refuse exact facts that no table can meet; they are public, so this says nothing of rows."""
    kept = finest_facts(problem.exact)
    for fact in problem.exact:
        if not any(fact is each for each in kept):
            _check_implied(fact, kept)
    if kept:
        classes = fact_classes(problem, kept)
        cells = settle_facts(problem, kept, classes, np.zeros(problem.leaf))
        shape = tuple(int(each.max()) + 1 for each in classes)
        if cells.shape != shape:
            raise contradiction()


def _check_implied(fact: Sums, kept: Sequence[Sums]) -> None:
    """Refuse a fact that is not the sum of a finer one."""
    finer = [other for other in kept if implies(other, fact)]
    sums = [
        add_up(other.values, linked(other.maps, fact.maps, other.shape), fact.shape)
        for other in finer
    ]
    if not any((total == fact.values).all() for total in sums):
        raise contradiction()
