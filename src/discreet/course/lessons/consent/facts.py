"""What each epsilon promises, in the product's own words."""

from __future__ import annotations

from discreet.account.explain import INDEPENDENT, WorldPair, belief, promises_of
from discreet.core.numbers import Epsilon
from discreet.core.unit import Neighbours
from discreet.course.facts import Sweep, SweepBar, SweepStep, facts_json

EPSILONS = ("0.05", "0.1", "0.25", "0.5", "1", "2", "3", "5", "10")
BEFORE = (0.01, 0.5)
NAMES = {
    WorldPair.TAKING_PART: "that you take part, {:.0%} before",
    WorldPair.ATTRIBUTE: "what your row says, {:.0%} before",
}


def facts() -> str:
    """Return the sweep: beliefs at most, and the sentences of `discreet explain`."""
    steps = []
    for epsilon in EPSILONS:
        promises = promises_of(Epsilon.of(epsilon), neighbours=Neighbours.ADD_REMOVE)
        bars = tuple(
            SweepBar(
                NAMES[promise.comparison].format(before),
                belief(promise.epsilon, before).highest,
                baseline=before,
            )
            for promise in promises
            for before in BEFORE
        )
        words = " ".join(sentence for promise in promises for sentence in promise.sentences)
        steps.append(SweepStep(f"ε {epsilon}", bars, f"{words} Both hold {INDEPENDENT}."))
    sweep = Sweep(
        "epsilon in all:",
        "what anybody can believe at most afterwards; the mark is what they believed before",
        tuple(steps),
        4,
    )
    return facts_json({"": sweep})
