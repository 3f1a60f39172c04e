"""Which published tables must add up to which, so that a verifier can check it from labels alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Integers
from discreet.publish.contents import Agreement, KeyFilter, PublicMapping, Side, SumLink
from discreet.publish.families.find import Family, Member, ShownKey
from discreet.publish.grid import refines
from discreet.publish.reconcile.problem import linked


@dataclass(slots=True)
class Mappings:
    """The mappings from labels to labels that links use, each written once."""

    found: dict[str, PublicMapping]

    def link(self, fine: ShownKey, coarse: ShownKey, owner: Integers) -> SumLink | None:
        """Return how labels of `coarse` follow from labels of `fine`, None where they do not."""
        wanted = [coarse.labels[code] for code in coarse.codes[owner]]
        pairs: dict[str, str] = {}
        for code, label in zip(fine.codes, wanted, strict=True):
            if pairs.setdefault(fine.labels[code], label) != label:
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
