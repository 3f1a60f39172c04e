"""The lesson 'learning': models remember.

Exercise: what epsilon leaves to any attacker, and the price of tuning.
Figures: membership by the number of published frequencies, and inversion by the price of the model.
"""

from __future__ import annotations

import math
from fractions import Fraction
from operator import attrgetter

import numpy as np

from discreet.lab.course.facts import attack_sweep, epsilons, facts_json
from discreet.lab.course.lesson import GradedAnswer, LessonQuestion, close_to, judged, near
from discreet.privacy.noise.error_bars import selection_loss

MODELS, ROWS = 50, 1_000
LENGTH = 5.0


def _guarded(given: float) -> GradedAnswer:
    if not 0 < given < 50:
        return GradedAnswer(False, "An epsilon is wanted.")
    found = 1 - 1 / (1 + math.exp(given))
    return judged(
        close_to(0.6, found, within=0.005),
        f"Yes: at most {found:.3f}.",
        f"At that epsilon the area may be {found:.3f}.",
    )


def _tuning(given: float) -> GradedAnswer:
    truth = selection_loss(MODELS, Fraction(1, ROWS), 1, "0.05")
    return judged(
        close_to(truth, given, within=0.01),
        f"Yes: {100 * truth:.2f} points of accuracy.",
        "(2 x sensitivity / epsilon) x ln(k / beta), with sensitivity 1/n.",
    )


def _products() -> float:
    leanings = np.full(
        9, LENGTH / 3
    )  # nine films, all liked alike; any list of that length moves as far
    return float(np.linalg.norm(np.outer(leanings, leanings)))


QUESTIONS = (
    LessonQuestion(
        "area",
        "A model was trained with pure epsilon 1. What is the most that any membership attack's area under the curve can be?",
        near(
            lambda: 1 - 1 / (1 + math.e),
            "Yes: {:.3f}, for any attacker.",
            "1 - 1/(1 + e^epsilon).",
            within=0.01,
        ),
        "1 - 1/(1 + e)",
        "At every threshold the rate of right claims is at most e times that of wrong ones, and the other way round.",
    ),
    LessonQuestion(
        "guarded",
        "Which epsilon keeps that area at 0.6 at most?",
        _guarded,
        "ln(0.6/0.4)",
        "1 - 1/(1 + e^epsilon) = 0.6 gives e^epsilon = 1.5.",
    ),
    LessonQuestion(
        "tuning",
        "The best of 50 classifiers is chosen on 1,000 validation rows with epsilon 1. By how much accuracy may the choice be below the best, with 95%?",
        _tuning,
        "2/1000 * ln(50/0.05)",
        "2/(n epsilon) x ln(k/beta) = 0.0138.",
        "A share such as 0.02, or 2%.",
    ),
    LessonQuestion(
        "products",
        "Everybody's list of leanings is cut to length 5 before the products of all pairs of films are summed over people. How far can one person move that matrix, as a length over all of its entries?",
        near(
            _products,
            "Yes: {:.0f}, whichever films they are, and however many.",
            "Take one film only, with a leaning of 5: what is its product with itself?",
        ),
        "25",
        "The matrix x x^T has the length |x|^2 = 5^2.",
    ),
)


def facts() -> str:
    """Return both sweeps, run on the town."""
    return facts_json(
        {
            "membership": attack_sweep(
                "membership",
                "loci",
                {f"{n:,} places": n for n in (10, 100, 1_000, 3_000, 10_000)},
                label="frequencies are published for",
                settings={"people": 500},
                start=3,
            ),
            "inversion": attack_sweep(
                "inversion",
                "epsilon",
                epsilons((0.05, 0.25, 1.0, 8.0)),
                label="price of the private model:",
                settings={"models": 8},
                released="genotype told with the exact model",
                private="genotype told with the private model",
                told=attrgetter("private_words"),
            ),
        }
    )
