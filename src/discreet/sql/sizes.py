"""How large a statement gets when it is written out: counted while it is bound, before it is built.

A name costs nothing to write, and stands for everything below it: sixty subqueries that each say
`a + a` are a text of one page and a tree of 2^60 nodes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from discreet.plan import expr as e
from discreet.plan.expr import Expr
from discreet.sql.refuse import refusal, too_large

MOST_FIELDS = 10_000
"""Columns of all tables and subqueries of one statement together."""

MOST_TOTAL = 5 * e.MOST_NODES


@dataclass(slots=True)
class Sizes:
    """Gives each field its id, and knows how many nodes stand behind it.

    Guarantee: an expression of more than `MOST_NODES` nodes as a tree, or a statement of more than
        `MOST_TOTAL`, is refused before any expression is built over it.
    """

    known: dict[str, int] = field(default_factory=dict)
    total: int = 0

    def fresh(self, value: Expr | None = None, *, times: int = 1) -> str:
        """Return an id that no other field of the statement has, for the field that is `value`."""
        if len(self.known) >= MOST_FIELDS:
            raise refusal("too large", what=f"The question reads more than {MOST_FIELDS:,} columns")
        name = f"f{len(self.known)}"
        self.known[name] = times if value is None else self.add(value) * times
        return name

    def add(self, value: Expr) -> int:
        """Return the size of one more expression of the statement, or refuse it."""
        found = self.check(value)
        self.total += found
        if self.total > MOST_TOTAL:
            raise too_large()
        return found

    def check(self, value: Expr) -> int:
        """Return the size of an expression as a tree, or refuse it."""
        found = e.size(value, self.known)
        if found > e.MOST_NODES:
            raise too_large()
        return found
