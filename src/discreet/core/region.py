"""Whom a release can touch: a box of the public domain.

A unit (row or person) sits at one point of the product of its axes. An axis is a declared domain,
numbered 0 .. size-1, with NULL at position -1, so every axis has at least that one point. A region
names, for some axes, the positions that a release reads; axes that it does not name are unrestricted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

NULL = -1
"""The position of NULL on every axis."""

Span: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Positions:
    """A set of positions on one axis, as sorted, disjoint, non-adjacent closed spans."""

    spans: tuple[Span, ...]

    @classmethod
    def of(cls, spans: Iterable[Span]) -> Positions:
        """Return the union of `spans` in its one canonical form; empty spans vanish."""
        merged: list[Span] = []
        for low, high in sorted(span for span in spans if span[0] <= span[1]):
            if merged and low <= merged[-1][1] + 1:
                merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
            else:
                merged.append((low, high))
        return cls(tuple(merged))

    @classmethod
    def points(cls, positions: Iterable[int]) -> Positions:
        """Return the set of these single positions."""
        return cls.of((position, position) for position in positions)

    @classmethod
    def whole(cls, size: int) -> Positions:
        """Return every position of an axis with `size` values, NULL included."""
        return cls(((NULL, size - 1),))

    def __and__(self, other: Positions) -> Positions:
        found: list[Span] = []
        mine, theirs = self.spans, other.spans
        i = j = 0
        while i < len(mine) and j < len(theirs):
            low, high = max(mine[i][0], theirs[j][0]), min(mine[i][1], theirs[j][1])
            if low <= high:
                found.append((low, high))
            if mine[i][1] < theirs[j][1]:
                i += 1
            else:
                j += 1
        return Positions(tuple(found))

    def __or__(self, other: Positions) -> Positions:
        return Positions.of((*self.spans, *other.spans))

    def complement(self, size: int) -> Positions:
        """Return the positions of an axis of `size` values that are not in this set."""
        found: list[Span] = []
        start = NULL
        for low, high in self.spans:
            found.append((start, low - 1))
            start = high + 1
        found.append((start, size - 1))
        return Positions.of(found)

    def __contains__(self, position: int) -> bool:
        return any(low <= position <= high for low, high in self.spans)

    def __bool__(self) -> bool:
        return bool(self.spans)

    def __len__(self) -> int:
        return sum(high - low + 1 for low, high in self.spans)


@dataclass(frozen=True, slots=True)
class Region:
    """A box: for each named axis the positions that are read; other axes are unrestricted.

    Axis names are opaque here. Whoever makes them must give two axes the same name only if every
    unit has one and the same position on both; giving different names to the same thing only makes
    the bill larger, never wrong.
    """

    axes: tuple[tuple[str, Positions], ...] = ()
    _by_name: dict[str, Positions] = field(
        init=False, repr=False, compare=False, hash=False, default_factory=dict
    )

    def __post_init__(self) -> None:
        self._by_name.update(self.axes)

    @classmethod
    def of(cls, axes: Mapping[str, Positions]) -> Region:
        """Return the box with these restrictions, in canonical order."""
        return cls(tuple(sorted(axes.items())))

    def on(self, axis: str) -> Positions | None:
        """Return the restriction on `axis`, or None where there is none."""
        return self._by_name.get(axis)

    @property
    def empty(self) -> bool:
        """Return whether no unit can lie in this region."""
        return any(not positions for _, positions in self.axes)

    def __and__(self, other: Region) -> Region:
        axes = dict(self.axes)
        for name, positions in other.axes:
            axes[name] = axes[name] & positions if name in axes else positions
        return Region.of(axes)

    def to_json(self) -> dict[str, list[list[int]]]:
        """Return plain lists, the form that the ledger keeps."""
        return {name: [list(span) for span in positions.spans] for name, positions in self.axes}

    @classmethod
    def from_json(cls, data: Mapping[str, Iterable[Iterable[int]]]) -> Region:
        """Return the region that `to_json` wrote."""
        axes = {}
        for name, spans in data.items():
            axes[name] = Positions.of((low, high) for low, high in spans)
        return cls.of(axes)


EVERYONE = Region()
"""The unrestricted region: it holds every unit."""
