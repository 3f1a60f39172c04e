"""How much privacy a mechanism loses at the very least, measured from its outputs alone."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.attack.audit.bounds import GuessCount, LossMeasure, epsilon_from_one_run
from discreet.attack.audit.events import Event, choose_event
from discreet.attack.audit.features import Outputs
from discreet.attack.audit.target import Pair, Target
from discreet.attack.registry import Progress, quiet
from discreet.errors import InvalidInput

PILOT = 5
"""One part in so many chooses the event and is then thrown away."""
FEWEST = 200
_CHUNK = 1_000_000
_DATA = 60  # characters of an input that are shown
_FAIR = 1e-9


@dataclass(frozen=True, slots=True)
class Audit:
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
    progress: Progress = quiet,
) -> Audit:
    """Return the greatest lower bound that samples show, for the most telling pair of neighbours.

    Guarantee: pair and event are chosen on samples that are then thrown away; fresh samples measure
        that one event. The bound exceeds the true epsilon (or mu) with probability at most
        1 - confidence, for any mechanism whose outputs are independent. (docs/notes/0029)
    """
    end = time.monotonic() + effort.seconds
    pilot = max(FEWEST, effort.samples // PILOT // len(target.pairs))
    best: tuple[Event, Pair] | None = None
    for done, pair in enumerate(target.pairs):
        progress(done, len(target.pairs) + 1, "looking for a telling event")
        share = end - effort.seconds * (1 - (done + 1) / (3 * len(target.pairs)))
        first, second = (_draw(target.sample, data, pilot, share) for data in pair)
        event = choose_event(first, second, LossMeasure(gaussian=gaussian, delta=delta))
        if best is None or event.promise > best[0].promise:
            best = event, pair
    assert best is not None, "there is always a pair"
    progress(len(target.pairs), len(target.pairs) + 1, "measuring it on fresh samples")
    found = _measure(target, effort, best, end, (claim, delta, gaussian))
    progress(1, 1, "done")
    return found


def _measure(
    target: Target,
    effort: Effort,
    best: tuple[Event, Pair],
    end: float,
    asked: tuple[float | None, float, bool],
) -> Audit:
    event, pair = best
    claim, delta, gaussian = asked
    # Which input each run gets is a fair coin: so the numbers of runs are binomial, not equal.
    dice = np.random.default_rng()
    total = 2 * (effort.samples - effort.samples // PILOT)
    ours = int(dice.binomial(total, 0.5))
    counts: list[tuple[int, int, int]] = []
    for data, size, limit in ((pair[0], ours, (end + time.monotonic()) / 2), (pair[1], None, end)):
        wanted = size if size is not None else int(counts[0][2] * (total - ours) / max(ours, 1))
        outputs = _draw(target.sample, data, max(wanted, 1), limit)
        says_first, says_second = event.guesses(outputs)
        counts.append((int(says_first.sum()), int(says_second.sum()), len(outputs)))
    (a, b, n), (c, d, m) = counts
    tally = GuessCount(a, b, d, c, n, m)
    # If time ran out on one side the coin was not fair any more, but shares still count.
    fair = abs(n / (n + m) - ours / total) < _FAIR
    measure = LossMeasure(gaussian=gaussian, delta=delta, fair=fair)
    return Audit(
        name=target.name,
        measure="mu" if gaussian else "epsilon",
        bound=measure.bound(tally, alpha=1 - effort.confidence),
        claim=claim,
        delta=delta,
        confidence=effort.confidence,
        samples=n + m,
        right=tally.right,
        guesses=tally.guesses,
        event=event.words,
        pair=(_shown(pair[0]), _shown(pair[1])),
        notes=_notes(target, effort, n + m),
    )


def _draw(sample: Callable[[Any, int], Outputs], data: Any, wanted: int, end: float) -> Outputs:
    """Return `wanted` outputs, or as many as the time allows (never below FEWEST)."""
    parts: list[Outputs] = []
    drawn, size = 0, min(wanted, FEWEST)
    while drawn < wanted:
        began = time.monotonic()
        parts.append(sample(data, size))
        drawn += size
        spent = max(time.monotonic() - began, 1e-6)
        left = end - time.monotonic()
        if left <= 0:
            break
        size = max(1, min(wanted - drawn, _CHUNK, size * 10, int(size * left / spent)))
    if isinstance(parts[0], list):
        return [one for part in parts for one in part]
    return np.concatenate(parts)


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
