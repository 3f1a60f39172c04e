"""Which outputs betray the input: events on columns and on several at once, chosen on samples that are then thrown away."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.audit.bounds import GuessCount, LossMeasure
from discreet.audit.features import (
    OpenedOutputs,
    OutputPart,
    Outputs,
    OutputValues,
    parts_of,
)
from discreet.base.arrays import Bits, Floats, Integers

MOST_BINS = 256
MOST_WORDS = 4_096
OFTEN = 3
"""A number among many that comes so often, on one input only, has a bin of its own."""


@dataclass(frozen=True, slots=True, eq=False)
class Binning:
    """Bins of a column: words by name, numbers by edges, repeated numbers by value."""

    edges: Floats | None
    names: tuple[Any, ...] = ()
    repeated: Floats | None = None

    @classmethod
    def of(cls, first: OutputValues, second: OutputValues) -> Binning:
        """Return bins for the values of two inputs; every second one says which repeated ones matter."""
        values = np.concatenate([first, second])
        if values.dtype == object:
            found, counts = np.unique(values.astype(str), return_counts=True)
            most = found[np.argsort(-counts, kind="stable")[:MOST_WORDS]]
            return cls(None, tuple(most.tolist()))
        numbers = _finite(values)
        distinct, place = np.unique(numbers, return_inverse=True)
        if len(distinct) <= MOST_BINS:
            return cls(distinct[1:])
        edges = _edges(np.sort(numbers))
        sides = (place[: len(first)][::2], place[len(first) :][::2])
        ours, theirs = (np.bincount(side, minlength=len(distinct)) for side in sides)
        alone = np.where((ours == 0) | (theirs == 0), ours + theirs, 0)
        # On a lattice everything comes again: only what comes oftener than its neighbours counts.
        around = np.searchsorted(edges, distinct, side="right")
        usual = np.bincount(around, ours + theirs) / np.maximum(np.bincount(around), 1)
        alone[alone < OFTEN * np.maximum(usual[around], 1)] = 0
        often = np.argsort(-alone, kind="stable")[: MOST_BINS // 4]
        repeated: Floats = np.sort(distinct[often[alone[often] > 0]])
        return cls(edges, repeated=repeated if len(repeated) else None)

    @property
    def size(self) -> int:
        """Return how many bins there are."""
        if self.edges is None:
            return len(self.names) + 1
        return len(self.edges) + 1 + (0 if self.repeated is None else len(self.repeated))

    def places(self, values: OutputValues) -> Integers:
        """Return the bin of each value; a word that was not met before is in the last."""
        if self.edges is None:
            known = {name: i for i, name in enumerate(self.names)}
            return np.array(
                [known.get(str(one), len(self.names)) for one in values], dtype=np.int64
            )
        numbers = _finite(values)
        found = np.searchsorted(self.edges, numbers, side="right").astype(np.int64)
        if self.repeated is not None:
            place = np.minimum(np.searchsorted(self.repeated, numbers), len(self.repeated) - 1)
            same = self.repeated[place] == numbers
            found = np.where(same, len(self.edges) + 1 + place, found)
        return found

    def words(self, chosen: Bits) -> str:
        """Return where the chosen bins lie; empty where none is chosen."""
        places = np.flatnonzero(chosen)
        if not len(places):
            return ""
        if self.edges is None:
            shown = [str(self.names[i]) if i < len(self.names) else "another" for i in places[:5]]
            return "is " + " or ".join(shown) + (" or …" if len(places) > 5 else "")
        plain = places[places <= len(self.edges)]
        runs = np.split(plain, np.flatnonzero(np.diff(plain) > 1) + 1) if len(plain) else []
        shown = [_span(self.edges, int(run[0]), int(run[-1])) for run in runs[:3]]
        if self.repeated is not None:
            exact = self.repeated[places[places > len(self.edges)] - len(self.edges) - 1]
            shown += [f"is exactly {value:.6g}" for value in exact[:3]]
        return " or ".join(shown[:4]) + (" or …" if len(runs) > 3 or len(shown) > 4 else "")


def _finite(values: OutputValues) -> Floats:
    return np.nan_to_num(values.astype(np.float64), nan=np.inf)


def _edges(ordered: Floats) -> Floats:
    """Return quantiles, and beyond them cuts that leave 1, 2, 4, ... values of a tail."""
    middle = np.quantile(ordered, np.linspace(0, 1, MOST_BINS + 1)[1:-1], method="nearest")
    ranks = 2 ** np.arange(int(np.log2(max(len(ordered) // MOST_BINS, 1))) + 1)
    tails = np.concatenate([ordered[ranks], ordered[-ranks]])
    return np.unique(np.concatenate([middle, tails]))


def _span(edges: Floats, low: int, high: int) -> str:
    if low == 0 and high == len(edges):
        return "is anything"
    if low == 0:
        return f"is below {edges[high]:.6g}"
    if high == len(edges):
        return f"is {edges[low - 1]:.6g} or more"
    return f"is from {edges[low - 1]:.6g} to below {edges[high]:.6g}"


_SOFT = 0.5  # added to every count before taking ratios
MOST_LEAVES = 32
_GROWN_ON = 5_000
_LEAST_GAIN = 6.0


@dataclass(frozen=True, slots=True, eq=False)
class WeightedPart:
    """One part, its bins, and how strongly each bin speaks for the first input."""

    part: OutputPart
    bins: Binning
    weights: Floats

    @classmethod
    def of(cls, part: OutputPart, first: OpenedOutputs, second: OpenedOutputs) -> WeightedPart:
        """Return the evidence of one part on these outputs of the two inputs."""
        ours, theirs = first.column(part), second.column(part)
        bins = Binning.of(ours, theirs)
        counts = [np.bincount(bins.places(side), minlength=bins.size) for side in (ours, theirs)]
        return cls(part, bins, np.log((counts[0] + _SOFT) / (counts[1] + _SOFT)))

    def places(self, outputs: OpenedOutputs) -> Integers:
        """Return the bin of each output."""
        return self.bins.places(outputs.column(self.part))


@dataclass(frozen=True, slots=True, eq=False)
class SummedEvidence:
    """Several parts at once: their weights added up, as if they were independent."""

    pieces: tuple[WeightedPart, ...]
    words: str = "the evidence of all parts together"

    def column(self, outputs: OpenedOutputs) -> OutputValues:
        """Return the summed weight of each output."""
        total = np.zeros(len(outputs))
        for piece in self.pieces:
            total += piece.weights[piece.places(outputs)]
        return total


@dataclass(frozen=True, slots=True)
class Branch:
    """One question of a tree: does the weight of a piece lie at or below `cut`? Leaves hold a number."""

    piece: int
    cut: float
    low: Branch | int
    high: Branch | int


@dataclass(frozen=True, slots=True, eq=False)
class ConditionTree:
    """A tree of conditions on several parts: what happens together, and not one by one."""

    pieces: tuple[WeightedPart, ...]
    root: Branch | int
    words: str = "the combination of parts"

    @classmethod
    def grown(
        cls, pieces: tuple[WeightedPart, ...], first: OpenedOutputs, second: OpenedOutputs
    ) -> ConditionTree:
        """Return the tree whose leaves tell these outputs apart best, grown leaf by leaf."""
        cut = _GROWN_ON
        columns = np.stack(
            [
                piece.weights[
                    np.concatenate([piece.places(first)[:cut], piece.places(second)[:cut]])
                ]
                for piece in pieces
            ]
        )
        ours = np.arange(columns.shape[1]) < min(len(first), cut)
        return cls(pieces, _grow(columns, ours, np.arange(columns.shape[1]), [0], 0))

    def column(self, outputs: OpenedOutputs) -> OutputValues:
        """Return the leaf of each output, as a word."""
        columns = np.stack([piece.weights[piece.places(outputs)] for piece in self.pieces])
        found = np.empty(len(outputs), dtype=np.int64)
        _fall(self.root, columns, np.arange(len(outputs)), found)
        return found


def _fall(node: Branch | int, columns: Floats, rows: Integers, found: Integers) -> None:
    if isinstance(node, int):
        found[rows] = node
        return
    low = columns[node.piece, rows] <= node.cut
    _fall(node.low, columns, rows[low], found)
    _fall(node.high, columns, rows[~low], found)


def _grow(
    columns: Floats,
    ours: Bits,
    rows: Integers,
    leaves: list[int],
    depth: int,
) -> Branch | int:
    """Return the best question for these rows and the trees below it; `leaves` counts them."""
    best = _best_cut(columns[:, rows], ours[rows]) if 2**depth < MOST_LEAVES else None
    if best is None:
        leaves[0] += 1
        return leaves[0] - 1
    piece, cut = best
    low = columns[piece, rows] <= cut
    return Branch(
        piece,
        cut,
        _grow(columns, ours, rows[low], leaves, depth + 1),
        _grow(columns, ours, rows[~low], leaves, depth + 1),
    )


def _best_cut(columns: Floats, ours: Bits) -> tuple[int, float] | None:
    best, gain = None, _LEAST_GAIN
    for number, values in enumerate(columns):
        levels, place = np.unique(values, return_inverse=True)
        if len(levels) < 2:
            continue
        first = np.bincount(place[ours], minlength=len(levels)).cumsum()
        second = np.bincount(place[~ours], minlength=len(levels)).cumsum()
        gains = _information(first, second) + _information(first[-1] - first, second[-1] - second)
        found = int(np.argmax(gains[:-1]))
        more = float(gains[found] - _information(first[-1:], second[-1:])[0])
        if more > gain:
            best, gain = (number, float((levels[found] + levels[found + 1]) / 2)), more
    return best


def _information(first: Integers, second: Integers) -> Floats:
    """Return the log likelihood of leaves that hold so many of each input."""
    total = first + second + 2 * _SOFT
    return np.asarray(
        first * np.log((first + _SOFT) / total) + second * np.log((second + _SOFT) / total)
    )


MOST_RULES = 64
_DOUBT = 2.0  # standard deviations that a bin's ratio is taken to be off
_RARE = 1e-2  # events that happen at most so often may be catastrophes
_FORGOTTEN = 0.5  # wrong guesses that a catastrophe is taken to have: trying it costs a fifth of the error only
Part = OutputPart | SummedEvidence | ConditionTree


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """A rule: in these bins of this part of the output guess the first, in those the second input."""

    part: Part
    bins: Binning
    first: Bits
    second: Bits
    promise: float

    def guesses(self, outputs: Outputs) -> tuple[Bits, Bits]:
        """Return for which outputs the first, and for which the second input is guessed."""
        places = self.bins.places(_values(OpenedOutputs(outputs), self.part))
        return self.first[places], self.second[places]

    @property
    def words(self) -> str:
        """Return the rule in plain words."""
        said = [
            f"{self.part.words} {where}, guess {which}"
            for chosen, which in ((self.first, "the first input"), (self.second, "the second"))
            if (where := self.bins.words(chosen))
        ]
        return "Where " + "; where ".join(said) if said else "No output tells the inputs apart"


@dataclass(frozen=True, slots=True)
class ChosenEvents:
    """The event that promises the greatest bound, and a rare one that would be a catastrophe, if any."""

    likely: Event
    rare: Event | None

    @property
    def promise(self) -> float:
        """Return the greater promise."""
        return max(self.likely.promise, self.rare.promise if self.rare else 0.0)


def choose_events(
    first: Outputs,
    second: Outputs,
    measure: LossMeasure,
    *,
    times: float = 1.0,
    until: float = math.inf,
) -> ChosenEvents:
    """Return the rules that promise most on these outputs of the two inputs.

    Half of them say which bins speak for which input, the other half what a rule would be worth.
    `times` as many samples will measure it: a rare event promises what it would show then. No further
    part is looked at after `until` (time.monotonic).
    """
    ours, theirs = OpenedOutputs(first), OpenedOutputs(second)
    both = [*first, *second] if _mixed(first, second) else np.concatenate([first, second])
    parts = parts_of(both)
    events: list[Event] = []
    rare: list[Event] = []
    for part, a, b in _sides(parts, ours, theirs):
        if events and time.monotonic() > until:
            break
        found = _best(part, a, b, measure, times)
        events.append(found[0])
        rare += [found[1]] if found[1] is not None else []
    likely = max(events, key=lambda event: event.promise)
    best = max(rare, key=lambda event: event.promise, default=None)
    return ChosenEvents(
        likely, best if best is not None and best.promise > likely.promise else None
    )


def _mixed(first: Outputs, second: Outputs) -> bool:
    if isinstance(first, list) or isinstance(second, list):
        return True
    return first.shape[1:] != second.shape[1:]


def _sides(
    parts: Sequence[OutputPart], first: OpenedOutputs, second: OpenedOutputs
) -> Iterator[tuple[Part, OutputValues, OutputValues]]:
    """Yield every part with its column on each input; joint ones are learned on one half only."""
    for part in parts:
        yield part, first.column(part), second.column(part)
    if len(parts) > 1:
        learned = first.every_second(0), second.every_second(0)
        judged = first.every_second(1), second.every_second(1)
        pieces = tuple(WeightedPart.of(part, *learned) for part in parts)
        for joint in (SummedEvidence(pieces), ConditionTree.grown(pieces, *learned)):
            yield joint, _values(judged[0], joint), _values(judged[1], joint)


def _values(outputs: OpenedOutputs, part: Part) -> OutputValues:
    return outputs.column(part) if isinstance(part, OutputPart) else part.column(outputs)


def _best(
    part: Part, first: OutputValues, second: OutputValues, measure: LossMeasure, times: float
) -> tuple[Event, Event | None]:
    bins = Binning.of(first, second)
    sides = (bins.places(first), bins.places(second))
    ours, theirs = (np.bincount(side[::2], minlength=bins.size) for side in sides)
    fresh = tuple(np.bincount(side[1::2], minlength=bins.size) for side in sides)
    rules = _by_ratio(ours, theirs)
    if bins.edges is not None and bins.repeated is None:
        rules += _cuts(bins.size, ours, theirs)
    promised = [measure.promise(_tally(rule, *fresh)) for rule in rules]
    best = int(np.argmax(promised))
    likely = Event(part, bins, rules[best] > 0, rules[best] < 0, promised[best])
    return likely, _rare(part, bins, (ours, theirs), fresh, measure=measure, times=times)


Rule = npt.NDArray[np.int8]
"""For each bin 1 (guess the first input), -1 (the second) or 0 (say nothing)."""


def _rare(
    part: Part,
    bins: Binning,
    learned: tuple[Integers, Integers],
    fresh: tuple[Integers, ...],
    *,
    measure: LossMeasure,
    times: float,
) -> Event | None:
    """Return the rare bins that were met on one input only, as a rule, if fresh outputs bear it out.

    Its promise is what the measurement would show if it went on like this, half a wrong guess
    added: a thing seen ten times in the pilot can be seen eighty times later.
    """
    ours, theirs = learned
    alone = np.where((ours == 0) | (theirs == 0), ours + theirs, 0)
    alone[ours + theirs > _RARE * (ours.sum() + theirs.sum())] = 0
    order = np.argsort(-alone, kind="stable")
    known = int((alone > 1).sum())
    best: Event | None = None
    for count in {min(2**k, known) for k in range(known.bit_length() + 1)} - {0}:
        rule = np.zeros(bins.size, dtype=np.int8)
        rule[order[:count]] = np.where(ours[order[:count]] > 0, 1, -1)
        tally = _tally(rule, fresh[0], fresh[1])
        promise = measure.promise(_foreseen(tally, times)) if tally.right > 1 else 0.0
        if promise > (best.promise if best else 0.0):
            best = Event(part, bins, rule > 0, rule < 0, promise)
    return best


def _foreseen(tally: GuessCount, times: float) -> GuessCount:
    """Return the counts that so many times as many samples would give, a little worse than seen."""
    share = (tally.right + _SOFT) / (tally.guesses + _SOFT + _FORGOTTEN)
    halves = (tally.first_right, tally.second_right)
    wrong = [(1 - share) * tally.guesses * times * (part / max(tally.right, 1)) for part in halves]
    right = [round(times * share * part) for part in halves]
    return GuessCount(
        right[0],
        round(wrong[1]),
        right[1],
        round(wrong[0]),
        round(times * tally.first),
        round(times * tally.second),
    )


def _by_ratio(ours: Integers, theirs: Integers) -> list[Rule]:
    """Return rules that guess in more and more bins, the surest first."""
    ratio = np.log((ours + _SOFT) / (theirs + _SOFT))
    doubt = _DOUBT * np.sqrt(1 / (ours + _SOFT) + 1 / (theirs + _SOFT))
    order = np.argsort(-(np.abs(ratio) - doubt), kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    sign = np.sign(ratio).astype(np.int8)
    counts = sorted({round(float(c)) for c in np.geomspace(1, len(order), MOST_RULES)})
    return [np.where(place < count, sign, np.int8(0)) for count in counts]


def _cuts(size: int, ours: Integers, theirs: Integers) -> list[Rule]:
    """Return rules that cut the line in two, towards the side where each input is the likelier."""
    if not ours.sum() or not theirs.sum():
        return []
    places = np.arange(size)
    side = 1 if np.average(places, weights=ours) < np.average(places, weights=theirs) else -1
    step = max(1, size // MOST_RULES)
    return [np.where(places < cut, np.int8(side), np.int8(-side)) for cut in range(1, size, step)]


def _tally(rule: Rule, first: Integers, second: Integers) -> GuessCount:
    return GuessCount(
        int(first[rule > 0].sum()),
        int(first[rule < 0].sum()),
        int(second[rule < 0].sum()),
        int(second[rule > 0].sum()),
        int(first.sum()),
        int(second.sum()),
    )
