"""The names that PostgreSQL gives to the columns of a result."""

from __future__ import annotations

from sqlglot import exp


def name_outputs(tree: exp.Expr) -> None:
    """Give every output column of the tree the name that PostgreSQL would give it."""
    select = _first_select(tree)
    if select is None:
        return
    named: list[exp.Expr] = []
    for node in select.expressions:
        if isinstance(node, exp.Alias):
            alias = node.args["alias"]
            if isinstance(alias, exp.Identifier) and not alias.quoted:
                alias.set("this", alias.name.lower())
            alias.set("quoted", True)
            named.append(node)
        elif isinstance(node, exp.Star) or (
            isinstance(node, exp.Column) and isinstance(node.this, exp.Star)
        ):
            named.append(node)
        else:
            named.append(exp.alias_(node.copy(), output_name(node), quoted=True))
    select.set("expressions", named)


def output_names(tree: exp.Expr) -> list[str] | None:
    """Return the names of the result's columns, None where a * hides them."""
    select = _first_select(tree)
    if select is None or any(isinstance(node, exp.Star) for node in select.expressions):
        return None
    if any(isinstance(n, exp.Column) and isinstance(n.this, exp.Star) for n in select.expressions):
        return None
    return [
        node.alias if isinstance(node, exp.Alias) else output_name(node)
        for node in select.expressions
    ]


def _first_select(tree: exp.Expr) -> exp.Select | None:
    while isinstance(tree, exp.SetOperation | exp.Subquery):
        tree = tree.this
    return tree if isinstance(tree, exp.Select) else None


def output_name(node: exp.Expr) -> str:
    """Return the name of an output column that has no alias."""
    if isinstance(node, exp.Column):
        quoted = isinstance(node.this, exp.Identifier) and node.this.quoted
        return node.name if quoted else node.name.lower()
    if isinstance(node, exp.Dot):
        return output_name(node.expression)
    if isinstance(node, exp.Identifier):
        return node.name
    if isinstance(node, exp.Paren | exp.Collate | exp.Bracket):
        return output_name(node.this)
    if isinstance(node, exp.Cast):
        inner = output_name(node.this)
        return node.to.sql("postgres").lower() if inner == "?column?" else inner
    if isinstance(node, exp.Subquery):
        select = _first_select(node)
        return output_name(select.expressions[0].unalias()) if select else "?column?"
    if isinstance(node, exp.Connector | exp.Binary | exp.Literal):
        return "?column?"
    if isinstance(node, exp.Anonymous):
        return node.name.lower()
    if isinstance(node, exp.Func):
        return _SPELLED.get(node.sql_name().lower(), node.sql_name().lower())
    return "?column?"


_SPELLED = {"current_version": "version", "group_concat": "string_agg", "explode": "unnest"}
