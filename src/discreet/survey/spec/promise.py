"""What a survey promises each respondent, in sentences."""

from __future__ import annotations

from discreet.account.explain import explain
from discreet.survey.spec.plan import SurveyPlan


def promise_of(plan: SurveyPlan) -> list[str]:
    """Return the promise of the whole survey to one device, one sentence each.

    >>> from discreet.survey.spec.read import survey_of
    >>> stated = {"title": "t", "epsilon": 1, "questions": {"a": {"kind": "yes-no"}}}
    >>> promise_of(SurveyPlan.of(survey_of(stated, name="s")))[0][:40]
    'Compared with you not taking part, every'
    """
    return list(explain(plan.survey.epsilon).sentences)
