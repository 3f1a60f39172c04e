"""What an estimate is wanted for, and the values that a question is read for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from discreet.errors import InvalidInput
from discreet.survey.spec.survey import QuestionKind, SurveyQuestion


@dataclass(frozen=True, slots=True)
class SurveyWanted:
    """What is wanted: words of open questions, shares that add up, and a cross table of two questions.

    `repeats`: how often one device may have given. Its reports are copies of each other, so that many
    reports are as good as one.
    """

    candidates: Mapping[str, Sequence[str]] = field(default_factory=dict)
    consistent: bool = False
    confidence: float = 0.95
    cross: tuple[str, str] | None = None
    repeats: int = 1

    def __post_init__(self) -> None:
        if not 0 < self.confidence < 1 or (1 + self.confidence) / 2 == 1:  # rounded, too
            raise InvalidInput("A confidence must lie between 0 and 1, such as 0.95.")


def values_of(
    question: SurveyQuestion, wanted: SurveyWanted
) -> tuple[Sequence[str], Sequence[Any]]:
    """Return the answers that are estimated, as labels and as the randomizer takes them."""
    if question.kind is QuestionKind.OPEN:
        words = wanted.candidates.get(question.name, ())
        return words, words
    return question.options, range(len(question.options))
