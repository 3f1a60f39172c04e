"""All mechanisms by name: adding one is adding a file with its `MECHANISM` and a line here."""

from __future__ import annotations

from discreet.survey.randomizers import kary, local_hash, projective, rappor, unary
from discreet.survey.randomizers.mechanism import AnswerDomain, Mechanism
from discreet.survey.randomizers.numbers import duchi, hybrid, piecewise
from discreet.survey.sketch import count_mean, hadamard, prefix_tree, rappor_sketch
from discreet.survey.spec.survey import QuestionKind

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
        rappor.MECHANISM,
        rappor_sketch.MECHANISM,
        duchi.MECHANISM,
        piecewise.MECHANISM,
        hybrid.MECHANISM,
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
