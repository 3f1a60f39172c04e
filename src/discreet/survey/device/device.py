"""A respondent's device: keeps its secret, says the same thing twice, and falls silent at its limits."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from discreet.survey.device.donation import Donation
from discreet.survey.device.secret import SECRET_BYTES, SecretStream, report_id
from discreet.survey.randomizers.base import Report
from discreet.survey.randomizers.device_coins import Draws
from discreet.survey.spec.plan import SurveyPlan, value_of

Value = int | float | str


@dataclass(slots=True)
class SurveyMemory:
    """What a device remembers of one survey: the different values it told, and how often it gave."""

    told: dict[int, list[Value]] = field(default_factory=dict)
    day: int = -1
    given: int = 0


class Device:
    """One device. The raw answer stays here; only `Donation`s leave.

    Guarantee: to each question at most 1 + changes different values are ever randomised, each with
        `question_epsilon`; so all that ever leaves for one survey is epsilon-DP for its respondent, as
        long as the secret is kept (a cleared browser is a new respondent) and HMAC-SHA-256 is
        pseudorandom. Whether a question is answered at all is not hidden.
    """

    def __init__(self, secret: bytes | None = None) -> None:
        self.secret = secrets.token_bytes(SECRET_BYTES) if secret is None else secret
        self._surveys: dict[bytes, SurveyMemory] = {}

    def memory(self, survey_id: bytes) -> SurveyMemory:
        """Return what is remembered of a survey."""
        return self._surveys.setdefault(survey_id, SurveyMemory())

    def donate(
        self, plan: SurveyPlan, answers: Mapping[str, str | None], *, day: int
    ) -> Donation | None:
        """Return what may leave today (days since 1970-01-01, UTC), or None past the day's limit.

        An answer that is None or empty is left out. Nothing answered: nothing is sent.
        """
        memory = self.memory(plan.id)
        given = memory.given if memory.day == day else 0
        values = [_answer(plan, index, answers) for index in range(len(plan.choices))]
        if given >= plan.survey.donations_per_day or all(each is None for each in values):
            return None
        memory.day, memory.given = day, given + 1
        reports = tuple(
            None
            if value is None
            else self._report(plan, index, self._tellable(plan, index, value), (day, given))
            for index, value in enumerate(values)
        )
        return Donation(plan.id, report_id(self.secret, plan.id, day, given), reports)

    def _tellable(self, plan: SurveyPlan, index: int, value: Value) -> Value:
        """Return the value if it may be told, else the last one that was: as if nothing had changed."""
        told = self.memory(plan.id).told.setdefault(index, [])
        if value not in told:
            if len(told) > plan.survey.changes:
                return told[-1]
            told.append(value)
        return value

    def _report(
        self, plan: SurveyPlan, index: int, value: Value, moment: tuple[int, int]
    ) -> Report:
        for_ever = SecretStream(self.secret, plan.id, index, value)
        for_now = SecretStream(self.secret, plan.id, index, value, moment)
        draws = Draws(for_ever, for_now)
        report: Report = plan.choices[index].randomizer.encode(value, draws)
        return report

    def spent(self, plan: SurveyPlan) -> Fraction:
        """Return the epsilon that this survey has cost so far: one share for each different value."""
        told = self.memory(plan.id).told.values()
        return plan.survey.question_epsilon * sum(len(values) for values in told)


def _answer(plan: SurveyPlan, index: int, answers: Mapping[str, Any]) -> Value | None:
    question = plan.survey.questions[index]
    answer = answers.get(question.name)
    return None if answer is None or not answer.strip(" \t\r\n") else value_of(question, answer)
