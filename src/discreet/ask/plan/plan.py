"""The whole plan of a question: everything that is decided before a row is read.

Which groups an answer shows (a public list, or whatever passes a threshold), and from measures and a budget the
mechanisms: the family of noise with the smaller error.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

from discreet.ask.plan import expr as e
from discreet.ask.plan.evaluate import tabulated
from discreet.ask.plan.expr import Expr, is_finite, points
from discreet.ask.plan.ir import (
    Key,
    Order,
    Relation,
    Statement,
    fields_of,
    is_top,
    rows_to_keep,
    scans_of,
    without_order,
)
from discreet.ask.plan.measure import MeasuredOutputs, to_measures
from discreet.ask.plan.regions import box_positions, domains_of, narrowed_domains, reach_of
from discreet.ask.plan.values import infer
from discreet.base.event import NULL, Positions, Region
from discreet.base.numbers import Delta, Epsilon
from discreet.base.schema import (
    MAX_PUBLIC_KEYS,
    CategoryDomain,
    Dataset,
    Domain,
    IntegerDomain,
    TimestampDomain,
)
from discreet.data.catalog.catalog import Catalog
from discreet.errors import QueryRefused
from discreet.privacy.account.price import least_size
from discreet.privacy.kernel.mechanism import (
    Kind,
    LargestGroup,
    Law,
    Mechanisms,
    Selection,
    Stability,
)
from discreet.privacy.noise.additive import GREATEST_SCALE, SMALLEST_SCALE
from discreet.privacy.noise.laws import NoiseLaw
from discreet.privacy.noise.laws.registry import LAWS

MAX_GROUPS = 1_000_000
"""An answer never lists more public groups than this."""


@dataclass(frozen=True, slots=True)
class PublicGroups:
    """The values of each key; every combination appears in the answer, empty or not."""

    values: tuple[tuple[Any, ...], ...]

    @property
    def count(self) -> int:
        """Return how many groups there are."""
        return math.prod(len(values) for values in self.values)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return product(*self.values)


@dataclass(frozen=True, slots=True)
class PrivateGroups:
    """Groups that nobody declared: each appears only if enough units stand behind it."""


def groups_of(keys: tuple[Key, ...], source: Relation) -> PublicGroups | PrivateGroups:
    """Return the public list of groups, or say that they must be thresholded."""
    possible = box_positions(source)
    domains = domains_of(source)
    narrowed = narrowed_domains(source)
    listed = [_values(key, domains, narrowed, possible) for key in keys]
    if any(values is None for values in listed):
        return PrivateGroups()
    groups = PublicGroups(tuple(values for values in listed if values is not None))
    if groups.count > MAX_GROUPS:
        raise QueryRefused(
            f"The groups would be {groups.count:,} in number, more than {MAX_GROUPS:,}.",
            hint="Group by fewer columns, or restrict them with WHERE.",
            construct="too many keys",
        )
    return groups


def _values(
    key: Key,
    domains: Mapping[str, Domain],
    narrowed: Mapping[str, Domain],
    possible: Mapping[str, Positions],
) -> tuple[Any, ...] | None:
    names = e.columns_of(key.value)
    if len(names) == 1:
        found = _values_of_one_column(key, next(iter(names)), domains, possible)
        if found is not None:
            return found
    domain = key.domain
    if not is_finite(domain):
        return None
    if isinstance(domain, IntegerDomain | TimestampDomain):
        # What WHERE leaves possible; it is enforced, so no row has another key.
        domain = infer(key.value, narrowed)
    if not isinstance(domain, CategoryDomain) and domain.size > MAX_PUBLIC_KEYS:  # type: ignore[union-attr]  # finite
        return None
    return (*((None,) if key.missing else ()), *points(domain))  # type: ignore[arg-type]  # finite


def _values_of_one_column(
    key: Key, name: str, domains: Mapping[str, Domain], possible: Mapping[str, Positions]
) -> tuple[Any, ...] | None:
    allowed = possible.get(name)
    if isinstance(key.value, e.ColumnRef):
        domain = domains[name]
        if not is_finite(domain) or allowed is None:
            return None
        if len(allowed) > MAX_PUBLIC_KEYS and not isinstance(domain, CategoryDomain):
            return None
        listed = [p for low, high in allowed.spans for p in range(low, high + 1)]
        found = [domain.value(p) for p in listed if p != NULL]  # type: ignore[union-attr]  # finite
        return (*((None,) if NULL in allowed and (key.missing or not found) else ()), *found)
    table = tabulated(key.value, domains)
    if table is None:
        return None
    kept = [value for i, value in enumerate(table) if allowed is None or (i + NULL) in allowed]
    present = {value for value in kept if value is not None}
    return (*((None,) if key.missing and None in kept else ()), *sorted(present))


CONCENTRATED_UP_TO = 32
"""Above this epsilon pure noise is the smaller by far, and nothing is promised anyway."""


def choose(
    measured: MeasuredOutputs,
    groups: PublicGroups | PrivateGroups,
    stability: Stability,
    *,
    epsilon: Epsilon,
    delta: Delta,
) -> Mechanisms:
    """Return the mechanisms that should answer all measures within (epsilon, delta).

    Measure i gets the share w_i of epsilon (or of rho), the shares add up to one, and each mechanism
    is calibrated to the sensitivity that the planner expects (docs/notes/0015-mechanisms.md). That is
    a proposal: what it really costs is derived from the SQL by the kernel.
    """
    epsilons = shares_of(measured, epsilon)
    selections = {
        name: Selection(choice.quantile, epsilons[name], choice.bins)
        for name, choice in measured.choices
    }
    for_noise = sum((epsilons[name] for name, _ in measured.measures), Fraction(0))
    private = isinstance(groups, PrivateGroups)
    share = delta.value / 2 if private else delta.value
    found: dict[str, Law] = {}
    for law in LAWS.values():
        if not law.concentrated:
            rival = _apart(law, measured, stability, epsilons)
        elif share and 0 < for_noise <= CONCENTRATED_UP_TO:
            rival = _together(law, measured, stability, Epsilon(for_noise), Delta(share))
        else:
            continue
        if not found or _better(rival, found):
            found = rival
    failing = delta.value / 2 if private else Fraction(0)
    return Mechanisms(found, selections, units=measured.units, failing=failing)


def shares_of(measured: MeasuredOutputs, epsilon: Epsilon) -> dict[str, Fraction]:
    """Return what each measure and choice gets of `epsilon`."""
    total = sum(measured.shares.values(), Fraction(0))
    return {name: epsilon.value * share / total for name, share in measured.shares.items()}


def _drawable(scale: Fraction) -> Fraction:
    """Return a scale that the samplers can draw, no smaller than what was asked for.

    What cannot be drawn is refused here, where nothing has been charged yet.
    """
    if scale > GREATEST_SCALE:
        raise QueryRefused(
            "The noise of this answer would be wider than any number it could be added to.",
            hint="Use a larger epsilon, a lower max_rows, or a coarser step for the column.",
        )
    return max(scale, SMALLEST_SCALE)


def _apart(
    law: type[NoiseLaw],
    measured: MeasuredOutputs,
    stability: Stability,
    epsilons: Mapping[str, Fraction],
) -> dict[str, Law]:
    """Return pure noise for each measure, by its own epsilon."""
    return {
        name: law(_drawable(law.costing(epsilons[name], stability.l1(measure.bound)).size))
        for name, measure in measured.measures
    }


def _together(
    law: type[NoiseLaw],
    measured: MeasuredOutputs,
    stability: Stability,
    epsilon: Epsilon,
    delta: Delta,
) -> dict[str, Law]:
    """Return concentrated noise for all measures together, weighted like their shares."""

    def least(moved: Fraction | int, coordinates: int | None) -> Fraction:
        unit = law(Fraction(1)).event(
            l1=lambda: moved, l2_squared=lambda: moved, coordinates=coordinates
        )
        return least_size(unit, epsilon, delta)

    shares = {name: measured.shares[name] for name, _ in measured.measures}
    total = sum(shares.values(), Fraction(0))
    if len(shares) == 1:
        ((name, measure),) = measured.measures
        return {name: law(least(stability.l2_squared(measure.bound), stability.coordinates))}
    # In units of each measure's own sensitivity the vector moves by at most 1 when weights are
    # sqrt(share / total): sum over i of (share_i / total) * 1 = 1.
    unit = least(1, None)
    return {
        name: law(unit * stability.l2_squared(measure.bound) * total / shares[name])
        for name, measure in measured.measures
    }


def _better(rival: Mapping[str, Law], laws: Mapping[str, Law]) -> bool:
    """Return whether the rival's 95% errors are smaller, as a geometric mean over the measures."""
    return sum(math.log(law.error95 / rival[name].error95) for name, law in laws.items()) > 0


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
