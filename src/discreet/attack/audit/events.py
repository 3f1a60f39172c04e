"""Which outputs betray the input: events chosen on samples that are then thrown away."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.attack.audit.bins import Binning
from discreet.attack.audit.bounds import GuessCount, LossMeasure
from discreet.attack.audit.features import (
    OpenedOutputs,
    OutputPart,
    Outputs,
    OutputValues,
    parts_of,
)
from discreet.attack.audit.joint import ConditionTree, SummedEvidence, WeightedPart
from discreet.core.arrays import Bits, Integers

MOST_RULES = 64
_SOFT = 0.5  # added to every count before taking ratios
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
