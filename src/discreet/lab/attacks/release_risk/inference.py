"""Inference: a secret of people whose other columns are known, guessed from a release."""

from __future__ import annotations

from discreet.base.arrays import Integers
from discreet.base.display import Progress
from discreet.errors import InvalidInput, UnknownName
from discreet.lab.attacks.attacks import Attack, AttackSettings, Knob, Outcome, words_knob
from discreet.lab.attacks.release_risk.releases import (
    COMMON,
    ComparedPeople,
    Story,
    beside_strangers,
    played,
)

KNOWN = "age,sex,region,education,married,household_size,height"

ATTACK = Attack(
    name="inference",
    title="Inference",
    words="Guess a secret of people whose other columns are known, from the rows most like them.",
    knobs=(
        *COMMON,
        Knob("targets", 500, "people whose secret the attacker guesses", 20, 5_000, 20),
        words_knob("known", KNOWN, "columns that the attacker knows of everybody"),
        words_knob("secret", "job", "the column to guess"),
    ),
)
STORY = Story(
    knew="The attacker knows some columns of each target and not the secret one.",
    did="The attacker finds the rows of the release nearest to the target and guesses the secret "
    "that is commonest among them. What works on strangers too is knowledge of the population, "
    "not a leak.",
    lesson="What a release says about everybody is its purpose; what it says about its own people "
    "only is the leak.",
    estimator="The share of right guesses minus the same share on as many strangers, with "
    "Newcombe's 95% score interval for the difference.",
)


def run(chosen: AttackSettings, *, progress: Progress) -> Outcome:
    """Return how often a secret is guessed right from each kind of release, beside strangers."""
    known, secret = chosen.words("known"), chosen.text("secret")
    if not known or secret in known:
        raise InvalidInput(
            "Inference needs known columns, and a secret that is not one of them.",
            hint="For example known=age,sex secret=job.",
        )
    judge = beside_strangers(
        lambda parties, people: guessed(parties, known, secret, people), chosen.whole("targets")
    )
    return played(STORY, chosen, judge, columns=(*known, secret), progress=progress)


def guessed(parties: ComparedPeople, known: tuple[str, ...], secret: str, people: Integers) -> int:
    """Return for how many people the commonest secret among their nearest rows is theirs."""
    column = parties.columns.get(secret)
    if column is None:
        raise UnknownName(f"There is no column '{secret}' to guess.")
    return sum(column.told(near, person) for person, near in parties.nearest(known, people))
