"""Text to one checked SELECT tree. Whatever is not expected in a clause is refused here."""

from __future__ import annotations

import sqlglot
from sqlglot import exp

from discreet.sql.refuse import refusal

LONGEST = 100_000
"""No question needs more characters than this; a longer one is a mistake or an attack."""

DEEPEST = 100
"""What is nested more deeply would end in the recursion limit, sooner or later on the way."""

_CLAUSES = frozenset(
    {
        "with_",
        "expressions",
        "from_",
        "joins",
        "where",
        "group",
        "having",
        "order",
        "limit",
        "offset",
    }
)
_TABLE_PARTS = frozenset({"this", "alias", "db"})
_JOIN_PARTS = frozenset({"this", "on", "side", "kind", "using"})


def parse(sql: str) -> exp.Select:
    """Return the one SELECT statement in `sql`, or refuse it with a sentence."""
    if len(sql) > LONGEST:
        raise refusal("clause", what="A question of more than 100,000 characters")
    try:
        statements = [tree for tree in sqlglot.parse(sql, read="duckdb") if tree is not None]
    except Exception as error:  # noqa: BLE001  # broken text trips the parser in many ways of its own
        raise refusal("syntax", where=_where(error)) from None
    if len(statements) != 1:
        raise refusal("several statements" if statements else "not a select")
    if _depth(statements[0]) > DEEPEST:
        raise refusal("clause", what=f"A question nested more than {DEEPEST} levels deep")
    return checked(statements[0])


def _depth(tree: exp.Expr) -> int:
    """Return the levels of the tree; a chain of AND or of OR is one level."""
    deepest, waiting = 0, [(tree, 1)]
    while waiting:
        node, level = waiting.pop()
        deepest = max(deepest, level)
        for child in node.iter_expressions():
            chained = isinstance(child, exp.Connector) and type(child) is type(node)
            waiting.append((child, level if chained else level + 1))
    return deepest


def _where(error: Exception) -> str:
    found = getattr(error, "errors", None) or [{}]
    line, column = found[0].get("line"), found[0].get("col")
    return f"line {line}, column {column}" if line else "the beginning"


def checked(tree: exp.Expr) -> exp.Select:
    """Return `tree` if it is a SELECT made of known clauses only."""
    if isinstance(tree, exp.SetOperation):
        raise refusal("set operation")
    if not isinstance(tree, exp.Select):
        raise refusal("not a select")
    if tree.args.get("distinct"):
        raise refusal("distinct")
    _only(tree, _CLAUSES)
    group = tree.args.get("group")
    if group is not None:
        _only(group, frozenset({"expressions"}))
    for join in tree.args.get("joins") or ():
        _only(join, _JOIN_PARTS)
    for cte in getattr(tree.args.get("with_"), "expressions", ()):
        if tree.args["with_"].args.get("recursive"):
            raise refusal("clause", what="WITH RECURSIVE")
        _only(cte, frozenset({"this", "alias"}))
    return tree


def checked_table(table: exp.Table) -> exp.Table:
    """Return a plain table reference, or refuse what hangs on it."""
    if table.args.get("sample"):
        raise refusal("sample")
    if not isinstance(table.this, exp.Identifier):
        raise refusal("function", what=_name_of(table.this))
    _only(table, _TABLE_PARTS)
    return table


def _name_of(function: exp.Expr) -> str:
    # Not function.sql(): writing a strange call can fail inside the parser's own generator.
    if isinstance(function, exp.Func) and not isinstance(function, exp.Anonymous):
        return str(type(function).sql_names()[0])[:40].upper()
    return str(function.name)[:40].upper()


def _only(node: exp.Expr, allowed: frozenset[str]) -> None:
    for name, value in node.args.items():
        if value and name not in allowed:
            raise refusal("sample" if name == "sample" else "clause", what=_clause_name(name))


def _clause_name(name: str) -> str:
    return {"qualify": "QUALIFY", "into": "SELECT INTO", "windows": "WINDOW"}.get(
        name, name.rstrip("_").replace("_", " ").upper()
    )
