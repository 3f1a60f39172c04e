"""Singling out: a question made up from a release that fits exactly one of its people."""

from __future__ import annotations

from functools import partial

import numpy as np

from discreet.base.arrays import Bits
from discreet.base.display import Progress
from discreet.lab.attacks.attacks import Attack, AttackSettings, Knob, Outcome, words_knob
from discreet.lab.attacks.release_risk.releases import (
    COMMON,
    AddedRisk,
    ComparedPeople,
    Story,
    played,
    split_of_hits,
)

ATTACK = Attack(
    name="singling-out",
    title="Singling out",
    words="Make up questions from a release that fit exactly one real person each.",
    knobs=(
        *COMMON,
        Knob("guesses", 500, "questions that the attacker makes up", 20, 5_000, 20),
        words_knob("columns", "", "columns that questions may use (all common ones if empty)"),
    ),
)
STORY = Story(
    knew="The attacker knows the release alone.",
    did="The attacker picks rows of the release and joins as many of their cells as it takes to fit "
    "only that row. A question is right when it fits exactly one of the people behind the release; "
    "on strangers, when it fits exactly one of as many people who are not behind it.",
    lesson="Columns that nobody called identifying single people out when they are joined.",
    estimator="Each person counts once, however many questions single them out. If the release "
    "said nothing about its people, each one singled out would as likely be a stranger: the "
    "interval comes from that binomial split (Clopper-Pearson, 95%).",
)


def run(chosen: AttackSettings, *, progress: Progress) -> Outcome:
    """Return how many people questions from each kind of release single out, beside strangers."""
    judge = partial(singling_out, guesses=chosen.whole("guesses"))
    return played(STORY, chosen, judge, columns=chosen.words("columns"), progress=progress)


def singling_out(parties: ComparedPeople, rng: np.random.Generator, *, guesses: int) -> AddedRisk:
    """Return the risk of being singled out by questions made up from single rows of a release."""
    asked = 0
    ours: set[int] = set()
    strangers: set[int] = set()
    for row in rng.permutation(parties.rows).tolist():
        if asked == guesses:
            break
        fits = question_from(parties, row, rng)
        if fits is None:
            continue
        asked += 1
        for people, found in ((fits[: parties.size], ours), (fits[parties.size :], strangers)):
            if people.sum() == 1:
                found.add(int(people.argmax()))
    return split_of_hits(len(ours), len(strangers), asked)


def question_from(parties: ComparedPeople, row: int, rng: np.random.Generator) -> Bits | None:
    """Return whom a question fits that only this row of the release fits; None if there is none."""
    names = list(parties.columns)
    alike = np.ones(parties.rows, dtype=bool)
    people = np.ones(2 * parties.size, dtype=bool)
    for place in rng.permutation(len(names)).tolist():
        rows, fits = parties.columns[names[place]].like(row)
        alike &= rows
        people &= fits
        if alike.sum() == 1:
            return people
    return None
