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
from discreet.kernel.mechanism import Kind, LargestGroup, Mechanisms, Stability
from discreet.plan import expr as e
from discreet.plan.choose import choose, shares_of
from discreet.plan.expr import Expr
from discreet.plan.ir import Order, Statement, fields_of, scans_of
from discreet.plan.keys import PrivateGroups, PublicGroups, groups_of
from discreet.plan.largest_group import is_top, without_order
from discreet.plan.measure import MeasuredOutputs, to_measures
from discreet.plan.regions import reach_of
from discreet.plan.stability import rows_to_keep

DELTA_SHARE = Fraction(1, 128)
"""The part of a budget's delta that one statement may use: Gaussian noise, private groups."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, before it has a price: groups, measures, sensitivities, and who is touched.

    `enforced`: the SQL must cut the rows of a unit down to the stability's.
    """

    statement: Statement
    dataset: Dataset
    groups: PublicGroups | PrivateGroups
    measured: MeasuredOutputs
    stability: Stability
    region: Region
    snapshots: Mapping[str, str]
    enforced: bool
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
    """A question with the mechanisms that should answer it within (epsilon, delta).

    `epsilons` are the shares of measures and choices.
    """

    question: Question
    mechanisms: Mechanisms
    epsilon: Epsilon
    delta: Delta
    epsilons: Mapping[str, Fraction]


def ask(statement: Statement, catalog: Catalog, snapshots: Mapping[str, str]) -> Question:
    """Return the question that `statement` puts to the catalog's data; reads no rows."""
    source = statement.source
    dataset = next(s.dataset for s in scans_of(source) if not s.public and s.dataset is not None)
    groups = groups_of(statement.keys, source)
    private = isinstance(groups, PrivateGroups)
    measured = to_measures(statement, private_groups=private)
    reach = reach_of(source, snapshots)
    # Keys that are constant for a unit put all of its rows into one group.
    single = all(e.columns_of(key.value) <= reach.axes.keys() for key in statement.keys)
    rows, enforced = rows_to_keep(
        source,
        single=single,
        units_only=all(measure.kind is Kind.UNITS for _, measure in measured.measures)
        and not measured.choices,
    )
    if private and not catalog.budget_of(dataset).delta.value:
        keys = {key.value.name for key in statement.keys if isinstance(key.value, e.ColumnRef)}
        shown = next((f.called for f in fields_of(source) if f.name in keys), "The key")
        raise QueryRefused(
            f"'{shown}' has no declared list of values: its groups need a threshold, and that "
            "needs delta.",
            hint="Declare its values, or give the dataset a delta such as 1e-9.",
            construct="private key",
        )
    top = not private and is_top(statement)
    return Question(
        statement=without_order(statement) if top else statement,
        dataset=dataset,
        groups=groups,
        measured=measured,
        stability=Stability(
            rows, bool(statement.keys), dataset.neighbours, groups=1 if single else None
        ),
        region=reach.region,
        snapshots=dict(snapshots),
        enforced=enforced,
        top=top,
    )


def make_plan(question: Question, *, epsilon: Epsilon, budget_delta: Delta) -> Plan:
    """Return the plan that answers `question` at `epsilon`; reads no rows."""
    delta = Delta(budget_delta.value * DELTA_SHARE)
    if question.top:
        top = LargestGroup(epsilon.value, flip=not budget_delta.value)
        return Plan(question, Mechanisms({}, {}, top), epsilon, delta, {})
    mechanisms = choose(
        question.measured, question.groups, question.stability, epsilon=epsilon, delta=delta
    )
    return Plan(question, mechanisms, epsilon, delta, shares_of(question.measured, epsilon))
