"""Joins: pairs of equal columns, conditions in ON, which side keeps its rows; IN (SELECT ...) and EXISTS.

`x IN (SELECT ...)` and `EXISTS (SELECT ...)` are a join to one row for each person and key. Both ask something of
a person's own rows in another table, so the answer is a function of that person's rows alone: the rows of the
other table are gathered by person and key, and joined on both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from discreet.ask.plan import expr as e
from discreet.ask.plan.evaluate import Fields
from discreet.ask.plan.expr import Comparison, Expr, kind, kinds_of, lattice
from discreet.ask.plan.ir import (
    Filter,
    Join,
    JoinKind,
    Relation,
    fields_of,
    is_public,
    scans_of,
    unit_of,
)
from discreet.ask.plan.kinds import check_condition
from discreet.ask.plan.values import infer
from discreet.ask.sql.names import Named, Names
from discreet.ask.sql.refuse import refusal

RowExpr = Callable[[exp.Expr, Names], Expr]
"""Reads a condition over single rows."""


def next_join(
    pending: list[tuple[exp.Join, Named]], names: Names, loose: list[exp.Expr]
) -> tuple[exp.Join, Named]:
    """Return the first join whose condition, written in ON or in WHERE, links it to the rest."""
    for join, entry in pending:
        if join.args.get("on") or join.args.get("using") or join.args.get("method"):
            return join, entry
        # A condition may name tables that come later in FROM; those wait for their turn.
        seen = [part for part in loose if visible(part, (*names.entries, entry))]
        if any(_pair(part, names, entry) is not None for part in seen):
            return join, entry
    raise refusal("join condition", what=f"none links {pending[0][1].alias} to the other tables")


def _pair(part: exp.Expr, names: Names, entry: Named) -> tuple[str, str] | None:
    """Return (left field, right field) if `part` equates a column of `entry` with one in `names`."""
    if not isinstance(part, exp.EQ):
        return None
    if not isinstance(part.this, exp.Column) or not isinstance(part.expression, exp.Column):
        return None
    both = names.joined(entry)
    one, two = both.find(part.this).name, both.find(part.expression).name
    mine = {field for _, field in entry.columns}
    if one not in mine and two in mine:
        return one, two
    if two not in mine and one in mine:
        return two, one
    return None


def joined(  # noqa: PLR0917 a step of `bind_rows`
    left: Relation,
    names: Names,
    join: exp.Join,
    entry: Named,
    loose: list[exp.Expr],
    row_expr: RowExpr,
) -> Join:
    """Return the rows so far joined to one more table; conditions of an inner join may wait."""
    kind = _kind(join)
    pairs: list[tuple[str, str]] = []
    for name in shared(join, names, entry):
        written = exp.column(name)
        only_right = replace(names, entries=(entry,))
        pairs.append((names.find(written).name, only_right.find(written).name))
    for part in conjuncts_of(join.args["on"]) if join.args.get("on") else ():
        pair = _pair(part, names, entry)
        if pair is not None:
            pairs.append(pair)
        elif kind is JoinKind.INNER:
            loose.append(part)
        else:
            entry = _narrowed(entry, part, names, row_expr)
    if kind is JoinKind.INNER:
        for part in list(loose):
            both = (*names.entries, entry)
            pair = _pair(part, names, entry) if visible(part, both) else None
            if pair is not None:
                pairs.append(pair)
                loose.remove(part)
    if not pairs:
        raise refusal("join condition", what=f"none links {entry.alias} to the other tables")
    return checked_join(left, entry.relation, pairs, kind)


def shared(join: exp.Join, names: Names, entry: Named) -> list[str]:
    """Return the columns that USING lists, or that NATURAL means: all that both sides have."""
    if str(join.args.get("method") or "").upper() == "NATURAL":
        mine = [name for name, _ in entry.columns]
        return [name for name in dict.fromkeys(mine) if names.has(name)]
    return [column.name for column in join.args.get("using") or ()]


def _narrowed(entry: Named, part: exp.Expr, names: Names, row_expr: RowExpr) -> Named:
    """Return the right side of a LEFT JOIN with a condition on its own columns."""
    only = replace(names, entries=(entry,))
    aliased = {column.table.lower() for column in part.find_all(exp.Column)}
    if not aliased <= {"", entry.alias.lower()} or not visible(part, (entry,)):
        raise refusal("join condition", what="LEFT JOIN takes conditions on its right side only")
    relation = filtered(entry.relation, row_expr(part, only), only.domains())
    return replace(entry, relation=relation)


def filtered(relation: Relation, condition: Expr, domains: Fields) -> Filter:
    """Return the rows for which a condition holds, or refuse what is none."""
    check_condition(condition, kinds_of(domains))
    infer(condition, domains)
    return Filter(relation, condition)


def visible(part: exp.Expr, entries: Sequence[Named]) -> bool:
    """Return whether every column of a condition is one of these tables'."""
    aliases = {known.alias.lower() for known in entries}
    columns = {name for known in entries for name, _ in known.columns}
    return all(
        column.table.lower() in aliases if column.table else column.name.lower() in columns
        for column in part.find_all(exp.Column)
    )


def _kind(join: exp.Join) -> JoinKind:
    side, kind = str(join.args.get("side") or ""), str(join.args.get("kind") or "")
    method = str(join.args.get("method") or "").upper()
    if method not in {"", "NATURAL"}:
        raise refusal("join kind", what=method)
    if kind.upper() in {"", "INNER", "OUTER"} and side.upper() in {"", "LEFT"}:
        return JoinKind.LEFT if side.upper() == "LEFT" else JoinKind.INNER
    raise refusal("join kind", what=f"{side} {kind}".strip().upper())


def checked_join(
    left: Relation, right: Relation, pairs: list[tuple[str, str]], kind: JoinKind
) -> Join:
    """Return a join that never pairs rows of two people."""
    if is_public(left) and not is_public(right):
        if kind is JoinKind.LEFT:
            raise refusal("join kind", what="LEFT (from a public to a private table)")
        return checked_join(right, left, [(b, a) for a, b in pairs], kind)
    unit = unit_of(left)
    # People are equal to themselves, however a subquery that gathers their rows calls them.
    _same_kind(left, right, [pair for pair in pairs if pair != (unit, unit_of(right))])
    if is_public(right):
        copies = [scan.table.max_rows or 1 for scan in scans_of(right)]
        return Join(left, right, tuple(pairs), kind, unit, copies=max(copies))
    other = unit_of(right)
    if unit is None or other is None:
        raise refusal("row join")
    # Always on the unit too: a pair of rows of two different people is never formed.
    if (unit, other) not in pairs:
        pairs = [(unit, other), *pairs]
    return Join(left, right, tuple(pairs), kind, unit, copies=None)


def _same_kind(left: Relation, right: Relation, pairs: list[tuple[str, str]]) -> None:
    """Refuse to equate columns whose values an engine would first have to convert."""
    known = {f.name: f for side in (left, right) for f in fields_of(side)}
    for pair in pairs:
        both = [known[name] for name in pair]
        kinds = [(kind(f.domain), (lattice(f.domain) or ("",))[-1]) for f in both]
        if kinds[0] != kinds[1]:
            names = " and ".join(f.called for f in both)
            raise refusal("join condition", what=f"{names} are declared differently")


def conjuncts_of(node: exp.Expr) -> list[exp.Expr]:
    """Return the conditions that must all hold."""
    if isinstance(node, exp.And):
        return [part for side in node.flatten() for part in conjuncts_of(side)]
    return conjuncts_of(node.this) if isinstance(node, exp.Paren) else [node]


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
