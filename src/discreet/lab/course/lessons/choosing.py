"""The lesson 'choosing': the exponential mechanism.

Exercise: an auction, ten thousand names, and the law of a choice.
"""

from __future__ import annotations

import math

from discreet.lab.course.lesson import GradedAnswer, LessonQuestion, close_to, judged, near
from discreet.privacy.noise.error_bars import selection_loss

BIDS = (1.00, 1.00, 1.00, 3.01)
TOP = 4.0


def revenue(price: float) -> float:
    """Return what a price earns: everybody who bid at least that pays it."""
    return price * sum(bid >= price for bid in BIDS)


def _price(given: float) -> GradedAnswer:
    best = max(revenue(cents / 100) for cents in range(1, 401))
    found = revenue(given)
    return judged(
        close_to(best, found, within=1e-9),
        f"Yes: it earns {found:.2f}.",
        f"That price earns {found:.2f}; another earns more.",
    )


def _chance() -> float:
    weights = [math.exp(2 * revenue(price) / (2 * TOP)) for price in (1.00, 3.01, 3.02)]
    return weights[0] / sum(weights)


QUESTIONS = (
    LessonQuestion(
        "price",
        "Bids are 1.00, 1.00, 1.00 and 3.01; everybody who bid at least the price pays the price. Which price earns most?",
        _price,
        "1.00",
        "4 x 1.00 = 4.00 against 3.01.",
    ),
    LessonQuestion(
        "loss",
        "The most common of 10,000 names is chosen with epsilon 1. By how many bearers may the chosen name lie below the most common one, with 95%?",
        near(
            lambda: selection_loss(10_000, 1, 1, "0.05"),
            "Yes: 2 ln(200,000) = {:.1f} people.",
            "(2 x sensitivity / epsilon) x ln(candidates / beta)",
        ),
        "2 * ln(10000 / 0.05)",
        "(2/1) ln(10,000/0.05) = 24.4.",
    ),
    LessonQuestion(
        "chance",
        "The same four bids; only the prices 1.00, 3.01 and 3.02 may be chosen. Bids were declared to be at most 4, so take 4 for the sensitivity. With which probability is 1.00 chosen at epsilon 2?",
        near(
            _chance,
            "Yes: {:.3f}. At epsilon 2 and so few bidders, it is little better than a throw.",
            "The weights are exp(epsilon x revenue / (2 x 4)); divide by their sum.",
            within=0.01,
        ),
        "exp(4/4) / (exp(4/4) + exp(3.01/4) + exp(0))",
        "Weights e^1, e^0.7525 and e^0.",
    ),
)
