"""Whether a statement does more with its results than one SELECT of aggregates can say."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlglot import exp

from discreet.catalog.catalog import Catalog

Known = Mapping[str, bool]
"""Names of WITH clauses, and whether each holds rows of people."""


def has_steps(tree: exp.Expr, catalog: Catalog) -> bool:
    """Return whether `tree` needs a step after the noise: cheap, and right for what binds anyway."""
    if isinstance(tree, exp.SetOperation):
        return True
    if not isinstance(tree, exp.Select):
        return False
    if tree.args.get("distinct") or tree.args.get("qualify") or rolled_up(tree):
        return True
    if any(True for _ in tree.find_all(exp.SetOperation)):
        return True
    shown = [*tree.expressions, *_clauses(tree)]
    if any(_has(node, (exp.Window, exp.Select)) for node in shown):
        return True
    if any(_listed_quantile(node) or is_end(node) or _has(node, (exp.Mode,)) for node in shown):
        return True
    return not _reads_people(tree, catalog, {})


def _clauses(tree: exp.Select) -> list[exp.Expr]:
    return [node for name in ("having", "order") if (node := tree.args.get(name)) is not None]


def _has(node: exp.Expr, kinds: tuple[type[exp.Expr], ...]) -> bool:
    return node.find(*kinds) is not None


def _listed_quantile(node: exp.Expr) -> bool:
    found = node.find_all(exp.Quantile, exp.ApproxQuantile, exp.PercentileCont, exp.PercentileDisc)
    return any(isinstance(part, exp.Array) for each in found for part in each.args.values())


ENDS = {"dp_interval_low": "l", "dp_interval_high": "h"}
"""Functions that show an end of an error bar, and the columns of a result that hold it."""


def is_end(node: exp.Expr) -> bool:
    """Return whether an output is an end of another one's error bar."""
    inner = node.unalias()
    return isinstance(inner, exp.Anonymous) and str(inner.name).lower() in ENDS


def rolled_up(select: exp.Select) -> bool:
    """Return whether a SELECT has several sets of keys at once."""
    group = select.args.get("group")
    if group is None:
        return False
    if any(group.args.get(name) for name in ("rollup", "cube", "grouping_sets", "totals", "all")):
        return True
    return any(
        isinstance(part, exp.Rollup | exp.Cube | exp.GroupingSets) for part in group.expressions
    )


def _reads_people(tree: exp.Select, catalog: Catalog, known: Known) -> bool:
    """Return whether the rows under a SELECT are rows of people, not results."""
    known = with_clauses(tree, catalog, known)
    return any(source_reads_people(node, catalog, known) for node in sources(tree))


def with_clauses(tree: exp.Expr, catalog: Catalog, known: Known) -> Known:
    """Return which WITH clauses, outer ones and those of `tree`, hold rows of people."""
    clause = tree.args.get("with_")
    found = dict(known)
    for cte in clause.expressions if clause is not None else ():
        found[cte.alias.lower()] = query_reads_people(cte.this, catalog, found)
    return found


def sources(tree: exp.Select) -> list[exp.Expr]:
    """Return what stands in FROM and JOIN."""
    first = tree.args.get("from_")
    joined = [join.this for join in tree.args.get("joins") or ()]
    return [*([first.this] if first is not None else []), *joined]


def source_reads_people(node: exp.Expr, catalog: Catalog, known: Known) -> bool:
    """Return whether something in FROM holds rows of people."""
    if isinstance(node, exp.Subquery):
        return query_reads_people(node.this, catalog, known)
    if not isinstance(node, exp.Table):
        return False
    inner = [join.this for join in node.args.get("joins") or ()]
    if any(source_reads_people(each, catalog, known) for each in inner):
        return True
    if not node.db and node.name.lower() in known:
        return known[node.name.lower()]
    if not isinstance(node.this, exp.Identifier):
        return False
    return catalog.table(node.name, node.db or None).unit is not None


def query_reads_people(node: exp.Expr, catalog: Catalog, known: Known) -> bool:
    """Return whether a subquery's rows are rows of people: not aggregated, or grouped by person."""
    if isinstance(node, exp.Table | exp.Subquery):
        return source_reads_people(node, catalog, known)
    if isinstance(node, exp.SetOperation):
        sides = (node.this, node.expression)
        return any(query_reads_people(side, catalog, known) for side in sides)
    if not isinstance(node, exp.Select):
        return False
    inside = with_clauses(node, catalog, known)
    if not any(source_reads_people(each, catalog, inside) for each in sources(node)):
        return False
    if not aggregates(node):
        return not node.args.get("distinct")
    return groups_by_person(node, catalog, inside)


def aggregates(select: exp.Select) -> bool:
    """Return whether a SELECT makes fewer rows of its rows."""
    if select.args.get("group") is not None or select.args.get("having") is not None:
        return True
    return any(_folds(node) for node in select.expressions)


def _folds(node: exp.Expr) -> bool:
    """Return whether an aggregate is called that is not the function of a window."""
    for part in node.walk(prune=lambda each: isinstance(each, exp.Subquery)):
        if isinstance(part, exp.AggFunc) and not _of_window(part):
            return True
        if isinstance(part, exp.Anonymous) and str(part.name).lower() in {"var", "std", "stdev"}:
            return True
    return False


def _of_window(node: exp.Expr) -> bool:
    above = node.parent
    while isinstance(above, exp.Filter | exp.IgnoreNulls | exp.WithinGroup):
        above = above.parent
    return isinstance(above, exp.Window) and node.arg_key == "this"


def groups_by_person(select: exp.Select, catalog: Catalog, known: Known) -> bool:
    """Return whether GROUP BY names a column that says whose row it is."""
    group = select.args.get("group")
    if group is None or rolled_up(select):
        return False
    people = person_columns(select, catalog, known)
    for node in group.expressions:
        column = _resolved(node, select)
        if isinstance(column, exp.Column) and column.name.lower() in people:
            return True
    return False


def _resolved(node: exp.Expr, select: exp.Select) -> exp.Expr:
    outputs: list[exp.Expr] = list(select.expressions)
    if isinstance(node, exp.Literal) and not node.is_string and str(node.this).isdigit():
        place = int(node.this) - 1
        return outputs[place].unalias() if 0 <= place < len(outputs) else node
    if isinstance(node, exp.Column) and not node.table:
        named = [each for each in outputs if isinstance(each, exp.Alias)]
        same = [each for each in named if each.alias.lower() == node.name.lower()]
        return same[0].unalias() if same else node
    return node


def units_of(tree: exp.Expr, catalog: Catalog, known: Collection[str] = ()) -> set[str]:
    """Return the lower-case names of columns that name the person, in all tables below."""
    named = {cte.alias.lower() for cte in tree.find_all(exp.CTE)} | set(known)
    found: set[str] = set()
    for table in tree.find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier):
            continue
        if not table.db and table.name.lower() in named:
            continue
        declared = catalog.table(table.name, table.db or None)
        if declared.unit is not None and declared.unit.column is not None:
            found.add(declared.unit.column.lower())
    return found


def person_columns(select: exp.Select, catalog: Catalog, known: Known) -> set[str]:
    """Return the lower-case names of columns that may name the person under a SELECT."""
    found = units_of(select, catalog, known)
    if found:
        return found
    # Everything comes from WITH clauses: any person column of the catalog may be meant.
    return {
        table.unit.column.lower()
        for dataset in catalog.datasets.values()
        for table in dataset.tables
        if table.unit is not None and table.unit.column is not None
    }
