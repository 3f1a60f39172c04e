"""Private questions with steps of their own: keys and aggregates below, everything else above.

`GroupKeys` is the GROUP BY of a SELECT over private rows: its keys, and the sets of them that ROLLUP and CUBE show.
`OverResults` rewrites its outputs and conditions to read the keys and aggregates of its results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain, combinations

from sqlglot import exp

from discreet.ask.sql.aggregates import is_aggregate
from discreet.ask.sql.post_processing.steps import ENDS, is_end, rolled_up
from discreet.ask.sql.refuse import refusal
from discreet.ask.sql.relations import BindingContext, bind_rows
from discreet.data.catalog.catalog import Catalog

MOST_SETS = 32
"""Sets of keys of one ROLLUP, CUBE or GROUPING SETS: each is a question of its own."""


class GroupKeys:
    """The GROUP BY of a SELECT: its different expressions, and the sets that they are shown in."""

    def __init__(self, node: exp.Select, visible: set[str]) -> None:
        self.select = node
        self.visible = visible
        self.nodes: list[exp.Expr] = []
        group = node.args.get("group")
        self._terms: list[list[tuple[int, ...]]] = []
        trailing: list[exp.Expr] = []
        if group is not None:
            if group.args.get("all") or group.args.get("totals"):
                raise refusal("clause", what="GROUP BY ALL")
            trailing = [*(group.args.get("rollup") or ()), *(group.args.get("cube") or ())]
            if trailing and not any(each.expressions for each in trailing):
                # GROUP BY a, b WITH ROLLUP
                kind = type(trailing[0])
                rolled = kind(expressions=[each.copy() for each in group.expressions])
                self._terms.append(self._term(rolled))
                return
        listed = [] if group is None else [*group.expressions, *trailing]
        if group is not None:
            listed += list(group.args.get("grouping_sets") or ())
        self._terms += [self._term(each) for each in listed]

    def sets(self) -> list[tuple[int, ...]]:
        """Return the sets of keys, as places in `nodes`."""
        found: list[tuple[int, ...]] = [()]
        for term in self._terms:
            found = [tuple(dict.fromkeys((*a, *b))) for a in found for b in term]
            if len(found) > MOST_SETS:
                raise refusal("too large", what=f"There are more than {MOST_SETS} sets of keys")
        return [tuple(sorted(each)) for each in found]

    def _term(self, node: exp.Expr) -> list[tuple[int, ...]]:
        if isinstance(node, exp.Rollup):
            each = [self._place_all(part) for part in node.expressions]
            return [tuple(chain(*each[:i])) for i in range(len(each), -1, -1)]
        if isinstance(node, exp.Cube):
            each = [self._place_all(part) for part in node.expressions]
            sizes = range(len(each), -1, -1)
            return [tuple(chain(*some)) for size in sizes for some in combinations(each, size)]
        if isinstance(node, exp.GroupingSets):
            return [found for part in node.expressions for found in self._set(part)]
        return [self._place_all(node)]

    def _set(self, node: exp.Expr) -> list[tuple[int, ...]]:
        if isinstance(node, exp.Rollup | exp.Cube | exp.GroupingSets):
            return self._term(node)
        return [self._place_all(node)]

    def _place_all(self, node: exp.Expr) -> tuple[int, ...]:
        if isinstance(node, exp.Paren):
            return self._place_all(node.this)
        if isinstance(node, exp.Tuple):
            return tuple(chain(*(self._place_all(part) for part in node.expressions)))
        return (self._place(node),)

    def _place(self, node: exp.Expr) -> int:
        said = self._meant(node)
        found = self.place(said)
        if found is not None:
            return found
        self.nodes.append(said)
        return len(self.nodes) - 1

    def _meant(self, node: exp.Expr) -> exp.Expr:
        outputs: list[exp.Expr] = self.select.expressions
        if isinstance(node, exp.Literal) and not node.is_string and str(node.this).isdigit():
            if not 1 <= int(node.this) <= len(outputs):
                raise refusal("clause", what=f"GROUP BY {str(node.this)[:40]}")
            return outputs[int(node.this) - 1].unalias()
        if isinstance(node, exp.Column) and not node.table:
            name = node.name.lower()
            if name not in self.visible:
                for output in outputs:
                    if isinstance(output, exp.Alias) and output.alias.lower() == name:
                        return output.unalias()
        return node

    def place(self, node: exp.Expr) -> int | None:
        """Return which key an expression is."""
        for tables in (True, False):
            wanted = _plain(node, tables=tables)
            for i, key in enumerate(self.nodes):
                if _plain(key, tables=tables) == wanted:
                    return i
        return None


def _plain(node: exp.Expr, *, tables: bool) -> exp.Expr:
    """Return a node as it is compared: names in small letters, without quotes."""

    def changed(part: exp.Expr) -> exp.Expr:
        if isinstance(part, exp.Column):
            table = part.table.lower() if tables else ""
            return exp.column(part.name.lower(), table=table or None)
        inner: exp.Expr = part.this if isinstance(part, exp.Paren) else part
        return inner

    return node.copy().transform(changed)


class OverResults:
    """Rewrites outputs and conditions so that they read keys and aggregates by their columns."""

    def __init__(
        self,
        keys: GroupKeys,
        scalars: Mapping[exp.Subquery, exp.Query],
        commonest: Callable[[exp.Expr, exp.Expr | None], exp.Expr],
        mark: str,
    ) -> None:
        self.keys = keys
        self.mark = mark
        self.scalars = scalars
        self.commonest = commonest
        self.folds: list[exp.Expr] = []

    def step(self, node: exp.Select, names: tuple[str, ...]) -> exp.Select:
        """Return the SELECT over columns k0, k1, ... and a0, a1, ..."""
        outputs = zip(node.expressions, names, strict=True)
        shown = [self._changed(each.unalias()).as_(name, quoted=True) for each, name in outputs]
        found = exp.Select(expressions=shown)
        having = node.args.get("having")
        if having is not None:
            found.set("where", exp.Where(this=self._changed(having.this, aliases=True)))
        for clause in ("qualify", "order"):
            if node.args.get(clause) is not None:
                found.set(clause, self._changed(node.args[clause], aliases=True))
        for clause in ("distinct", "limit", "offset"):
            if node.args.get(clause) is not None:
                found.set(clause, node.args[clause].copy())
        return found

    def _changed(self, node: exp.Expr, *, aliases: bool = False) -> exp.Expr:
        if isinstance(node, exp.Subquery):
            return exp.Subquery(this=self.scalars[node])
        if isinstance(node, exp.Grouping):
            places = [self.keys.place(part) for part in node.expressions]
            if len(places) != 1 or places[0] is None:
                raise refusal("clause", what="GROUPING of anything but one key")
            return exp.column(f"g{places[0]}{self.mark}", table="t")
        if not isinstance(node, exp.Order | exp.Ordered | exp.Qualify):
            place = self.keys.place(node)
            if place is not None:
                return exp.column(f"k{place}{self.mark}", table="t")
        if _listed(node) is not None:
            return _as_list([self._fold(each) for each in _listed(node) or ()])
        bare = node.this if isinstance(node, exp.Filter) else node
        if isinstance(bare, exp.Mode):
            return self.commonest(bare.this, None if bare is node else node.expression.this)
        if _is_fold(node):
            return self._fold(node)
        if isinstance(node, exp.Column):
            return self._named(node, aliases=aliases)
        return self._inside(node, aliases=aliases)

    def _named(self, node: exp.Column, *, aliases: bool) -> exp.Expr:
        if not node.table:
            for output in self.keys.select.expressions:
                if isinstance(output, exp.Alias) and output.alias.lower() == node.name.lower():
                    if aliases and not output.this.find(exp.Window):
                        return self._changed(output.this)
                    if aliases or output.this != node:
                        return exp.column(output.alias, quoted=True)
        raise refusal("raw rows", what=node.name)

    def _inside(self, node: exp.Expr, *, aliases: bool) -> exp.Expr:
        found = node.copy()
        for name, value in node.args.items():
            if isinstance(value, exp.Expr):
                found.set(name, self._part(node, name, value, aliases=aliases))
            elif isinstance(value, list):
                parts = [
                    self._changed(each, aliases=aliases) if isinstance(each, exp.Expr) else each
                    for each in value
                ]
                found.set(name, parts)
        return found

    def _part(self, node: exp.Expr, name: str, value: exp.Expr, *, aliases: bool) -> exp.Expr:
        if isinstance(node, exp.Window) and name == "this":
            # The window's own function runs over results; what it is given are aggregates and keys.
            return self._inside_function(value)
        if isinstance(value, exp.Identifier | exp.DataType | exp.Var | exp.WindowSpec):
            return value.copy()
        return self._changed(value, aliases=aliases)

    def _inside_function(self, node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Filter | exp.IgnoreNulls | exp.RespectNulls):
            found = node.copy()
            found.set("this", self._inside_function(node.this))
            if node.args.get("expression") is not None:
                found.set("expression", self._changed(node.expression))
            return found
        return self._inside(node, aliases=False)

    def _fold(self, node: exp.Expr) -> exp.Expr:
        for i, known in enumerate(self.folds):
            if known == node:
                return exp.column(f"a{i}{self.mark}", table="t")
        self.folds.append(node.copy())
        return exp.column(f"a{len(self.folds) - 1}{self.mark}", table="t")


_QUANTILES = (exp.Quantile, exp.ApproxQuantile, exp.PercentileCont, exp.PercentileDisc)


def _listed(node: exp.Expr) -> list[exp.Expr] | None:
    """Return one aggregate for each share of a list of quantiles."""
    if isinstance(node, exp.Filter):
        return _each_filtered(node)
    if not isinstance(node, _QUANTILES):
        return None
    for name, value in node.args.items():
        if isinstance(value, exp.Array):
            found: list[exp.Expr] = []
            for share in value.expressions:
                each = node.copy()
                each.set(name, share.copy())
                found.append(each)
            return found
    return None


def _each_filtered(node: exp.Filter) -> list[exp.Expr] | None:
    inner = _listed(node.this)
    if inner is None:
        return None
    return [exp.Filter(this=each, expression=node.expression.copy()) for each in inner]


def _as_list(parts: list[exp.Expr]) -> exp.Expr:
    return exp.cast(exp.Array(expressions=parts), "text", dialect="duckdb")


def _is_fold(node: exp.Expr) -> bool:
    """Return whether a node is an aggregate of the private question itself."""
    if isinstance(node, exp.Filter | exp.WithinGroup):
        return is_aggregate(node.this)
    if isinstance(node, exp.Anonymous):
        return str(node.name).lower() in {"var", "std", "stdev"}
    return isinstance(node, exp.AggFunc)


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
