"""The report that may be published with a synthetic table: only what was paid for, or follows.

Its subject is a fitted model and all that was paid for around it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from math import comb
from typing import TypeAlias

import numpy as np

from discreet.base.arrays import Floats
from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    FiniteDomain,
    IntegerDomain,
    NumberDomain,
)
from discreet.measure.columns import Coded, Encoding, day_domain
from discreet.measure.private_marginals import (
    Counter,
    Implied,
    Measured,
    implied,
    too_small,
    whole,
)
from discreet.measure.sealing import MemoryCounter
from discreet.measure.shape import Codes
from discreet.show import Document, DocumentBlock, Grid, Paragraph, Section
from discreet.work.synth.methods.registry import is_slow
from discreet.work.synth.models.model import Model
from discreet.work.synth.report.quality import (
    ComparisonScope,
    ComparisonView,
    Quality,
    compare,
    dependence,
    shares,
)
from discreet.work.synth.report.sections import (
    COLUMNS,
    ROWS,
    dependence_map,
    error_section,
    histogram,
    model_section,
    single,
    support_section,
    tail_section,
)

Refit: TypeAlias = Callable[[Counter], Model]
"""The same method with the same budget, run on other rows: for rehearsals on synthetic data."""


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """One synthetic table. Everything in it is public, paid for, or made from what was.

    `price` is the charge in words. `codes` are the synthetic rows. `measured` are the noisy tables
    that the method saw. Without `refit` a report has no rehearsal.
    """

    table: str
    method: str
    price: str
    encoding: Encoding
    model: Model
    codes: Codes
    measured: tuple[Measured, ...] = ()
    notices: tuple[str, ...] = ()
    refit: Refit | None = None

    @property
    def rows(self) -> int:
        """Return how many real rows there are about: the model's estimate, at least 1."""
        return max(1, round(self.model.total))

    def lens(self, target: str | None = None) -> ComparisonView:
        """Return how reports look at this table; `target` is the column that a model predicts."""
        columns, shape = self.encoding.coded, self.encoding.shape
        return ComparisonView(
            shape,
            ComparisonScope.of(shape, self.rows),
            tuple(labels_of(column) for column in columns),
            tuple(centres_of(column) for column in columns),
            None if target is None else self.encoding.index(target),
        )


def labels_of(column: Coded) -> tuple[str, ...]:
    """Return the words for each code of a column.

    >>> labels_of(Coded("age", IntegerDomain(0, 2), missing=True))
    ('0', '1', '2', 'missing')
    """
    domain = day_domain(column.domain)
    found = []
    for code in range(column.values):
        low, high = column.span(code)
        first = _word(domain, low)
        found.append(first if high - low == 1 else f"{first} to {_word(domain, high - 1)}")
    return (*found, "missing") if column.missing else tuple(found)


def centres_of(column: Coded) -> Floats | None:
    """Return the number in the middle of each code (NaN: missing); None for categories."""
    domain = day_domain(column.domain)
    if isinstance(domain, CategoryDomain | BooleanDomain):
        return None
    middles = []
    for code in range(column.values):
        low, high = column.span(code)
        middles.append((_number(domain, low) + _number(domain, high - 1)) / 2)
    return np.array([*middles, np.nan] if column.missing else middles)


def _number(domain: FiniteDomain, position: int) -> float:
    value = domain.value(position)
    return float(value.toordinal() if isinstance(value, dt.date) else value)


def _word(domain: FiniteDomain, position: int) -> str:
    match domain:
        case NumberDomain():
            return f"{float(domain.value(position)):,.10g}"
        case IntegerDomain():
            return f"{domain.value(position):,}"
        case BooleanDomain():
            return str(domain.value(position)).lower()
        case _:
            return str(domain.value(position))


SIDES = ("the synthetic rows", "a second synthesis of them")

REHEARSED = (
    "These numbers come from a rehearsal: the same method, with the same budget, was run on the "
    "synthetic rows themselves, and its result compared with them. It reads no real row and costs "
    "nothing. It shows what the noise destroys; dependence that the method never measured is not "
    "in it, so real errors are at least of this size."
)


NOT_REHEARSED = (
    "There was no rehearsal, because it would take long. What was measured stands above; of other "
    "tables nothing is known without looking or paying."
)


MOST_ROWS = 200_000
"""More rows would take longer and say no more."""
MOST_WORK = 200_000_000
"""Pairs of columns times rows: beyond this a rehearsal takes minutes, and is left out."""


def publishable_report(
    subject: Subject, *, target: str | None = None, rehearsed: bool | None = None
) -> Document:
    """Return the document of what a synthetic table supports.

    `rehearsed` runs the method once more, on the synthetic rows; None leaves out slow methods, where it
    takes as long as the synthesis did.

    Guarantee: post-processing of what the subject holds: noisy tables, their laws, the fitted
        model, public sizes. No real row is read, nothing is charged. (docs/notes/0024)
    """
    lens = subject.lens(target)
    synthetic = MemoryCounter(subject.codes, lens.shape)
    measured = whole(subject.measured, lens.shape)
    wanted = not is_slow(subject.method) if rehearsed is None else rehearsed
    found = rehearse(subject, lens) if wanted else None
    sections = [_opening(subject, lens)]
    if found is not None:
        sections.append(support_section(found, REHEARSED, _coverage(subject, lens)))
    sections += [
        _columns(lens, synthetic, measured, subject),
        _dependence(lens, synthetic),
        _measured(lens, synthetic, measured, subject),
    ]
    if found is not None:
        sections += [error_section(found, REHEARSED)]
        sections += [model_section(found, SIDES), tail_section(found, SIDES)]
    elif subject.refit is not None:
        sections.append(Section("Error of tables", (Paragraph(NOT_REHEARSED),)))
    return Document(
        f"Synthetic copy of {subject.table}",
        f"{len(subject.codes):,} made-up rows by the method '{subject.method}', {subject.price}",
        None,
        tuple(sections),
    )


def rehearse(subject: Subject, lens: ComparisonView) -> Quality | None:
    """Return the quality of a second synthesis, of the synthetic rows; None without `refit`.

    The same method, budget and number of rows, with fresh noise. What it loses of the synthetic
    data is an estimate of what it lost of the real data. It cannot see dependence that the first
    run did not catch, so it is a lower estimate; reports say so.

    Guarantee: post-processing. Only the fitted model and public facts are used.
    """
    if subject.refit is None or work(subject) > MOST_WORK:
        return None
    dice = np.random.default_rng()  # no guarantee hangs on these dice: the model is paid for
    rows = subject.rows
    shape = lens.shape
    stage = MemoryCounter(subject.model.sample(min(rows, MOST_ROWS), dice=dice), shape)
    again = subject.refit(stage)
    second = again.sample(min(rows, MOST_ROWS), dice=dice)
    return compare(stage, MemoryCounter(second, shape), lens)


def work(subject: Subject) -> int:
    """Return how much a rehearsal would count: a public number."""
    return comb(subject.encoding.shape.width, 2) * min(subject.rows, MOST_ROWS)


def _opening(subject: Subject, lens: ComparisonView) -> Section:
    blocks: list[DocumentBlock] = [
        Paragraph(
            f"No row of this table is a row of a person. It was drawn from a model of "
            f"{lens.shape.width} columns that was fitted to {len(subject.measured):,} noisy "
            f"tables; the real table has about {subject.rows:,} rows. What it cost: "
            f"{subject.price}. Whatever is computed from the synthetic rows costs nothing more."
        )
    ]
    warning = too_small(subject.measured, subject.rows)
    if warning is not None and warning not in subject.notices:
        blocks.append(Paragraph(warning, warning=True))
    if not subject.measured:
        blocks.append(
            Paragraph("No data was used: every value is as likely as any other.", warning=True)
        )
    blocks += [Paragraph(notice, warning=True) for notice in subject.notices]
    return Section("What this is", tuple(blocks))


def _coverage(subject: Subject, lens: ComparisonView) -> dict[int, tuple[int, int]]:
    """Return how many of the compared tables of 1, 2 and 3 columns lie inside a measured one."""
    seen = [frozenset(each.columns) for each in subject.measured]
    scope = lens.scope
    return {
        ways: (sum(any(set(c) <= s for s in seen) for c in tables), len(tables))
        for ways, tables in ((1, scope.ones), (2, scope.pairs), (3, scope.triples))
    }


def _columns(
    lens: ComparisonView, synthetic: MemoryCounter, measured: list[Measured], subject: Subject
) -> Section:
    best: dict[int, Measured] = {}
    for each in measured:
        if len(each.columns) == 1:
            kept = best.get(each.columns[0])
            if kept is None or each.variance < kept.variance:
                best[each.columns[0]] = each
    figures: list[DocumentBlock] = []
    for i, counts in enumerate(synthetic.marginals(lens.scope.ones)[:COLUMNS]):
        name, labels = lens.shape.names[i], lens.labels[i]
        found = best.get(i)
        if found is None:
            figures.append(single(name, labels, shares(counts)))
            continue
        part = found.values / subject.rows
        half = np.full(part.shape, found.law.half_width("0.95") / subject.rows)
        sides = ("measured, with its noise at 95%", "synthetic")
        drawn = shares(counts)
        figures.append(histogram(name, labels, part, drawn, names=sides, half=half))
    return Section("Columns side by side", tuple(figures))


def _dependence(lens: ComparisonView, synthetic: MemoryCounter) -> Section:
    found = dependence(synthetic, lens)
    words = (
        "Cramér's V in the synthetic rows: 0 where two columns are independent, 1 where one gives "
        "the other."
    )
    return Section(
        "Which columns hang together",
        (Paragraph(words), dependence_map("synthetic", found, lens.shape.names)),
    )


def _measured(
    lens: ComparisonView, synthetic: MemoryCounter, measured: list[Measured], subject: Subject
) -> Section:
    found = [implied(each, synthetic, subject.rows, len(subject.codes)) for each in measured]
    merged = len(subject.measured) - len(measured)
    rows = [_line(each, lens) for each in sorted(found, key=lambda each: -each.bound)]
    blocks: list[DocumentBlock] = [
        Paragraph(
            "Each line is one measurement, with noise of a known law. From the law follows how far "
            "the synthetic table can be from the real one, without looking."
        ),
        Grid.of(
            ("columns", "cells", "noise ± of a cell", "noise alone", "apart from it", "at most"),
            rows[:ROWS],
            "Noise ± is 95% for one cell, in rows. The others are parts of all rows: what noise "
            "moves on average, how far the synthetic table is from the noisy one, and a limit on "
            "its distance from the real one that holds with 95% probability for each table.",
            shares=(3, 4, 5),
        ),
    ]
    if len(rows) > ROWS:
        blocks.append(Paragraph(f"{len(rows) - ROWS} further tables have smaller limits."))
    if merged:
        blocks.append(Paragraph(f"{merged} tables were measured with rare values put together."))
    return Section("What was measured", tuple(blocks))


def _line(each: Implied, lens: ComparisonView) -> tuple[str, int, int, float, float, float]:
    names = ", ".join(lens.shape.names[i] for i in each.columns) or "all rows"
    return names, each.cells, each.half_width, each.noise, each.fit, each.bound
