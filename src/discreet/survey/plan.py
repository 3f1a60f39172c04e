"""A survey ready to be answered: each question with its randomizer, the document that devices get, the promise.

And what respondents are told before they answer: facts that follow from the survey's epsilon and its randomizers.
`factsOf` in `static/survey/device/promise.js` works out the same on the device; `words/` of the server's feature
has the sentences, one file a language.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from typing import Any

from discreet.base.numbers import plain
from discreet.errors import InvalidInput
from discreet.privacy.account.explain import answer_sentences
from discreet.survey.mechanisms import ChosenRandomizer, choose
from discreet.survey.randomizers.base import device_settings
from discreet.survey.randomizers.count_mean import BLANKS, word_bytes
from discreet.survey.randomizers.kary import KaryResponse
from discreet.survey.specification import QuestionKind, Survey, SurveyQuestion

VERSION = 2
"""Of the document. Version 1 had changes and donations a day instead of waves; devices read both."""
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.IGNORECASE)
"""How every device reads a number; float() would take more."""
ID_BYTES = 16


@dataclass(frozen=True)
class SurveyPlan:
    """A survey with the randomizer of each question; `nonce` sets equal surveys apart.

    `wave` is the one that is asked, from 1; 0: the survey began before there were waves, and devices are
    given its document as it was.

    Guarantee: who answers each wave once loses at most epsilon in all, whatever the answers were: the sum over
        questions and waves of `question_epsilon`. The coins of two reports are independent.
    """

    survey: Survey
    choices: tuple[ChosenRandomizer, ...]
    nonce: str = ""
    wave: int = 1

    @classmethod
    def of(cls, survey: Survey, *, nonce: str = "", wave: int = 1) -> SurveyPlan:
        """Return the plan of a survey."""
        share = survey.question_epsilon
        return cls(
            survey,
            tuple(choose(each, share, respondents=survey.respondents) for each in survey.questions),
            nonce,
            wave,
        )

    @cached_property
    def document(self) -> bytes:
        """Return what a device is given: canonical JSON (keys sorted, no blanks, UTF-8)."""
        return json.dumps(
            self._stated(), sort_keys=True, separators=(",", ":"), ensure_ascii=False
        ).encode()

    @cached_property
    def id(self) -> bytes:
        """Return the survey's id: the first 16 bytes of the document's SHA-256."""
        return sha256(self.document).digest()[:ID_BYTES]

    def _stated(self) -> dict[str, Any]:
        survey = self.survey
        limits: dict[str, int] = {"version": VERSION, "wave": self.wave, "waves": survey.waves}
        if not self.wave:
            limits = {
                "version": 1,
                "donations_per_day": survey.donations_per_day,
                "changes": survey.changes,
            }
        return {
            **limits,
            "nonce": self.nonce,
            "title": survey.title,
            "epsilon": plain(survey.epsilon.value),
            "question_epsilon": plain(survey.question_epsilon, significant=15),
            "questions": [
                _question(each, choice)
                for each, choice in zip(survey.questions, self.choices, strict=True)
            ],
        }

    def question_index(self, name: str) -> int:
        """Return the place of a question, or refuse a name that the survey does not have."""
        names = [each.name for each in self.survey.questions]
        if name not in names:
            raise InvalidInput(
                "The survey has no such question.", hint=f"It has: {', '.join(names)}."
            )
        return names.index(name)


def _question(question: SurveyQuestion, choice: ChosenRandomizer) -> dict[str, Any]:
    stated: dict[str, Any] = {
        "name": question.name,
        "kind": str(question.kind),
        "text": question.text,
        "mechanism": choice.randomizer.name,
        "settings": device_settings(choice.randomizer),
    }
    if question.options:
        stated["options"] = list(question.options)
    if question.kind is QuestionKind.NUMBER:
        stated |= {"lower": question.lower, "upper": question.upper}
    return stated


def value_of(question: SurveyQuestion, answer: str) -> int | float | str:
    """Return an answer as its randomizer takes it: a code, a number or a word; refused if it is none.

    >>> value_of(SurveyQuestion("smokes", QuestionKind.YES_NO, "?", ("yes", "no")), " no ")
    1
    """
    answer = answer.strip(BLANKS)
    if question.kind is QuestionKind.OPEN:
        return word_bytes(answer).decode()
    if question.kind is QuestionKind.NUMBER:
        return _number(question, answer)
    if answer not in question.options:
        raise InvalidInput(f"An answer to '{question.name}' is not among its options.")
    return question.options.index(answer)


def _number(question: SurveyQuestion, answer: str) -> float:
    value = float(answer) if _NUMBER.fullmatch(answer) else float("nan")
    if not question.lower <= value <= question.upper:  # a NaN is refused too
        raise InvalidInput(
            f"An answer to '{question.name}' is no number from {question.lower:g} to {question.upper:g}."
        )
    return value + 0.0  # no negative zero


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

        >>> from discreet.survey.specification import survey_of
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

    >>> from discreet.survey.specification import survey_of
    >>> stated = {"title": "t", "epsilon": 1, "questions": {"a": {"kind": "yes-no"}}}
    >>> promise_of(SurveyPlan.of(survey_of(stated, name="s")))[0].partition("answer is ")[2]
    'at most 2.72 times more likely, and at most 2.72 times less likely.'
    """
    return [*answer_sentences(plan.survey.epsilon), *_READ[ConsentFacts.of(plan).protection]]
