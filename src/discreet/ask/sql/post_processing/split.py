"""Split a statement: its private questions, and what it does with their noisy results.

Subqueries inside a condition on rows can be answered first, and stand there as constants.
`WHERE beds > (SELECT AVG(beds) FROM wards)`: a public table is simply read. `WHERE age > (SELECT
AVG(age) FROM people)` is asked like any question; its noisy answer is a number that everybody may
know, so it may stand in the next question like one that the analyst typed.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from sqlglot import exp

from discreet.ask.plan.ir import Function
from discreet.ask.sql.bind import bind
from discreet.ask.sql.parse import MOST_NODES, ParsedQuestion
from discreet.ask.sql.post_processing.lineage import bars_of, with_row
from discreet.ask.sql.post_processing.parts import Parts, is_plain
from discreet.ask.sql.post_processing.steps import (
    Program,
    aggregates,
    has_steps,
    only_kept,
    only_steps,
    query_reads_people,
    source_reads_people,
    sources,
    unwritten,
)
from discreet.ask.sql.refuse import refusal, too_large
from discreet.base.schema import Dataset, Table
from discreet.data.catalog.catalog import Catalog
from discreet.errors import DiscreetError, UnknownName


def split(tree: exp.Expr, catalog: Catalog) -> Program | None:
    """Return the steps of a statement; None where it is one private question and nothing else.

    Guarantee: what this decides is accuracy alone. Each part is bound, sealed and charged like any
        question, and `after` can name nothing but their results and public tables.
    """
    if not has_steps(tree, catalog):
        return None
    only_kept(tree)
    mark = unwritten(tree)
    splitter = _Splitter(catalog, mark)
    found = splitter.query(tree, _Scope())
    after = found.node
    only_steps(after)
    parts = tuple(splitter.parts.selects)
    bars = bars_of(after, found.names, parts)
    return Program(
        parts=parts,
        public=tuple(splitter.public.values()),
        after=after if bars is None else with_row(after, mark),
        columns=tuple(found.names),
        bars=bars,
        mark=mark,
    )


@dataclass(frozen=True, slots=True)
class _Scope:
    """The WITH clauses in sight: those of people as written, the others as steps."""

    people: Mapping[str, exp.CTE] = field(default_factory=dict)
    steps: Mapping[str, _Step] = field(default_factory=dict)

    @property
    def known(self) -> dict[str, bool]:
        """Return whether each name holds rows of people."""
        return dict.fromkeys(self.people, True) | dict.fromkeys(self.steps, False)


@dataclass(frozen=True, slots=True)
class _Step:
    """A query over results and public tables, and what its columns are called."""

    node: exp.Query
    names: tuple[str, ...]


class _Splitter:
    """Walks a statement from the outside in, and takes out what reads people."""

    def __init__(self, catalog: Catalog, mark: str) -> None:
        self.catalog = catalog
        self.parts = Parts(catalog, mark)
        self.public: dict[str, tuple[Dataset, Table]] = {}
        self.nodes = 0

    def query(self, node: exp.Expr, scope: _Scope) -> _Step:
        """Return a query as a step; rows of people are no result."""
        self._grown(node)
        if isinstance(node, exp.Subquery):
            return self.query(node.this, scope)
        if isinstance(node, exp.SetOperation):
            return self._both(node, scope)
        if not isinstance(node, exp.Select):
            raise refusal("not a select")
        scope = self._with(node, scope)
        if any(source_reads_people(each, self.catalog, scope.known) for each in sources(node)):
            return self._asked(node, scope)
        return self._over_results(node, scope)

    def _grown(self, node: exp.Expr) -> None:
        self.nodes += sum(1 for _ in node.walk())
        if self.nodes > 4 * MOST_NODES:
            raise too_large()

    def _with(self, node: exp.Expr, scope: _Scope) -> _Scope:
        clause = node.args.get("with_")
        if clause is not None and clause.args.get("recursive"):
            raise refusal("clause", what="WITH RECURSIVE")
        for cte in clause.expressions if clause is not None else ():
            name = cte.alias.lower()
            if getattr(cte.args.get("alias"), "columns", None):
                raise refusal("clause", what="Renaming columns in WITH")
            steps = {k: v for k, v in scope.steps.items() if k != name}
            people = {k: v for k, v in scope.people.items() if k != name}
            if query_reads_people(cte.this, self.catalog, scope.known):
                scope = _Scope({**people, name: cte}, steps)
            else:
                scope = _Scope(people, {**steps, name: self.query(cte.this, scope)})
        return scope

    def _both(self, node: exp.SetOperation, scope: _Scope) -> _Step:
        scope = self._with(node, scope)
        sides = [self.query(side, scope) for side in (node.this, node.expression)]
        if len(sides[0].names) != len(sides[1].names):
            raise refusal("clause", what="UNION of different numbers of columns")
        found = node.copy()
        found.set("with_", None)
        found.set("this", _bracketed(sides[0].node))
        found.set("expression", _bracketed(sides[1].node))
        return _Step(found, sides[0].names)

    def _asked(self, node: exp.Select, scope: _Scope) -> _Step:
        """Return the step over a private question's result."""
        distinct = node.args.get("distinct")
        if not aggregates(node):
            if not distinct:
                raise refusal("star" if node.is_star else "no aggregate")
            node = _grouped(node)
        people = tuple(scope.people.values())
        if is_plain(node):
            select, names = self.parts.whole(node, people)
            return _Step(select, names)
        steps = {sub: self.query(sub.this, scope) for sub in _scalars(node)}
        found, names = self.parts.divided(node, people, {s: step.node for s, step in steps.items()})
        return _Step(found, names)

    def _over_results(self, node: exp.Select, scope: _Scope) -> _Step:
        found = node.copy()
        found.set("with_", None)
        named: list[tuple[str, tuple[str, ...]]] = []
        first = found.args.get("from_")
        for place in ([first] if first is not None else []) + list(found.args.get("joins") or ()):
            step, alias = self._source(place.this, scope)
            place.set("this", _as_table(step.node, alias))
            named.append((alias, step.names))
        for clause in (*found.expressions, *_conditions(found)):
            for sub in _outermost_selects(clause):
                sub.replace(self._inner(sub, scope))
        _spread_stars(found, named)
        return _Step(found, tuple(_output_names(found)))

    def _inner(self, node: exp.Expr, scope: _Scope) -> exp.Query:
        before = len(self.parts.selects)
        try:
            found = self.query(node, scope).node
            for part in self.parts.selects[before:]:
                bind(ParsedQuestion("", part), self.catalog)
        except UnknownName:
            # A column of the outer query: a question for each of its rows would be too many.
            raise refusal("subquery") from None
        return found

    def _source(self, node: exp.Expr, scope: _Scope) -> tuple[_Step, str]:
        if isinstance(node, exp.Subquery):
            return self.query(node.this, scope), node.alias or f"_s{self._next()}"
        if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
            raise refusal("clause", what="A function in FROM")
        if node.args.get("sample") or node.args.get("joins"):
            raise refusal(
                "sample" if node.args.get("sample") else "clause", what="JOIN in brackets"
            )
        alias = node.alias or node.name
        if not node.db and node.name.lower() in scope.steps:
            step = scope.steps[node.name.lower()]
            self._grown(step.node)
            return replace(step, node=step.node.copy()), alias
        return self._read_public(node), alias

    def _next(self) -> int:
        self.nodes += 1
        return self.nodes

    def _read_public(self, node: exp.Table) -> _Step:
        dataset, table = self.catalog.find(node.name, node.db or None)
        key = f"{dataset.name}.{table.name}"
        self.public.setdefault(key, (dataset, table))
        name = f"p{list(self.public).index(key)}"
        names = tuple(c.name for c in table.columns if not c.hidden and c.reviewed)
        shown = [exp.column(f"c{i}").as_(each, quoted=True) for i, each in enumerate(names)]
        return _Step(exp.select(*shown).from_(name), names)


def _grouped(node: exp.Select) -> exp.Select:
    """Return SELECT DISTINCT of columns as the GROUP BY that it means."""
    found = node.copy()
    found.set("distinct", None)
    places = [exp.Literal.number(i + 1) for i in range(len(found.expressions))]
    if found.is_star:
        raise refusal("star")
    found.set("group", exp.Group(expressions=places))
    return found


def _scalars(node: exp.Select) -> list[exp.Subquery]:
    """Return the subqueries that stand in outputs, HAVING, QUALIFY or ORDER BY."""
    clauses = [node.args.get(name) for name in ("having", "qualify", "order")]
    found = []
    for clause in (*node.expressions, *(each for each in clauses if each is not None)):
        found += [
            part
            for part in clause.walk(prune=lambda each: isinstance(each, exp.Subquery))
            if isinstance(part, exp.Subquery)
        ]
    return found


def _outermost_selects(clause: exp.Expr) -> list[exp.Expr]:
    """Return the queries inside a clause that are in no other query of it."""
    kinds = exp.Select | exp.SetOperation
    inside = clause.walk(prune=lambda each: isinstance(each, kinds))
    return [part for part in list(inside) if isinstance(part, kinds)]


def _conditions(found: exp.Select) -> list[exp.Expr]:
    names = ("where", "group", "having", "qualify", "order")
    clauses = [found.args.get(name) for name in names]
    joins = [join.args.get("on") for join in found.args.get("joins") or ()]
    return [clause for clause in (*clauses, *joins) if clause is not None]


def _bracketed(node: exp.Query) -> exp.Expr:
    return exp.Subquery(this=node)


def _as_table(node: exp.Query, alias: str) -> exp.Subquery:
    name = exp.TableAlias(this=exp.to_identifier(alias, quoted=True))
    return exp.Subquery(this=node, alias=name)


def _spread_stars(found: exp.Select, named: list[tuple[str, tuple[str, ...]]]) -> None:
    """Write * and t.* out, so that it is known what every column is called."""
    shown: list[exp.Expr] = []
    for output in found.expressions:
        starred = isinstance(output, exp.Star) or (
            isinstance(output, exp.Column) and isinstance(output.this, exp.Star)
        )
        if not starred:
            shown.append(output)
            continue
        if output.args.get("except_") or output.args.get("replace"):
            raise refusal("clause", what="* EXCEPT or REPLACE")
        only = output.table.lower() if isinstance(output, exp.Column) else ""
        for alias, names in named:
            if only in {"", alias.lower()}:
                shown += [exp.column(each, table=alias, quoted=True) for each in names]
    found.set("expressions", shown)


def _output_names(found: exp.Select) -> list[str]:
    names = []
    for i, output in enumerate(found.expressions):
        name = output.alias or (output.name if isinstance(output, exp.Column) else "")
        names.append(name or output.sql(dialect="duckdb").lower()[:60] or f"column{i + 1}")
    return names


MOST_LISTED = 1_000
"""Values of a list that a public subquery may give."""

_NOISY_DIGITS, _DIGITS = 6, 12


@dataclass(frozen=True, slots=True)
class Inner:
    """A subquery of a condition: over public tables a program, else one private question.

    `listed`: it stands behind IN, and gives many values.
    """

    select: exp.Select
    program: Program | None
    listed: bool

    @property
    def private(self) -> bool:
        """Return whether it must be paid for."""
        return self.program is None


def inner_questions(tree: exp.Expr, catalog: Catalog) -> list[Inner]:
    """Return the subqueries of conditions that can be answered by themselves, in their order.

    Whatever else stands there is left to the rules for memberships, or is refused by them.
    """
    return [inner for _, inner in _places(tree, catalog)]


def with_constants(tree: exp.Expr, catalog: Catalog, values: list[list[Any]]) -> exp.Expr:
    """Return a statement with its inner questions replaced by what they say."""
    found = tree.copy()
    places = _places(found, catalog)
    for (place, inner), given in zip(places, values, strict=True):
        digits = _NOISY_DIGITS if inner.private else _DIGITS
        nodes = [_constant(value, digits) for value in given]
        if inner.listed:
            place.set("query", None)
            place.set("expressions", nodes or [exp.Null()])
        else:
            place.replace(nodes[0] if nodes else exp.Null())
    return found


def _places(tree: exp.Expr, catalog: Catalog) -> list[tuple[exp.Expr, Inner]]:
    """Return the nodes to be replaced: a subquery, or the IN before one."""
    named = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    found = []
    for select in tree.find_all(exp.Select):
        where = select.args.get("where")
        if where is None or not _over_people(select, catalog, named):
            continue
        for node in where.walk(prune=lambda each: isinstance(each, exp.Query)):
            place, inner = _read(node, catalog, named)
            if place is not None and inner is not None:
                found.append((place, inner))
    return found


def _over_people(select: exp.Select, catalog: Catalog, named: set[str]) -> bool:
    # A name of WITH may stand for either; if it holds no people, nothing is lost but a refusal.
    known = dict.fromkeys(named, True)
    try:
        return any(source_reads_people(each, catalog, known) for each in sources(select))
    except DiscreetError:
        return False


def _read(
    node: exp.Expr, catalog: Catalog, named: set[str]
) -> tuple[exp.Expr | None, Inner | None]:
    listed = isinstance(node, exp.In) and node.args.get("query") is not None
    if listed:
        query: exp.Expr = node.args["query"].unnest()
    elif isinstance(node, exp.Subquery) and not isinstance(node.parent, exp.In | exp.Exists):
        query = node.unnest()
    else:
        return None, None
    if not isinstance(query, exp.Select) or len(query.expressions) != 1 or query.is_star:
        return None, None
    tables = list(query.find_all(exp.Table))
    if not tables or any(not table.db and table.name.lower() in named for table in tables):
        return None, None
    try:
        return node, _answerable(query, catalog, listed=listed)
    except DiscreetError:
        return None, None  # of the outer row, or declined anyway


def _answerable(query: exp.Select, catalog: Catalog, *, listed: bool) -> Inner | None:
    tables = [catalog.table(t.name, t.db or None) for t in query.find_all(exp.Table)]
    if all(table.public for table in tables):
        program = split(query.copy(), catalog)
        return None if program is None else Inner(query, program, listed)
    if listed or query.args.get("group") or query_reads_people(query, catalog, {}):
        return None
    if split(query.copy(), catalog) is not None:
        return None
    statement = bind(ParsedQuestion("", query.copy()), catalog)
    functions = [aggregate.function for _, aggregate in statement.aggregates]
    if len(functions) != 1 or functions[0] is Function.QUANTILE:
        return None
    return Inner(query, None, listed)


def _constant(value: Any, digits: int) -> exp.Expr:
    match value:
        case None:
            return exp.Null()
        case bool():
            return exp.Boolean(this=value)
        case dt.date():
            kind = "TIMESTAMP" if isinstance(value, dt.datetime) else "DATE"
            return exp.cast(exp.Literal.string(str(value)), kind)
        case int() | float() | Decimal() | Fraction():
            return _number(value, digits)
        case _:
            return exp.Literal.string(str(value))


def _number(value: float | Decimal | Fraction, digits: int) -> exp.Expr:
    """Return a number of so many digits: what a condition compares with, and no finer than useful."""
    if isinstance(value, int):
        written = str(abs(value))
    else:
        written = format(Decimal(f"{abs(float(value)):.{digits - 1}e}"), "f")
    found = exp.Literal.number(written)
    return exp.Neg(this=found) if value < 0 else found
