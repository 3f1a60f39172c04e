"""WITH RECURSIVE in catalog queries, without recursion: the trees that clients climb are low here."""

from __future__ import annotations

from itertools import pairwise

from sqlglot import exp

from discreet.server.pgwire.protocol.problems import Failure

_ALWAYS_EMPTY = {"pg_auth_members", "pg_inherits"}
"""Trees of roles and of tables, which clients climb; nobody has any here."""
_LOW = {"pg_type"}
"""Trees of types: an array has its elements below it, and nothing is below those."""
_STEPS = 1


def end_recursion(tree: exp.Expr) -> None:
    """Change the recursive queries of a tree into plain ones, inner ones first, or refuse them."""
    for with_ in reversed(list(tree.find_all(exp.With))):
        if with_.args.get("recursive"):
            with_.set("expressions", [made for cte in with_.expressions for made in _plain(cte)])
            with_.set("recursive", False)


def _plain(cte: exp.CTE) -> list[exp.CTE]:
    union = cte.this
    if not isinstance(union, exp.Union) or not _names(union.expression, cte.alias):
        return [cte]
    step = union.expression
    joins = (step.args.get("joins") or []) if isinstance(step, exp.Select) else []
    if any(join.this.name.lower() in _ALWAYS_EMPTY and not join.side for join in joins):
        cte.set("this", union.this)  # the first step is all there is
        return [cte]
    if any(table.name.lower() in _LOW for table in step.find_all(exp.Table)):
        return _unrolled(cte, union)
    raise Failure("0A000", "WITH RECURSIVE is not supported here.")


def _names(tree: exp.Expr, name: str) -> list[exp.Table]:
    return [t for t in tree.find_all(exp.Table) if not t.db and t.name.lower() == name.lower()]


def _unrolled(cte: exp.CTE, union: exp.Union) -> list[exp.CTE]:
    """Return the first step and those over it, each over the one before, and all of them together."""
    names = [f"{cte.alias} {place}" for place in range(_STEPS + 1)]
    found = [_cte(cte, names[0], union.this.copy())]
    for before, name in pairwise(names):
        step = union.expression.copy()
        for table in _names(step, cte.alias):
            table.set("alias", table.args.get("alias") or exp.TableAlias(this=table.this.copy()))
            table.set("this", exp.to_identifier(before, quoted=True))
        found.append(_cte(cte, name, step))
    whole: exp.Query = _all(names[0])
    for name in names[1:]:
        whole = exp.union(whole, _all(name), distinct=False)
    return [*found, _cte(cte, cte.alias, whole)]


def _cte(like: exp.CTE, name: str, query: exp.Expr) -> exp.CTE:
    alias = like.args["alias"].copy()
    alias.set("this", exp.to_identifier(name, quoted=True))
    return exp.CTE(this=query, alias=alias)


def _all(name: str) -> exp.Select:
    return exp.select("*").from_(exp.Table(this=exp.to_identifier(name, quoted=True)))
