"""What the owner and every reader of a release should know beside its price."""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.core.numbers import counted, plain
from discreet.core.unit import Neighbours
from discreet.publish.bind_spec import BoundRule
from discreet.publish.facts import zero_cells
from discreet.publish.prepare import PlannedRelease, widening_of
from discreet.publish.reconcile.crossed_groupings import Widening


def notices_of(plan: PlannedRelease) -> tuple[str, ...]:
    """Return sentences about exact facts, rules and domains: from the plan, so known before paying."""
    found = []
    if plan.facts_from_data:
        epsilon, delta = float(plan.spec.epsilon.value), plan.spec.delta.value
        both = 2 * plan.spec.epsilon.value
        grown = Fraction(math.ceil((1 + math.exp(min(epsilon, 700.0))) * 1000), 1000) * delta
        words = (
            f"{counted(len(plan.facts_from_data), 'exact fact')} from the rows, without a "
            f"guarantee of {'its' if len(plan.facts_from_data) == 1 else 'their'} own. "
        )
        if plan.dataset.neighbours is Neighbours.ADD_REMOVE:
            words += (
                "The rest protects the values of one person, compared with other values where all "
                f"facts agree, at epsilon {plain(both)} and delta {plain(grown)}: twice the price "
                "below, which is that of the noisy tables alone."
            )
        found.append(words)
    found += [
        f"The rule '{text}' is about no cell: check its names and values."
        for text in dict.fromkeys(rule.text for rule in plan.bound.rules)
        if all(zero_cells(family, _named(plan, text)) is None for family in plan.families)
    ]
    for number, step in enumerate(plan.steps):
        names = sorted({member.measure.name for member in plan.families[number].members})
        if step != 1:
            found.append(
                f"The numbers of {', '.join(names)} are whole steps of {plain(step)}: "
                f"12345 stands for {plain(12345 * step)}."
            )
    for number, family in enumerate(plan.families):
        wider = widening_of(plan, number)
        if wider is not None:
            crossed = ", ".join(member.name for member in family.members)
            found.append(
                f"The 95% intervals of {crossed} may be wider than they need be: those of least squares "
                f"take too long to compute for tables that cross in so many ways. {_measured(wider)}"
            )
    if plan.dataset.accepted:
        found.append("The domains were read from the data and declared public unseen.")
    return tuple(found)


def _named(plan: PlannedRelease, text: str) -> list[BoundRule]:
    return [rule for rule in plan.bound.rules if rule.text == text]


def _measured(wider: Widening) -> str:
    if not wider.measured:
        return "By how much was not measured, because the tables are too large."
    most = f"up to {math.ceil(100 * wider.factor) / 100:.2f} times as wide"
    if wider.measured == wider.cells:
        return f"They are {most}."
    return (
        f"Measured at {wider.measured:,} of {wider.cells:,} cells they are {most}; at others it may "
        "be more."
    )
