"""What each epsilon promises, in the product's own words."""

from __future__ import annotations

from discreet.account.explain import belief, explain
from discreet.course.facts import Sweep, SweepBar, SweepStep, facts_json

EPSILONS = ("0.05", "0.1", "0.25", "0.5", "1", "2", "3", "5", "10")
BEFORE = (0.01, 0.1, 0.5)


def facts() -> str:
    """Return the sweep: beliefs at most, and the sentences of `discreet explain`."""
    steps = []
    for epsilon in EPSILONS:
        found = explain(epsilon)
        bars = tuple(
            SweepBar(
                f"believed {before:.0%} before, at most",
                belief(float(epsilon), before).highest,
                baseline=before,
            )
            for before in BEFORE
        )
        steps.append(SweepStep(f"ε {epsilon}", bars, " ".join(found.sentences[:2])))
    sweep = Sweep(
        "epsilon in all:",
        "what anybody can believe of you afterwards; the mark is what they believed before",
        tuple(steps),
        4,
    )
    return facts_json({"": sweep})
