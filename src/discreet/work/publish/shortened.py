"""A planned release on fewer cells: a few classes of every column, and everything else as it was planned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

import numpy as np

from discreet.base.arrays import Bits, Integers
from discreet.work.publish.families import Dimension, Family, Member, ShownKey
from discreet.work.publish.prepare import PlannedRelease

ODD = frozenset('",\r\n')
"""Letters for which a field of a CSV file is quoted."""


def shortened(plan: PlannedRelease, most: int) -> PlannedRelease:
    """Return the plan with families of about `most` leaf cells at most.

    Tables, facts, rules, names, noise and price are the same. Of every column stay classes of each kind
    that some table, fact or rule tells apart, and the labels that are hardest to write: the longest, and
    those with quotes or line ends. Facts from files lose their numbers, which are about the whole grid.
    """
    kept = [
        _kept(family, zero, most) for family, zero in zip(plan.families, plan.zeros, strict=True)
    ]
    families = tuple(_family(*pair) for pair in zip(plan.families, kept, strict=True))
    zeros = tuple(
        None if zero is None else np.broadcast_to(zero, family.shape)[np.ix_(*places)]
        for zero, family, places in zip(plan.zeros, plan.families, kept, strict=True)
    )
    wanted = tuple(replace(w, member=families[w.family].members[w.place]) for w in plan.wanted)
    facts = tuple(
        replace(f, member=families[f.family].facts[f.place], values=None) for f in plan.facts
    )
    return replace(plan, families=families, zeros=zeros, wanted=wanted, facts=facts)


def _kept(family: Family, zero: Bits | None, most: int) -> list[Integers]:
    """Return the leaf classes that stay along each dimension, in their order."""
    if family.cells <= most:
        return [np.arange(size) for size in family.shape]
    first = (0,) * len(family.shape)
    if zero is not None:
        open_ = ~np.broadcast_to(zero, family.shape)
        first = tuple(int(i) for i in np.unravel_index(int(open_.argmax()), family.shape))
    found = [_needed(family, axis, start) for axis, start in enumerate(first)]
    waiting = [iter(_telling(family, axis)) for axis in range(len(first))]
    for row in zip_longest(*waiting):
        for axis, place in enumerate(row):
            cells = int(np.prod([len(places) for places in found], dtype=np.int64))
            grown = cells // len(found[axis]) * (len(found[axis]) + 1)
            if place is not None and place not in found[axis] and grown <= most:
                found[axis].append(place)
    return [np.array(sorted(places), dtype=np.int64) for places in found]


def _needed(family: Family, axis: int, start: int) -> list[int]:
    """Return classes of which every table and fact counts one."""
    found = [start]
    for member in (*family.members, *family.facts):
        classes = member.maps[axis]
        if (classes[found] < 0).all():
            found.append(int(np.argmax(classes >= 0)))
    return found


def _telling(family: Family, axis: int) -> Iterator[int]:
    """Yield classes that differ from others in what some table makes of them."""
    size = family.shape[axis]
    for member in (*family.members, *family.facts):
        classes = member.maps[axis]
        there = classes >= 0
        one = classes[int(np.argmax(there))]
        for kind in (there & (classes != one), ~there, classes == one):
            places = np.flatnonzero(kind)
            yield from (int(place) for place in places[:2])
        for key in (key for key in member.keys if key.dimension == axis):
            for code in _hard(key):
                yield int(np.argmax(classes == code))
    yield size - 1


def _hard(key: ShownKey) -> list[int]:
    """Return the classes of a key whose labels are the longest, empty, and quoted."""
    labels = [key.labels[code] for code in key.codes]
    places = range(len(labels))
    odd = (i for i in places if ODD & set(labels[i]))
    empty = (i for i in places if not labels[i])
    longest = max(places, key=lambda i: len(labels[i].encode()))
    return [longest, *(place for found in (odd, empty) if (place := next(found, None)) is not None)]


def _family(family: Family, kept: Sequence[Integers]) -> Family:
    dimensions = tuple(_dimension(*pair) for pair in zip(family.dimensions, kept, strict=True))
    return Family(
        dimensions,
        tuple(_member(member, kept) for member in family.members),
        tuple(_member(fact, kept) for fact in family.facts),
    )


def _dimension(dimension: Dimension, kept: Integers) -> Dimension:
    return replace(dimension, leaf=_numbered(dimension.leaf, kept), size=len(kept))


def _numbered(classes: Integers, kept: Integers) -> Integers:
    """Return classes by their place among those that stay, -1 for all others."""
    places = np.searchsorted(kept, classes)
    inside = (places < len(kept)) & (kept[np.minimum(places, len(kept) - 1)] == classes)
    return np.where(inside, places, -1)


def _member(member: Member, kept: Sequence[Integers]) -> Member:
    used = [
        np.unique(classes[places][classes[places] >= 0])
        for classes, places in zip(member.maps, kept, strict=True)
    ]
    return replace(
        member,
        maps=tuple(
            _numbered(classes[places], mine)
            for classes, places, mine in zip(member.maps, kept, used, strict=True)
        ),
        shape=tuple(len(mine) for mine in used),
        keys=tuple(_key(key, used[key.dimension]) for key in member.keys),
    )


def _key(key: ShownKey, used: Integers) -> ShownKey:
    codes = np.unique(key.codes[used])
    labels = tuple(key.labels[code] for code in codes)
    return replace(key, labels=labels, codes=_numbered(key.codes[used], codes))
