"""A survey as SURVEY.toml states it: its questions, its epsilon and its limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from fractions import Fraction

from discreet.core.numbers import Epsilon, round_down

_DIGITS = 12


class QuestionKind(StrEnum):
    """What may be answered: yes or no, one of the options, a number, or any word."""

    YES_NO = "yes-no"
    CHOICE = "choice"
    NUMBER = "number"
    OPEN = "open"


def _help(words: str) -> Mapping[str, str]:
    return {"help": words}


@dataclass(frozen=True, slots=True)
class SurveyQuestion:
    """One question of a survey; every field is public."""

    name: str = field(
        metadata=_help("The name after [questions.], used in results and as the column of answers.")
    )
    kind: QuestionKind = field(metadata=_help("yes-no, choice, number or open."))
    text: str = field(metadata=_help("The question as it is put to respondents."))
    options: tuple[str, ...] = field(
        metadata=_help("The answers of a choice, in order."), default=()
    )
    lower: float = field(metadata=_help("The least number that may be answered."), default=0.0)
    upper: float = field(metadata=_help("The greatest number that may be answered."), default=1.0)
    candidates: str = field(
        metadata=_help("A file of words, one a line, that an open question is read for."),
        default="",
    )
    mechanism: str = field(metadata=_help("The randomizer, if it is not to be chosen."), default="")
    rows: int = field(
        metadata=_help("Rows of the sketch of an open question; 0: chosen."), default=0
    )
    buckets: int = field(metadata=_help("Buckets of the sketch of an open question."), default=1024)
    levels: int = field(
        metadata=_help("Bytes of a word that a prefix tree finds; more need more respondents."),
        default=8,
    )


@dataclass(frozen=True, slots=True)
class Survey:
    """A survey: what is asked, and what each respondent is promised."""

    name: str = field(metadata=_help("The file's stem."))
    title: str = field(metadata=_help("What the survey is called."))
    epsilon: Epsilon = field(metadata=_help("Promised to each device, for the whole survey."))
    questions: tuple[SurveyQuestion, ...] = field(metadata=_help("The questions, in order."))
    donations_per_day: int = field(
        metadata=_help("How many reports a device sends in a day, at most."), default=1
    )
    changes: int = field(
        metadata=_help("How often an answer may change before changes are kept silent."), default=0
    )
    respondents: int = field(metadata=_help("How many are expected; 0: not said."), default=0)

    @property
    def question_epsilon(self) -> Fraction:
        """Return the share of each report of one question, rounded down at the twelfth digit.

        The whole is divided by the number of questions and by the number of different answers that
        a device may tell for each.

        >>> from discreet.survey.spec.read import survey_of
        >>> two = {"title": "t", "epsilon": "2", "questions": {"a": {"kind": "yes-no"}, "b": {"kind": "yes-no"}}}
        >>> survey_of(two, name="s").question_epsilon
        Fraction(1, 1)
        """
        parts = len(self.questions) * (1 + self.changes)
        return round_down(self.epsilon.value / parts, digits=_DIGITS)


def settings_of(kind: type[Survey | SurveyQuestion]) -> dict[str, str]:
    """Return each setting that a TOML file may have, with what it means."""
    return {each.name: each.metadata["help"] for each in fields(kind) if each.name != "name"}
