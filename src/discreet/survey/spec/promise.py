"""What a survey promises each respondent, in sentences."""

from __future__ import annotations

import math

from discreet.account.explain import explain
from discreet.survey.spec.plan import SurveyPlan


def promise_of(plan: SurveyPlan) -> list[str]:
    """Return the promise of the whole survey to one device, one sentence each.

    Taking part is not hidden here, so the comparison is with any other answers.

    >>> from discreet.survey.spec.read import survey_of
    >>> stated = {"title": "t", "epsilon": 1, "questions": {"a": {"kind": "yes-no"}}}
    >>> promise_of(SurveyPlan.of(survey_of(stated, name="s")))[0].partition("sends is ")[2]
    'at most 2.72 times more likely, and at most 2.72 times less likely.'
    """
    found = explain(plan.survey.epsilon)
    often = _times(found.factor)
    first = (
        "Compared with anything else you might have answered, what your device sends is at most "
        f"{often} more likely, and at most {often} less likely."
    )
    return [first, *found.sentences[1:]]


def _times(factor: float) -> str:
    """Return a factor as text, rounded up: a promise may look too small, never too large."""
    if factor < 100:
        return f"{math.ceil(factor * 100 - 1e-9) / 100:.2f} times"
    return (
        f"{math.ceil(factor):,} times"
        if factor < 1e6
        else f"10^{math.ceil(math.log10(factor))} times"
    )
