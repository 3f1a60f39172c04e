"""Averaging: the same question answered a thousand times, and what the mean of the coins gives away."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from discreet.base.arrays import Bits, Floats
from discreet.base.display import Progress
from discreet.base.numbers import to_fraction
from discreet.lab.attacks.attacks import (
    Attack,
    AttackSettings,
    Knob,
    Outcome,
    Score,
    score_bars,
    score_grid,
)
from discreet.lab.attacks.counts.people import OWN_FILE, balanced_bits, bits_of_file
from discreet.privacy.noise.rng import SystemRng
from discreet.show.document import Figure
from discreet.survey.randomizers.kary import KaryResponse
from discreet.survey.randomizers.rappor import BLUR, Rappor

ATTACK = Attack(
    name="averaging",
    title="Averaging",
    words="Ask the same question every day and average the coins away.",
    knobs=(
        Knob("people", 200, "people who answer", 20, 5_000, 20),
        Knob("answers", 1_000, "times that each of them answers", 1, 2_000, 1),
        Knob("epsilon", 1.0, "epsilon of one answer, and of the survey", 0.1, 8.0, 0.1),
        *OWN_FILE,
        Knob("seed", 0, "who smokes", 0, 1_000_000, 1),
    ),
)
_YES, _NO = 0x80, 0x40  # the two bits of a RAPPOR report
_FRESH, _KEPT = "coins tossed anew", "one report, sent again"
_FRESH_RAPPOR, _KEPT_RAPPOR = "RAPPOR, permanent coins tossed anew", "RAPPOR, permanent coins kept"
Leanings = Floats
"""How far the reports of each person speak for the answer, on average: above a half, or below."""


def run(chosen: AttackSettings, *, progress: Progress) -> Outcome:
    """Return how often the majority of a person's reports is the true answer, by kind of device."""
    people, answers = chosen.whole("people"), chosen.whole("answers")
    epsilon = to_fraction(repr(chosen.number("epsilon")))
    rng = np.random.default_rng(chosen.whole("seed"))
    truth = rng.permutation(np.arange(people) % 2 == 0)
    if chosen.text("original"):
        bits = bits_of_file(chosen.text("original"), chosen.text("secret"))
        truth = balanced_bits(bits, min(people, 2 * int(min(bits.sum(), (~bits).sum()))), rng)
    progress(0, 3, "devices that toss anew each time")
    leaning = {_FRESH: _fresh(truth, answers, epsilon)}
    progress(1, 3, "devices that answer once")
    leaning[_KEPT] = _kept(truth, epsilon)
    leaning[_FRESH_RAPPOR] = _fresh_rappor(truth, answers, epsilon)
    progress(2, 3, "devices that answer once, and blur what they keep")
    leaning[_KEPT_RAPPOR] = _kept_rappor(truth, answers, epsilon)
    progress(3, 3, "writing the report")
    scores = {name: Score.of_bits(each > 0.5, truth) for name, each in leaning.items()}
    return _outcome(chosen, truth, scores)


def _fresh(truth: Bits, answers: int, epsilon: Fraction) -> Leanings:
    """Return what the reports of people say whose coins are tossed every time."""
    coin = KaryResponse.of(2, epsilon, name="warner")
    told = coin.encode_many(np.repeat(truth, answers).astype(np.int64), SystemRng())
    return np.asarray(told.reshape(truth.size, answers).mean(axis=1))


def _fresh_rappor(truth: Bits, answers: int, epsilon: Fraction) -> Leanings:
    """Return the same for RAPPOR without a memory: its permanent step is tossed for each report."""
    found = np.empty(truth.size)
    for person, smokes in enumerate(truth):
        told = Rappor.of(2, epsilon).encode_many(np.full(answers, int(smokes)), SystemRng())
        found[person] = np.mean(((told & _NO) > 0) + 1.0 - ((told & _YES) > 0)) / 2
    return found


def _kept(truth: Bits, epsilon: Fraction) -> Leanings:
    """Return what one report of each person says, sent as often as anybody asks."""
    coin = KaryResponse.of(2, epsilon, name="warner")
    return np.asarray(coin.encode_many(truth.astype(np.int64), SystemRng()), dtype=np.float64)


def _kept_rappor(truth: Bits, answers: int, epsilon: Fraction) -> Leanings:
    """Return the same for RAPPOR: permanent bits, thrown once, that each report blurs anew."""
    kept = Rappor.of(2, epsilon).keep_many(truth.astype(np.int64), SystemRng())
    found = np.empty(truth.size)
    for person, bits in enumerate(kept):
        told = BLUR.many(np.repeat(bits[None, :], answers, axis=0), 2, SystemRng())
        found[person] = np.mean(((told & _NO) > 0) + 1.0 - ((told & _YES) > 0)) / 2
    return found


def _outcome(chosen: AttackSettings, truth: Bits, found: Mapping[str, Score]) -> Outcome:
    epsilon, answers = chosen.number("epsilon"), chosen.whole("answers")
    ceiling = 1 / (1 + np.exp(-epsilon))
    return Outcome(
        knew="The collector sees which reports come from the same device, and nothing else.",
        released=f"{answers:,} reports of the same answer from each of {truth.size:,} people, each "
        f"report randomised at epsilon {epsilon:g}.",
        did="The collector takes the majority of each person's reports (of RAPPOR's, the bit that is "
        "set more often).",
        lesson="Epsilon of one report says nothing about a thousand: coins are tossed once, and what a thousand "
        "new answers may tell is a thousand times epsilon.",
        score=found[_FRESH],
        private=found[_KEPT],
        private_words=f"A device that answers once says the same thing {answers:,} times; in the long run "
        f"nobody can be right more than {ceiling:.1%} of the time. RAPPOR keeps bits and blurs them anew "
        "each time: averaging takes the blur away, and ends at the coins that were tossed once.",
        details={
            "ceiling": float(ceiling),
            "by_device": {name: score.to_json() for name, score in found.items()},
        },
        blocks=(
            Figure(
                "How often the true answer is read off",
                score_bars(found),
                f"Half of {truth.size:,} people have it; {answers:,} reports each.",
            ),
            score_grid(
                ("device", "right", "95% from", "to", "guessing"),
                found,
                "Share of people whose answer was guessed right (Clopper-Pearson limits).",
            ),
        ),
    )
