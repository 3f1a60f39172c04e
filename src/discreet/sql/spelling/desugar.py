"""Other spellings of what is known already, put into the one spelling that the binder reads."""

from __future__ import annotations

from sqlglot import exp

from discreet.sql.refuse import refusal

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


_RULES = (
    ((exp.CountIf,), _count_if),
    ((exp.ApproxDistinct,), _counted_about),
    ((exp.Anonymous,), _by_name),
    ((exp.Subquery,), _bracketed_table),
    ((exp.Select,), _right_join),
)
