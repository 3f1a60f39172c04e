"""What respondents are told before they answer: facts that follow from the survey's epsilon and its randomizers.

`factsOf` in `static/survey/device/promise.js` works out the same on the device; `words/` of the server's feature
has the sentences, one file a language.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from discreet.account.explain import answer_sentences
from discreet.survey.randomizers.kary import KaryResponse
from discreet.survey.spec.plan import SurveyPlan

LITTLE_FROM, HARDLY_FROM = 3, 6
"""From these epsilons of the whole survey on, respondents read that it protects little, or hardly."""
NEARLY_CERTAIN_ABOVE = Fraction(999, 1000)
"""Shares are told in tenths of a percent, rounded up: above this one, no number below 100 % is an upper bound."""


class Protection(StrEnum):
    """How much a survey protects its respondents, in the word that chooses their sentence."""

    SOME = "some"
    LITTLE = "little"
    HARDLY = "hardly"


@dataclass(frozen=True, slots=True)
class QuestionFacts:
    """Two shares of one question.

    `truth`: of its reports that are the answer itself; None where a report is a code. `sure`: how sure of one of two
    answers anyone can become from all reports to it who thought the two equally likely before.
    """

    truth: Fraction | None
    sure: Fraction

    @property
    def nearly_certain(self) -> bool:
        """Return whether the sentence about `sure` says what it exceeds instead of what it is at most."""
        return self.sure > NEARLY_CERTAIN_ABOVE


@dataclass(frozen=True, slots=True)
class ConsentFacts:
    """What respondents of one survey are told."""

    protection: Protection
    questions: tuple[QuestionFacts, ...]

    @classmethod
    def of(cls, plan: SurveyPlan) -> ConsentFacts:
        """Return the facts of a plan.

        >>> from discreet.survey.spec.read import survey_of
        >>> stated = {"title": "t", "epsilon": 1, "questions": {"a": {"kind": "yes-no"}}}
        >>> facts = ConsentFacts.of(SurveyPlan.of(survey_of(stated, name="s")))
        >>> str(facts.protection), round(float(facts.questions[0].truth), 3)
        ('some', 0.731)
        """
        epsilon, times = plan.survey.epsilon.value, plan.survey.waves
        protection = Protection.SOME
        if epsilon >= LITTLE_FROM:
            protection = Protection.HARDLY if epsilon >= HARDLY_FROM else Protection.LITTLE
        questions = []
        for choice in plan.choices:
            randomizer = choice.randomizer
            ratio = randomizer.worst_ratio**times
            truth = randomizer.own if isinstance(randomizer, KaryResponse) else None
            questions.append(QuestionFacts(truth, ratio / (1 + ratio)))
        return cls(protection, tuple(questions))


_READ: dict[Protection, tuple[str, ...]] = {
    Protection.SOME: (),
    Protection.LITTLE: ("Respondents read that this protects their answers little.",),
    Protection.HARDLY: ("Respondents read that this hardly protects their answers.",),
}


def promise_of(plan: SurveyPlan) -> list[str]:
    """Return the promise of the whole survey to one device, one sentence each.

    Taking part is not hidden here, so the comparison is with any other answers.

    >>> from discreet.survey.spec.read import survey_of
    >>> stated = {"title": "t", "epsilon": 1, "questions": {"a": {"kind": "yes-no"}}}
    >>> promise_of(SurveyPlan.of(survey_of(stated, name="s")))[0].partition("answer is ")[2]
    'at most 2.72 times more likely, and at most 2.72 times less likely.'
    """
    return [*answer_sentences(plan.survey.epsilon), *_READ[ConsentFacts.of(plan).protection]]
