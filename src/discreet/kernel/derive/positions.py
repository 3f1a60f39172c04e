"""Where a unit must sit for a condition to hold: read off the SQL itself, never from a plan.

Guarantee: `positions_of` returns a superset of the positions of one column at which the condition can
    be true. What it does not understand restricts nothing, nor does IS NOT NULL: a statement may leave out rows that
    add nothing to it, and is still about everyone.
"""

from __future__ import annotations

import datetime as dt

from discreet.core.region import NULL, Positions
from discreet.core.schema import (
    BooleanDomain,
    CategoryDomain,
    DateDomain,
    FiniteDomain,
    IntegerDomain,
    NumberDomain,
)
from discreet.kernel.trees.nodes import Apply, Constant, Name, Term

_TURNED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def positions_of(term: Term, column: Name, domain: FiniteDomain) -> Positions:
    """Return every position of `column` at which `term` can be true."""
    everything = Positions.whole(domain.size)
    match _as_text(term, column, domain):
        case Constant(value=False) | Constant(value=None):
            return Positions(())
        case Name() if term == column and isinstance(domain, BooleanDomain):
            return Positions.points([1])
        case Apply(name="and", operands=operands):
            for operand in operands:
                everything &= positions_of(operand, column, domain)
            return everything
        case Apply(name="or", operands=operands):
            return Positions.of(
                span for part in operands for span in positions_of(part, column, domain).spans
            )
        case Apply(name=name, operands=(inner, *others)) if inner == column:
            return _tested(name, others, domain)
        case Apply(name=name, operands=(Constant() as bound, inner)) if inner == column:
            return _compared(_TURNED.get(name, ""), bound, domain)
        case _:
            return everything


def _as_text(term: Term, column: Name, domain: FiniteDomain) -> Term:
    """Return a test of a stored category's text as the same test of the category."""
    if not isinstance(domain, CategoryDomain) or not isinstance(term, Apply):
        return term
    plain = tuple(
        column if operand == Apply("cast varchar", (column,)) else operand
        for operand in term.operands
    )
    return Apply(term.name, plain)


def _tested(name: str, others: list[Term], domain: FiniteDomain) -> Positions:
    """Return where a test of the column itself holds."""
    match name, others:
        case "not", [] if isinstance(domain, BooleanDomain):
            return Positions.points([0])
        case "is null", []:
            return Positions.points([NULL])
        case "in", _:
            return _listed(others, domain)
        case _, [Constant() as bound]:
            return _compared(name, bound, domain)
        case _:
            return Positions.whole(domain.size)


def _listed(options: list[Term], domain: FiniteDomain) -> Positions:
    spans: list[tuple[int, int]] = []
    for option in options:
        if not isinstance(option, Constant):
            return Positions.whole(domain.size)
        spans += _compared("=", option, domain).spans
    return Positions.of(spans)


def _compared(name: str, bound: Constant, domain: FiniteDomain) -> Positions:
    """Return where `column name bound` holds; NULL never does."""
    everything = Positions.whole(domain.size)
    place = _place(bound, domain)
    if place is None or name not in _TURNED:
        return everything
    if isinstance(domain, CategoryDomain) and name not in {"=", "<>"}:
        return everything  # engines order texts by their letters, not by their place in the list
    first, after = place  # the first position not below the bound, and the first one above it
    spans = {
        "=": [(first, after - 1)],
        "<>": [(0, first - 1), (after, domain.size - 1)],
        "<": [(0, first - 1)],
        "<=": [(0, after - 1)],
        ">": [(after, domain.size - 1)],
        ">=": [(first, domain.size - 1)],
    }
    inside = Positions.of([(0, domain.size - 1)])
    return Positions.of(spans[name]) & inside


def _place(bound: Constant, domain: FiniteDomain) -> tuple[int, int] | None:
    value = bound.value
    match domain:
        case IntegerDomain(lower=lower) if type(value) is int and not bound.kind:
            return value - lower, value - lower + 1
        case NumberDomain(lower=lower, step=step) if type(value) is int and not bound.kind:
            # Canonical numbers are whole numbers of steps.
            at = value - int(lower / step)
            return at, at + 1
        case DateDomain(lower=first) if bound.kind == "date" and isinstance(value, str):
            at = (dt.date.fromisoformat(value) - first).days
            return at, at + 1
        case CategoryDomain() if isinstance(value, str) and not bound.kind:
            found = domain.position(value)
            # An undeclared text equals no value; where it would sort says nothing here.
            return None if found is None else (found, found + 1)
        case BooleanDomain() if isinstance(value, bool):
            return int(value), int(value) + 1
        case _:
            return None
