"""Where the cells of an outcome come from: those that a step passes on keep their error bars."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from discreet.sql.post_processing.program import ROW, ErrorBarSources


def bars_of(node: exp.Query, names: Sequence[str]) -> ErrorBarSources | None:
    """Return which result's rows the outcome shows, None where a row is made of several."""
    if not isinstance(node, exp.Select):
        return None
    found = _traced(node)
    if found is None or len(node.expressions) != len(names):
        return None
    part, columns = found
    return ErrorBarSources(part, tuple(columns))


def with_row(node: exp.Query, mark: str) -> exp.Query:
    """Return the step with the number of the result's row as one more output, at every level."""
    found, name = node.copy(), ROW + mark
    level = found
    while True:
        source = level.args["from_"].this
        if isinstance(source, exp.Subquery):
            alias = source.alias
            level.append("expressions", exp.column(name, table=alias, quoted=True).as_(name))
            level = source.this
            continue
        level.append("expressions", exp.column(ROW).as_(name))
        return found


def _traced(node: exp.Expr) -> tuple[int, list[int | None]] | None:
    """Return the result that a SELECT shows row by row, and which column each output is."""
    if not isinstance(node, exp.Select) or _gathers(node):
        return None
    source = node.args["from_"].this
    if isinstance(source, exp.Table):
        if not source.name.startswith("r"):
            return None
        return int(source.name[1:]), [_place(output) for output in node.expressions]
    below = _traced(source.this) if isinstance(source, exp.Subquery) else None
    if below is None:
        return None
    part, columns = below
    known = {
        (output.alias or output.name).lower(): column
        for output, column in zip(source.this.expressions, columns, strict=True)
    }
    outputs = [output.unalias() for output in node.expressions]
    return part, [
        known.get(each.name.lower()) if isinstance(each, exp.Column) else None for each in outputs
    ]


def _gathers(node: exp.Select) -> bool:
    clauses = ("group", "having", "distinct", "joins")
    if any(node.args.get(clause) for clause in clauses) or node.args.get("from_") is None:
        return True
    for output in node.expressions:
        for part in output.walk(prune=lambda each: isinstance(each, exp.Subquery)):
            if isinstance(part, exp.AggFunc) and not _in_window(part):
                return True
    return False


def _in_window(node: exp.Expr) -> bool:
    above = node.parent
    while isinstance(above, exp.Filter | exp.IgnoreNulls):
        above = above.parent
    return isinstance(above, exp.Window)


def _place(output: exp.Expr) -> int | None:
    bare = output.unalias()
    if isinstance(bare, exp.Column) and bare.name.startswith("c") and bare.name[1:].isdigit():
        return int(bare.name[1:])
    return None
