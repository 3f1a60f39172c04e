"""`x IN (SELECT ...)` and `EXISTS (SELECT ...)`: a join to one row for each person and key.

Both ask something of a person's own rows in another table, so the answer is a function of that person's
rows alone: the rows of the other table are gathered by person and key, and joined on both.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from discreet.plan import expr as e
from discreet.plan.expr import Comparison, Expr
from discreet.plan.ir import Relation, is_public, scans_of, unit_of
from discreet.sql.joins import conjuncts_of, visible
from discreet.sql.names import Named, Names
from discreet.sql.refuse import refusal


def is_membership(part: exp.Expr) -> bool:
    """Return whether a condition is IN (SELECT ...), EXISTS, or the contrary of one."""
    inner = part.this.unnest() if isinstance(part, exp.Not) else part
    if isinstance(inner, exp.In):
        return inner.args.get("query") is not None
    return isinstance(inner, exp.Exists)


def membership(part: exp.Expr) -> Membership:
    """Return what such a condition asks."""
    negated = isinstance(part, exp.Not)
    inner = part.this.unnest() if isinstance(part, exp.Not) else part
    if isinstance(inner, exp.In):
        query = inner.args["query"].unnest()
        if not isinstance(query, exp.Select) or len(query.expressions) != 1:
            raise refusal("subquery")
        return Membership(query, negated, inner.this.unnest(), query.expressions[0].unalias())
    query = inner.this.unnest() if isinstance(inner.this, exp.Subquery) else inner.this
    if not isinstance(query, exp.Select):
        raise refusal("subquery")
    return Membership(query, negated)


@dataclass(slots=True)
class Membership:
    """A subquery that is asked whether it has rows; `outside` and `inside` are the columns of IN."""

    query: exp.Select
    negated: bool
    outside: exp.Expr | None = None
    inside: exp.Expr | None = None
    equal: tuple[tuple[exp.Column, exp.Column], ...] = ()
    unequal: tuple[tuple[exp.Column, exp.Column], ...] = ()

    @property
    def bare(self) -> exp.Select:
        """Return the rows of the subquery before its conditions."""
        found = exp.select("*")
        for clause in ("with_", "from_", "joins"):
            value = self.query.args.get(clause)
            copied = [each.copy() for each in value] if isinstance(value, list) else value
            found.set(clause, copied.copy() if isinstance(copied, exp.Expr) else copied)
        return found

    @property
    def only_rows(self) -> bool:
        """Return whether nothing is asked but whether there are such rows, neither how many nor which."""
        clauses = (self.query.args.get(clause) for clause in ("group", "having"))
        return not self.unequal and not any(clauses)

    def grouped(self, source: Relation, names: Names, inner: Names) -> exp.Select:
        """Return the subquery gathered by person and key, its links to the outside taken out."""
        if self.query.args.get("limit") or self.query.args.get("offset"):
            raise refusal("subquery")
        kept = self._linked(names, inner)
        found = self.query.copy()
        for clause in ("order", "distinct"):
            found.set(clause, None)
        found.set("where", exp.Where(this=exp.and_(*kept)) if kept else None)
        keys = [column for column, _ in self.equal]
        if is_public(source):
            return self._public(found, source, keys)
        return self._gathered(found, source, inner, keys)

    def _linked(self, names: Names, inner: Names) -> list[exp.Expr]:
        where = self.query.args.get("where")
        kept: list[exp.Expr] = []
        equal: list[tuple[exp.Column, exp.Column]] = []
        unequal: list[tuple[exp.Column, exp.Column]] = []
        if self.inside is not None:
            if not isinstance(self.inside, exp.Column) or not isinstance(self.outside, exp.Column):
                raise refusal("subquery")
            equal.append((self.inside, self.outside))
        for part in conjuncts_of(where.this) if where is not None else ():
            if visible(part, inner.entries):
                kept.append(part)
                continue
            link = _link(part, names, inner)
            (unequal if isinstance(part, exp.NEQ) else equal).append(link)
        if not equal or len(unequal) > 1:
            raise refusal("subquery")
        self.equal, self.unequal = tuple(equal), tuple(unequal)
        return kept

    def _public(self, found: exp.Select, source: Relation, keys: list[exp.Column]) -> exp.Select:
        copies = [scan.table.max_rows or 1 for scan in scans_of(source)]
        if max(copies) > 1 or self.unequal or found.args.get("group") is not None:
            raise refusal("subquery")
        found.set("expressions", [key.copy().as_(f"_k{i}") for i, key in enumerate(keys)])
        return found

    def _gathered(
        self, found: exp.Select, source: Relation, inner: Names, keys: list[exp.Column]
    ) -> exp.Select:
        unit = unit_of(source)
        written = _written(unit, inner)
        outputs: list[exp.Expr] = [key.copy().as_(f"_k{i}") for i, key in enumerate(keys)]
        outputs.append(exp.Count(this=exp.Star()).as_("_n"))
        for column, _ in self.unequal:
            outputs += [exp.Min(this=column.copy()).as_("_low")]
            outputs += [exp.Max(this=column.copy()).as_("_high")]
        by = [written, *(key.copy() for key in keys if inner.find(key).name != unit)]
        group = found.args.get("group")
        if group is not None and len(by) > 1:
            raise refusal("subquery")
        if group is None:
            found.set("group", exp.Group(expressions=by))
        found.set("expressions", outputs)
        return found

    def condition(self, names: Names, entry: Named) -> tuple[Expr, list[tuple[str, str]]]:
        """Return what must hold of the joined row, and the pairs of equal columns."""
        ids = dict(entry.columns)
        links = [
            (names.find(outside).name, ids[f"_k{i}"]) for i, (_, outside) in enumerate(self.equal)
        ]
        there: Expr = e.Not(e.IsNull(e.ColumnRef(ids["_n" if "_n" in ids else "_k0"])))
        for _, outside in self.unequal:
            value = names.find(outside)
            ends = (e.ColumnRef(ids[end]) for end in ("_low", "_high"))
            others = tuple(e.Compare(Comparison.NOT_EQUAL, end, value) for end in ends)
            there = e.Case(((e.Or(others), e.TRUE),), e.Literal(value=False))
        return e.Not(there) if self.negated else there, links


def _link(part: exp.Expr, names: Names, inner: Names) -> tuple[exp.Column, exp.Column]:
    """Return (column of the subquery, column outside) of a condition between the two."""
    sides = (part.this, part.expression) if isinstance(part, exp.EQ | exp.NEQ) else ()
    if len(sides) == 2 and all(isinstance(side, exp.Column) for side in sides):
        for one, two in (sides, sides[::-1]):
            if visible(one, inner.entries) and not visible(two, inner.entries):
                names.find(two)
                return one, two
    raise refusal("subquery")


def _written(unit: str | None, inner: Names) -> exp.Column:
    for entry in inner.entries:
        for name, field in entry.columns:
            if field == unit:
                return exp.column(name, table=entry.alias, quoted=True)
    raise refusal("subquery")
