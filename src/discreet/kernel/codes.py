"""Derives from a SELECT of codes, and from it alone, what one unit can do to marginals.

A synthesizer stores the result of such a SELECT and counts marginals over it, many times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from discreet.core.region import Positions
from discreet.kernel.derive.rows import Base, Scans, filtered
from discreet.kernel.derive.scalars import value_of
from discreet.kernel.trees.nodes import Apply, Constant, Name, SelectNode, Term, Unfit, conjuncts

_STRICT = frozenset(
    {"+", "-", "*", "/", "//", "%", "negate", "abs", "cast bigint", "cast smallint"}
)


@dataclass(frozen=True, slots=True)
class SelectedCodes:
    """What a SELECT of codes does: at most `rows` rows of one unit, each a row of table indices.

    Guarantee: each row is a function of one unit's own rows, and each of its codes is in its column's
        table, never NULL. So a row lies in exactly one cell of any marginal, and a marginal is a sum
        over units of whole vectors, none negative, of L1 length at most `rows`.
    """

    rows: int
    private: tuple[str, ...]
    person: bool

    @property
    def region(self) -> Mapping[Base, Positions]:
        """Return no restriction: rows without a value are left out, but nobody pays less for it."""
        return {}


def codes_of(select: SelectNode, sizes: Sequence[int], scans: Scans) -> SelectedCodes:
    """Return what a SELECT of the codes c0, c1, ... does, or refuse it.

    `sizes` are those of the tables that the codes index: public, and what is counted is as large.
    The outermost block is the only one that may leave the unit behind.
    """
    below = filtered(select, scans)
    if not below.private:
        raise Unfit("codes of nobody")
    if not below.units and len(below.private) != 1:
        raise Unfit("rows as units need one private table")
    if below.rows is None:
        raise Unfit("rows of a unit that nothing bounds")
    if select.group:
        raise Unfit("codes of groups")
    if [name for name, _ in select.outputs] != [f"c{i}" for i in range(len(sizes))]:
        raise Unfit("codes under other names")
    present = _tested(conjuncts(select.where))
    for (_, term), size in zip(select.outputs, sizes, strict=True):
        low, high = value_of(term, below.values).bounded
        if not 0 <= low <= high < size:
            raise Unfit("a code that could leave its table")
        if not _is_present(term, present):
            raise Unfit("a code that could be NULL")
    return SelectedCodes(below.rows, below.private, bool(below.units))


def _tested(tests: Sequence[Term]) -> frozenset[Name]:
    """Return the columns that conditions say are not NULL."""
    return frozenset(
        test.operands[0]
        for test in tests
        if isinstance(test, Apply)
        and test.name == "is not null"
        and isinstance(test.operands[0], Name)
    )


def _is_present(term: Term, present: frozenset[Name]) -> bool:
    """Return whether a row function is never NULL where `present` columns are not."""
    match term:
        case Constant(value=value):
            return value is not None
        case Name():
            return term in present
        case Apply(name="case", operands=(*pairs, other)):
            # A branch is taken only where its own test holds.
            branches = zip(pairs[::2], pairs[1::2], strict=True)
            taken = [(value, present | _tested(conjuncts(test))) for test, value in branches]
            return all(_is_present(*branch) for branch in [*taken, (other, present)])
        case Apply(name="coalesce", operands=operands):
            return any(_is_present(operand, present) for operand in operands)
        case Apply(name=name, operands=operands):
            return name in _STRICT and all(_is_present(each, present) for each in operands)
        case _:
            return False
