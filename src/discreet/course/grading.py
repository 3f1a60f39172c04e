"""Grading: an answer as it was written, read by its kind and checked by computation."""

from __future__ import annotations

from discreet.course.exercise import GradedAnswer
from discreet.course.lesson import lesson_named
from discreet.course.written import LONGEST, READERS
from discreet.errors import DiscreetError, InvalidInput, TooManyRequests


def grade(lesson: str, question: str, answer: str | float) -> GradedAnswer:
    """Return whether an answer to a lesson's question is right, and why.

    Guarantee: no data set and no ledger but those of a made-up town of the course's own are touched
        (`course.bench`); a statement is planned by the product and never reaches an engine as written.

    >>> grade("randomized_response", "epsilon", "ln(3)").right
    True
    """
    asked = lesson_named(lesson).question(question)
    written = str(answer)
    if len(written) > LONGEST:
        raise InvalidInput(f"An answer has at most {LONGEST:,} characters.")
    try:
        return asked.check(READERS[asked.kind](written))
    except TooManyRequests:
        raise
    except DiscreetError as error:  # a refusal of the product is part of the lesson
        return GradedAnswer(False, str(error))
