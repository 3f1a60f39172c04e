"""One private question with steps of its own: keys and aggregates below, everything else above."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from discreet.catalog.catalog import Catalog
from discreet.sql.post_processing.group_keys import GroupKeys
from discreet.sql.post_processing.needed import ENDS, is_end, rolled_up
from discreet.sql.post_processing.over_results import OverResults
from discreet.sql.refuse import refusal
from discreet.sql.relations import BindingContext, bind_rows


def is_plain(node: exp.Select) -> bool:
    """Return whether one private question answers all of a SELECT, its ORDER BY and LIMIT too."""
    if node.args.get("qualify") or node.args.get("distinct") or rolled_up(node):
        return False
    clauses = [node.args.get(name) for name in ("having", "order")]
    parts = [*node.expressions, *(each for each in clauses if each is not None)]
    return not any(part.find(exp.Window, exp.Subquery, exp.Array, exp.Mode) for part in parts)


class Parts:
    """Collects the private questions of a statement: the tables r0, r1, ... of what comes after.

    `mark` ends the names of keys and aggregates: what a statement does not write (`unwritten`).
    """

    def __init__(self, catalog: Catalog, mark: str = "") -> None:
        self.catalog = catalog
        self.mark = mark
        self.selects: list[exp.Select] = []

    def _added(self, select: exp.Select, people: tuple[exp.CTE, ...]) -> str:
        if people:
            own = list(select.args["with_"].expressions) if select.args.get("with_") else []
            names = {cte.alias.lower() for cte in own}
            before = [cte.copy() for cte in people if cte.alias.lower() not in names]
            select.set("with_", exp.With(expressions=[*before, *own]))
        for i, known in enumerate(self.selects):
            if known == select:
                return f"r{i}"
        self.selects.append(select)
        return f"r{len(self.selects) - 1}"

    def whole(
        self, node: exp.Select, people: tuple[exp.CTE, ...]
    ) -> tuple[exp.Select, tuple[str, ...]]:
        """Return a SELECT of all that a private question answers, and the names of its columns."""
        found = node.copy()
        _without_results(found, people)
        asked = [each for each in node.expressions if not is_end(each)]
        found.set("expressions", [each.copy() for each in asked])
        name = self._added(found, people)
        names = tuple(_called(output, i) for i, output in enumerate(node.expressions))
        columns = [_column(each, asked) for each in node.expressions]
        shown = [column.as_(each, quoted=True) for column, each in zip(columns, names, strict=True)]
        return exp.select(*shown).from_(name), names

    def divided(
        self,
        node: exp.Select,
        people: tuple[exp.CTE, ...],
        scalars: Mapping[exp.Subquery, exp.Query],
    ) -> tuple[exp.Select, tuple[str, ...]]:
        """Return the step over keys and aggregates, after asking for them."""
        names = tuple(_called(output, i) for i, output in enumerate(node.expressions))
        below = node.copy()
        _without_results(below, people)
        for clause in ("qualify", "distinct", "order", "limit", "offset", "having"):
            below.set(clause, None)
        keys = GroupKeys(node, _visible(below, people, self.catalog))
        above = OverResults(
            keys,
            scalars,
            lambda value, where: self._commonest(value, where, below, people, keys),
            self.mark,
        )
        step = above.step(node, names)
        if not keys.nodes and not above.folds:
            nothing = exp.TableAlias(this=exp.to_identifier("t"))
            one = exp.Subquery(this=exp.select("1"), alias=nothing)
            step.set("from_", exp.From(this=one))
            return step, names
        sets = keys.sets()
        tables = []
        for chosen in sets:
            part = below.copy()
            columns = [keys.nodes[i].copy() for i in chosen] + [a.copy() for a in above.folds]
            shown = [each.as_(f"c{i}", quoted=False) for i, each in enumerate(columns)]
            part.set("expressions", shown or [exp.Count(this=exp.Star()).as_("c0")])
            places = [exp.Literal.number(i + 1) for i in range(len(chosen))]
            part.set("group", exp.Group(expressions=places) if places else None)
            tables.append((self._added(part, people), chosen))
        return _over(step, tables, (len(keys.nodes), len(above.folds)), self.mark), names

    def _commonest(
        self,
        value: exp.Expr,
        where: exp.Expr | None,
        below: exp.Select,
        people: tuple[exp.CTE, ...],
        keys: GroupKeys,
    ) -> exp.Expr:
        """Return MODE(x) FILTER (WHERE ...) as a question of its own: the largest group, by a private choice."""
        if keys.nodes:
            raise refusal("clause", what="MODE beside GROUP BY")
        part = below.copy()
        part.set("expressions", [value.copy().as_("c0")])
        if where is not None:
            part = part.where(where.copy())
        part.set("group", exp.Group(expressions=[exp.Literal.number(1)]))
        order = exp.Ordered(this=exp.Count(this=exp.Star()), desc=True)
        part.set("order", exp.Order(expressions=[order]))
        part.set("limit", exp.Limit(expression=exp.Literal.number(1)))
        return exp.Subquery(this=exp.select("c0").from_(self._added(part, people)))


def _column(output: exp.Expr, asked: list[exp.Expr]) -> exp.Expr:
    """Return the column of a result that an output is: a value, or an end of its error bar."""
    if not is_end(output):
        return exp.column(f"c{asked.index(output)}")
    call = output.unalias()
    given = call.expressions[0] if len(call.expressions) == 1 else None
    for i, each in enumerate(asked):
        named = isinstance(given, exp.Column) and (each.alias or each.name) == given.name
        if named or each.unalias() == given:
            return exp.column(f"{ENDS[str(call.name).lower()]}{i}")
    raise refusal("clause", what=f"{str(call.name).upper()} of anything but another output")


def _without_results(select: exp.Select, people: tuple[exp.CTE, ...]) -> None:
    """Take the WITH clauses out that hold results: a private question names rows of people only."""
    known = {cte.alias.lower() for cte in people}
    clause = select.args.get("with_")
    if clause is not None:
        kept = [cte for cte in clause.expressions if cte.alias.lower() in known]
        select.set("with_", exp.With(expressions=kept) if kept else None)


def _visible(below: exp.Select, people: tuple[exp.CTE, ...], catalog: Catalog) -> set[str]:
    """Return the names of the columns under a SELECT."""
    bare = below.copy()
    if people:
        bare.set("with_", exp.With(expressions=[cte.copy() for cte in people]))
    _, names = bind_rows(bare, BindingContext(catalog))
    return {name for entry in names.entries for name, _ in entry.columns}


def _called(output: exp.Expr, place: int) -> str:
    name = output.alias or (output.name if isinstance(output, exp.Column) else "")
    if not name and not output.find(exp.Query):
        name = output.sql(dialect="duckdb").lower()[:60]
    return name or f"column{place + 1}"


def _over(
    step: exp.Select, tables: list[tuple[str, tuple[int, ...]]], many: tuple[int, int], mark: str
) -> exp.Select:
    """Return the step with its FROM: the results of all sets of keys, one below the other."""
    blocks = []
    for name, chosen in tables:
        shown: list[exp.Expr] = []
        for i in range(many[0]):
            there = i in chosen
            value = exp.column(f"c{chosen.index(i)}", table=name) if there else exp.null()
            rolled = exp.Literal.number(int(not there))
            shown += [value.as_(f"k{i}{mark}"), rolled.as_(f"g{i}{mark}")]
        for i in range(many[1]):
            shown.append(exp.column(f"c{len(chosen) + i}", table=name).as_(f"a{i}{mark}"))
        blocks.append(exp.select(*(shown or [exp.null().as_("nothing")])).from_(name))
    source: exp.Query = blocks[0]
    for block in blocks[1:]:
        source = exp.Union(this=source, expression=block, distinct=False)
    alias = exp.TableAlias(this=exp.to_identifier("t"))
    step.set("from_", exp.From(this=exp.Subquery(this=source, alias=alias)))
    return step
