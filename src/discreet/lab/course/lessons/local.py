"""The lesson 'local': privacy at scale, without trust.

Exercise: flips, debiasing, and what trusting nobody costs.
Figures: favourite emoji through the count mean sketch, at each epsilon.
"""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.lab.course.facts import Sweep, SweepBar, SweepStep, epsilons, facts_json
from discreet.lab.course.lesson import GradedAnswer, LessonQuestion, judged, near
from discreet.privacy.noise.laws import LaplaceLaw
from discreet.privacy.noise.rng import SystemRng
from discreet.survey.randomizers.count_mean import CountMeanSketch

PEOPLE = 10_000


def _dearer(given: float) -> GradedAnswer:
    local = math.sqrt(PEOPLE / 4) / math.tanh(0.5)
    central = math.sqrt(LaplaceLaw.of(1).variance)
    return judged(
        0.95 * local / math.sqrt(2) <= given <= 1.05 * local / central,
        f"Yes: {local:.0f} people against {central:.2f}.",
        "Local: sqrt(n)/2 divided by q = tanh(1/2). With a curator: sqrt(2).",
    )


QUESTIONS = (
    LessonQuestion(
        "flip",
        "With which probability does a count mean sketch of epsilon 4 flip each bit?",
        near(
            lambda: 1 - CountMeanSketch.of(Fraction(4)).own,
            "Yes: {:.4f}, as the sketch itself says.",
            "1/(1 + e^(epsilon/2)) with epsilon 4.",
            within=0.01,
        ),
        "1/(1+exp(2))",
        "1/(1 + e^(epsilon/2)) = 0.1192.",
    ),
    LessonQuestion(
        "debias",
        "And by which factor is a bit debiased?",
        near(
            lambda: 1 / (2 * float(CountMeanSketch.of(Fraction(4)).own) - 1),
            "Yes: {:.3f}.",
            "(e^2 + 1)/(e^2 - 1)",
            within=0.01,
        ),
        "(exp(2)+1)/(exp(2)-1)",
        "1/(1 - 2 x 0.1192) = 1.313.",
    ),
    LessonQuestion(
        "dearer",
        "10,000 people, half of them yes, epsilon 1. How many times larger is the standard deviation of the count by randomized response than by a curator's Laplace noise?",
        _dearer,
        "(sqrt(10000)/2/tanh(0.5))/sqrt(2)",
        "50/0.4621 = 108 people against 1.41 (1.36 for the discrete law).",
    ),
    LessonQuestion(
        "year",
        "A device reports every day for 365 days with fresh coins, epsilon 0.5 each. What is promised in all?",
        near(
            lambda: 365 * 0.5,
            "Yes: 182.5. The factor is e^182: no promise at all.",
            "Fresh coins every day: the losses add up.",
            within=1e-6,
        ),
        "182.5",
        "Sequential composition.",
        "An epsilon.",
    ),
)


EMOJI = {"😂": 0.35, "❤️": 0.25, "🙂": 0.2, "🎉": 0.12, "👻": 0.08}
DEVICES = 20_000


def facts() -> str:
    """Return the sweep: what the collector estimates, beside the truth."""
    words = [emoji for emoji, share in EMOJI.items() for _ in range(round(share * DEVICES))]
    steps = []
    for label, epsilon in epsilons((0.5, 1.0, 2.0, 4.0, 8.0)).items():
        sketch = CountMeanSketch.of(Fraction(epsilon), rows=256, buckets=256)
        reports = sketch.encode_many(words, SystemRng())
        support = sketch.supporters(sketch.tally(reports), list(EMOJI))
        own, other = float(sketch.own), float(sketch.other)
        found = [(float(s) / len(words) - other) / (own - other) for s in support]
        bars = tuple(
            SweepBar(emoji, max(0.0, value), baseline=share)
            for (emoji, share), value in zip(EMOJI.items(), found, strict=True)
        )
        worst = max(abs(v - s) for v, s in zip(found, EMOJI.values(), strict=True))
        flip = float(1 - sketch.own)
        words_of = f"Every bit is flipped with probability {flip:.3f}. The estimates are off by up to {100 * worst:.1f} points."
        steps.append(SweepStep(label, bars, words_of))
    sweep = Sweep(
        "epsilon of one report:",
        "estimated share of devices; the mark is the true share",
        tuple(steps),
        3,
    )
    return facts_json({"": sweep})
