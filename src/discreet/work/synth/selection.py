"""Fits that may be handed over: one checked against its own measurements, or the best of several methods.

After the charge nothing may fail for reasons of arithmetic, and nothing quietly: a fit that breaks,
or that lies farther from its noisy tables than noise explains, gives way to independent columns from
the same tables, and the copy says so.

Choosing by looking at the real data costs budget like any other question. Here it is one question:
which candidate's tables are closest to the real ones, answered by the exponential mechanism.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TypeAlias

import numpy as np

from discreet.base.arrays import Integers
from discreet.base.display import Progress, silent
from discreet.errors import InternalError, InvalidInput
from discreet.measure.private_marginals import (
    Counter,
    FitAgreement,
    Measured,
    PartialMarginals,
    PrivateMarginals,
    Scores,
    agreement,
)
from discreet.measure.shape import Columns, Shape
from discreet.work.synth.methods.independent import plain_columns, single_tables, smooth_columns
from discreet.work.synth.models.model import Model
from discreet.work.synth.report.quality import CELLS, ComparisonScope

_BROKEN = (ArithmeticError, ValueError, LookupError, MemoryError, InternalError, InvalidInput)
"""What a fit may raise for reasons of arithmetic; engines that fail and jobs that end are not here."""


@dataclass(frozen=True, slots=True, eq=False)
class TrustedFit:
    """A model, the tables that it agrees with, how well, and what the reader must be told."""

    model: Model
    measured: tuple[Measured, ...]
    agreement: FitAgreement
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """A trusted fit, the method behind it, and the part of the budget that it got."""

    trusted: TrustedFit
    method: str
    words: tuple[str, ...] = ()
    part: Fraction = Fraction(1)


def fit_trusted(marginals: PrivateMarginals, name: str, fit: Callable[[], Model]) -> TrustedFit:
    """Return the model of `fit`, or independent columns where it cannot be trusted.

    Guarantee: what decides is noisy and paid for, or arithmetic on it. Columns that were not
        measured yet are measured with what is left of the same budget.
    """
    try:
        model = fit()
        checked = agreement(marginals.measured, model)
    except _BROKEN:
        return _simpler(marginals, f"The method '{name}' could not be fitted to its noisy tables")
    if checked.holds:
        return TrustedFit(model, tuple(marginals.measured), checked)
    return _simpler(
        marginals, f"The model of '{name}' lay farther from its noisy tables than noise explains"
    )


def _simpler(marginals: PrivateMarginals, why: str) -> TrustedFit:
    tables = single_tables(marginals, marginals.measured)
    model = smooth_columns(marginals.shape, tables)
    checked = agreement(tables, model)
    if not checked.holds:
        model = plain_columns(marginals.shape, tables)
        checked = agreement(tables, model)
    words = (
        f"{why}: the copy was made of single columns instead, and keeps no dependence between "
        "columns."
    )
    return TrustedFit(model, tables, checked, (words,))


Candidate: TypeAlias = tuple[str, Callable[[PrivateMarginals, Progress], Model]]
"""A method with its settings, under the name that is reported."""

FOR_CHOICE = Fraction(1, 20)
"""The part of the budget that pays for the choice: the score moves by one row for each person, so
little is enough; all else is split evenly, since nobody knows beforehand who will win."""

STEPS = 100
"""Steps that a selection is told in: public, whatever the candidates do."""

MOST = 8
"""More candidates would leave each of them too little."""


def choose_method(
    marginals: PrivateMarginals,
    candidates: Sequence[Candidate],
    *,
    progress: Progress = silent,
) -> Fitted:
    """Return the fit of a candidate whose tables are close to the real ones: pairs of columns, up to 300.

    It has the noisy tables behind its model; what the others measured is not in it.

    Guarantee: everything passes through `marginals`, in shares that add up to 1: FOR_CHOICE for the
        selection and (1 - FOR_CHOICE) / k for each fit. The score of a candidate is minus the sum over W
        tables of the L1 distance between exact counts and fixed whole numbers (its fitted tables,
        paid for already). One row more or less changes one cell of each table by 1, so every
        distance moves by at most 1 and the score by at most W. (docs/notes/0024)
    """
    names = [name for name, _ in candidates]
    check_choice(names)
    tables = pairs_of(marginals.shape)
    each = (1 - FOR_CHOICE) / len(candidates)
    fits = []
    for i, (name, fit) in enumerate(candidates):
        told = _stretch(progress, i, len(candidates), name)
        told(0, 1, "fitting")
        part = PartialMarginals(marginals, each)
        fits.append(fit_trusted(part, name, partial(fit, part, told)))
    progress(STEPS - 1, STEPS, "choosing")
    scores = _scores([fit.model for fit in fits], tables)
    picked = marginals.choose(scores, sensitivity=len(tables), share=FOR_CHOICE)
    progress(STEPS, STEPS, "chosen")
    words = (
        f"'{names[picked]}' was chosen among {', '.join(names)} by a paid selection: "
        f"{float(each):.1%} of the budget fitted each, {float(FOR_CHOICE):.1%} chose."
    )
    return Fitted(fits[picked], names[picked], (words,), each)


def check_choice(names: Sequence[str]) -> None:
    """Refuse a choice that is none; asked before anything is paid, too."""
    if not 2 <= len(names) <= MOST or len(set(names)) != len(names):
        raise InvalidInput(
            f"A paid selection needs 2 to {MOST} different methods.",
            hint="Write --choose tree,adaptive.",
        )


def _stretch(progress: Progress, place: int, of: int, name: str) -> Progress:
    """Return a listener that tells one candidate's steps as its stretch of the whole."""

    def told(done: int, steps: int, what: str) -> None:
        part = (place + min(1.0, done / max(steps, 1))) / of
        progress(round((STEPS - 1) * part), STEPS, f"{name}: {what}")

    return told


def pairs_of(shape: Shape) -> tuple[Columns, ...]:
    """Return the tables that the choice goes by: pairs of columns; single columns if there are none.

    By public sizes alone, and the same every time.
    """
    scope = ComparisonScope.of(shape, CELLS)
    return scope.pairs or scope.ones


def _scores(models: Sequence[Model], tables: Sequence[Columns]) -> Scores:
    # Rounded before anything exact is read: whole numbers against whole numbers.
    fitted = [
        [np.rint(model.marginal(columns)).astype(np.int64) for columns in tables]
        for model in models
    ]

    def scores(counter: Counter) -> Integers:
        exact = counter.marginals(tables)
        return np.array(
            [
                -sum(int(np.abs(x - y).sum()) for x, y in zip(exact, mine, strict=True))
                for mine in fitted
            ],
            dtype=np.int64,
        )

    return scores
