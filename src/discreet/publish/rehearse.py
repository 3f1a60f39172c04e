"""A rehearsal: the whole release on made-up rows. It costs nothing and reads no private row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.arrays import Integers
from discreet.core.display import result_lines
from discreet.core.display.lines import ShownInLines, ShownLines
from discreet.kernel.mechanism import Law
from discreet.noise.rng import SystemRng
from discreet.publish.families.find import Family
from discreet.publish.grid import add_up
from discreet.publish.measure import noisy_cells
from discreet.publish.notices import notices_of
from discreet.publish.prepare import PlannedRelease, reconciled_family
from discreet.report import Document, Figure, Grid, Paragraph, Section, bars

ROWS = 100_000
"""How many rows are made up: nobody knows the real number before paying."""
MOST_CELLS = 2_000_000
"""Larger grids are rehearsed by their noise laws alone."""
SIZES = (1, 10, 100, 1000, 10_000)


@dataclass(frozen=True, slots=True)
class ExpectedError:
    """What readers of one table will see: errors on made-up rows, in the table's own units.

    `noisy`, `fitted` and `whole` are root mean squared errors of the measurements, of least squares
    and of the published whole numbers; `half` is the mean half width of the intervals; `by_size` maps
    cells of at least that many to the share of them that is off by more than a tenth.
    """

    table: str
    cells: int
    share: float
    noisy: float
    fitted: float
    whole: float
    half: float
    by_size: dict[int, float]

    def to_json(self) -> dict[str, Any]:
        """Return plain numbers."""
        return {
            "rows": self.cells,
            "share": self.share,
            "error": {"measured": self.noisy, "least_squares": self.fitted, "whole": self.whole},
            "half_width95": self.half,
            "off_by_a_tenth": {str(size): share for size, share in self.by_size.items()},
        }


@dataclass(frozen=True, slots=True, repr=False)
class Rehearsal(ShownInLines):
    """A rehearsed release: what it would cost and how exact it would be. Nothing was spent."""

    release: str
    epsilon: float
    delta: float
    tables: tuple[ExpectedError, ...]
    notices: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the object that `discreet publish --rehearse --json` prints."""
        return {
            "release": self.release,
            "state": "rehearsed",
            "spends": False,
            "cost": {"epsilon": self.epsilon, "delta": self.delta},
            "made_up_rows": ROWS,
            "tables": {each.table: each.to_json() for each in self.tables},
            "notices": list(self.notices),
        }

    def document(self) -> Document:
        """Return the pictures of expected errors, for the owner and whoever approves."""
        rows = [
            (e.table, e.cells, e.share, e.noisy, e.fitted, e.whole, e.half) for e in self.tables
        ]
        grid = Grid.of(
            ("table", "cells", "share", "measured", "least squares", "published", "interval ±"),
            rows,
            "Errors on made-up rows: root mean squares over the cells of each table.",
            shares=(2,),
        )
        pictures = [
            Figure(
                f"Cells of {each.table} that are off by more than a tenth",
                bars(
                    [f"{size:,} and more" for size in each.by_size],
                    list(each.by_size.values()),
                    across="made-up size of the cell",
                    title="share of cells",
                ),
                "Small cells are noise; read the sizes from which on the share is near zero.",
            )
            for each in self.tables
            if any(each.by_size.values())
        ]
        words = Paragraph(
            f"{ROWS:,} made-up rows stand in for the real ones, which nobody has looked at. Nothing "
            "was charged. Errors depend on sizes of cells, and those are made up as well."
        )
        levels = Figure(
            "What agreement between tables gains",
            bars(
                [each.table for each in self.tables],
                [each.whole / max(each.noisy, 1e-9) for each in self.tables],
                title="published error / noise",
                across="table",
            ),
            "Below 1, a table is more exact than its own noise: others say something about it.",
        )
        said = tuple(Paragraph(notice, warning=True) for notice in self.notices)
        sections = [Section("Expected errors", (*said, words, grid, levels))]
        if pictures:
            sections.append(Section("By size", tuple(pictures)))
        return Document(
            title=f"{self.release}: a rehearsal",
            subtitle=f"epsilon {self.epsilon:g}, delta {self.delta:g}",
            warning=None,
            sections=tuple(sections),
        )

    def lines(self) -> ShownLines:
        """Return what a person reads."""
        return result_lines.rehearsal_lines(self.to_json())


def rehearse(plan: PlannedRelease) -> Rehearsal:
    """Return what a release would look like on made-up rows."""
    found = []
    for number, family in enumerate(plan.families):
        laws = plan.laws_of(number)
        pairs = zip(plan.wanted, plan.priced.shares, strict=True)
        shares = [float(share) for each, share in pairs if each.family == number]
        if family.cells > MOST_CELLS:
            found += [
                _by_law(m, law, s) for m, law, s in zip(family.members, laws, shares, strict=True)
            ]
        else:
            found += _rehearsed(plan, number, laws, shares)
    spec = plan.spec
    epsilon, delta = float(spec.epsilon.value), float(spec.delta.value)
    return Rehearsal(spec.name, epsilon, delta, tuple(found), notices_of(plan))


def _by_law(member: Any, law: Law, share: float) -> ExpectedError:
    sigma = float(np.sqrt(law.variance))
    return ExpectedError(member.name, member.cells, share, sigma, sigma, sigma, 2 * sigma, {})


def _rehearsed(
    plan: PlannedRelease, number: int, laws: list[Law], shares: list[float]
) -> list[ExpectedError]:
    family, zero = plan.families[number], plan.zeros[number]
    truth = made_up(family) * _each(plan, number)
    if zero is not None:
        truth[zero] = 0
    exact = [add_up(truth, m.maps, m.shape) for m in family.members]
    rng = SystemRng()
    noisy = [noisy_cells(cells, law, rng) for cells, law in zip(exact, laws, strict=True)]
    facts = [add_up(truth, m.maps, m.shape) for m in family.facts]
    results = reconciled_family(plan, number, noisy, facts)
    step = float(plan.steps[number])
    return [
        ExpectedError(
            table=member.name,
            cells=member.cells,
            share=share,
            noisy=step * _rms(seen - cells),
            fitted=step * _rms(result.estimate.values - cells),
            whole=step * _rms(result.published.whole - cells),
            half=step * float((result.published.high - result.published.low).mean()) / 2,
            by_size=_by_size(cells, result.published.whole),
        )
        for member, share, cells, seen, result in zip(
            family.members, shares, exact, noisy, results, strict=True
        )
    ]


def _each(plan: PlannedRelease, number: int) -> int:
    """Return what a made-up row adds: one to a count, the middle of its range to a sum."""
    measure = plan.reads[number, 0].measure
    return max(1, (measure.low + measure.high) // 2 // measure.grain)


def made_up(family: Family) -> Integers:
    """Return leaf cells of a population that nobody has: uneven along every dimension."""
    weights = np.ones(family.shape)
    for axis, size in enumerate(family.shape):
        uneven = 1.0 / (1.0 + np.arange(size)) ** 0.7
        weights = weights * uneven.reshape([-1 if d == axis else 1 for d in range(weights.ndim)])
    dice = np.random.default_rng(0)  # no guarantee hangs on made-up rows
    chances = weights.reshape(-1) / weights.sum()
    return dice.multinomial(ROWS, chances).reshape(family.shape).astype(np.int64)


def _rms(errors: Any) -> float:
    return float(np.sqrt(np.mean(np.square(errors.astype(np.float64)))))


def _by_size(cells: Integers, whole: Integers) -> dict[int, float]:
    found = {}
    for size in SIZES:
        large = cells >= size
        if large.any():
            off = np.abs(whole[large] - cells[large]) > cells[large] / 10
            found[size] = float(off.mean())
    return found
