"""Which outputs betray the input: events chosen on samples that are then thrown away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.attack.audit.bounds import GuessCount, LossMeasure
from discreet.attack.audit.features import Column, OutputPart, Outputs, column, parts_of

MOST_BINS = 256
MOST_RULES = 64
_SOFT = 0.5  # added to every count before taking ratios
_DOUBT = 2.0  # standard deviations that a bin's ratio is taken to be off
_STRICT = 1e-3  # a choice must promise something even at this level


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """One part, its bins, and how strongly each bin speaks for the first input."""

    part: OutputPart
    edges: npt.NDArray[np.float64] | None
    names: tuple[Any, ...]
    weights: npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Together:
    """Several parts at once: their weights added up, as if they were independent."""

    pieces: tuple[Piece, ...]
    words: str = "the evidence of all parts together"

    def column(self, outputs: Outputs) -> Column:
        """Return the summed weight of each output."""
        total = np.zeros(len(outputs))
        for piece in self.pieces:
            bins = _bins(column(outputs, piece.part), piece.edges, piece.names)
            total += piece.weights[bins]
        return total


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """A rule: in these bins of this part of the output guess the first, in those the second input."""

    part: OutputPart | Together
    edges: npt.NDArray[np.float64] | None
    names: tuple[Any, ...]
    first: npt.NDArray[np.bool_]
    second: npt.NDArray[np.bool_]
    promise: float

    def guesses(self, outputs: Outputs) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Return for which outputs the first, and for which the second input is guessed."""
        bins = _bins(_values(outputs, self.part), self.edges, self.names)
        return self.first[bins], self.second[bins]

    @property
    def words(self) -> str:
        """Return the rule in plain words."""
        said = [
            f"{self.part.words} {where}, guess {which}"
            for chosen, which in ((self.first, "the first input"), (self.second, "the second"))
            if (where := self._where(chosen))
        ]
        return "Where " + "; where ".join(said) if said else "No output tells the inputs apart"

    def _where(self, chosen: npt.NDArray[np.bool_]) -> str:
        places = np.flatnonzero(chosen)
        if not len(places):
            return ""
        if self.edges is None:
            shown = [str(self.names[i]) if i < len(self.names) else "another" for i in places[:5]]
            return "is " + " or ".join(shown) + (" or …" if len(places) > 5 else "")
        runs = np.split(places, np.flatnonzero(np.diff(places) > 1) + 1)
        shown = [_span(self.edges, int(run[0]), int(run[-1])) for run in runs[:3]]
        return " or ".join(shown) + (" or …" if len(runs) > 3 else "")


def _span(edges: npt.NDArray[np.float64], low: int, high: int) -> str:
    if low == 0:
        return f"is below {edges[high]:.6g}"
    if high == len(edges):
        return f"is {edges[low - 1]:.6g} or more"
    return f"is from {edges[low - 1]:.6g} to below {edges[high]:.6g}"


def choose_event(first: Outputs, second: Outputs, measure: LossMeasure) -> Event:
    """Return the rule that promises the greatest bound on these outputs of the two inputs.

    Half of them say which bins speak for which input, the other half what a rule would be worth.
    """
    both = [*first, *second] if isinstance(first, list) else np.concatenate([first, second])
    parts = parts_of(both)
    found = [_best(part, _values(first, part), _values(second, part), measure) for part in parts]
    if len(parts) > 1:
        # Learned on one half, judged on the other, like everything here.
        joint = Together(tuple(_piece(part, first[::2], second[::2]) for part in parts))
        ours, theirs = (_values(side[1::2], joint) for side in (first, second))
        found.append(_best(joint, ours, theirs, measure))
    return max(found, key=lambda event: event.promise)


def _values(outputs: Outputs, part: OutputPart | Together) -> Column:
    return part.column(outputs) if isinstance(part, Together) else column(outputs, part)


def _piece(part: OutputPart, first: Outputs, second: Outputs) -> Piece:
    ours, theirs = column(first, part), column(second, part)
    edges, names = _binning(np.concatenate([ours, theirs]))
    size = len(names) + 1 if edges is None else len(edges) + 1
    counts = [np.bincount(_bins(side, edges, names), minlength=size) for side in (ours, theirs)]
    return Piece(part, edges, names, np.log((counts[0] + _SOFT) / (counts[1] + _SOFT)))


def _best(
    part: OutputPart | Together, first: Column, second: Column, measure: LossMeasure
) -> Event:
    edges, names = _binning(np.concatenate([first, second]))
    size = len(names) + 1 if edges is None else len(edges) + 1
    sides = (_bins(first, edges, names), _bins(second, edges, names))
    ours, theirs = (np.bincount(side[::2], minlength=size) for side in sides)
    fresh = tuple(np.bincount(side[1::2], minlength=size) for side in sides)
    rules = _by_ratio(ours, theirs)
    if edges is not None:
        rules += _cuts(size, ours, theirs)
    promised = [measure.bound(_tally(rule, *fresh), alpha=_STRICT) for rule in rules]
    best = int(np.argmax(promised))
    return Event(part, edges, names, rules[best] > 0, rules[best] < 0, promised[best])


Rule = npt.NDArray[np.int8]
"""For each bin 1 (guess the first input), -1 (the second) or 0 (say nothing)."""
Tallied = npt.NDArray[np.int64]


def _by_ratio(ours: Tallied, theirs: Tallied) -> list[Rule]:
    """Return rules that guess in more and more bins, the surest first."""
    ratio = np.log((ours + _SOFT) / (theirs + _SOFT))
    doubt = _DOUBT * np.sqrt(1 / (ours + _SOFT) + 1 / (theirs + _SOFT))
    order = np.argsort(-(np.abs(ratio) - doubt), kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    sign = np.sign(ratio).astype(np.int8)
    counts = sorted({round(float(c)) for c in np.geomspace(1, len(order), MOST_RULES)})
    return [np.where(place < count, sign, np.int8(0)) for count in counts]


def _cuts(size: int, ours: Tallied, theirs: Tallied) -> list[Rule]:
    """Return rules that cut the line in two, towards the side where each input is the likelier."""
    side = (
        1
        if np.average(np.arange(size), weights=ours) < np.average(np.arange(size), weights=theirs)
        else -1
    )
    step = max(1, size // MOST_RULES)
    return [
        np.where(np.arange(size) < cut, np.int8(side), np.int8(-side))
        for cut in range(1, size, step)
    ]


def _tally(rule: Rule, first: Tallied, second: Tallied) -> GuessCount:
    return GuessCount(
        int(first[rule > 0].sum()),
        int(first[rule < 0].sum()),
        int(second[rule < 0].sum()),
        int(second[rule > 0].sum()),
        int(first.sum()),
        int(second.sum()),
    )


def _binning(values: Column) -> tuple[npt.NDArray[np.float64] | None, tuple[Any, ...]]:
    if values.dtype == object:
        found, counts = np.unique(values.astype(str), return_counts=True)
        most = found[np.argsort(-counts, kind="stable")[:MOST_BINS]]
        return None, tuple(most.tolist())
    numbers = np.nan_to_num(values.astype(np.float64), nan=np.inf)
    distinct = np.unique(numbers)
    if len(distinct) <= MOST_BINS:
        return distinct[1:], ()
    return np.unique(np.quantile(numbers, np.linspace(0, 1, MOST_BINS + 1)[1:-1])), ()


def _bins(
    values: Column, edges: npt.NDArray[np.float64] | None, names: tuple[Any, ...]
) -> npt.NDArray[np.int64]:
    """Return the bin of each value; a word that was not met before is in the last."""
    if edges is None:
        places = {name: i for i, name in enumerate(names)}
        return np.array([places.get(str(one), len(names)) for one in values], dtype=np.int64)
    numbers = np.nan_to_num(values.astype(np.float64), nan=np.inf)
    return np.searchsorted(edges, numbers, side="right").astype(np.int64)
