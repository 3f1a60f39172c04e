"""Which randomizer a question gets, and why: by the number of answers, of respondents, and epsilon."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.core.numbers import plain
from discreet.errors import InvalidInput
from discreet.survey.randomizers.base import MeanRandomizer, ShareRandomizer
from discreet.survey.randomizers.duchi import DuchiResponse
from discreet.survey.randomizers.hybrid import HybridResponse
from discreet.survey.randomizers.kary import KaryResponse
from discreet.survey.randomizers.lattice import NumberRange
from discreet.survey.randomizers.local_hash import LocalHash
from discreet.survey.randomizers.piecewise import PiecewiseResponse
from discreet.survey.randomizers.projective import ProjectiveResponse
from discreet.survey.randomizers.rappor import Rappor
from discreet.survey.randomizers.unary import UnaryEncoding
from discreet.survey.sketch.count_mean import CountMeanSketch
from discreet.survey.sketch.hadamard import HadamardSketch
from discreet.survey.sketch.prefix_tree import PrefixTree
from discreet.survey.sketch.rappor_sketch import RapporSketch
from discreet.survey.spec.survey import QuestionKind, SurveyQuestion

AnyRandomizer = ShareRandomizer | MeanRandomizer
Build = Callable[[SurveyQuestion, Fraction], AnyRandomizer]

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
    builders = _BUILDERS[question.kind]
    if name not in builders:
        raise InvalidInput(
            f"The question '{question.name}' ({question.kind}) cannot have this mechanism.",
            hint=f"Choose from: {', '.join(builders)}.",
        )
    return ChosenRandomizer(builders[name](_sized(question, respondents), epsilon), why)


def mechanisms(kind: QuestionKind) -> tuple[str, ...]:
    """Return the names of the randomizers that a kind of question may have."""
    return tuple(_BUILDERS[kind])


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


def _sized(question: SurveyQuestion, respondents: int) -> SurveyQuestion:
    if question.kind is not QuestionKind.OPEN or question.rows:
        return question
    return replace(question, rows=_rows(respondents))


def _over_codes(make: Callable[[int, Fraction], AnyRandomizer]) -> Build:
    return lambda question, epsilon: make(len(question.options), epsilon)


def _over_numbers(make: Callable[[NumberRange, Fraction], AnyRandomizer]) -> Build:
    return lambda question, epsilon: make(NumberRange.of(question.lower, question.upper), epsilon)


def _warner(question: SurveyQuestion, epsilon: Fraction) -> AnyRandomizer:
    return KaryResponse.of(len(question.options), epsilon, name="warner")


def _over_words(make: Callable[..., AnyRandomizer]) -> Build:
    return lambda question, epsilon: make(epsilon, rows=question.rows, buckets=question.buckets)


def _prefix_tree(question: SurveyQuestion, epsilon: Fraction) -> AnyRandomizer:
    # The levels share the reports and each extension asks for 256 prefixes: few rows do.
    rows = min(question.rows, 64)
    return PrefixTree.of(epsilon, rows=rows, buckets=question.buckets, levels=question.levels)


_LISTED: dict[str, Build] = {
    "k-ary": _over_codes(KaryResponse.of),
    "unary": _over_codes(UnaryEncoding.of),
    "local-hash": _over_codes(LocalHash.of),
    "projective": _over_codes(ProjectiveResponse.of),
    "rappor": _over_codes(Rappor.of),
}
_BUILDERS: dict[QuestionKind, dict[str, Build]] = {
    QuestionKind.YES_NO: {"warner": _warner, **_LISTED},
    QuestionKind.CHOICE: _LISTED,
    QuestionKind.NUMBER: {
        "duchi": _over_numbers(DuchiResponse.of),
        "piecewise": _over_numbers(PiecewiseResponse.of),
        "hybrid": _over_numbers(HybridResponse.of),
    },
    QuestionKind.OPEN: {
        "count-mean-sketch": _over_words(CountMeanSketch.of),
        "hadamard-sketch": _over_words(HadamardSketch.of),
        "prefix-tree": _prefix_tree,
        "rappor-sketch": _over_words(RapporSketch.of),
    },
}
