"""Timing: how long an answer, a refusal or an error takes, and whether that tells who is in the data.

A desk that runs whatever SQL it is sent and adds noise to the result gives the result away by the clock:
"if this person smokes, count to five million" (Haeberlen, Pierce & Narayan 2011). The curator of this
package runs only sentences of its own grammar, over all rows. No claim is made that its times are
constant; what is measured is whether they tell people apart.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import duckdb
import numpy as np
import pyarrow as pa

from discreet.base.arrays import Bits, Floats, Integers
from discreet.base.display import Progress
from discreet.errors import BudgetExceeded, InvalidInput, QueryRefused
from discreet.lab.attacks.attacks import Attack, AttackSettings, Knob, Outcome, Score, score_bars
from discreet.lab.attacks.counts.people import OWN_FILE, balanced_bits, secret_bits
from discreet.lab.attacks.curator import TOKEN, AnsweringService, curator_of, people_table, running
from discreet.show.document import Figure, Grid

ATTACK = Attack(
    name="timing",
    title="Timing",
    words="Read a person's secret off the time that an answer, a refusal or an error takes.",
    knobs=(
        Knob("targets", 100, "people asked about: half to learn a limit, half to guess", 20, 400),
        Knob("times", 2, "times that each question is asked; the shortest counts", 1, 5, 1),
        Knob("work", 3_000_000, "rows that a question counts if the person has it", 1, 5_000_000),
        Knob("epsilon", 0.5, "price of one answer", 0.01, 8.0, 0.01),
        *OWN_FILE,
        Knob("server", "", f"a running server instead; its token in the variable {TOKEN}"),
        Knob("ask", "", "with server: a question about somebody who has it"),
        Knob("other", "", "with server: the same question about somebody who has not"),
        Knob("seed", 0, "which people, and in which order", 0, 1_000_000, 1),
    ),
)
Question: TypeAlias = Callable[[int], None]
"""Asks about the person at a place; whatever comes back is thrown away."""
_TIMED = "SELECT COUNT(*) AS n FROM people WHERE place = {place} AND secret"
_SLOW = (
    "SELECT COUNT(*) AS n FROM (SELECT place FROM people WHERE place = {place} AND secret) AS hit, "
    "range({work}) AS t(i) WHERE (t.i * 7919 + hit.place) % 1000003 = 1"
)
_TOO_MUCH = "1000"
NAIVE, ANSWER, REFUSAL, ERROR = "a naive desk", "an answer", "a refusal", "an error"


@dataclass(frozen=True, slots=True, eq=False)
class Timed:
    """How long each target's question took, and what the truth is."""

    seconds: Floats
    truth: Bits

    def right(self) -> tuple[int, int]:
        """Return how many of the second half are guessed by the limit that the first half taught.

        Half of each half have it, in an order of its own: without a leak no rule has more than an
        even chance.
        """
        half = len(self.truth) // 2
        limit, slower = taught(self.seconds[:half], self.truth[:half])
        guess = (self.seconds[half:] > limit) == slower
        return int((guess == self.truth[half:]).sum()), len(self.truth) - half

    def score(self) -> Score:
        """Return the share of right guesses."""
        return Score.of_guesses(*self.right(), baseline=0.5)


def halved(bits: Bits, rng: np.random.Generator) -> Integers:
    """Return places in two halves, each with as many people who have it as people who have not."""
    yes, no = (rng.permutation(np.flatnonzero(side)) for side in (bits, ~bits))
    each = min(len(yes), len(no)) // 2
    halves = [
        rng.permutation(np.concatenate([yes[start : start + each], no[start : start + each]]))
        for start in (0, each)
    ]
    return np.concatenate(halves)


def taught(seconds: Floats, truth: Bits) -> tuple[float, bool]:
    """Return the limit that tells most of these apart, and whether those who have it are slower."""
    order = np.argsort(seconds)
    has = truth[order]
    # Right guesses if everybody after place i is said to have it.
    right = (
        np.concatenate([[0], np.cumsum(~has)]) + has.sum() - np.concatenate([[0], np.cumsum(has)])
    )
    best = np.argmax(np.maximum(right, len(has) - right))
    slower = bool(right[best] >= len(has) - right[best])
    limit = -np.inf if best == 0 else float(seconds[order[best - 1]])
    return float(limit), slower


def run(chosen: AttackSettings, *, progress: Progress) -> Outcome:
    """Return how often a secret is read off the clock: of a naive desk, and of a curator."""
    rng = np.random.default_rng(chosen.whole("seed"))
    if chosen.text("server"):
        return _outcome(chosen, {ANSWER: _on_server(chosen, rng, progress)})
    count = chosen.whole("targets")
    people = secret_bits(chosen, people=20 * count, town="smoker")
    bits = balanced_bits(people, min(count, 2 * int(min(people.sum(), (~people).sum()))), rng)
    # Different people are asked about, so the ledger lets each cost the whole budget.
    whole = chosen.number("epsilon") * chosen.whole("times") * 1.01
    tables = {"people": people_table(bits, "place")}
    with _naive(bits) as desk, curator_of(tables, epsilon=whole) as curator:
        found = {
            name: _timed(question, halved(bits, rng), bits, chosen, progress=progress, name=name)
            for name, question in _questions(desk, curator, chosen).items()
        }
    return _outcome(chosen, found)


def _naive(bits: Bits) -> duckdb.DuckDBPyConnection:
    """Return a desk that runs any SQL; its noise would come after the clock has stopped."""
    desk = duckdb.connect()
    desk.register("rows", pa.table({"place": np.arange(bits.size), "secret": pa.array(bits)}))
    desk.execute("CREATE TABLE people AS SELECT * FROM rows")
    return desk


def _questions(
    desk: duckdb.DuckDBPyConnection, curator: AnsweringService, chosen: AttackSettings
) -> dict[str, Question]:
    """Return how a naive desk takes its time, and the three ways in which a curator can."""
    epsilon = str(chosen.number("epsilon"))
    slow = _SLOW.replace("{work}", str(chosen.whole("work")))
    return {
        NAIVE: lambda place: desk.execute(slow.format(place=place)).fetchall(),
        ANSWER: lambda place: _ask(curator, _TIMED.format(place=place), epsilon),
        REFUSAL: lambda place: _ask(curator, _TIMED.format(place=place), _TOO_MUCH),
        ERROR: lambda place: _ask(curator, slow.format(place=place), epsilon),
    }


def _ask(who: AnsweringService, sql: str, epsilon: str) -> None:
    try:
        who.query(sql, epsilon=epsilon, request_id=uuid.uuid4().hex, fresh=True)
    except (BudgetExceeded, QueryRefused):
        return


def _timed(
    question: Question,
    places: Integers,
    bits: Bits,
    chosen: AttackSettings,
    *,
    progress: Progress,
    name: str,
) -> Timed:
    question(int(places[0]))  # the first question of all pays for what is loaded once
    seconds = np.full(len(places), np.inf)
    for _ in range(chosen.whole("times")):
        for done, place in enumerate(places):
            if done % 20 == 0:
                progress(done, len(places), f"timing {name}")
            begun = time.perf_counter()
            question(int(place))
            seconds[done] = min(seconds[done], time.perf_counter() - begun)
    return Timed(seconds, np.asarray(bits[places]))


def _on_server(chosen: AttackSettings, rng: np.random.Generator, progress: Progress) -> Timed:
    """Return the times of two questions, each time one of them by a coin."""
    asked = (chosen.text("other"), chosen.text("ask"))
    if not all(asked):
        raise InvalidInput(
            "Say what to ask about somebody who has it (--ask) and about somebody who has not (--other)."
        )
    coins = np.arange(chosen.whole("targets")) % 2 == 0
    truth = coins[halved(coins, rng)]
    epsilon = str(chosen.number("epsilon"))
    with running(chosen.text("server")) as client:
        return _timed(
            lambda place: _ask(client, asked[int(truth[place])], epsilon),
            np.arange(truth.size),
            truth,
            chosen,
            progress=progress,
            name=ANSWER,
        )


def _outcome(chosen: AttackSettings, found: Mapping[str, Timed]) -> Outcome:
    scores = {name: timed.score() for name, timed in found.items()}
    ours = {name: score for name, score in scores.items() if name != NAIVE}
    counts = np.array([found[name].right() for name in ours]).sum(axis=0)
    pooled = Score.of_guesses(int(counts[0]), int(counts[1]), baseline=0.5)
    where = chosen.text("server") or "a table of people with a secret each"
    rows = [
        (
            name,
            1000 * float(np.median(timed.seconds[timed.truth])),
            1000 * float(np.median(timed.seconds[~timed.truth])),
            scores[name].success,
            scores[name].low,
            scores[name].high,
        )
        for name, timed in found.items()
    ]
    return Outcome(
        knew="Which row is whose, but not the secret; and a clock.",
        released=f"Answers, refusals and errors about {where}, each with the time that it took.",
        did="Asked about one person at a time, learnt on half of the people from how many milliseconds on they have it, "
        "and guessed the others.",
        lesson="Noise on the answer does not help where the work depends on the rows: only sentences whose work "
        "is the same for everybody may be run.",
        score=scores.get(NAIVE, pooled),
        private=pooled,
        private_words="Answers, refusals and errors of the curator together."
        if NAIVE in found
        else "This is the server that was named.",
        details={
            "by_kind": {name: score.to_json() for name, score in scores.items()},
            "milliseconds": {name: [has, has_not] for name, has, has_not, *_ in rows},
        },
        blocks=(
            Figure(
                "The secret read off the clock",
                score_bars(scores),
                "Half of the people asked about have it: guessing gives 50%.",
            ),
            Grid.of(
                ("time of", "ms, has it", "ms, has not", "right", "95% from", "to"),
                rows,
                "Medians; the shortest time of each person's questions counts.",
                shares=(3, 4, 5),
            ),
        ),
    )
