"""The whole plan of a question: everything that is decided before a row is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.catalog.catalog import Catalog
from discreet.core.numbers import Delta, Epsilon
from discreet.core.region import Region
from discreet.core.schema import Dataset
from discreet.errors import QueryRefused
from discreet.plan import expr as e
from discreet.plan.choose import Mechanisms, choose, choose_top
from discreet.plan.expr import Expr
from discreet.plan.ir import Order, Statement, fields_of, scans_of, unit_columns, unit_of
from discreet.plan.keys import PrivateGroups, PublicGroups, groups_of
from discreet.plan.measure import Kind, Measured, to_measures
from discreet.plan.regions import domains_of, narrowed_domains, reach_of
from discreet.plan.stability import Stability, stability_of
from discreet.plan.top import is_top, without_order

DELTA_SHARE = Fraction(1, 128)
"""The part of a budget's delta that one statement may use: Gaussian noise, private groups."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, before it has a price: groups, measures, sensitivities, and who is touched."""

    statement: Statement
    dataset: Dataset
    groups: PublicGroups | PrivateGroups
    measured: Measured
    stability: Stability
    region: Region
    snapshots: Mapping[str, str]
    top: bool = False

    @property
    def outputs(self) -> tuple[tuple[str, Expr], ...]:
        """Return the output columns as expressions over keys and measures."""
        return tuple(
            (name, e.substitute(value, self.measured.formulas))
            for name, value in self.statement.outputs
        )

    @property
    def having(self) -> Expr:
        """Return the HAVING condition over keys and measures."""
        return e.substitute(self.statement.having, self.measured.formulas)

    @property
    def order(self) -> tuple[Order, ...]:
        """Return the ORDER BY expressions over keys and measures."""
        return tuple(
            replace(order, value=e.substitute(order.value, self.measured.formulas))
            for order in self.statement.order
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """A question with its mechanisms: (epsilon, delta) is what they cost at most."""

    question: Question
    mechanisms: Mechanisms
    epsilon: Epsilon
    delta: Delta


def ask(statement: Statement, catalog: Catalog, snapshots: Mapping[str, str]) -> Question:
    """Return the question that `statement` puts to the catalog's data; reads no rows."""
    source = statement.source
    dataset = next(s.dataset for s in scans_of(source) if not s.public and s.dataset is not None)
    groups = groups_of(statement.keys, source)
    private = isinstance(groups, PrivateGroups)
    measured = to_measures(
        statement.aggregates,
        domains_of(source),
        narrowed=narrowed_domains(source),
        unit=unit_of(source),
        twins=unit_columns(source),
        private_groups=private,
    )
    stability = stability_of(
        source,
        grouped=bool(statement.keys),
        neighbours=dataset.neighbours,
        units_only=all(measure.kind is Kind.UNITS for _, measure in measured.measures)
        and not measured.choices,
        max_rows=statement.max_rows,
    )
    if private and not catalog.budget_of(dataset).delta.value:
        names = [field.name.split(".", 1)[1] for field in fields_of(source)]
        keys = [key.value.name for key in statement.keys if isinstance(key.value, e.ColumnRef)]
        shown = next((name for name in names if any(k.endswith(name) for k in keys)), "The key")
        raise QueryRefused(
            f"'{shown}' has no declared list of values: its groups need a threshold, and that "
            "needs delta.",
            hint="Declare its values, or give the dataset a delta such as 1e-9.",
            construct="private key",
        )
    reach = reach_of(source, catalog, snapshots)
    top = not private and is_top(statement)
    return Question(
        statement=without_order(statement) if top else statement,
        dataset=dataset,
        groups=groups,
        measured=measured,
        stability=stability,
        region=reach.region,
        snapshots=dict(snapshots),
        top=top,
    )


def make_plan(question: Question, *, epsilon: Epsilon, budget_delta: Delta) -> Plan:
    """Return the plan that answers `question` at `epsilon`; reads no rows."""
    delta = Delta(budget_delta.value * DELTA_SHARE)
    if question.top:
        chosen = choose_top(question.stability, epsilon, pure=not budget_delta.value)
        return Plan(question, chosen, epsilon, delta)
    mechanisms = choose(
        question.measured, question.groups, question.stability, epsilon=epsilon, delta=delta
    )
    return Plan(question, mechanisms, epsilon, delta)
