"""Domains that nobody declared, learned with budget: bins of numbers and days, common words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
import pyarrow as pa

from discreet.core.event import Failing, PrivacyEvent
from discreet.core.schema import CategoryDomain
from discreet.engine.base import Engine, PaidReader, open_exact, require_paid
from discreet.errors import InternalError
from discreet.noise.laws import law_costing
from discreet.noise.rng import Rng
from discreet.noise.threshold import keep_groups, threshold_for
from discreet.plan.ir import Scan
from discreet.synth.encoding.column_treatment import Outline, RangeToLearn, WordsToLearn
from discreet.synth.encoding.columns import MOST_CODES, Coded, Encoding, MadeUpIdentifier, shape_of
from discreet.synth.encoding.shape import Columns, Counts
from discreet.synth.measure import learned_stems
from discreet.synth.measure.learned_ranges import first_look, merged, narrowed
from discreet.synth.measure.private_marginals import (
    CountSensitivity,
    MarginalBudget,
    Measured,
    PrivateMarginals,
)
from discreet.synth.measure.sealing import (
    SealedCodes,
    SealedSource,
    SealedWords,
    seal_codes,
    seal_words,
)
from discreet.synth.measure.sql_counter import PATIENCE, unstored_counter

SHARE = Fraction(1, 5)
"""The part of the budget that learning takes where there is something to learn."""

Step = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Learned:
    """The encoding with every domain filled in, what it cost, and what did not work out."""

    encoding: Encoding
    notices: tuple[str, ...]
    events: tuple[PrivacyEvent, ...]


@dataclass(frozen=True, slots=True)
class LearningContext:
    """What learning works with: paid rows, and what was paid for it."""

    engine: Engine
    reader: PaidReader
    budget: MarginalBudget
    threshold_delta: Fraction
    source: SealedSource
    rng: Rng


def learn(
    outline: Outline, context: LearningContext, step: Step, *, stems: bool = False
) -> Learned:
    """Return the encoding of a table, learning what the catalog does not declare.

    `stems`: codes that are too rare alone are kept by how they begin (learned_stems).

    Guarantee: all that is learned costs together at most `context.budget`, and fails with probability
        at most `context.threshold_delta`: each column has an equal part of the budget; a range spends
        half of its part on each of two noisy histograms (docs/notes/0021), words spend theirs on
        thresholded counts, or three quarters of it, and a twelfth on each of three histograms of
        stems (docs/notes/0062). Everything else is public or arithmetic on noisy values.
    """
    ranges, words = outline.ranges, outline.words
    part = context.budget.part(Fraction(1, max(len(ranges) + len(words), 1)))
    found: dict[str, Coded | None] = {}
    learner = _Learner(outline.scan, context)
    if ranges:
        step("learning where numbers and days lie")
        found |= learner.ranges(ranges, part.part(Fraction(len(ranges), 2)))
    for item in words:
        step(f"learning the common values of {item.name}")
        budget = part.part(1 - learned_stems.SHARE * stems)
        column = learner.words(item, budget, context.threshold_delta / len(words))
        if stems:
            budget = part.part(learned_stems.SHARE / learned_stems.LENGTHS)
            column = learner.stems(item, column, budget)
        found[item.name] = column
    lost = tuple(
        f"Column '{name}' was left out: the budget is too small to learn its values."
        for name, column in found.items()
        if column is None
    )
    return Learned(_encoding(outline, found), lost, tuple(learner.events))


def _encoding(outline: Outline, found: dict[str, Coded | None]) -> Encoding:
    columns: list[Coded | MadeUpIdentifier] = []
    for item in outline.items:
        if isinstance(item, Coded | MadeUpIdentifier):
            columns.append(item)
        else:
            learned = found[item.name]
            columns += [] if learned is None else [learned]
    return Encoding(outline.table.name, tuple(columns))


@dataclass(frozen=True, slots=True)
class _Learner:
    """The columns of one table, learned one after the other; `events` is what that has cost so far."""

    scan: Scan
    context: LearningContext
    events: list[PrivacyEvent] = field(default_factory=list)

    def ranges(
        self, items: Sequence[RangeToLearn], budget: MarginalBudget
    ) -> dict[str, Coded | None]:
        """Return each column with its bins; `budget` is spent twice, once for each histogram."""
        first = self._histograms([first_look(item) for item in items], budget)
        found = {item.name: narrowed(item, first[item.name]) for item in items}
        close = [c for c in found.values() if c is not None and c.edges is not None]
        if close:
            # A column without gaps still counts them here: rows are dropped by nobody's other column.
            counted = [replace(column, missing=True) for column in close]
            second = self._histograms(counted, budget)
            found |= {column.name: merged(column, second[column.name]) for column in close}
        return found

    def _histograms(self, columns: Sequence[Coded], budget: MarginalBudget) -> dict[str, Measured]:
        engine = self.context.engine
        counter = _EachColumn(
            [seal_codes(self.scan, engine, [each]) for each in columns], self.context
        )
        marginals = PrivateMarginals(
            counter, shape_of(columns), budget, counter.unit, self.context.rng
        )
        wanted = [(i,) for i in range(len(columns))]
        measured = marginals.measure(wanted, share=Fraction(1))
        self.events.extend(marginals.events)
        return {column.name: item for column, item in zip(columns, measured, strict=True)}

    def words(self, item: WordsToLearn, budget: MarginalBudget, risk: Fraction) -> Coded | None:
        """Return the column with the values that enough units have, None where there are none.

        Guarantee: `Failing` of the noise, at `risk`: a unit moves the numbers of distinct units of at most
            `groups` texts by one each, as the kernel read off the SQL, and a text that only one unit
            has appears with probability at most `risk`, over all of them. Which texts there are at
            all is seen by nobody.
        """
        if not budget.concentrated:
            raise InternalError("words are learned with delta only")
        read = seal_words(self.scan, self.context.engine, item.name)
        self.context.source.check(read.source)
        moved = Fraction(read.groups)  # groups that move by one: the squared L2 distance as well
        noise = law_costing(budget.amount, moved, concentrated=True)
        threshold = threshold_for(noise, risk, max_groups=read.groups)
        values, units = _words(read, self.context)
        shown = keep_groups(units, noise, threshold, rng=self.context.rng)
        event = noise.event(l1=lambda: moved, l2_squared=lambda: moved)
        self.events.append(Failing(event, risk))
        noisy = shown.noisy[shown.keep]
        kept = [word for word, keep in zip(values, shown.keep.tolist(), strict=True) if keep]
        best = np.argsort(-noisy, kind="stable")[: MOST_CODES - 1]
        words = sorted(kept[i] for i in best.tolist())
        return Coded(item.name, CategoryDomain(tuple(words)), missing=True) if words else None

    def stems(
        self, item: WordsToLearn, column: Coded | None, budget: MarginalBudget
    ) -> Coded | None:
        """Return the column with stems beside its whole values, where it holds codes.

        Guarantee: three noisy histograms of whole values and stems at most, `budget` each; a text
            counts in one cell. The stems of the first are public, those of the others follow from
            its noise.
        """
        words: tuple[str, ...] = ()
        if column is not None and isinstance(column.domain, CategoryDomain):
            words = column.domain.values
        levels: list[learned_stems.StemLevel] = []
        for _ in range(learned_stems.LENGTHS):
            wanted = learned_stems.next_stems(words, levels)
            if not wanted:
                break
            counted = learned_stems.with_stems(item.name, words, wanted)
            measured = self._histograms([counted], budget)[item.name]
            levels.append(learned_stems.seen_level(wanted, counted, measured))
        kept = learned_stems.stems_of_codes(levels)
        return learned_stems.with_stems(item.name, words, kept) if kept else column


class _EachColumn:
    """Counts single columns straight from the rows, each by a statement that reads it alone."""

    def __init__(self, columns: Sequence[SealedCodes], context: LearningContext) -> None:
        for codes in columns:
            context.source.check(codes.source)
        self._columns = columns
        self._context = context

    @property
    def unit(self) -> CountSensitivity:
        """Return how far one unit can move any of these counts."""
        return max((codes.unit for codes in self._columns), key=lambda unit: unit.l1)

    def marginals(self, wanted: Sequence[Columns]) -> list[Counts]:
        """Return the exact counts of single columns."""
        reader = self._context.reader
        codes = [self._columns[column] for (column,) in wanted]
        return [unstored_counter(reader, each).marginals([(0,)])[0] for each in codes]


def _words(read: SealedWords, context: LearningContext) -> tuple[list[str], list[int]]:
    """Return every text of a column and how many units have it, in the order of the texts."""
    table = open_exact(require_paid(context.reader).run(read.sql, seconds=PATIENCE))
    counts = table.column("n").cast(pa.int64()).to_pylist()
    pairs = sorted(zip(table.column("v").to_pylist(), counts, strict=True))
    return [value for value, _ in pairs], [count for _, count in pairs]
