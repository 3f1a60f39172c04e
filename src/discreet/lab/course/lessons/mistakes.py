"""The lesson 'mistakes': a quiz of textbook mistakes.

Exercise: sentences of lecture notes, each worked out.
Figures: how far a standard deviation really moves, beside the claim.
"""

from __future__ import annotations

import math
import statistics
from fractions import Fraction

from discreet.lab.course.facts import Sweep, SweepBar, SweepStep, facts_json
from discreet.lab.course.lesson import (
    AnswerKind,
    GradedAnswer,
    LessonQuestion,
    judged_letters,
    near,
    total_epsilon,
)
from discreet.privacy.account.price import gaussian_epsilon

FOUR = tuple(Fraction(text) for text in ("0.5", "0.2", "0.25", "0.25"))


def _first(given: frozenset[str]) -> GradedAnswer:
    n, scale = 1_000, 20.0
    moved = statistics.pstdev([1.0] + [0.0] * (n - 1))
    t = math.exp(-1 / scale)
    variance = 2 * sum(k * k * (1 - t) / (1 + t) * t**k for k in range(1, 2_000))
    total = total_epsilon(FOUR)
    a, b = Fraction(7, 2), Fraction(3)  # means of 1, 2, 6, 5 and of 1, 2, 6
    return judged_letters(
        [
            moved <= 1 / n,
            abs(variance / (2 * scale) - 1) < 0.01,
            math.isclose(math.exp(math.log(3)), 3)
            and not math.isclose(math.exp(1), 3, rel_tol=0.05),
            total == Fraction("1.25"),
            4 * a - 3 * b == 5,
        ],
        given,
        [
            f"for n = 1,000 it moves by {moved:.4f}, which is 1/sqrt(n).",
            f"for b = 20 it is {variance:.0f}, which is 2 b^2; 2b would be 40.",
            "the factor is e^epsilon: 3 for ln 3, and 2.718 for 1.",
            f"it is {float(total):g}.",
            "4 x 3.5 - 3 x 3 = 5, the last value.",
        ],
    )


def worst_loss(halved: bool) -> float:
    """Return the loss of choosing among three when one score rises by 1 and two fall by 1, at epsilon 1."""
    divisor = 2 if halved else 1

    def law(scores: tuple[int, ...]) -> list[float]:
        weights = [math.exp(score / divisor) for score in scores]
        return [weight / sum(weights) for weight in weights]

    pairs = zip(law((0, 0, 0)), law((1, -1, -1)), strict=True)
    return max(abs(math.log(p / q)) for p, q in pairs)


def _second(given: frozenset[str]) -> GradedAnswer:
    # On a lattice a hundred times finer than the sensitivity, which is as good as continuous.
    quoted = Fraction(2 * math.log(1.25e6) / 100).limit_denominator(10**9)
    real = float(gaussian_epsilon(quoted * 100**2, 100, Fraction(1, 10**6)))
    domain, people = (0, 100), (3, 4, 5)
    read_off = max(people) - min(people)
    grown = max(*people, domain[1]) - max(people)
    truthful = 3 / 4
    twice = math.log(truthful**2 / (1 - truthful) ** 2)
    once = math.log(truthful / (1 - truthful))
    return judged_letters(
        [
            worst_loss(halved=False) <= 1,
            real <= 10,
            grown <= read_off,
            math.isclose(twice, 2 * once),
            [a ^ b for a, b in ((0, 0), (1, 1))] == [1, 1],
        ],
        given,
        [
            f"without it, the loss can be {worst_loss(halved=False):.2f} instead of 1; with it, {worst_loss(halved=True):.2f}.",
            f"at epsilon 10 and delta 1e-6 the noise it gives has epsilon {real:.2f}.",
            f"the range of 3, 4, 5 is {read_off}, and one person of 100 moves the maximum by {grown}.",
            "two randomized responses add nothing to anything, and their losses still add up.",
            "a xor b is 0 when a = b.",
        ],
    )


QUESTIONS = (
    LessonQuestion(
        "first",
        "Which hold? A: the standard deviation of n numbers in [0, 1] has sensitivity 1/n. B: Laplace noise of scale b has variance 2b. C: epsilon ln 3 is a factor of 3, and epsilon 1 is not. "
        "D: 0.5 + 0.2 + 0.25 + 0.25 costs 1.25. E: for means a of n numbers and b of the first n - 1, n a - (n-1) b is the last number.",
        _first,
        "C E",
        "A: 1/sqrt(n). B: 2 b^2. D: 1.2.",
        "Letters, such as A C; or none.",
        kind=AnswerKind.LETTERS,
    ),
    LessonQuestion(
        "second",
        "Which hold? A: the exponential mechanism needs no factor 2, whatever the scores. B: sigma = sqrt(2 ln(1.25/delta))/epsilon is enough at epsilon 10, delta 1e-6. "
        "C: the sensitivity of MAX is the largest value of the data less the smallest. D: losses add up also where no noise is added to anything, as in randomized response. E: a xor b is 1 when a = b.",
        _second,
        "D",
        "A: scores that move in opposite directions need it. B: insufficient from about 8.8 or 9.75 on. C: of the declared domain. E: it is 0.",
        "Letters, such as A C; or none.",
        kind=AnswerKind.LETTERS,
    ),
    LessonQuestion(
        "sigma",
        "10,000 numbers in [0, 1]. Somebody calibrates the noise of their standard deviation by sensitivity 1/n. By which factor is it too small?",
        near(
            lambda: statistics.pstdev([1.0] + [0.0] * 9_999) * 10_000,
            "Yes: {:.0f} times too small.",
            "Divide 1/sqrt(n) by 1/n.",
            within=0.02,
        ),
        "100",
        "1/sqrt(n) over 1/n is sqrt(n).",
    ),
)


def facts() -> str:
    """Return the sweep over n."""
    steps = []
    for n in (4, 10, 30, 100, 1_000):
        moved = statistics.pstdev([1.0] + [0.0] * (n - 1))
        bars = (SweepBar("it moves by", moved), SweepBar("the claim: 1/n", 1 / n))
        steps.append(SweepStep(f"{n:,} numbers", bars, f"{moved * n:.1f} times as far as claimed."))
    return facts_json(
        {"": Sweep("how many numbers:", "how far the standard deviation moves", tuple(steps), 2)}
    )
