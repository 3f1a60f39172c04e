"""A survey as SURVEY.toml states it: its questions, its epsilon and its limits."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field, fields
from enum import StrEnum
from fractions import Fraction
from typing import Any

from discreet.core.numbers import Epsilon, round_down

_DIGITS = 12
MOST_REPORTS, MOST_MB = 200_000, 256
"""What one survey takes unless its owner says otherwise, or expects more respondents."""


class QuestionKind(StrEnum):
    """What may be answered: yes or no, one of the options, a number, or any word."""

    YES_NO = "yes-no"
    CHOICE = "choice"
    NUMBER = "number"
    OPEN = "open"


def _setting(words: str, default: Any = MISSING) -> Any:
    """Return a field with what it means; without a default it must be stated."""
    return field(metadata={"help": words}, default=default)


@dataclass(frozen=True, slots=True)
class SurveyQuestion:
    """One question of a survey; every field is public."""

    name: str = _setting(
        "The name after [questions.], used in results and as the column of answers."
    )
    kind: QuestionKind = _setting("yes-no, choice, number or open.")  # noqa: RUF009  # a field
    text: str = _setting("The question as it is put to respondents.")
    options: tuple[str, ...] = _setting("The answers of a choice, in order.", ())
    lower: float = _setting("The least number that may be answered.", 0.0)
    upper: float = _setting("The greatest number that may be answered.", 1.0)
    candidates: str = _setting(
        "A file of words, one a line, that an open question is read for.", ""
    )
    mechanism: str = _setting("The randomizer, if it is not to be chosen.", "")
    rows: int = _setting("Rows of the sketch of an open question; 0: chosen.", 0)
    buckets: int = _setting("Buckets of the sketch of an open question.", 1024)
    levels: int = _setting(
        "Bytes of a word that a prefix tree finds; more need more respondents.", 8
    )


@dataclass(frozen=True, slots=True)
class Survey:
    """A survey: what is asked, and what each respondent is promised."""

    name: str = _setting("The file's stem.")
    title: str = _setting("What the survey is called.")
    epsilon: Epsilon = _setting("Promised to each device, for the whole survey.")  # noqa: RUF009  # a field
    questions: tuple[SurveyQuestion, ...] = _setting("The questions, in order.")
    waves: int = _setting("In how many waves it is asked at most; each is answered once.", 1)
    donations_per_day: int = _setting(
        "Of earlier versions, without effect: a device sends one report for each wave.", 1
    )
    changes: int = _setting("Of earlier versions: the same as waves = 1 + changes.", 0)
    respondents: int = _setting("How many are expected; 0: not said.", 0)
    most_reports: int = _setting("How many reports are taken at most.", MOST_REPORTS)
    most_mb: int = _setting("How large the file of reports may grow, in MB.", MOST_MB)

    @property
    def question_epsilon(self) -> Fraction:
        """Return the share of each report of one question, rounded down at the twelfth digit.

        The whole is divided by the number of questions and by the number of waves: what is lost in a
        wave does not depend on whether an answer changed, so each wave has a share of its own.

        >>> from discreet.survey.spec.read import survey_of
        >>> two = {"title": "t", "epsilon": "2", "questions": {"a": {"kind": "yes-no"}, "b": {"kind": "yes-no"}}}
        >>> survey_of(two, name="s").question_epsilon
        Fraction(1, 1)
        """
        parts = len(self.questions) * self.waves
        return round_down(self.epsilon.value / parts, digits=_DIGITS)


def settings_of(kind: type[Survey | SurveyQuestion]) -> dict[str, str]:
    """Return each setting that a TOML file may have, with what it means."""
    return {each.name: each.metadata["help"] for each in fields(kind) if each.name != "name"}
