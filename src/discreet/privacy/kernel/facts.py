"""What a statement adds up, and how much one row or one unit can add to each sum.

Clamps stand immediately inside SUM, or around each value that a CASE there may choose, so the integers
found here are the ones that the engine itself applies; no range that anybody inferred is used.

A SELECT of codes returns rows as small numbers: a synthesizer stores its result and counts marginals over it, many
times. With their unit beside them the rows become whole vectors, one for each unit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from discreet.base.event import Positions
from discreet.privacy.kernel.functions import ValueKind
from discreet.privacy.kernel.nodes import (
    Apply,
    Constant,
    Fold,
    Name,
    SelectNode,
    Term,
    Unfit,
    conjuncts,
    walk,
)
from discreet.privacy.kernel.rows import Base, Rows, Scans, filtered
from discreet.privacy.kernel.scalars import clamp_of, value_of

_WIDE_CASTS = frozenset({"cast bigint", "cast decimal(19, 0)"})
_LARGEST_SQUARE = {"cast decimal(19, 0)": 2**88 + 1, "": 2**63}
"""Less than this is one square: 10^11 of the largest decimal ones add up to a number of 38 digits."""


class Form(Enum):
    """What an output adds up over the rows of a group."""

    ROWS = "rows"
    PRESENT = "present"
    DISTINCT = "distinct"
    SUM = "sum"
    SQUARES = "squares"
    UNITS = "units"
    DISTINCT_SUM = "distinct sum"
    DISTINCT_SQUARES = "distinct squares"


@dataclass(frozen=True, slots=True)
class Output:
    """One number for each group: what one row adds lies in [low, high], NULL adds nothing.

    `term` is the clamped operand, so that several outputs can be seen to be of one operand.
    """

    form: Form
    low: int = 0
    high: int = 1
    term: Term | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """What the final SQL does, derived from it alone.

    `single`: all rows of a unit fall into one group, because every key is made of columns that are
    constant for the unit. `rows` is None where nothing bounds them, which only such counts of units
    and those without groups may leave so. `numbered`: the last key is a whole number of 64 bits.

    Guarantee: the exact outputs are, group by group, sums over units of a function of that unit's own
        rows, of public tables and of the catalog; a unit has at most `rows` rows, each in one group,
        and each adds to an output within its bounds; units outside `region` have none. UNITS and
        DISTINCT are not such sums: they move by at most one for each unit, and for each of its rows.
        Nor are DISTINCT_SUM and DISTINCT_SQUARES: a row can make one more value appear, which adds
        that value, and it lies within the bounds.
    """

    keys: int
    outputs: tuple[Output, ...]
    rows: int | None
    single: bool
    private: tuple[str, ...]
    person: bool
    region: Mapping[Base, Positions]
    numbered: bool = False


def facts_of(select: SelectNode, scans: Scans) -> Facts:
    """Return what the final statement adds up, or refuse it."""
    below = filtered(select, scans)
    person = bool(below.units)
    if not below.private:
        raise Unfit("a statement about nobody")
    if not person and (len(below.private) != 1 or below.rows is None):
        raise Unfit("rows as units need one private table and bounded copies")
    keys = len(select.group)
    shown = tuple(term for _, term in select.outputs)
    if shown[:keys] != select.group:
        raise Unfit("keys that are not the groups")
    kinds = [value_of(key, below.values) for key in shown[:keys]]
    numbered = bool(kinds) and kinds[-1].kind is ValueKind.INTEGER and kinds[-1].low is not None
    outputs = tuple(_output(term, below) for term in shown[keys:])
    single = all(
        not isinstance(part, Name) or part in below.axes
        for key in shown[:keys]
        for part in walk(key)
    )
    units = all(each.form is Form.UNITS for each in outputs)
    if below.rows is None and not (units and single):
        raise Unfit("rows of a unit that nothing bounds")
    return Facts(keys, outputs, below.rows, single, below.private, person, below.region, numbered)


def _output(term: Term, below: Rows) -> Output:
    if isinstance(term, Apply) and term.name == "cast decimal(38, 0)":
        term = term.operands[0]
    if not isinstance(term, Fold):
        raise Unfit("an output that is no aggregate")
    if term.name == "count":
        return _count(term, below)
    if term.name == "sum_no_overflow" and not term.distinct:
        return _small_sum(term.operand, below)
    if term.name != "sum" or term.operand is None:
        raise Unfit(f"the aggregate {term.name}")
    found = _sum(term.operand, below)
    return replace(found, form=_OF_DISTINCT[found.form]) if term.distinct else found


_OF_DISTINCT = {Form.SUM: Form.DISTINCT_SUM, Form.SQUARES: Form.DISTINCT_SQUARES}


def _count(term: Fold, below: Rows) -> Output:
    if term.operand is None:
        return Output(Form.ROWS)
    value_of(term.operand, below.values)
    if not term.distinct:
        return Output(Form.PRESENT, term=term.operand)
    if _is_unit(term.operand, below):
        return Output(Form.UNITS)
    return Output(Form.DISTINCT, term=term.operand)


def _is_unit(term: Term, below: Rows) -> bool:
    """Return whether a term is the unit, or the unit of some of its rows and NULL otherwise."""
    match term:
        case Apply(name="case", operands=(_, inner, Constant(value=None))):
            return inner in below.units
        case _:
            return term in below.units


LARGEST_SMALL = 2**21
"""A number, or a square, up to this may be added up in 64 bits: they hold the sum of 2^42 rows, joined ones among them.

Four million millions: at a thousand million rows a second an engine would read them for more than an hour.
"""


def _small_sum(operand: Term | None, below: Rows) -> Output:
    """Return what a sum in 64 bits adds up, which nobody checks while it is added up."""
    if not isinstance(operand, Apply) or operand.name != "cast bigint":
        raise Unfit("a sum in 64 bits of something else")
    found = _sum(operand, below)
    if max(-found.low, found.high) > LARGEST_SMALL:
        raise Unfit("a sum that could leave 64 bits")
    return found


def _sum(operand: Term, below: Rows) -> Output:
    inner = _uncast(operand)
    if isinstance(inner, Apply) and inner.name == "*":
        one, two = inner.operands
        if one != two:
            raise Unfit("a product of two different operands")
        kind = one.name if isinstance(one, Apply) and one.name in _WIDE_CASTS else ""
        clamped = _uncast(one)
        low, high = _bounds(clamped, below)
        most = max(low**2, high**2)
        # Once more cast, a square must fit into that too.
        if most >= (_LARGEST_SQUARE.get(kind, 2**63) if inner is operand else 2**63):
            raise Unfit("a square that could leave its width")
        if not kind and not value_of(clamped, below.values).wide:
            raise Unfit("a square of unknown width")
        return Output(Form.SQUARES, 0, most, clamped)
    if inner is operand:
        raise Unfit("a sum whose width is not stated")
    low, high = _bounds(inner, below)
    return Output(Form.SUM, low, high, inner)


def _uncast(term: Term) -> Term:
    if isinstance(term, Apply) and term.name in _WIDE_CASTS:
        return term.operands[0]
    return term


def _bounds(term: Term, below: Rows) -> tuple[int, int]:
    """Return the integers between which the SQL itself holds a summand: a clamp, a canonical cell, or one of several."""
    found = value_of(term, below.values)
    if clamp_of(term) is not None:
        return found.bounded
    match term:
        case Name() if found.canonical and found.kind is ValueKind.INTEGER:
            return found.bounded
        case Apply(name="case", operands=(*pairs, other)):
            each = [_choice(value, below) for value in (*pairs[1::2], other)]
            ends = [end for bounds in each for end in bounds]
            if ends:
                return min(ends), max(ends)
    raise Unfit("a summand without a clamp")


def _choice(value: Term, below: Rows) -> tuple[int, ...]:
    """Return the ends of what a CASE may choose: none of NULL, which adds nothing."""
    match value:
        case Constant(value=None):
            return ()
        case Constant(value=int(number), kind="") if type(number) is int:
            return (number,)
    return _bounds(value, below)


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


def unit_codes_of(select: SelectNode, sizes: Sequence[int], scans: Scans) -> SelectedCodes:
    """Return what a SELECT of the codes c0, c1, ... and of the unit u does, or refuse it.

    Guarantee: that of `SelectedCodes`, and the rows under one value of u are those of one unit. For
        `discreet.privacy.kernel.mechanism` only: a unit's rows become one vector whose length is bounded there.
    """
    *codes, last = select.outputs
    if last[0] != "u" or last[1] not in filtered(select, scans).units:
        raise Unfit("codes without their unit")
    return codes_of(replace(select, outputs=tuple(codes)), sizes, scans)
