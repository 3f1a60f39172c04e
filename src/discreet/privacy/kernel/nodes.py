"""Syntax tree of the SQL that the kernel accepts: what a parser's tree is turned into before it is judged.

A closed vocabulary: a reader that meets anything else raises `Unfit`, which is an internal error
before the charge. Positions, spaces and parentheses are gone, so equal trees mean equal SQL.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from discreet.errors import InternalError


class Unfit(InternalError):
    """The final SQL does not fit the kernel's grammar, so it never runs and nothing is charged."""


class TooWide(Unfit):
    """A whole number on the way could leave 64 bits: the kernel's bound is coarser than the planner's."""


@dataclass(frozen=True, slots=True)
class Name:
    """A column of the block below: the alias of its relation and its own name."""

    relation: str
    column: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal. Whole numbers are `int`, text `str`; other numbers and dates keep their kind.

    TRUE is another literal than 1, though Python calls the two equal: as a text one has four letters.
    """

    value: int | str | bool | None
    kind: str = ""
    """"number" or "date" for a literal of that kind, spelled in `value`; else empty."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        return type(self.value), self.value, self.kind


@dataclass(frozen=True, slots=True)
class Apply:
    """A row-wise operator or function: its name in lower case, or its sign, and its operands.

    CASE is "case" with conditions and values in turn and the ELSE last; a cast is "cast TYPE".
    """

    name: str
    operands: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Fold:
    """An aggregate over the rows of a group; COUNT(*) has no operand."""

    name: str
    operand: Term | None
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    """An aggregate or ROW_NUMBER over the rows that share `partition`, taken in `order`."""

    name: str
    operand: Term | None
    partition: tuple[Term, ...]
    order: tuple[Term, ...]


Term: TypeAlias = Name | Constant | Apply | Fold | Window


@dataclass(frozen=True, slots=True)
class StoredScan:
    """A table of the engine under an alias."""

    path: tuple[str, ...]
    alias: str


@dataclass(frozen=True, slots=True)
class Derived:
    """A subquery in FROM."""

    select: SelectNode
    alias: str


@dataclass(frozen=True, slots=True)
class Joined:
    """Two relations and their ON condition; `left`: the first one's rows are kept."""

    first: Source
    second: Source
    on: Term
    left: bool


Source: TypeAlias = StoredScan | Derived | Joined


@dataclass(frozen=True, slots=True)
class SelectNode:
    """One block. There is no other clause: no HAVING, DISTINCT, ORDER BY, LIMIT, WITH, UNION."""

    outputs: tuple[tuple[str, Term], ...]
    source: Source
    where: Term | None
    group: tuple[Term, ...]


def parts(term: Term) -> tuple[Term, ...]:
    """Return the direct operands of a term."""
    match term:
        case Apply(operands=operands):
            return operands
        case Fold(operand=operand):
            return () if operand is None else (operand,)
        case Window(operand=operand, partition=partition, order=order):
            return (*(() if operand is None else (operand,)), *partition, *order)
        case _:
            return ()


def walk(term: Term) -> Iterator[Term]:
    """Yield a term and everything in it."""
    waiting = [term]
    while waiting:
        found = waiting.pop()
        yield found
        waiting += parts(found)


def folds(select: SelectNode) -> Iterator[Fold]:
    """Yield every aggregate of a statement and of the subqueries below it."""
    return (part for part in terms(select) if isinstance(part, Fold))


def terms(select: SelectNode) -> Iterator[Term]:
    """Yield every term of a statement and of the subqueries below it, and everything in them."""
    waiting: list[SelectNode | Source] = [select]
    while waiting:
        match waiting.pop():
            case SelectNode(outputs=outputs, source=source, where=where, group=group):
                waiting.append(source)
                written = (*(term for _, term in outputs), where, *group)
                for term in written:
                    yield from () if term is None else walk(term)
            case Derived(select=inner):
                waiting.append(inner)
            case Joined(first=first, second=second, on=on):
                waiting += [first, second]
                yield from walk(on)
            case StoredScan():
                pass


def conjuncts(term: Term | None) -> tuple[Term, ...]:
    """Return the conditions that must all hold."""
    if term is None:
        return ()
    if isinstance(term, Apply) and term.name == "and":
        return tuple(part for operand in term.operands for part in conjuncts(operand))
    return (term,)


def by_place(group: tuple[Term, ...], outputs: tuple[tuple[str, Term], ...]) -> tuple[Term, ...]:
    """Return GROUP BY with each place number replaced by the output that it means."""
    found = []
    for term in group:
        if isinstance(term, Constant) and type(term.value) is int and not term.kind:
            if not 1 <= term.value <= len(outputs):
                raise Unfit("GROUP BY names a column that is not there")
            found.append(outputs[term.value - 1][1])
        else:
            found.append(term)
    return tuple(found)
