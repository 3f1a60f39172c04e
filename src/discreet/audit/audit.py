"""Privacy auditing: how much any mechanism loses at the very least, from outputs of any shape, event chosen by a pilot."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet.audit.bounds import GuessCount, LossMeasure, epsilon_from_one_run
from discreet.audit.events import ChosenEvents, choose_events
from discreet.audit.features import OpenedOutputs, Outputs, gathered
from discreet.audit.target import Pair, Target
from discreet.base.display import Progress, ShownInLines, ShownLines, silent
from discreet.errors import InvalidInput

PILOT = 5
"""One part in so many chooses the events and is then thrown away."""
PILOT_TIME = 1 / 3
"""The part of the time in which that is done."""
RARE_SHARE = 1 / 5
"""The part of the allowed error that a rare event gets where one is measured beside the likely one."""
FEWEST = 200
_CHUNK = 1_000_000
_CELLS = 8_000_000  # numbers of all pilot outputs on an input that are looked at
_LEAVES = 500_000  # the same where outputs are tables or lists, which take longer
_OPENED = 20_000  # of them a second, on a slow machine
_DATA = 60  # characters of an input that are shown
_FAIR = 1e-9
_MARGIN = 0.95  # of the time that is left, so that the last call ends in time


@dataclass(frozen=True, slots=True, repr=False)
class Audit(ShownInLines):
    """A lower bound, wrong (above the truth) with probability at most 1 - confidence."""

    name: str
    measure: str
    bound: float
    claim: float | None
    delta: float
    confidence: float
    samples: int
    right: int
    guesses: int
    event: str
    pair: tuple[str, str]
    notes: tuple[str, ...] = ()

    @property
    def refuted(self) -> bool:
        """Return whether the claim is too small to be true, at this confidence."""
        return self.claim is not None and self.bound > self.claim

    def to_json(self) -> dict[str, Any]:
        """Return the object that `discreet audit --json` prints."""
        return {
            "function": self.name,
            "measure": self.measure,
            "bound": self.bound,
            "claim": self.claim,
            "delta": self.delta,
            "refuted": self.refuted,
            "confidence": self.confidence,
            "samples": self.samples,
            "right": self.right,
            "guesses": self.guesses,
            "event": self.event,
            "pair": list(self.pair),
            "notes": list(self.notes),
        }

    def lines(self) -> ShownLines:
        """Return what a person reads."""
        bound = f"at least {self.bound:.4g} at {self.confidence:.0%} confidence"
        claim = "nothing" if self.claim is None else f"{self.claim:.4g}"
        verdict = "refuted" if self.refuted else "not refuted"
        return [
            ("audit of", self.name),
            (self.measure, f"{bound}; claimed {claim}, {verdict}"),
            *(("note", note) for note in self.notes),
        ]


@dataclass(frozen=True, slots=True)
class Effort:
    """How hard to look: samples of each input at the most, seconds in all, and the confidence."""

    samples: int = 1_000_000
    seconds: float = 120.0
    confidence: float = 0.95

    def __post_init__(self) -> None:
        if self.samples < FEWEST:
            raise InvalidInput(f"An audit needs at least {FEWEST} samples.")
        if not 0 < self.confidence < 1 or not self.seconds > 0:
            raise InvalidInput("The confidence lies between 0 and 1, and the time is above 0.")


def audit(
    target: Target,
    effort: Effort,
    *,
    claim: float | None,
    delta: float,
    gaussian: bool = False,
    progress: Progress = silent,
) -> Audit:
    """Return the greatest lower bound that samples show, for the most telling pair of neighbours.

    Guarantee: pair and events are chosen on samples that are then thrown away; fresh samples measure
        one event, or two that share the error. The bound exceeds the true epsilon (or mu) with probability at most
        1 - confidence, for any mechanism whose outputs are independent. (docs/notes/0029)
    """
    end = time.monotonic() + effort.seconds
    measure = LossMeasure(gaussian=gaussian, delta=delta, alpha=1 - effort.confidence)
    found = _searched(target, effort, measure, end, progress)
    progress(len(target.pairs), len(target.pairs) + 1, "measuring it on fresh samples")
    bound = _measure(target, effort, found, end, claim=claim, asked=measure)
    progress(1, 1, "done")
    return bound


@dataclass(frozen=True, slots=True, eq=False)
class PilotSearch:
    """What the pilot found: events, the pair they are about, and how long one output takes."""

    events: ChosenEvents
    pair: Pair
    seconds_each: float


def _searched(
    target: Target, effort: Effort, measure: LossMeasure, end: float, progress: Progress
) -> PilotSearch:
    """Return the most telling events of all pairs, within a third of the time."""
    began, pairs = time.monotonic(), len(target.pairs)
    pilot = max(FEWEST // 2, effort.samples // PILOT // pairs)
    times = 2 * (effort.samples - effort.samples // PILOT) / max(pilot, 1)
    best: PilotSearch | None = None
    for done, pair in enumerate(target.pairs):
        progress(done, pairs + 1, "looking for a telling event")
        until = began + (end - began) * PILOT_TIME * (done + 1) / pairs
        if best is not None and time.monotonic() >= until:
            break
        started = time.monotonic()
        # A third of it for each input, and a third to look at what came.
        third = (until - started) / 3
        first = _draw(target.sample, pair[0], pilot, started + third)
        second = _draw(target.sample, pair[1], len(first), started + 2 * third)
        each = (time.monotonic() - started) / (len(first) + len(second))
        left = max(until - time.monotonic(), 0.0)
        first, second = _trimmed(first, left), _trimmed(second, left)
        events = choose_events(first, second, measure, times=times, until=until)
        each += _judging(events, first)
        if best is None or events.promise > best.events.promise:
            best = PilotSearch(events, pair, each)
    assert best is not None, "there is always a pair"
    return best


def _judging(events: ChosenEvents, outputs: Outputs) -> float:
    """Return how long it takes to judge one output."""
    began, some = time.monotonic(), outputs[: 20 * FEWEST]
    for event in (events.likely, events.rare):
        if event is not None:
            event.guesses(some)
    return (time.monotonic() - began) / len(some)


def _trimmed(outputs: Outputs, seconds: float) -> Outputs:
    """Return as many outputs as can be looked at in reasonable time, however large each is."""
    if isinstance(outputs, np.ndarray):
        return outputs[: max(FEWEST, _CELLS // max(outputs[0].size, 1))]
    some = OpenedOutputs(outputs[:FEWEST])
    width = sum(len(found.values) for found in some.opened.values()) / len(some)
    return outputs[: max(FEWEST, int(min(_LEAVES, _OPENED * seconds) / max(width, 1)))]


def _measure(
    target: Target,
    effort: Effort,
    search: PilotSearch,
    end: float,
    *,
    claim: float | None,
    asked: LossMeasure,
) -> Audit:
    # Which input each run gets is a fair coin: so the numbers of runs are binomial, not equal.
    dice = np.random.default_rng()
    wanted = 2 * (effort.samples - effort.samples // PILOT)
    affordable = _MARGIN * max(end - time.monotonic(), 0.0) / max(search.seconds_each, 1e-9)
    total = max(2, int(min(wanted, affordable)))
    ours = min(max(int(dice.binomial(total, 0.5)), 1), total - 1)
    events = [event for event in (search.events.likely, search.events.rare) if event is not None]
    counts: list[list[tuple[int, int]]] = []
    sizes = []
    for data, size, limit in (
        (search.pair[0], ours, (end + time.monotonic()) / 2),
        (search.pair[1], total - ours, end),
    ):
        outputs = _draw(target.sample, data, size, limit)
        sizes.append(len(outputs))
        guesses = [event.guesses(outputs) for event in events]
        counts.append([(int(first.sum()), int(second.sum())) for first, second in guesses])
    (n, m), fair = (sizes[0], sizes[1]), abs(sizes[0] / sum(sizes) - ours / total) < _FAIR
    measure, alpha = replace(asked, fair=fair), asked.alpha
    shares = (alpha,) if len(events) == 1 else (alpha * (1 - RARE_SHARE), alpha * RARE_SHARE)
    tallies = [
        GuessCount(a[0], a[1], b[1], b[0], n, m) for a, b in zip(counts[0], counts[1], strict=True)
    ]
    bounds = [measure.bound(t, alpha=share) for t, share in zip(tallies, shares, strict=True)]
    best = int(np.argmax(bounds))
    return Audit(
        name=target.name,
        measure="mu" if measure.gaussian else "epsilon",
        bound=bounds[best],
        claim=claim,
        delta=measure.delta,
        confidence=effort.confidence,
        samples=n + m,
        right=tallies[best].right,
        guesses=tallies[best].guesses,
        event=events[best].words,
        pair=(_shown(search.pair[0]), _shown(search.pair[1])),
        notes=_notes(target, effort, n + m),
    )


def _draw(sample: Callable[[Any, int], Outputs], data: Any, wanted: int, end: float) -> Outputs:
    """Return `wanted` outputs, or as many as the time allows, and one at least."""
    parts: list[Outputs] = []
    drawn, size = 0, 1
    while drawn < wanted:
        began = time.monotonic()
        parts.append(sample(data, size))
        drawn += size
        spent = max(time.monotonic() - began, 1e-6)
        left = end - time.monotonic()
        if left <= spent / size:
            break
        size = max(1, min(wanted - drawn, _CHUNK, size * 10, int(size * left / spent)))
    return gathered(parts)


def audit_one_run(
    target: Target, *, claim: float | None, delta: float, confidence: float = 0.95
) -> Audit:
    """Return a bound from a single run: many canaries, each put in by its own coin.

    The most and the least suspicious canaries are guessed, a tenth, a quarter or all of them; the
    three tries share the error.
    """
    if target.canaries is None:
        raise InvalidInput(
            "One-run auditing needs CANARIES and score(output, canary) in the file.",
            hint="BASE may hold rows that are always in.",
        )
    base, rows, score = target.canaries.base, target.canaries.rows, target.canaries.score
    inside = np.random.default_rng().integers(0, 2, len(rows)).astype(bool)
    chosen = [row for row, kept in zip(rows, inside, strict=True) if kept]
    output = target.function([*base, *chosen])
    order = np.argsort([score(output, row) for row in rows], kind="stable")
    best = (0.0, 0, 0)
    for part in (20, 8, 2):  # of each end
        count = max(1, len(rows) // part)
        out, into = order[:count], order[-count:]
        right = int((~inside[out]).sum() + inside[into].sum())
        bound = epsilon_from_one_run(
            right, 2 * count, len(rows), delta=delta, alpha=(1 - confidence) / 3
        )
        best = max(best, (bound, right, 2 * count))
    return Audit(
        name=target.name,
        measure="epsilon",
        bound=best[0],
        claim=claim,
        delta=delta,
        confidence=confidence,
        samples=1,
        right=best[1],
        guesses=best[2],
        event="The canaries with the highest scores were in, those with the lowest were not",
        pair=("the rows with a canary", "the rows without it"),
    )


def _notes(target: Target, effort: Effort, drawn: int) -> tuple[str, ...]:
    notes = []
    if target.guessed_pairs:
        notes.append("The file names no NEIGHBOURS; small lists of zeros and ones were tried.")
    if drawn < 2 * (effort.samples - effort.samples // PILOT) * 0.95:
        notes.append(f"Time ran out after {drawn:,} samples; more would give a higher bound.")
    return tuple(notes)


def _shown(data: Any) -> str:
    text = repr(data)
    return text if len(text) <= _DATA else f"{text[: _DATA - 1]}…"
