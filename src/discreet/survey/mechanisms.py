"""All mechanisms by name, and which one a question gets.

Adding a mechanism is adding a file with its `MECHANISM` and a line here. A question gets the one that it names, or
the best one by the number of answers, of respondents, and epsilon.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.base.numbers import plain
from discreet.errors import InvalidInput
from discreet.survey.randomizers import (
    count_mean,
    hadamard,
    kary,
    local_hash,
    numbers,
    prefix_tree,
    projective,
    rappor,
    unary,
)
from discreet.survey.randomizers.base import (
    AnswerDomain,
    AnswerSpace,
    AnyRandomizer,
    Mechanism,
    NumberRange,
)
from discreet.survey.specification import QuestionKind, SurveyQuestion

MECHANISMS: dict[str, Mechanism] = {
    each.name: each
    for each in (
        kary.WARNER,
        kary.MECHANISM,
        unary.MECHANISM,
        local_hash.MECHANISM,
        projective.MECHANISM,
        count_mean.MECHANISM,
        hadamard.MECHANISM,
        prefix_tree.MECHANISM,
        rappor.RAPPOR,
        rappor.RAPPOR_SKETCH,
        numbers.DUCHI,
        numbers.PIECEWISE,
        numbers.HYBRID,
    )
}

_FIT = {
    QuestionKind.YES_NO: (AnswerDomain.TWO, AnswerDomain.OPTIONS),
    QuestionKind.CHOICE: (AnswerDomain.OPTIONS,),
    QuestionKind.NUMBER: (AnswerDomain.NUMBERS,),
    QuestionKind.OPEN: (AnswerDomain.WORDS,),
}


def mechanisms(kind: QuestionKind) -> tuple[str, ...]:
    """Return the names of the mechanisms that a kind of question may have."""
    return tuple(name for name, each in MECHANISMS.items() if each.over in _FIT[kind])


HYBRID_FROM = 0.61
"""Below this epsilon Duchi's response alone has the least worst error [Wang et al. 2019]."""
_LARGEST_SKETCH = 1 << 14
_USUAL_ROWS = 1024


@dataclass(frozen=True, slots=True)
class ChosenRandomizer:
    """A randomizer and the reason for it, in one sentence."""

    randomizer: AnyRandomizer
    why: str


def choose(
    question: SurveyQuestion, epsilon: Fraction, *, respondents: int = 0
) -> ChosenRandomizer:
    """Return the randomizer of a question at `epsilon`, the one it names or the best one, and why."""
    name, why = question.mechanism, "The survey names it."
    if not name:
        name, why = _best(question, float(epsilon), respondents)
    known = mechanisms(question.kind)
    if name not in known:
        raise InvalidInput(
            f"The question '{question.name}' ({question.kind}) cannot have this mechanism.",
            hint=f"Choose from: {', '.join(known)}.",
        )
    return ChosenRandomizer(MECHANISMS[name].make(_space(question, respondents), epsilon), why)


def _best(question: SurveyQuestion, epsilon: float, respondents: int) -> tuple[str, str]:
    said = plain(Fraction(epsilon), significant=4)
    if question.kind is QuestionKind.YES_NO:
        return "warner", "Two answers: Warner's coin is the best there is."
    if question.kind is QuestionKind.CHOICE:
        codes, limit = len(question.options), 3 * math.exp(min(epsilon, 30.0)) + 2
        if codes < limit:
            why = f"{codes} options are fewer than 3 e^{said} + 2 = {limit:.1f}: telling an option is best."
            return "k-ary", why
        why = f"{codes} options are at least 3 e^{said} + 2 = {limit:.1f}: a point of a geometry says more."
        return "projective", why
    if question.kind is QuestionKind.OPEN:
        rows = _rows(respondents)
        why = f"No list of words: hashed into {rows:,} rows of {question.buckets:,} buckets"
        return "count-mean-sketch", f"{why}, whose collisions stay below the noise."
    if epsilon <= HYBRID_FROM:
        return "duchi", f"At an epsilon of {said} one bit has the least worst error."
    return "hybrid", f"Above an epsilon of {HYBRID_FROM} a mixture has the least worst error."


def _rows(respondents: int) -> int:
    """Return enough rows that collisions add at most about as much as the noise of all reports."""
    wanted = max(_USUAL_ROWS, min(respondents // _USUAL_ROWS, _LARGEST_SKETCH))
    return 1 << (wanted - 1).bit_length()


def _space(question: SurveyQuestion, respondents: int) -> AnswerSpace:
    if question.kind is QuestionKind.OPEN:
        rows = question.rows or _rows(respondents)
        return AnswerSpace(rows=rows, buckets=question.buckets, levels=question.levels)
    if question.kind is QuestionKind.NUMBER:
        return AnswerSpace(span=NumberRange.of(question.lower, question.upper))
    return AnswerSpace(codes=len(question.options))
