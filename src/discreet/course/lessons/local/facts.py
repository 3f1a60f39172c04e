"""Favourite emoji through the count mean sketch, at each epsilon."""

from __future__ import annotations

from fractions import Fraction

from discreet.course.facts import Sweep, SweepBar, SweepStep, epsilons, facts_json
from discreet.noise.rng import SystemRng
from discreet.survey.sketch.count_mean import CountMeanSketch

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
