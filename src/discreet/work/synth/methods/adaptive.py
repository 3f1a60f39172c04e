"""AIM (select, measure, estimate): marginals of a declared workload, chosen where the model is worst.

The values of some columns may be known already, row by row: parents of the rows that a model is for. Nothing
is measured about them: their laws come from made-up rows that were paid for before.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations

import numpy as np

from discreet.base.arrays import Floats, Integers
from discreet.base.display import Progress, silent
from discreet.measure.one_way_marginals import (
    Singles,
    agreed_total,
    by_root,
    measure_singles,
    settle,
)
from discreet.measure.private_marginals import (
    Counter,
    Measured,
    PrivateMarginals,
    chance_beyond,
)
from discreet.measure.sealing import MemoryCounter
from discreet.measure.shape import (
    CodeGroups,
    Codes,
    Columns,
    Counts,
    Merges,
    Shape,
    WorkloadSpec,
    closed,
    find_workload,
    merge_counts,
)
from discreet.privacy.noise.laws import NoiseLaw
from discreet.work.synth.methods.registry import check_whole
from discreet.work.synth.models.coarse import (
    Ends,
    coarsen,
    live_codes,
    seen_ends,
    seen_rows,
    within,
)
from discreet.work.synth.models.junction_tree import (
    Beliefs,
    JunctionTree,
    drawing_cells,
    junction_tree,
    widened,
)
from discreet.work.synth.models.maximum_entropy import (
    Evidence,
    Layered,
    LogPotentials,
    believe,
    fit_entropy,
    layered,
)


@dataclass(frozen=True, slots=True, eq=False)
class GivenRows:
    """The last columns of a table, with their codes in made-up rows: one for each row to be drawn."""

    columns: Columns
    codes: Codes
    shape: Shape

    @property
    def own(self) -> Columns:
        """Return the columns that are not known."""
        return tuple(i for i in range(self.shape.width) if i not in self.columns)

    def counts(self, columns: Columns) -> Floats:
        """Return each code's share of the known rows; even where there are none."""
        first = self.columns[0]
        inner = Shape(self.shape.names[first:], self.shape.sizes[first:])
        places = tuple(column - first for column in columns)
        (found,) = MemoryCounter(self.codes, inner).marginals([places])
        table = found.astype(np.float64) + (0 if len(self.codes) else 1)
        shares: Floats = table / table.sum()
        return shares

    def single(self, column: int, total: float, law: NoiseLaw) -> Measured:
        """Return what is known of one column, in the words of a measurement with that noise."""
        values = np.rint(total * self.counts((column,))).astype(np.int64)
        return Measured((column,), values, law)

    def pairs(self) -> list[Columns]:
        """Return pairs of known columns that hang together most: a spanning tree of them."""
        strength = {pair: _dependence(self.counts(pair)) for pair in combinations(self.columns, 2)}
        part = {column: column for column in self.columns}
        found: list[Columns] = []
        for one, two in sorted(strength, key=lambda pair: -strength[pair]):
            if part[one] != part[two]:
                found.append((one, two))
                old = part[two]
                part = {c: part[one] if p == old else p for c, p in part.items()}
        return found

    def potential(self, pair: Columns, groups: Sequence[CodeGroups]) -> Floats:
        """Return how much likelier than by chance two known columns' groups meet, as logarithms.

        Half a row is added to each cell: the logarithm of nothing could never come back.
        """
        table = self.counts(pair) * max(len(self.codes), 1)
        table = merge_counts(table, pair, dict(enumerate(groups)))
        table = (table + 0.5) / (table + 0.5).sum()
        found: Floats = np.log(table / np.outer(table.sum(axis=1), table.sum(axis=0)))
        return found


def _dependence(table: Floats) -> float:
    """Return how far a table of shares is from independence."""
    apart = np.outer(table.sum(axis=1), table.sum(axis=0))
    return float(np.abs(table - apart).sum())


SINGLES = Fraction(2, 5)
CHOICE = Fraction(3, 20)
"""Part of a round's share that pays for the choice; the rest pays for the counts."""

REMAINS = 0.5
"""How much of the noise the estimate keeps: about half, since counts that other marginals agree on
and that cannot be negative leave it little room."""

MOST_FITS = 24
STEPS = 40
LAST_STEPS = 200
MOST_LAST = 6
"""The last fit goes on while it is farther from some of the evidence than noise explains: where there
is next to no noise, a few hundred steps may not reach it, or entropy may weigh too much."""

LEAST_DOUBT = 0.02
"""Less would make the fit so stiff that no number of steps suffices."""

UNLIKELY = 1e-2
"""A table whose noise would be so unlikely, were the estimate true, is believed more: entropy's weight
against it is divided by four."""

CELLS = 1 << 16


def fit(
    marginals: PrivateMarginals,
    *,
    workload: WorkloadSpec | None = None,
    rounds: int | None = None,
    cells: int = CELLS,
    progress: Progress = silent,
) -> Layered:
    """Return a model that answers the marginals of `workload` well.

    In the manner of AIM [McKenna, Mullins, Sheldon and Miklau 2022]: one-way marginals first; then
    in each round a marginal inside the workload on which the model errs most, beyond what its noise
    would add, and its noisy counts; after each the distribution of greatest entropy that agrees
    with all. Two differences make it fast and precise: columns of many codes are counted in groups
    wide enough to be seen through the noise (codes inside a group follow the one-way marginals),
    and the number of rounds is fixed before the first of them (`rounds`, or by the number of
    columns and the noise).
    `cells` caps the tables of the model: a marginal that would need more is not a candidate.

    Guarantee: shares of 2/5 for the one-ways and equal parts of 3/5 for the rounds, 3/20 of each
        for the choice. A score moves by at most 1 for a row. Groups, rounds and candidates depend
        on public sizes and noisy counts. (docs/notes/0022)
    """
    check_whole("adaptive", cells=cells, rounds=1 if rounds is None else rounds)
    candidates = closed(find_workload(marginals.shape, workload))
    return _fitted(marginals, candidates, rounds, cells, progress=progress)


def fit_given(marginals: PrivateMarginals, given: GivenRows, *, before: Columns = ()) -> Layered:
    """Return a model of columns beside others that are known row by row.

    Of those nothing is measured, and only marginals that join them to others are candidates.
    `before` are columns that are measured like others but known when rows are drawn (those of the
    row before).

    Guarantee: that of `fit`.
    """
    known = set(given.columns)
    candidates = [
        each for each in closed(find_workload(marginals.shape, None)) if not set(each) <= known
    ]
    return _fitted(marginals, candidates, None, CELLS, given=given, before=before)


def _fitted(
    marginals: PrivateMarginals,
    candidates: list[Columns],
    rounds: int | None,
    cells: int,
    *,
    given: GivenRows | None = None,
    before: Columns = (),
    progress: Progress = silent,
) -> Layered:
    progress(0, 1, "counting columns")
    singles = _singles(marginals, given, SINGLES if candidates else Fraction(1))
    turns = min(rounds or _rounds(marginals, singles.total), len(candidates))
    share = (1 - SINGLES) / turns if turns else Fraction(0)
    noise = math.sqrt(marginals.law(share * (1 - CHOICE)).variance) if turns else 1.0
    ends = seen_ends(singles, marginals.shape.ordered)
    state = _begin(singles, coarsen(singles, noise, ends, marginals.shape.gaps), ends, cells)
    if given is not None:
        state.know(given, before)
    contest = _Contest(marginals, candidates, state.merges)
    for turn in range(turns):
        progress(turn + 1, turns + 1, "choosing and counting marginals")
        chosen = contest.choose(state, share)
        state.learn(contest.measure(chosen, share))
        if _due(turn, turns):
            state.estimate(STEPS)
            contest.forget()
    for _ in range(MOST_LAST):
        state.estimate(LAST_STEPS)
        if not state.believe_more():
            break
    progress(turns + 1, turns + 1, "done")
    rows = [
        state.total * state.beliefs.marginal((column,)) for column in range(marginals.shape.width)
    ]
    inside = within(singles, state.groups, rows, ends)
    return layered(marginals.shape, state.total, state.groups, inside, state.everything)


def _singles(marginals: PrivateMarginals, given: GivenRows | None, share: Fraction) -> Singles:
    """Return the one-way marginals: measured, or known where the column is given."""
    if given is None:
        return measure_singles(marginals, share=share)
    parts = by_root(share, [marginals.shape.sizes[column] for column in given.own])
    own = {
        column: marginals.measure([(column,)], share=part)[0]
        for column, part in zip(given.own, parts, strict=True)
    }
    total = agreed_total(own.values())
    law = marginals.law(share / max(len(own), 1))
    known = {column: given.single(column, total, law) for column in given.columns}
    return settle([(own | known)[column] for column in range(marginals.shape.width)])


def _rounds(marginals: PrivateMarginals, total: float) -> int:
    """Return how many marginals can be told from noise: more with more rows or more budget.

    From ten times the noise of a single measurement on, every order of magnitude is worth a
    marginal for every second column. A function of the shape and the noisy total.
    """
    ratio = total / math.sqrt(marginals.law(Fraction(1)).variance)
    return max(1, math.ceil(marginals.shape.width * (math.log10(max(ratio, 1.0)) - 1) / 2))


def _due(turn: int, turns: int) -> bool:
    """Return whether the model is fitted after this turn: at most MOST_FITS times, evenly."""
    return turn * MOST_FITS // turns != (turn + 1) * MOST_FITS // turns


@dataclass(eq=False)
class _State:
    """What is known so far; all of it noisy, so nothing here is private."""

    total: float
    groups: tuple[CodeGroups, ...]
    cells: int
    tree: JunctionTree
    base: LogPotentials
    evidence: dict[Columns, Evidence]
    parts: LogPotentials = field(default_factory=dict)
    fresh: set[Columns] = field(default_factory=set)  # learned, but not yet part of the estimate
    given: Columns = ()

    def __post_init__(self) -> None:
        self.beliefs: Beliefs = believe(self.tree, self.base)

    @property
    def merges(self) -> Merges:
        """Return the groups in the form that `measure` takes: of columns that have fewer than codes."""
        return {
            column: groups
            for column, groups in enumerate(self.groups)
            if groups.max() + 1 < groups.size
        }

    @property
    def everything(self) -> LogPotentials:
        """Return all log-potentials, those of the base included."""
        found = dict(self.base)
        for columns, part in self.parts.items():
            found[columns] = found[columns] + part if columns in found else part
        return found

    def fits(self, columns: Columns) -> bool:
        """Return whether the model has room for a marginal, and drawing by it has."""
        if self.tree.cells_with(columns) > self.cells:
            return False
        sets = [*self._sets, columns]
        return not self.given or drawing_cells(self.tree.sizes, sets, self.given) <= self.cells

    def know(self, given: GivenRows, before: Columns) -> None:
        """Take in how given columns hang together, so that nothing is ascribed to the wrong one.

        As the law that the estimate starts from, not as evidence: what is measured may differ.
        """
        self.given = (*before, *given.columns)
        for pair in given.pairs():
            if self.tree.cells_with(pair) <= self.cells:
                self.tree = widened(self.tree, self._sets, pair)
                self.base = {**self.base, pair: given.potential(pair, self.groups)}
        for column in given.columns:
            del self.evidence[(column,)]
        self.beliefs = believe(self.tree, self.base)

    @property
    def _sets(self) -> list[Columns]:
        """Return what the tree must cover."""
        return [*self.evidence, *self.base]

    def learn(self, measured: Measured) -> None:
        """Take in a noisy marginal."""
        columns, values = measured.columns, measured.values.astype(np.float64)
        found = Evidence(columns, values, np.full(values.shape, measured.variance))
        if columns in self.evidence:
            found = self.evidence[columns].add(found)
        elif self.tree.host(columns) is None:
            self.tree = widened(self.tree, self._sets, columns)
        self.evidence[columns] = found
        self.fresh.add(columns)

    def believe_more(self) -> bool:
        """Return whether the estimate is farther from some evidence than the noise explains.

        Such evidence weighs more from then on: where odds are long (values that never meet),
        entropy costs more rows than the noise of a table without much of it.
        """
        far = False
        for columns, each in self.evidence.items():
            apart = each.values - self.total * self.beliefs.marginal(columns)
            square = float((apart**2 / (each.variance + 1)).sum())
            if chance_beyond(square, apart.size) * len(self.evidence) < UNLIKELY:
                self.evidence[columns] = replace(each, doubt=max(each.doubt / 4, LEAST_DOUBT))
                far = True
        return far

    def estimate(self, steps: int) -> None:
        """Fit the model to all that is known."""
        self.parts = fit_entropy(
            self.tree,
            list(self.evidence.values()),
            self.total,
            base=self.base,
            start=self.parts,
            steps=steps,
        )
        self.beliefs = believe(self.tree, self.everything)
        self.fresh.clear()


def _begin(singles: Singles, groups: tuple[CodeGroups, ...], ends: Ends, cells: int) -> _State:
    """Return independent columns, each with its noisy one-way marginal by group."""
    sizes = tuple(int(each.max()) + 1 for each in groups)
    base: dict[Columns, Floats] = {}
    evidence: dict[Columns, Evidence] = {}
    for column, each in enumerate(groups):
        chances = np.bincount(each, weights=singles.counts[column])
        chances = np.maximum(chances, 0.5)  # the logarithm of nothing could never come back
        base[(column,)] = np.log(chances / chances.sum())
        measured = singles.measured[column]
        live = live_codes(each.size, ends, column)
        seen = seen_rows(measured.values.astype(np.float64), measured.variance, each, live)
        evidence[(column,)] = Evidence((column,), *seen)
    tree = junction_tree(sizes, list(evidence))
    return _State(singles.total, groups, cells, tree, base, evidence)


class _Contest:
    """The candidates, and their exact counts by group once they have been asked for."""

    def __init__(
        self, marginals: PrivateMarginals, candidates: Sequence[Columns], merges: Merges
    ) -> None:
        self._marginals = marginals
        self._candidates = candidates
        self._merges = merges
        self._exact: dict[Columns, Counts] = {}
        self._gaps: dict[Columns, int] = {}

    def forget(self) -> None:
        """Score all candidates anew: the model has changed."""
        self._gaps.clear()

    def choose(self, state: _State, share: Fraction) -> Columns:
        """Return the marginal to measure next; free where there is nothing to choose."""
        open_ones = [
            each for each in self._candidates if each not in state.fresh and state.fits(each)
        ]
        open_ones = open_ones or [each for each in self._candidates if state.fits(each)]
        open_ones = open_ones or [min(self._candidates, key=state.tree.cells_with)]
        if len(open_ones) == 1:
            return open_ones[0]
        law = self._marginals.law(share * (1 - CHOICE))

        def scores(counter: Counter) -> Integers:
            # For one row added or removed, one cell of the exact counts moves by 1 and nothing
            # else moves: the estimate and the noise to come are public.
            new = [columns for columns in open_ones if columns not in self._gaps]
            for columns, exact in zip(new, self._read(counter, new), strict=True):
                guess = np.rint(state.total * state.beliefs.marginal(columns)).astype(np.int64)
                noise = round(REMAINS * exact.size * law.mean_size)
                self._gaps[columns] = int(np.abs(exact - guess).sum()) - noise
            return np.array([self._gaps[columns] for columns in open_ones], dtype=np.int64)

        return open_ones[self._marginals.choose(scores, sensitivity=1, share=share * CHOICE)]

    def measure(self, columns: Columns, share: Fraction) -> Measured:
        """Return the noisy counts of the chosen marginal."""
        part = share * (1 - CHOICE)
        return self._marginals.measure([columns], share=part, merged=self._merges)[0]

    def _read(self, counter: Counter, wanted: Sequence[Columns]) -> list[Counts]:
        fresh = [columns for columns in wanted if columns not in self._exact]
        for columns, exact in zip(fresh, counter.marginals(fresh), strict=True):
            self._exact[columns] = merge_counts(exact, columns, self._merges)
        return [self._exact[columns] for columns in wanted]
