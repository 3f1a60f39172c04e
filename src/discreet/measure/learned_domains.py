"""Domains that nobody declared, learned with budget: bins of numbers and days, common words, stems of codes.

Where numbers and days lie: the first noisy histogram has fine cells near zero and coarser ones far out, so
that it covers any range that a column can have. Where the noise lets us see rows, a second one looks closer,
and its cells are put together into bins that hold about as many rows each.

Codes with thousands of values: what is too rare alone is kept by how it begins, `A1*`, `A12*`. That is
arithmetic on noisy histograms, one for each length of stems. Whether a column holds codes at all, its
digits say: names and free text have none behind their first letters, and stay as they were (common ones
kept, others missing).
"""

from __future__ import annotations

import datetime as dt
import math
import string
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
import pyarrow as pa

from discreet.ask.plan.ir import Scan
from discreet.base.arrays import Floats, Integers
from discreet.base.event import Failing, PrivacyEvent
from discreet.base.schema import (
    CategoryDomain,
    DateDomain,
    IntegerDomain,
    NumberDomain,
    TimestampDomain,
)
from discreet.data.engines.base import Engine, PaidReader, open_exact, require_paid
from discreet.errors import InternalError
from discreet.measure.columns import (
    BINS,
    MOST_CODES,
    MOST_SINGLE,
    Coded,
    Encoding,
    MadeUpIdentifier,
    Ordered,
    Outline,
    RangeToLearn,
    WordsToLearn,
    day_domain,
    shape_of,
    stem_text,
)
from discreet.measure.private_marginals import (
    CountSensitivity,
    MarginalBudget,
    Measured,
    PrivateMarginals,
)
from discreet.measure.sealing import (
    PATIENCE,
    SealedCodes,
    SealedSource,
    SealedWords,
    seal_codes,
    seal_words,
    unstored_counter,
)
from discreet.measure.shape import Columns, Counts
from discreet.privacy.noise.laws import law_costing
from discreet.privacy.noise.rng import Rng
from discreet.privacy.noise.select import keep_groups, threshold_for

OCTAVE = 8
"""Cells for each doubling of a number: ends are found to within an eighth."""

DAYS = 256
"""Days of one cell of the first look."""

CLOSE_CELLS = 256
LIKELY = 2.5
"""Standard deviations at which the next cell beside a range is believed to belong to it."""

FALSE_ALARM = 1e-6
"""Chance that noise alone is taken for rows anywhere in a column: one far cell that is believed
turns a weight of some kilograms into one of some millions."""

LONGEST = 0.5
"""A bin of few rows that is longer than this part of its distance from zero is closed if rows are
seen in it: tails get bins of their own."""

FEWEST_STEPS = 1000
"""A learned number keeps at least this many steps over its range; finer ones would be made up."""


def first_cells(domain: Ordered) -> tuple[int, ...]:
    """Return the first positions of public cells that cover the whole domain; the first is 0."""
    if isinstance(domain, DateDomain | TimestampDomain):
        return tuple(range(0, day_domain(domain).size, DAYS))
    zero = -_lowest(domain)
    size = domain.size
    away = _distances(max(abs(zero), abs(size - zero)) + 1)
    places = {0, *(zero + d for d in away), *(zero + 1 - d for d in away)}
    return tuple(sorted(place for place in places if 0 <= place < size))


def _distances(far: int) -> list[int]:
    """Return distances from zero: one by one up to 8, then eight equal steps to each doubling."""
    found = list(range(OCTAVE))
    width = 1
    while found[-1] < far:
        start = found[-1] + width if width == 1 else 2 * OCTAVE * (width // 2)
        found += range(start, start + OCTAVE * width, width)
        width *= 2
    return found


def _lowest(domain: IntegerDomain | NumberDomain) -> int:
    step = domain.step if isinstance(domain, NumberDomain) else Fraction(1)
    return int(domain.lower / step)


@dataclass(frozen=True, slots=True)
class NoiseBars:
    """How far sums of noisy counts reach by noise alone: more for Laplace noise than for Gaussian."""

    deviation: float
    heavy: bool
    cells: int

    def certain(self, width: int) -> float:
        """Return what no sum of `width` cells exceeds by noise, except with chance FALSE_ALARM.

        Over all sums of all widths: at most 2 * cells of them, each by a bound on its tail
        (Gaussian: exp(-t^2/2); Laplace, by Bernstein's: t = sqrt(2 w L) + L deviations).
        """
        surprise = math.log(2 * self.cells / FALSE_ALARM)
        reach = math.sqrt(2 * width * surprise) + (surprise if self.heavy else 0.0)
        return reach * self.deviation

    def likely(self, width: int) -> float:
        """Return what the next `width` cells beside a range must hold to belong to it.

        A single cell makes a range longer by an eighth, and may be wrong; many may not.
        """
        return LIKELY * self.deviation if width == 1 else self.certain(width)


def bars_of(measured: Measured) -> NoiseBars:
    """Return the bars of one noisy histogram."""
    return NoiseBars(math.sqrt(measured.variance), measured.law.heavy, measured.values.size)


def seen_range(counts: Integers, bars: NoiseBars) -> tuple[int, int] | None:
    """Return the first and the last cell between which the rows lie, as far as the noise shows.

    Cells are joined two by two until a group stands out from the noise: few rows in many cells are
    found as well as many rows in one. Then the range is stretched over what probably belongs to
    it. None where nothing stands out.
    """
    width = 1 << max(0, math.ceil(math.log2(max(1, len(counts)))))
    padded = np.zeros(width)
    padded[: len(counts)] = counts
    found = _hull(padded, 0, width, bars)
    if found is None:
        return None
    first, behind = found[0], min(found[1], len(counts))
    first -= _stretch(counts[:first][::-1], bars)
    behind += _stretch(counts[behind:], bars)
    return first, behind - 1


def _hull(counts: Floats, first: int, behind: int, bars: NoiseBars) -> tuple[int, int] | None:
    """Return (first, behind) of the part of a group that holds rows for certain."""
    total = float(counts[first:behind].sum())
    bar = bars.certain(behind - first)
    if behind - first == 1:
        return (first, behind) if total > bar else None
    middle = (first + behind) // 2
    halves = ((first, middle), (middle, behind))
    parts = [p for half in halves if (p := _hull(counts, *half, bars)) is not None]
    if parts:
        # What lies beside these unseen is left to the stretch, which takes the nearest first: a
        # thin tail must not make the whole group part of the range.
        return parts[0][0], parts[-1][1]
    return (first, behind) if total > bar else None


def _stretch(beside: Integers, bars: NoiseBars) -> int:
    """Return how many of the cells beside a range, nearest first, probably belong to it."""
    taken = 0
    while True:
        rest = beside[taken:]
        widths = [1 << k for k in range(len(rest).bit_length()) if 1 << k <= len(rest)]
        more = [w for w in widths if rest[:w].sum() > bars.likely(w)]
        if not more:
            return taken
        taken += more[0]


def first_look(item: RangeToLearn) -> Coded:
    """Return the column in public cells that cover all of it, gaps apart."""
    return Coded(item.name, item.domain, first_cells(item.domain), missing=True, open_ends=True)


def narrowed(item: RangeToLearn, measured: Measured) -> Coded | None:
    """Return the column with the range that was seen, one code a value or cells for a closer look.

    `measured` counts the cells of `first_look` and, last, the missing ones. None: nothing was seen.
    """
    edges = first_cells(item.domain)
    found = seen_range(measured.values[:-1], bars_of(measured))
    if found is None:
        return None
    first, last = found
    behind = edges[last + 1] if last + 1 < len(edges) else day_domain(item.domain).size
    domain = _part(item.domain, edges[first], behind - 1)
    # Gaps that are declared keep their code, whatever the noise says about how many there are: a
    # column without one would drop every row that has a gap.
    column = Coded(item.name, domain, None, missing=item.missing, open_ends=True)
    if column.positions <= MOST_SINGLE:
        return column
    width = -(-column.positions // CLOSE_CELLS)
    places = {*range(0, column.positions, width)}
    if not isinstance(domain, DateDomain | TimestampDomain):
        # Zero is a value of its own in many columns: nobody has half a child or half a loan.
        # And what is dense near zero and thin far out needs cells that grow with the distance.
        zero = -_lowest(domain)
        places |= {place for place in (zero, zero + 1) if 0 <= place < column.positions}
        places |= set(first_cells(domain))
    return replace(column, edges=tuple(sorted(places)))


def merged(column: Coded, measured: Measured) -> Coded:
    """Return the column with its cells put together to bins of about equal noisy counts."""
    assert column.edges is not None, "single values are not merged"
    deviation = math.sqrt(measured.variance)
    counts = measured.values[: len(column.edges)]
    target = max(float(counts.sum()), 0.0) / BINS
    edges, held, cells = [0], 0.0, 0
    for i, count in enumerate(counts.tolist()):
        seen = held >= LIKELY * deviation * math.sqrt(max(cells, 1))
        enough = seen and (held >= target or _long(column, edges[-1], column.edges[i]))
        alone = count >= max(target, 2 * LIKELY * deviation) and cells
        if i and (enough or alone):
            edges.append(column.edges[i])
            held, cells = 0.0, 0
        held, cells = held + count, cells + 1
    return replace(column, edges=tuple(edges))


def _long(column: Coded, first: int, behind: int) -> bool:
    """Return whether a bin reaches so far that even values inside it would ruin a mean."""
    if not isinstance(column.domain, IntegerDomain | NumberDomain):
        return False
    zero = -_lowest(column.domain)
    near = min(abs(first - zero), abs(behind - zero))
    return behind - first > max(near * LONGEST, column.positions / CLOSE_CELLS)


def _part(domain: Ordered, first: int, last: int) -> Ordered:
    """Return the domain between two positions, both included; numbers in nicer, coarser steps."""
    match domain:
        case IntegerDomain():
            return IntegerDomain(domain.value(first), domain.value(last))
        case DateDomain():
            return DateDomain(domain.value(first), domain.value(last))
        case TimestampDomain():
            begin = domain.lower.date() + dt.timedelta(days=first)
            end = domain.lower.date() + dt.timedelta(days=last)
            return TimestampDomain(
                dt.datetime.combine(begin, dt.time()),
                dt.datetime.combine(end, dt.time(23, 59, 59)),
            )
        case NumberDomain(step=step):
            low, high = domain.value(first), domain.value(last)
            while (high - low) / (step * 10) >= FEWEST_STEPS:
                step *= 10
            return NumberDomain(low // step * step, -(-high // step) * step, step)


STEMS_SHARE = Fraction(1, 4)
"""The part of a text column's budget that stems get; the rest finds common whole values."""

CLEAR = (6.0, 3.5, 3.5)
"""Standard deviations at which a stem of one, two, three letters is believed to have rows.

Noise must not make a column out of nothing, so the first letter is judged strictly: 62 of them seem to
have rows, where nobody has, less than once in ten million columns. Below a letter that is there, a stem
that nobody has costs next to nothing."""

LENGTHS = len(CLEAR)
_LETTERS = (
    string.ascii_letters + string.digits,
    string.ascii_uppercase + string.digits,
    string.ascii_uppercase + string.digits + ".-",
)
MOST_STEMS = 512


@dataclass(frozen=True, slots=True)
class StemLevel:
    """The noisy rows of all stems of one length that were counted, and which of them are clear."""

    rows: Mapping[str, float]
    deviation: float
    clear: Mapping[str, float]


def with_stems(name: str, words: Sequence[str], stems: Iterable[str]) -> Coded:
    """Return a column of whole values and of stems: the longer a stem, the earlier it is tried."""
    ordered = sorted(stems, key=lambda stem: (-len(stem), stem))
    values = (*words, *map(stem_text, ordered))
    return Coded(name, CategoryDomain(values), missing=True, stems=len(ordered))


def next_stems(words: Sequence[str], levels: Sequence[StemLevel]) -> list[str]:
    """Return the stems that are counted next: one letter longer than the clear ones so far.

    Those of the first histogram are public; no more than a column may have codes.
    """
    letters = _LETTERS[len(levels)]
    above = {"": 1.0} if not levels else levels[-1].clear
    room = (MOST_CODES - 1 - len(words)) // len(letters)
    best = sorted(above, key=lambda stem: -above[stem])[: max(room, 0)]
    taken = {*words}
    found = [stem + letter for stem in best for letter in letters]
    return [stem for stem in found if stem_text(stem) not in taken]


def seen_level(stems: Sequence[str], column: Coded, measured: Measured) -> StemLevel:
    """Return what a histogram of a column says about its stems."""
    assert isinstance(column.domain, CategoryDomain), "stems are of texts"
    place = {value: i for i, value in enumerate(column.domain.values)}
    rows = {stem: float(measured.values[place[stem_text(stem)]]) for stem in stems}
    deviation = math.sqrt(measured.variance)
    bar = CLEAR[len(stems[0]) - 1] * deviation
    return StemLevel(rows, deviation, {stem: many for stem, many in rows.items() if many > bar})


def stems_of_codes(levels: Sequence[StemLevel]) -> list[str]:
    """Return the stems to keep, of any length: only such as codes begin with.

    A shorter stem is kept for what the longer ones leave over, where that is clear. One without a
    digit is kept if most of its rows go on with one.
    """
    kept: dict[str, float] = {}
    for at, level in enumerate(levels):
        below = levels[at + 1] if at + 1 < len(levels) else None
        for stem, rows in level.clear.items():
            longer = [] if below is None else [r for s, r in below.clear.items() if s[:-1] == stem]
            bar = CLEAR[-1] * level.deviation * math.sqrt(1 + len(longer))
            of_codes = any(map(str.isdigit, stem)) or _goes_on(stem, below)
            if rows - sum(longer) > bar and of_codes:
                kept[stem] = rows
    return sorted(sorted(kept, key=lambda stem: -kept[stem])[:MOST_STEMS])


def _goes_on(stem: str, below: StemLevel | None) -> bool:
    """Return whether most rows that begin so, as far as they were counted, go on with a digit."""
    sums: dict[bool, float] = defaultdict(float)
    for longer, rows in ({} if below is None else below.rows).items():
        if longer[:-1] == stem:
            sums[longer[-1].isdigit()] += rows
    return sums[True] > max(sums[False], 0.0)


DOMAINS_SHARE = Fraction(1, 5)
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
        budget = part.part(1 - STEMS_SHARE * stems)
        column = learner.words(item, budget, context.threshold_delta / len(words))
        if stems:
            budget = part.part(STEMS_SHARE / LENGTHS)
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
        levels: list[StemLevel] = []
        for _ in range(LENGTHS):
            wanted = next_stems(words, levels)
            if not wanted:
                break
            counted = with_stems(item.name, words, wanted)
            measured = self._histograms([counted], budget)[item.name]
            levels.append(seen_level(wanted, counted, measured))
        kept = stems_of_codes(levels)
        return with_stems(item.name, words, kept) if kept else column


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
