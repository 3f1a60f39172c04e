"""A request for estimates, and the values that a question is read for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.core.requests.request_fields import given
from discreet.core.requests.survey import EstimateFields
from discreet.errors import InvalidInput
from discreet.survey.sketch.hashes import word_bytes
from discreet.survey.spec.survey import QuestionKind, SurveyQuestion


@dataclass(frozen=True)
class EstimateRequest(EstimateFields):
    """What is wanted, checked: words of open questions, shares that add up, a cross table of two questions.

    `repeats`: how often one device may have given. Its reports are copies of each other, so that many
    reports are as good as one.
    """

    repeats: int = 1

    if TYPE_CHECKING:
        cross: tuple[str, str] | None = None

    @classmethod
    def of(cls, **words: Any) -> EstimateRequest:
        """Return what is wanted from the fields of `EstimateFields`; a word that no device could tell is refused."""
        asked = EstimateFields(**words)
        pair = tuple(asked.cross or ())
        if pair and (len(pair) != 2 or pair[0] == pair[1]):
            raise InvalidInput("Write --cross as two questions, such as smokes,grade.")
        spelled = {
            question: list(dict.fromkeys(word_bytes(word).decode() for word in found))
            for question, found in asked.candidates.items()
        }
        return cls(**given(asked) | {"candidates": spelled, "cross": pair or None})

    def __post_init__(self) -> None:
        if not 0 < self.confidence < 1 or (1 + self.confidence) / 2 == 1:  # rounded, too
            raise InvalidInput("A confidence must lie between 0 and 1, such as 0.95.")


def values_of(
    question: SurveyQuestion, wanted: EstimateRequest
) -> tuple[Sequence[str], Sequence[Any]]:
    """Return the answers that are estimated, as labels and as the randomizer takes them."""
    if question.kind is QuestionKind.OPEN:
        words = wanted.candidates.get(question.name, ())
        return words, words
    return question.options, range(len(question.options))
