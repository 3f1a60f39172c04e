"""Bound tables: every name of a spec resolved, each SELECT as groupings of base columns.

The tables, exact facts and rules of a spec are bound against the catalog, or refused, here. A cut is a name
inside SQL: it stands for a CASE over its column, with labels such as 18-34.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlglot import exp

from discreet.ask.plan import expr as e
from discreet.ask.plan.expr import Expr
from discreet.ask.plan.ir import (
    CLOCK,
    Aggregate,
    Filter,
    Function,
    Join,
    JoinKind,
    Relation,
    Scan,
    Statement,
    scans_of,
)
from discreet.ask.sql.bind import bind
from discreet.ask.sql.parse import ParsedQuestion, read
from discreet.base.numbers import plain
from discreet.base.schema import Column, Dataset, IntegerDomain, NumberDomain, Table
from discreet.data.catalog.catalog import Catalog
from discreet.errors import InvalidInput
from discreet.work.publish.specification import Cut, FactSpec, Spec

ReadPublicRows = Callable[[Scan], Mapping[str, Sequence[Any]]]
"""The rows of a public table: by column, one value each."""


OWN_COLUMNS = frozenset({"value", "scale"})
"""What files of measurements and facts say beside the keys."""


@dataclass(frozen=True, slots=True)
class Attached:
    """A public column: for each value of a private base column, the value that belongs to it."""

    base: str
    values: Mapping[Any, Any]
    order: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class BoundKey:
    """One grouped column under its published name: a function of one base column."""

    name: str
    base: str
    value: Expr
    attached: Mapping[str, Attached]


@dataclass(frozen=True, slots=True)
class BoundMeasure:
    """One published number: COUNT(*), COUNT(x) or SUM(x) over base columns."""

    name: str
    aggregate: Aggregate


@dataclass(frozen=True, slots=True)
class BoundCondition:
    """A conjunct of WHERE over one base column."""

    base: str
    value: Expr
    attached: Mapping[str, Attached]


@dataclass(frozen=True, slots=True, eq=False)
class BoundTable:
    """A table of the release, bound to one private table.

    `residual`: conjuncts over several columns; they are kept as they are, and tables that differ in
    them are never of one family.
    """

    name: str
    sql: str
    dataset: Dataset
    table: Table
    keys: tuple[BoundKey, ...]
    measures: tuple[BoundMeasure, ...]
    conditions: tuple[BoundCondition, ...]
    residual: tuple[Expr, ...]

    @property
    def bases(self) -> tuple[str, ...]:
        """Return the base columns that keys and conditions use, in order."""
        used = [key.base for key in self.keys] + [c.base for c in self.conditions]
        return tuple(dict.fromkeys(used))

    def expressions(self) -> Iterable[tuple[str, Expr]]:
        """Yield each base column with what is computed of it."""
        for key in self.keys:
            yield key.base, key.value
        for condition in self.conditions:
            yield condition.base, condition.value


def bound_table(name: str, sql: str, statement: Statement, public: ReadPublicRows) -> BoundTable:
    """Return one SELECT of a release, or say why it cannot be published."""
    scan, filters, attached = _unfold(name, statement.source, public)
    own = {f.name: f.origin.column for f in scan.fields if f.origin is not None}
    clocks = clock_names(scan)
    names = {identity: e.ColumnRef(column.name) for identity, column in own.items()}
    names |= {identity: e.ColumnRef(written) for identity, written in clocks.items()}
    reader = _Reader(own, attached, clocks)
    if statement.having != e.TRUE or statement.order or statement.limit is not None:
        raise InvalidInput(
            f"Table '{name}': HAVING, ORDER BY and LIMIT have no place in a release.",
            hint="Every public key appears, in the order of its declared values.",
        )
    assert scan.dataset is not None, "every table belongs to a dataset"
    keys, measures = _outputs(name, statement, reader, names)
    conditions, residual = [], []
    for part in (part for each in filters for part in e.conjuncts(each)):
        bases = reader.bases(part)
        if len(bases) == 1 and not reader.times(part):
            conditions.append(BoundCondition(bases[0], e.substitute(part, names), attached))
        elif any(column in attached for column in e.columns_of(part)):
            raise InvalidInput(
                f"Table '{name}': a condition mixes a public column with others.",
                hint="Join conditions with AND, each over one column.",
            )
        else:
            residual.append(e.substitute(part, names))
    return BoundTable(
        name=name,
        sql=sql,
        dataset=scan.dataset,
        table=scan.table,
        keys=keys,
        measures=measures,
        conditions=tuple(conditions),
        residual=tuple(sorted(residual, key=repr)),
    )


def clock_names(scan: Scan) -> dict[str, str]:
    """Return the seconds of the day beside timestamps, under the names of their columns."""
    own = {f.name: f.origin.column.name for f in scan.fields if f.origin is not None}
    clocks = (f.name for f in scan.fields if f.name.endswith(CLOCK))
    return {name: f"{own[name.removesuffix(CLOCK)]}{CLOCK}" for name in clocks}


def _unfold(
    name: str, source: Relation, public: ReadPublicRows
) -> tuple[Scan, list[Expr], dict[str, Attached]]:
    """Return the private table, the conditions and the public columns attached to it."""
    match source:
        case Scan() if not source.public:
            return source, [], {}
        case Filter(source=below, condition=condition):
            scan, filters, attached = _unfold(name, below, public)
            return scan, [*filters, condition], attached
        case Join(left=left, right=right, pairs=((one, two),), kind=JoinKind.INNER):
            if isinstance(right, Scan) and right.public:
                scan, filters, attached = _unfold(name, left, public)
                found = _attach(name, scan, attached, (one, two), right, public(right))
                return scan, filters, {**attached, **found}
    raise InvalidInput(
        f"Table '{name}' must read one private table, joined to public ones on one column each.",
        hint="Write SELECT keys, COUNT(*) AS n FROM private p JOIN public q ON p.x = q.x GROUP BY.",
    )


def _attach(  # noqa: PLR0917 a step of `_unfold`
    name: str,
    scan: Scan,
    attached: Mapping[str, Attached],
    pair: tuple[str, str],
    right: Scan,
    rows: Mapping[str, Sequence[Any]],
) -> dict[str, Attached]:
    """Return the columns of a public table as functions of a private base column."""
    one, two = pair
    columns = {f.name: f.origin.column.name for f in right.fields if f.origin is not None}
    domains = {f.name: f.domain for f in right.fields}
    if one in attached:
        base, steps = attached[one].base, attached[one].values
    else:
        base = next(f.origin.column.name for f in scan.fields if f.name == one and f.origin)
        column = scan.table.column(base).by_day()
        size = getattr(column.domain, "size", None)
        if size is None:
            raise InvalidInput(f"Table '{name}': '{base}' has no declared values to join on.")
        steps = {column.domain.value(i): column.domain.value(i) for i in range(size)}  # type: ignore[union-attr]
    places: dict[Any, int] = {}
    for number, value in enumerate(rows[columns[two]]):
        if value is not None and places.setdefault(value, number) != number:
            raise InvalidInput(
                f"'{value}' stands twice in column '{columns[two]}' of the public table "
                f"'{right.table.name}', so a row would count twice.",
            )
    found = {}
    for identity, written in columns.items():
        values = {}
        for start, via in steps.items():
            place = places.get(via) if via is not None else None
            value = rows[written][place] if place is not None else None
            if value is None:
                raise InvalidInput(
                    f"'{via}' of column '{base}' has no {written} in the public table "
                    f"'{right.table.name}': the hierarchy has an orphan.",
                    hint="Add it to the public table; every declared value needs its place.",
                )
            values[start] = value
        found[identity] = Attached(base, values, _order(domains[identity]))
    return found


def _order(domain: Any) -> tuple[Any, ...]:
    size = getattr(domain, "size", None)
    return () if size is None else tuple(domain.value(i) for i in range(size))


@dataclass(frozen=True, slots=True)
class _Reader:
    """Says which base columns an expression is a function of."""

    own: Mapping[str, Column]
    attached: Mapping[str, Attached]
    clocks: Mapping[str, str]

    def bases(self, value: Expr) -> tuple[str, ...]:
        found = [self._base(name) for name in sorted(e.columns_of(value))]
        return tuple(dict.fromkeys(found))

    def _base(self, name: str) -> str:
        if name in self.attached:
            return self.attached[name].base
        return self.clocks[name] if name in self.clocks else self.own[name].name

    def times(self, value: Expr) -> bool:
        """Return whether an expression reads a time of day: no dimension of a release."""
        return any(name in self.clocks for name in e.columns_of(value))


def _outputs(
    name: str, statement: Statement, reader: _Reader, names: Mapping[str, Expr]
) -> tuple[tuple[BoundKey, ...], tuple[BoundMeasure, ...]]:
    by_key = {key.name: key.value for key in statement.keys}
    by_aggregate = dict(statement.aggregates)
    keys, measures = [], []
    for output, value in statement.outputs:
        inner = value.name if isinstance(value, e.ColumnRef) else ""
        if inner in by_key:
            bases = reader.bases(by_key[inner])
            if reader.times(by_key[inner]):
                raise InvalidInput(
                    f"Table '{name}': '{output}' is a time of day, which no release groups by.",
                    hint="Group by the day, or declare a column that holds the hour.",
                )
            if len(bases) != 1:
                raise InvalidInput(f"Table '{name}': '{output}' is made of several columns.")
            written = e.substitute(by_key[inner], names)
            keys.append(BoundKey(output, bases[0], written, reader.attached))
        elif inner in by_aggregate:
            measures.append(_measure(name, output, by_aggregate[inner], reader, names))
        else:
            raise InvalidInput(
                f"Table '{name}': '{output}' is neither a grouped column nor COUNT or SUM.",
                hint="Arithmetic on published numbers is left to their readers.",
            )
    _check_outputs(name, statement, len(keys), [k.name for k in keys] + [m.name for m in measures])
    if not measures:
        raise InvalidInput(f"Table '{name}' has no COUNT(*) and no SUM.")
    return tuple(keys), tuple(measures)


def _check_outputs(name: str, statement: Statement, keys: int, names: Sequence[str]) -> None:
    if keys != len(statement.keys):
        raise InvalidInput(f"Table '{name}': every column in GROUP BY must be selected, once.")
    suffixed = [f"{each}{end}".lower() for each in names for end in ("", "_low", "_high")]
    if len(set(suffixed)) != len(suffixed):
        raise InvalidInput(f"Table '{name}' has two columns of one name.")


def check_column_names(tables: Iterable[BoundTable]) -> None:
    """Refuse names of published columns that a package cannot keep apart, or nobody could see."""
    for table in tables:
        for name in (*(key.name for key in table.keys), *(each.name for each in table.measures)):
            if not name.isprintable():
                raise InvalidInput(
                    f"Table '{table.name}': the name {name!a} has letters that are not shown.",
                    hint="Select it under another name: SELECT x AS name.",
                )
        for key in table.keys:
            if key.name.lower() in OWN_COLUMNS:
                raise InvalidInput(
                    f"Table '{table.name}' groups by '{key.name}', which is the name of a column that "
                    "every file of measurements has.",
                    hint="Select it under another name: SELECT x AS name.",
                )


def _measure(
    name: str, output: str, aggregate: Aggregate, reader: _Reader, names: Mapping[str, Expr]
) -> BoundMeasure:
    if aggregate.distinct or aggregate.function not in {Function.COUNT, Function.SUM}:
        raise InvalidInput(
            f"Table '{name}': '{output}' is {aggregate.function.value}; a release adds up COUNT and "
            "SUM only.",
            hint="Publish SUM and COUNT: readers divide them.",
        )
    operand = aggregate.operand
    if operand is not None:
        if any(column in reader.attached for column in e.columns_of(operand)):
            raise InvalidInput(f"Table '{name}': '{output}' adds up a public column.")
        operand = e.substitute(operand, names)
    return BoundMeasure(output, Aggregate(aggregate.function, operand))


def with_cuts(
    sql: str, tree: exp.Expr, cuts: Sequence[Cut], columns: Mapping[str, Column]
) -> ParsedQuestion:
    """Return a SELECT whose cuts are written out. `columns` are those of the private tables."""
    named = {cut.name.lower(): cut for cut in cuts}
    for node in list(tree.find_all(exp.Column)):
        cut = named.get(node.name.lower())
        if cut is None:
            continue
        column = columns.get(cut.column.lower())
        if column is None:
            raise InvalidInput(f"The cut '{cut.name}' is of a column that no table here has.")
        case = _case(cut, column, node.args.get("table"))
        shown = isinstance(node.parent, exp.Select) and node.arg_key == "expressions"
        node.replace(exp.alias_(case, cut.name, quoted=True) if shown else case)
    return ParsedQuestion(sql, tree)


def check_names(cuts: Sequence[Cut], dataset: Dataset) -> None:
    """Refuse a cut whose name means something else already: another cut, or another column."""
    known = {column.name.lower() for table in dataset.tables for column in table.columns}
    for number, cut in enumerate(cuts):
        name = cut.name.lower()
        if name in known and name != cut.column.lower():
            raise InvalidInput(
                f"The cut '{cut.name}' has the name of a column, which it would hide.",
                hint="Give the cut a name of its own.",
            )
        if any(name == other.name.lower() for other in cuts[:number]):
            raise InvalidInput(
                "Two cuts have one name; upper and lower case do not tell them apart."
            )


def labels(cut: Cut, column: Column) -> tuple[str, ...]:
    """Return the names of a cut's classes: 0-17 for whole numbers, 0 to <5000 for others.

    >>> from discreet.base.schema import Column, IntegerDomain
    >>> labels(Cut("g", "age", (Fraction(0), Fraction(18), Fraction(65))), Column("age", IntegerDomain(0, 120)))
    ('0-17', '18-64')
    """
    pairs = list(zip(cut.edges, cut.edges[1:], strict=False))
    if isinstance(column.domain, IntegerDomain):
        spans = [(-(-low // 1), -(-high // 1) - 1) for low, high in pairs]
        return tuple(str(low) if low == high else f"{low}-{high}" for low, high in spans)
    return tuple(f"{plain(low)} to <{plain(high)}" for low, high in pairs)


def _case(cut: Cut, column: Column, table: exp.Identifier | None) -> exp.Case:
    if not isinstance(column.domain, IntegerDomain | NumberDomain):
        raise InvalidInput(
            f"The cut '{cut.name}' is of '{column.name}', which is no number.",
            hint="Only numbers can be cut; group by other columns as they are.",
        )
    case = exp.Case()
    for name, low, high in zip(labels(cut, column), cut.edges, cut.edges[1:], strict=False):
        above = _compared(exp.GTE, column.name, table, low)
        below = _compared(exp.LT, column.name, table, high)
        case = case.when(exp.and_(above, below), exp.Literal.string(name), copy=False)
    return case


def _compared(
    kind: type[exp.Binary], column: str, table: exp.Identifier | None, edge: Fraction
) -> exp.Expr:
    name = exp.Column(
        this=exp.to_identifier(column, quoted=True), table=table.copy() if table else None
    )
    number: exp.Expr = exp.Literal.number(plain(abs(edge), significant=30))
    return kind(this=name, expression=exp.Neg(this=number) if edge < 0 else number)


@dataclass(frozen=True, slots=True, eq=False)
class DraftedRule:
    """A rule on one table: its SELECT without its WHERE, and the same with the rule as WHERE."""

    text: str
    table: str
    bare: Statement
    ruled: Statement


@dataclass(frozen=True, slots=True, eq=False)
class Drafted:
    """Statements of a release before public tables are read: by name, with their own SQL."""

    spec: Spec
    dataset: Dataset
    tables: Mapping[str, Statement]
    facts: Mapping[str, Statement]
    rules: tuple[DraftedRule, ...]

    @property
    def scans(self) -> tuple[Scan, ...]:
        """Return every table that anything reads, each once."""
        found: dict[str, Scan] = {}
        for statement in (*self.tables.values(), *self.facts.values()):
            for scan in scans_of(statement.source):
                found.setdefault(scan.table.name, scan)
        return tuple(found.values())


@dataclass(frozen=True, slots=True, eq=False)
class BoundRule:
    """A structural zero: no row of `source` for which all conditions hold, as `table` names its columns.

    The table's own WHERE is no part of it, so the rule is one about all tables of that source.
    """

    text: str
    table: str
    source: str
    conditions: tuple[BoundCondition, ...]


@dataclass(frozen=True, slots=True, eq=False)
class BoundSpec:
    """A release whose tables, facts and rules are functions of base columns."""

    tables: tuple[BoundTable, ...]
    facts: tuple[tuple[FactSpec, BoundTable], ...]
    rules: tuple[BoundRule, ...]

    @property
    def everything(self) -> tuple[BoundTable, ...]:
        """Return the tables, and the facts as tables."""
        return (*self.tables, *(table for _, table in self.facts))


def draft(spec: Spec, catalog: Catalog) -> Drafted:
    """Return the bound statements of a spec; reads nothing."""
    dataset = catalog.dataset(spec.dataset)
    check_names(spec.cuts, dataset)
    columns: dict[str, Column] = {
        column.name.lower(): column
        for table in dataset.tables
        if not table.public
        for column in table.columns
    }
    texts = {table.name: table.sql for table in spec.tables}
    trees = {name: read(sql) for name, sql in texts.items()}
    tables = {
        name: bind(with_cuts(texts[name], tree.copy(), spec.cuts, columns), catalog)
        for name, tree in trees.items()
    }
    facts = {
        fact_name(i): bind(with_cuts(f.sql, read(f.sql), spec.cuts, columns), catalog)
        for i, f in enumerate(spec.facts)
    }
    rules = [
        DraftedRule(
            rule, name, *(bind(with_cuts(rule, t, spec.cuts, columns), catalog) for t in pair)
        )
        for rule in spec.rules
        for name, pair in _with_rule(rule, trees).items()
    ]
    for name, statement in (tables | facts).items():
        _only_this(name, statement, dataset)
    return Drafted(spec, dataset, tables, facts, tuple(rules))


def fact_name(number: int) -> str:
    """Return what an exact fact is called in a package: facts are not named in a spec."""
    return f"fact-{number + 1}"


def bind_spec(drafted: Drafted, public: ReadPublicRows) -> BoundSpec:
    """Return the release as functions of base columns; `public` reads public tables."""
    spec = drafted.spec
    texts = {table.name: table.sql for table in spec.tables}
    tables = tuple(
        bound_table(name, texts[name], statement, public)
        for name, statement in drafted.tables.items()
    )
    facts = tuple(
        (fact, bound_table(name, fact.sql, drafted.facts[name], public))
        for name, fact in ((fact_name(i), fact) for i, fact in enumerate(spec.facts))
    )
    rules = []
    for rule in drafted.rules:
        bare = bound_table(rule.table, rule.text, rule.bare, public)
        ruled = bound_table(rule.table, rule.text, rule.ruled, public)
        if len(ruled.residual) > len(bare.residual):
            raise InvalidInput(
                f"The rule '{rule.text[:60]}' mixes columns inside one condition.",
                hint="Join conditions with AND, each over one grouped column.",
            )
        # What a join says of its rows is no part of the rule.
        conditions = list(ruled.conditions)
        for condition in bare.conditions:
            conditions.remove(condition)
        rules.append(BoundRule(rule.text, rule.table, ruled.table.name, tuple(conditions)))
    return BoundSpec(tables, facts, tuple(rules))


def _only_this(name: str, statement: Statement, dataset: Dataset) -> None:
    for scan in scans_of(statement.source):
        if scan.dataset is None or scan.dataset.name != dataset.name:
            raise InvalidInput(
                f"'{name}' reads table '{scan.table.name}', which is not in dataset "
                f"'{dataset.name}'.",
                hint="One release is about the people of one dataset.",
            )


def _with_rule(rule: str, trees: Mapping[str, exp.Expr]) -> dict[str, tuple[exp.Expr, exp.Expr]]:
    """Return each table that groups by all columns of a rule: without WHERE, and with the rule as its WHERE."""
    found = {}
    condition = _condition(rule)
    wanted = {column.name.lower() for column in condition.find_all(exp.Column)}
    for name, tree in trees.items():
        shown = _shown(tree)
        if not wanted or not wanted <= shown.keys():
            continue
        bare, own = tree.copy(), condition.copy()
        bare.set("where", None)
        for column in list(own.find_all(exp.Column)):
            column.replace(shown[column.name.lower()].copy())
        found[name] = bare, bare.copy().where(own, copy=False)  # type: ignore[attr-defined]
    if not found:
        raise InvalidInput(
            f"The rule '{rule[:60]}' is about columns that no table groups by together.",
            hint="Write it over the columns of one published table.",
        )
    return found


def _condition(rule: str) -> exp.Expr:
    tree = read(f"SELECT COUNT(*) AS n FROM t WHERE ({rule})")
    where = tree.args.get("where")
    extra = [key for key in ("group", "order", "limit", "having", "joins") if tree.args.get(key)]
    if where is None or extra:
        raise InvalidInput(f"The rule '{rule[:60]}' is no condition.")
    # A parent keeps the condition together, also where it is a bare column.
    found: exp.Expr = exp.Paren(this=where.this)
    return found


def _shown(tree: exp.Expr) -> dict[str, exp.Expr]:
    """Return the selected columns of a table by their published names."""
    found: dict[str, exp.Expr] = {}
    for node in tree.expressions:
        inner = node.this if isinstance(node, exp.Alias) else node
        if not inner.find(exp.AggFunc):
            found[(node.alias or inner.name).lower()] = inner
    return found
