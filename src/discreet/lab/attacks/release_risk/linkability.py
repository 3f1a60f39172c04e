"""Linkability: two pieces about people, from two places, joined through a release."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.base.arrays import Integers
from discreet.base.display import Progress
from discreet.errors import InvalidInput
from discreet.lab.attacks.attacks import Attack, AttackSettings, Knob, Outcome, words_knob
from discreet.lab.attacks.release_risk.releases import (
    COMMON,
    ComparedPeople,
    Story,
    beside_strangers,
    played,
)

FIRST = "age,sex,region,education,job"
SECOND = "income,married,household_size,smoker,height"

ATTACK = Attack(
    name="linkability",
    title="Linkability",
    words="Join two separate pieces about the same people through a release that holds both.",
    knobs=(
        *COMMON,
        Knob("targets", 500, "people whose two pieces the attacker tries to join", 20, 5_000, 20),
        words_knob("first", FIRST, "columns of the first piece"),
        words_knob("second", SECOND, "columns of the second piece"),
    ),
)
STORY = Story(
    knew="The attacker has two pieces about each target, from two places, and no name on either.",
    did="For each piece the attacker finds the nearest rows of the release, and says that two "
    "pieces belong together when they have a nearest row in common. Strangers show how often two "
    "pieces of one person meet in a row by chance.",
    lesson="A row that holds both pieces is a bridge between files that were never meant to meet.",
    estimator="The share of joined targets minus the same share of as many strangers, with "
    "Newcombe's 95% score interval for the difference.",
)


def run(chosen: AttackSettings, *, progress: Progress) -> Outcome:
    """Return how often two pieces about a person are joined through each kind of release."""
    first, second = chosen.words("first"), chosen.words("second")
    if not first or not second or set(first) & set(second):
        raise InvalidInput(
            "Linkability needs two pieces without a common column.",
            hint="For example first=age,sex second=job,income.",
        )
    judge = beside_strangers(
        lambda parties, people: joined(parties, first, second, people), chosen.whole("targets")
    )
    return played(STORY, chosen, judge, columns=(*first, *second), progress=progress)


def joined(
    parties: ComparedPeople, first: Sequence[str], second: Sequence[str], people: Integers
) -> int:
    """Return for how many people both pieces have a nearest row of the release in common."""
    pairs = zip(parties.nearest(first, people), parties.nearest(second, people), strict=True)
    return sum(bool((near & far).any()) for (_, near), (_, far) in pairs)
