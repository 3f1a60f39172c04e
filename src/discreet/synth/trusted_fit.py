"""A model that may be handed over: checked against its own measurements, or a simpler one instead.

After the charge nothing may fail for reasons of arithmetic, and nothing quietly: a fit that breaks,
or that lies farther from its noisy tables than noise explains, gives way to independent columns from
the same tables, and the copy says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import InternalError, InvalidInput
from discreet.synth.measure.agreement import FitAgreement, agreement
from discreet.synth.measure.private_marginals import Measured, PrivateMarginals
from discreet.synth.methods.independent import (
    plain_columns,
    single_tables,
    smooth_columns,
)
from discreet.synth.models.model import Model

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
