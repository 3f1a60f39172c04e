"""From a spec to bound tables, facts and rules: every name resolved, every sentence of refusal here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from discreet.catalog.catalog import Catalog
from discreet.core.schema import Column, Dataset
from discreet.errors import InvalidInput
from discreet.plan.ir import Scan, Statement, scans_of
from discreet.publish.families.bound import BoundCondition, BoundTable, ReadPublicRows, bound_table
from discreet.publish.specification.cuts import check_names, with_cuts
from discreet.publish.specification.spec import FactSpec, Spec
from discreet.sql.bind import bind
from discreet.sql.parse import read


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
