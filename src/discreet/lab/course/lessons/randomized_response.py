"""The lesson 'randomized_response': answering by flipping coins.

Exercise: epsilon of a coin, the coin of an epsilon, an estimate and its crowd.
"""

from __future__ import annotations

import math

from discreet.lab.course.lesson import GradedAnswer, LessonQuestion, close_to, judged, near
from discreet.privacy.account.explain import truth_probability
from discreet.privacy.noise.random_response import coin_epsilon

SAID_YES, ASKED = 450, 1_000


def _truth(given: float) -> GradedAnswer:
    wanted = truth_probability(1.0)
    if not 0 <= given < 1:
        return GradedAnswer(False, "q is a probability, below 1.")
    found = float(coin_epsilon(repr(given)))
    return judged(
        close_to(wanted, given),
        f"Yes: q = tanh(1/2) = {wanted:.4f}.",
        f"With that q epsilon is {found:.3f}.",
    )


def _estimate() -> float:
    q = 0.5
    return (SAID_YES / ASKED - (1 - q) / 2) / q


def _crowd(given: float) -> GradedAnswer:
    if given < 1:
        return GradedAnswer(False, "At least one person must be asked.")
    half = 1.96 * math.sqrt(0.25 / given) / 0.5
    return judged(
        close_to(0.05, half, within=0.01),
        f"Yes: ± {100 * half:.2f} points.",
        f"With so many people it is ± {100 * half:.2f} points.",
    )


QUESTIONS = (
    LessonQuestion(
        "epsilon",
        "What is the epsilon of the two fair coins?",
        near(
            lambda: coin_epsilon("0.5"),
            "Yes: the factor is 3, and epsilon is its logarithm, {:.4f}.",
            "A yes is three times as likely from one as from the other. Epsilon is the logarithm of that factor.",
            within=0.002,
        ),
        "ln(3)",
        "(3/4) / (1/4) = 3, and e^epsilon = 3.",
        "Arithmetic such as ln(2) will do.",
    ),
    LessonQuestion(
        "truth",
        "With which probability q must the truth be told for epsilon 1?",
        _truth,
        "tanh(1/2)",
        "(1+q)/(1-q) = e gives q = (e-1)/(e+1) = tanh(1/2) = 0.4621.",
    ),
    LessonQuestion(
        "estimate",
        "Two fair coins; 450 of 1,000 people say yes. What share has the secret, by the estimate?",
        near(
            _estimate,
            "Yes: 2 x 0.45 - 0.5 = 0.4.",
            "A quarter of all people say yes by the coin alone, and the truth of only half of them was told.",
        ),
        "0.4",
        "p = 2A - 1/2.",
        "A share such as 0.5, or 50%.",
    ),
    LessonQuestion(
        "crowd",
        "Two fair coins. How many people must be asked so that the estimate's noise is ± 5 points at 95% (1.96 standard errors) when half of them say yes?",
        _crowd,
        "1537",
        "1.96 sqrt(0.25/n) / 0.5 = 0.05 gives n = (1.96 x 0.5 / 0.025)^2 = 1,536.6.",
    ),
)
