"""What already-paid answers imply, free of charge: the best linear unbiased estimate.

Boxes are cut into atoms; a paid number is a sum over atoms plus known noise. A wanted sum is implied
if some combination of paid ones equals it on every atom; among those, the one with the least noise
variance is taken (generalised least squares). Post-processing, so it costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from discreet.core.answers.rank_error import Ranks
from discreet.core.arrays import Floats
from discreet.core.region import Positions
from discreet.kernel.look import Noisy
from discreet.plan.evaluate import evaluate
from discreet.plan.plan import Plan
from discreet.release.bars.outputs import bar_of
from discreet.release.bars.ranks import keys_are_chosen, shown_groups_error
from discreet.release.bars.selected import NoiseSelection, selected_before
from discreet.release.bars.sets import summed_half_width
from discreet.release.finish import ResultTable, arranged, notes_of_shown, plain_value
from discreet.release.kept.paid_cells import Cells, PaidValue, cells_of, signature
from discreet.sql.post_processing.program import NO_STEPS, LaterSelection

MOST_ATOMS = 4_000
MOST_KNOWN = 400
TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Estimate:
    """An implied value and the half-width of its error bar."""

    value: float
    half_width: float


def implied(
    plan: Plan, known: list[PaidValue], later: LaterSelection = NO_STEPS
) -> ResultTable | None:
    """Return the answer to a plan's question if paid answers imply it at least as exactly.

    `later`: how steps after it may select among its cells.
    """
    cells = cells_of(plan.question) if known else None
    if cells is None or plan.mechanisms.top is not None:
        return None
    selected = selected_before(plan.question, plan.mechanisms.laws, later)
    assert selected is not None, "cells_of: the groups are public"
    estimates: dict[str, list[Estimate]] = {}
    for name, measure in plan.question.measured.measures:
        said = signature(measure, cells.called)
        usable = [k for k in known if k.table == cells.table and k.measure == said]
        confidence = 1 - selected.failure((name,))
        found = _estimates(cells, usable, confidence)
        if found is None:
            return None
        fresh = plan.mechanisms.laws[name].half_width(confidence)
        if any(estimate.half_width > fresh for estimate in found):
            return None
        estimates[name] = found
    return _table(plan, estimates, selected)


def _estimates(cells: Cells, known: list[PaidValue], confidence: Fraction) -> list[Estimate] | None:
    if not known or len(known) > MOST_KNOWN:
        return None
    boxes = [dict(item.box) for item in known]
    wanted = [dict(box) for box in cells.boxes]
    matrix = _indicators(boxes + wanted, cells.ranges)
    if matrix is None:
        return None
    observed, targets = matrix[: len(boxes)], matrix[len(boxes) :]
    # Scaled by the standard deviations, the shortest solution is the one of least variance.
    # At a huge epsilon a variance underflows to 0; a millionth is as good as nothing, and divides.
    deviations = np.array([max(math.sqrt(float(item.law.variance)), 1e-6) for item in known])
    scaled = observed / deviations[:, None]
    found = []
    for target in targets:
        weights, *_ = np.linalg.lstsq(scaled.T, target, rcond=None)
        if np.abs(scaled.T @ weights - target).max() > TOLERANCE:
            return None
        plain = weights / deviations
        used = [i for i in range(len(known)) if abs(plain[i]) > TOLERANCE]
        weighted = [(Fraction(float(plain[i])).limit_denominator(10**6), known[i]) for i in used]
        terms = tuple((weight, item.law) for weight, item in weighted)
        value = sum(float(plain[i]) * known[i].value for i in used)
        half = summed_half_width(terms, confidence) if terms else 0.0
        # Weights carry the rounding of the solver; six decimals are far below any noise.
        found.append(Estimate(round(float(value), 6), half))
    return found


def _indicators(
    boxes: list[dict[str, Positions]], ranges: Mapping[str, tuple[int, int]]
) -> Floats | None:
    """Return which atoms each box holds; None where there would be too many atoms."""
    names = sorted({name for box in boxes for name in box})
    pieces = {
        name: _pieces((box[name] for box in boxes if name in box), ranges[name]) for name in names
    }
    size = math.prod(len(parts) for parts in pieces.values())
    if size > MOST_ATOMS:
        return None
    atoms = list(product(*(pieces[name] for name in names)))
    matrix = np.zeros((len(boxes), len(atoms)))
    for i, box in enumerate(boxes):
        for j, atom in enumerate(atoms):
            matrix[i, j] = all(
                place in box[name] for name, place in zip(names, atom, strict=True) if name in box
            )
    return matrix[:, matrix.any(axis=0)]


def _pieces(sets: Iterable[Positions], within: tuple[int, int]) -> list[int]:
    """Return one position of each piece into which these sets cut an axis."""
    first, last = within
    starts = {first}
    for positions in sets:
        for low, high in positions.spans:
            starts |= {low, high + 1}
    return sorted(place for place in starts if first <= place <= last)


def _table(
    plan: Plan, estimates: dict[str, list[Estimate]], selected: NoiseSelection
) -> ResultTable | None:
    question = plan.question
    bars = [bar_of(value, plan.mechanisms.laws) for _, value in question.outputs]
    if any(bar.noisy and (bar.linear is None or len(bar.measures) != 1) for bar in bars):
        return None
    groups = tuple(question.groups)  # type: ignore[arg-type]  # cells_of: the groups are public
    measures: dict[str, list[Any]] = {
        name: [estimate.value for estimate in found] for name, found in estimates.items()
    }
    rows = arranged(Noisy(groups, measures, {}), question)
    shown, errors, ends = [], [], []
    for index, row in rows:
        values = [evaluate(value, row) for _, value in question.outputs]
        halves: list[float | None] = []
        for bar in bars:
            if bar.linear is None:
                halves.append(None)
                continue
            ((name, coefficient),) = bar.linear.terms.items()
            halves.append(abs(float(coefficient)) * estimates[name][index].half_width)
        shown.append(tuple(map(plain_value, values)))
        errors.append(tuple(halves))
        ends.append(
            tuple(
                None if half is None else (float(value) - half, float(value) + half)
                for value, half in zip(values, halves, strict=True)
            )
        )
    columns = tuple(name for name, _ in question.outputs)
    noisy = tuple(i for i, bar in enumerate(bars) if bar.noisy)
    notes = tuple(selected.notes(name for bar in bars for name in bar.measures))
    # Estimates are at least as exact as what the plan would measure, so its bound holds for them.
    left_out = shown_groups_error(question, plan.mechanisms.laws, selected)
    notes += notes_of_shown(left_out, unknown=keys_are_chosen(question, selected))
    ranks: Ranks = ()
    if left_out is not None:
        noisy, ranks = tuple(range(len(columns))), ((left_out,) * len(columns),) * len(rows)
    return ResultTable(columns, tuple(shown), tuple(errors), tuple(ends), None, noisy, notes, ranks)
