"""The least epsilon whose noise is small enough."""

from __future__ import annotations

from fractions import Fraction

from discreet.core.numbers import Delta, Epsilon
from discreet.errors import InvalidInput
from discreet.plan.plan import Plan, Question, make_plan
from discreet.release.bars import bar_of
from discreet.release.request import Wanted
from discreet.sql.refuse import refusal

_DIGITS = 3
_LEAST, _MOST = -6, 2


def expected_errors(plan: Plan) -> dict[str, float | None]:
    """Return the 95% half-width of each noisy output, None where it depends on the data."""
    found: dict[str, float | None] = {}
    for name, value in plan.question.outputs:
        bar = bar_of(value, plan.mechanisms.laws)
        if bar.noisy or any(choice in str(value) for choice in plan.mechanisms.selections):
            found[name] = bar.half_width
    return found


def least_epsilon(question: Question, wanted: Wanted, budget_delta: Delta) -> Epsilon:
    """Return the least epsilon, to three digits, at which every cell's noise is as wanted."""
    if wanted.relative:
        raise refusal("within percent")

    def good(epsilon: Epsilon) -> bool:
        errors = expected_errors(make_plan(question, epsilon=epsilon, budget_delta=budget_delta))
        if not errors or any(error is None for error in errors.values()):
            raise refusal("within")
        return all(
            Fraction(error) <= wanted.error for error in errors.values() if error is not None
        )

    # Candidates are the decimals of three digits in their natural order: error falls along them.
    first, last = 0, (_MOST - _LEAST) * 900 - 1
    if not good(_candidate(last)):
        raise InvalidInput(
            "No sensible epsilon gives so little noise.", hint="Allow a larger error."
        )
    while first < last:
        middle = (first + last) // 2
        if good(_candidate(middle)):
            last = middle
        else:
            first = middle + 1
    return _candidate(first)


def _candidate(index: int) -> Epsilon:
    exponent, mantissa = divmod(index, 900)
    return Epsilon((100 + mantissa) * Fraction(10) ** (_LEAST + exponent - _DIGITS + 1))
