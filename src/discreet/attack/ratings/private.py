"""What is left for the adversary where only noisy numbers about the ratings are released."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from discreet.attack.curator import Exhibit, curator_over, whole_numbers
from discreet.attack.outcome import Score
from discreet.attack.ratings.index import Index
from discreet.attack.ratings.known import Glimpse
from discreet.core.arrays import Floats, Integers

MOST_RATINGS = 200
"""Ratings of one person that count, as the owner of the made-up film club declares."""
MOST_FILMS = 10_000
"""A table by film with a row for each: more keys than this are not listed by a curator."""


def noisy_counts(index: Index, *, epsilon: float) -> Floats:
    """Return how often each film was rated, as a curator answers it for `epsilon`."""
    films = min(len(index.support) - 1, MOST_FILMS)
    film = np.repeat(np.arange(len(index.support)), index.support)
    rows = pa.table({"user_id": pa.array(index.record), "film_id": pa.array(film)})
    declared = {"user_id": 'type = "identifier"', "film_id": whole_numbers(1, films)}
    ratings = Exhibit(rows, declared, people=f'unit = "user_id"\nmax_rows = {MOST_RATINGS}')
    with curator_over({"ratings": ratings}, epsilon=epsilon) as ask:
        answer = ask("SELECT film_id, COUNT(*) AS n FROM ratings GROUP BY film_id", epsilon)
    counts = np.zeros(len(index.support))
    for row in answer.rows:
        counts[int(row[0])] = float(row[1])
    return counts


def presence(
    noisy: Floats,
    index: Index,
    *,
    inside: Sequence[Glimpse],
    outside: Sequence[Glimpse],
) -> Score:
    """Return how often "is this person among them?" is answered right from noisy counts.

    No record is published, so none can be pointed at; whether the person is there is all that can be
    asked. The adversary is the strongest: knows every count without the target, and says yes where
    the target's films were counted more often than that, by more than half of the known ratings.
    """
    said = [_excess(noisy, index, seen, present=True) > len(seen.film) / 2 for seen in inside]
    denied = [_excess(noisy, index, seen, present=False) <= len(seen.film) / 2 for seen in outside]
    # Whoever guesses without looking says what holds for more of the targets.
    trials = len(said) + len(denied)
    blind = max(len(said), len(denied)) / max(trials, 1)
    measure = "share of right answers to whether the person is there"
    return Score.of_guesses(sum(said) + sum(denied), trials, baseline=blind, measure=measure)


def _excess(noisy: Floats, index: Index, seen: Glimpse, *, present: bool) -> float:
    films: Integers = seen.film
    # Without the target each of the target's films was rated once less, if the target is there.
    without = index.support[films] - (1 if present else 0)
    return float((noisy[films] - without).sum())
