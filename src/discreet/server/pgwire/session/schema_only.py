"""Questions for columns only: `LIMIT 0`, `WHERE 1 = 0`. Tools ask them to learn names and types."""

from __future__ import annotations

from sqlglot import exp

from discreet.server.pgwire.catalog.visible import PREVIEW


def asks_for_no_rows(tree: exp.Expr) -> bool:
    """Return whether the answer has no row, whatever the data is."""
    if not isinstance(tree, exp.Select):
        return False
    limit = tree.args.get("limit")
    count = None if limit is None else limit.args.get("expression") or limit.args.get("count")
    if isinstance(count, exp.Literal) and not count.is_string and count.name == "0":
        return True
    where = tree.args.get("where")
    whole = tree.args.get("group") or tree.args.get("having") or tree.find(exp.AggFunc)
    return where is not None and not whole and _never(where.this)


def _never(condition: exp.Expr) -> bool:
    match condition:
        case exp.Paren():
            return _never(condition.this)
        case exp.And():
            return _never(condition.left) or _never(condition.right)
        case exp.Boolean():
            return not condition.this
        case exp.EQ() | exp.NEQ():
            left, right = condition.left, condition.right
            if not (isinstance(left, exp.Literal) and isinstance(right, exp.Literal)):
                return False
            equal = (left.this, left.is_string) == (right.this, right.is_string)
            return equal if isinstance(condition, exp.NEQ) else not equal
    return False


def over_previews(tree: exp.Expr) -> exp.Expr:
    """Return the question over the made-up rows, of which none is wanted.

    Guarantee: no private table is left in it, so that it costs nothing and tells nothing.
    """
    copy = tree.copy()
    defined = {cte.alias.lower() for cte in copy.find_all(exp.CTE)}
    for table in copy.find_all(exp.Table):
        named = isinstance(table.this, exp.Identifier)
        if named and (table.db or table.name.lower() not in defined):
            table.set("db", exp.to_identifier(PREVIEW))
            table.set("catalog", None)
    copy.set("limit", exp.Limit(expression=exp.Literal.number(0)))
    return copy
