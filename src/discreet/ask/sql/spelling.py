"""Other dialects' spellings: synonyms and short forms, and GoogleSQL's price inside a statement.

`desugared` puts a statement into the one spelling that the binder reads; what it means is the same.

`priced` reads `SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (...)`. Only the price is taken from it. Whose rows they
are, how many of them count and delta stay what the owner declared, so another privacy unit is refused, and the
bounds that are written there have no effect.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from sqlglot import exp

from discreet.ask.sql.refuse import refusal

_CLAUSE = re.compile(
    r"^(\s*SELECT)\s+WITH\s+DIFFERENTIAL_PRIVACY(?:\s+OPTIONS\s*\(([^()]*)\))?\s",
    re.IGNORECASE,
)
_KNOWN = frozenset(
    {"epsilon", "delta", "privacy_unit_column", "max_groups_contributed", "max_rows_contributed"}
)


@dataclass(frozen=True, slots=True)
class PricedStatement:
    """A statement without its options, and what they say: the price and whose rows they are."""

    text: str
    epsilon: str | None = None
    unit: str | None = None


def priced(text: str) -> PricedStatement:
    """Return a statement and the price that stands in it, if one does."""
    found = _CLAUSE.match(text)
    if found is None:
        return PricedStatement(text)
    options: dict[str, str] = {}
    for part in filter(None, (piece.strip() for piece in (found[2] or "").split(","))):
        name, _, value = part.partition("=")
        name = name.strip().lower()
        if name not in _KNOWN:
            raise refusal("clause", what=f"The option '{name[:40]}' of DIFFERENTIAL_PRIVACY")
        options[name] = value.strip()
    unit = options.get("privacy_unit_column", "").strip('`"').rpartition(".")[2]
    rest = f"{found[1]} {text[found.end() :]}"
    return PricedStatement(rest, options.get("epsilon"), unit or None)


_NAMES: dict[str, type[exp.Expr]] = {
    "var": exp.Variance,
    "varp": exp.VariancePop,
    "std": exp.Stddev,
    "stdev": exp.Stddev,
    "stdevp": exp.StddevPop,
    "stddevpop": exp.StddevPop,
}


def desugared(tree: exp.Expr) -> exp.Expr:
    """Return the statement in the binder's own spelling; what it means is the same.

    Guarantee: the tree that is returned is checked and bound like any other, so a rule here can
        change what is asked, never what is protected.
    """
    found = tree.copy()
    for kind, rule in _RULES:
        for node in list(found.find_all(*kind)):
            other = rule(node)
            if other is not node:
                found = other if node is found else found
                if node.parent is not None:
                    node.replace(other)
    return found


def _count_if(node: exp.Expr) -> exp.Expr:
    one = exp.If(this=node.this.copy(), true=exp.Literal.number(1))
    return exp.Count(this=exp.Case(ifs=[one]), big_int=True)


def _counted_about(node: exp.Expr) -> exp.Expr:
    return exp.Count(this=exp.Distinct(expressions=[node.this.copy()]), big_int=True)


def _by_name(node: exp.Expr) -> exp.Expr:
    kind = _NAMES.get(str(node.name).lower())
    if kind is None or len(node.expressions) != 1:
        return node
    return kind(this=node.expressions[0].copy())


def _bracketed_table(node: exp.Expr) -> exp.Expr:
    """FROM (t) AS a is t AS a; FROM (a JOIN b) is a subquery of everything in it."""
    table = node.this
    if not isinstance(table, exp.Table):
        return node
    alias = node.args.get("alias")
    bare = table.copy()
    joins = bare.args.pop("joins", None)
    if not joins:
        if alias is not None:
            bare.set("alias", alias.copy())
        return bare
    inner = exp.Select(expressions=[exp.Star()], from_=exp.From(this=bare), joins=joins)
    return exp.Subquery(this=inner, alias=None if alias is None else alias.copy())


def _right_join(node: exp.Expr) -> exp.Expr:
    """A RIGHT JOIN B is B LEFT JOIN A, where it is the first join of a SELECT."""
    joins = node.args.get("joins") or []
    source = node.args.get("from_")
    rights = [join for join in joins if str(join.args.get("side") or "").upper() == "RIGHT"]
    if not rights or source is None:
        return node
    if len(rights) > 1 or joins[0] is not rights[0]:
        raise refusal("join kind", what="Several, or later, RIGHT")
    found = node.copy()
    first = found.args["joins"][0]
    left, right = found.args["from_"].this.copy(), first.this.copy()
    found.args["from_"].set("this", right)
    first.set("this", left)
    first.set("side", "LEFT")
    return found


def _fetched(node: exp.Expr) -> exp.Expr:
    """FETCH FIRST 5 ROWS ONLY is LIMIT 5."""
    options = node.args.get("limit_options")
    if options is not None and (options.args.get("percent") or options.args.get("with_ties")):
        return node
    count = node.args.get("count") or exp.Literal.number(1)
    return exp.Limit(expression=count.copy())


def _either_way(node: exp.Expr) -> exp.Expr:
    """BETWEEN SYMMETRIC a AND b is BETWEEN a AND b OR BETWEEN b AND a."""
    if not node.args.get("symmetric"):
        return node
    low, high = node.args["low"], node.args["high"]
    return _any_of(
        exp.Between(this=node.this.copy(), low=one.copy(), high=other.copy())
        for one, other in ((low, high), (high, low))
    )


def _rows_alike(node: exp.Expr) -> exp.Expr:
    """(a, b) = (1, NULL) is a = 1 AND b IS NULL: a part that is missing is a value here, as in DuckDB.

    Sides of a join are equal where all parts are known and equal.
    """
    pairs = _pairs(node.this, node.expression)
    if pairs is None:
        return node
    joins = isinstance(node.find_ancestor(exp.Join, exp.Select, exp.Not), exp.Join)
    if joins and isinstance(node, exp.EQ):
        return _all_of(_equal(one, other) for one, other in pairs)
    if isinstance(node, exp.NEQ):
        return _any_of(_apart(one, other) for one, other in pairs)
    return _all_of(_alike(one, other) for one, other in pairs)


def _row_listed(node: exp.Expr) -> exp.Expr:
    """(a, b) IN ((1, 2), (3, 4)) is a IS NOT NULL AND b IS NOT NULL AND (a = 1 AND b = 2 OR a = 3 AND b = 4).

    So NOT of it holds for a row with a missing part, as in DuckDB; a NULL that is listed is found.
    """
    found = [_pairs(node.this, each) for each in node.expressions]
    if not found or node.args.get("query") or any(pairs is None for pairs in found):
        return node
    columns = node.this.expressions
    if not all(isinstance(part, exp.Column) for part in columns):
        return node  # it is written once for each row of the list: nothing long is
    known: list[exp.Expr] = []
    others: list[exp.Expr] = []
    for pairs in found:
        if all(_is_known(other) for _, other in pairs or ()):
            known.append(_all_of(_equal(one, other) for one, other in pairs or ()))
        else:
            others.append(_all_of(_alike(one, other) for one, other in pairs or ()))
    if known:
        others.append(_all_of([*(_is_there(column) for column in columns), _any_of(known)]))
    return _any_of(others)


def _equal(one: exp.Expr, other: exp.Expr) -> exp.Expr:
    return exp.EQ(this=one.copy(), expression=other.copy())


def _alike(one: exp.Expr, other: exp.Expr) -> exp.Expr:
    """Return a condition, never NULL, that holds where both are equal or both are missing."""
    if not isinstance(one, exp.Column) or not (_is_known(other) or isinstance(other, exp.Null)):
        return exp.NullSafeEQ(this=one.copy(), expression=other.copy())
    if isinstance(other, exp.Null):
        return _is_missing(one)
    return _all_of([_equal(one, other), _is_there(one)])


def _apart(one: exp.Expr, other: exp.Expr) -> exp.Expr:
    """Return the contrary of `_alike`."""
    if not isinstance(one, exp.Column) or not (_is_known(other) or isinstance(other, exp.Null)):
        return exp.NullSafeNEQ(this=one.copy(), expression=other.copy())
    if isinstance(other, exp.Null):
        return _is_there(one)
    return _any_of([exp.NEQ(this=one.copy(), expression=other.copy()), _is_missing(one)])


def _is_known(constant: exp.Expr) -> bool:
    """Return whether this is a constant that is not NULL."""
    inner = constant.this if isinstance(constant, exp.Neg | exp.Cast) else constant
    return isinstance(inner, exp.Literal | exp.Boolean)


def _is_missing(column: exp.Expr) -> exp.Expr:
    return exp.Is(this=column.copy(), expression=exp.Null())


def _is_there(column: exp.Expr) -> exp.Expr:
    return exp.Not(this=_is_missing(column))


def _pairs(one: exp.Expr, other: exp.Expr) -> list[tuple[exp.Expr, exp.Expr]] | None:
    if not (isinstance(one, exp.Tuple) and isinstance(other, exp.Tuple)):
        return None
    if not one.expressions or len(one.expressions) != len(other.expressions):
        return None
    found = zip(one.expressions, other.expressions, strict=True)
    return [
        (b, a) if isinstance(b, exp.Column) > isinstance(a, exp.Column) else (a, b)
        for a, b in found
    ]


def _any_of(parts: Iterable[exp.Expr]) -> exp.Expr:
    return exp.Paren(this=exp.or_(*parts, copy=False))


def _all_of(parts: Iterable[exp.Expr]) -> exp.Expr:
    return exp.Paren(this=exp.and_(*parts, copy=False))


def _group_by_all(node: exp.Expr) -> exp.Expr:
    """GROUP BY ALL is by every output that is neither aggregate nor constant, ORDER BY ALL by all of them."""
    group, order = node.args.get("group"), node.args.get("order")
    if group is not None and group.args.get("all") and not group.expressions:
        keys = [
            exp.Literal.number(place)
            for place, output in enumerate(node.expressions, 1)
            if output.find(exp.Column) and not output.find(exp.AggFunc, exp.Window, exp.Star)
        ]
        node.set("group", exp.Group(expressions=keys) if keys else None)
    stars = any(output.is_star for output in node.expressions)
    if order is not None and len(order.expressions) == 1 and not stars:
        (ordered,) = order.expressions
        if isinstance(ordered.this, exp.Var) and ordered.this.name.upper() == "ALL":
            places = range(1, len(node.expressions) + 1)
            order.set("expressions", [_ordered_by(place, ordered) for place in places])
    return node


def _ordered_by(place: int, like: exp.Expr) -> exp.Expr:
    found = like.copy()
    found.set("this", exp.Literal.number(place))
    return found


def _different_rows(node: exp.Expr) -> exp.Expr:
    """A subquery SELECT DISTINCT a, b is SELECT a, b GROUP BY a, b: of people, one row for each."""
    distinct = node.args.get("distinct")
    inner = isinstance(node.parent, exp.Subquery | exp.CTE)
    more = any(node.args.get(part) for part in ("group", "having", "qualify"))
    if not inner or more or distinct is None or distinct.args.get("on"):
        return node
    columns = [output.unalias() for output in node.expressions]
    if not all(isinstance(each, exp.Column) and not each.find(exp.Star) for each in columns):
        return node
    node.set("distinct", None)
    node.set("group", exp.Group(expressions=[each.copy() for each in columns]))
    return node


_RULES = (
    ((exp.CountIf,), _count_if),
    ((exp.ApproxDistinct,), _counted_about),
    ((exp.Anonymous,), _by_name),
    ((exp.Fetch,), _fetched),
    ((exp.Between,), _either_way),
    ((exp.EQ, exp.NEQ), _rows_alike),
    ((exp.In,), _row_listed),
    ((exp.Select,), _group_by_all),
    ((exp.Select,), _different_rows),
    ((exp.Subquery,), _bracketed_table),
    ((exp.Select,), _right_join),
)
