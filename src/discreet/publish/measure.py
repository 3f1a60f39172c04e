"""Measuring: exact cells counted in the engine, and the noise they get before anyone sees them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.core.arrays import Integers
from discreet.core.schema import Domain
from discreet.engine.base import PaidReader, open_exact, require_paid
from discreet.kernel.look import canonical
from discreet.kernel.mechanism import Law
from discreet.noise.rng import Rng
from discreet.publish.families.atoms import FamilyAtoms
from discreet.publish.families.find import Family, Member
from discreet.publish.reads import CellRead

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
