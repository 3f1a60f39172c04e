"""The least epsilon whose noise is small enough."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from discreet.core.answers.answer import Answer
from discreet.core.numbers import Delta, Epsilon
from discreet.core.requests.question import NoiseLimit
from discreet.errors import InvalidInput
from discreet.plan.plan import Plan, Question, make_plan
from discreet.release.bars.outputs import bar_of
from discreet.release.bars.ranks import chosen_in
from discreet.release.bars.selected import AS_THEY_ARE, selected_before
from discreet.sql.post_processing.program import NO_STEPS, LaterSelection
from discreet.sql.refuse import refusal

_DIGITS = 3
_LEAST, _MOST = -6, 2


def expected_errors(plan: Plan, later: LaterSelection = NO_STEPS) -> dict[str, float | None]:
    """Return the 95% half-width of each noisy output, None where it depends on the data.

    Where groups are private it is that of groups far above the threshold. `later`: how steps after it
    may select among its cells.
    """
    laws = plan.mechanisms.laws
    selected = selected_before(plan.question, laws, later)
    found: dict[str, float | None] = {}
    for name, value in plan.question.outputs:
        bar = bar_of(value, laws, selected or AS_THEY_ARE)
        chosen = chosen_in(value, plan.question)
        if bar.noisy or chosen:
            found[name] = None if selected is None or chosen else bar.half_width
    return found


def allowed_errors(
    wanted: NoiseLimit, question: Question, paid: Answer | None
) -> dict[str, Fraction]:
    """Return the greatest error of each output that may carry noise.

    A percentage is of the least value of that output in `paid`, an earlier answer to the same
    question: what was paid for may be used, the data may not.
    """
    names = [name for name, _ in question.outputs]
    if not wanted.relative:
        return dict.fromkeys(names, wanted.error)
    if paid is None:
        raise refusal("within percent")
    found: dict[str, Fraction] = {}
    for i, name in enumerate(paid.columns):
        sizes = [abs(Fraction(row[i])) for row in paid.rows if isinstance(row[i], int | float)]
        if i in paid.noisy and (not sizes or not min(sizes)):
            raise refusal("within percent")
        found[name] = wanted.error * min(sizes, default=Fraction(0))
    return found


def least_epsilon(
    question: Question,
    allowed: Mapping[str, Fraction],
    budget_delta: Delta,
    later: LaterSelection = NO_STEPS,
) -> Epsilon:
    """Return the least epsilon, to three digits, at which every cell's noise is as wanted."""

    def good(epsilon: Epsilon) -> bool:
        plan = make_plan(question, epsilon=epsilon, budget_delta=budget_delta)
        errors = expected_errors(plan, later)
        if not errors or any(error is None for error in errors.values()):
            raise refusal("within")
        return all(
            Fraction(error) <= allowed[name] for name, error in errors.items() if error is not None
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
