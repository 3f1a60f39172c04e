"""The lesson 'fairness': whom a private model serves.

Exercise: how large a group must be, and what privacy does not promise to groups.
Figures: how often a private classifier is right for some groups of the town, at each price.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.compute as pc

from discreet.data.catalog.edits import with_totals
from discreet.data.catalog.writer import change_file
from discreet.lab.course.facts import Sweep, SweepBar, SweepStep, epsilons, facts_json
from discreet.lab.course.lesson import GradedAnswer, LessonQuestion, close_to, judged, near
from discreet.lab.town import Town, town
from discreet.privacy.account.composition import group_epsilon
from discreet.privacy.noise.laws import LaplaceLaw

SHARE = 0.05


def _size(given: float) -> GradedAnswer:
    width = LaplaceLaw.of(10).half_width("0.95")
    truth = width / SHARE
    return judged(
        close_to(truth, given, within=0.02),
        f"Yes: noise ± {width} is 5% of {truth:.0f}.",
        f"Noise of scale 10 is within ± {width} with 95%. Of which number is that 5%?",
    )


def _above(given: float) -> GradedAnswer:
    found, baseline = 70.8, 67.3
    points = found - baseline
    return judged(
        close_to(points, given, within=1e-6) or close_to(points / 100, given, within=1e-6),
        f"Yes: {points:.1f} points. After hiding it is none; of this adversary.",
        "Compare with always saying the most common, which is right 67.3 times in 100; a coin is no baseline here.",
    )


QUESTIONS = (
    LessonQuestion(
        "size",
        "Counts are published at epsilon 0.1. From how many people on is the noise ± (95%) at most 5% of a count?",
        _size,
        "600",
        "The half-width of discrete Laplace noise of scale 10 is 30; 30/0.05 = 600.",
    ),
    LessonQuestion(
        "group",
        "A classifier was trained with epsilon 1 for each person. What epsilon does that give a minority of 50 people, as a group?",
        near(
            lambda: group_epsilon(Fraction(1), 50),
            "Yes: 50. To a group, that is no promise at all, and it is not meant to be one.",
            "Group privacy: fifty steps of 1.",
            within=1e-6,
        ),
        "50",
        "m epsilon.",
    ),
    LessonQuestion(
        "above",
        "From codes without hiding, an adversary tells the sex 70.8 times in 100; always saying the most common is right 67.3 times in 100. How many points above guessing is it?",
        _above,
        "3.5",
        "A score means nothing without its baseline.",
    ),
)


FEATURES = ["age", "sex", "education", "household_size", "job"]
TARGET = "married"
TRAINED, TESTED = 4_000, 40_000
TOTALS = {"epsilon": Decimal(1000), "delta": Decimal("1e-3")}
GROUPS = {
    "everybody": None,
    "aged 30 to 59": (30, 59),
    "aged 18 to 24": (18, 24),
    "aged 75 and over": (75, 120),
}


def facts() -> str:
    """Return the sweep, trained on one town and tested on another."""
    with TemporaryDirectory() as folder:
        made = town(TRAINED, folder=Path(folder) / "train", tables=("people",))
        other = town(TESTED, folder=Path(folder) / "test", tables=("people",), seed=1)
        change_file(made.toml, lambda text: with_totals(text, TOTALS))
        prices = epsilons((0.02, 0.1, 0.5, 4.0))
        steps = [_step(made, other, label, each) for label, each in prices.items()]
    sweep = Sweep("price of the model:", "share of people for whom it is right", tuple(steps), 1)
    return facts_json({"": sweep})


def _step(made: Town, other: Town, label: str, epsilon: float) -> SweepStep:
    from discreet.curator import open as open_curator
    from discreet.work.learn.model_files import predicted

    with open_curator(made.toml) as curator:
        trained = curator.learn(
            "people", target=TARGET, epsilon=epsilon, delta=1e-6, features=FEATURES
        )
    rows = predicted(trained.model, other.tables["people"])
    said = rows.column(f"predicted_{TARGET}")
    right = pc.equal(pc.utf8_lower(said), pc.cast(rows.column(TARGET), pa.string()))
    bars = tuple(_bar(name, rows, right, span) for name, span in GROUPS.items())
    worst = min(bars, key=lambda bar: bar.value)
    words = f"Least often right for people {worst.name}: {worst.value:.0%}, where everybody has {bars[0].value:.0%}."
    return SweepStep(label, bars, words)


def _bar(
    name: str, rows: pa.Table, right: pa.ChunkedArray, span: tuple[int, int] | None
) -> SweepBar:
    if span is None:
        chosen = right
        married = rows.column(TARGET)
    else:
        age = rows.column("age")
        inside = pc.and_(pc.greater_equal(age, span[0]), pc.less_equal(age, span[1]))
        chosen, married = right.filter(inside), rows.column(TARGET).filter(inside)
    share = pc.mean(pc.cast(chosen, pa.float64())).as_py()
    common = pc.mean(pc.cast(married, pa.float64())).as_py()
    half = 1.96 * math.sqrt(share * (1 - share) / len(chosen))
    return SweepBar(name, share, share - half, share + half, max(common, 1 - common))
