"""Query auditing attack: what refusals reveal.

With the auditors of counting queries over secret bits, what their refusals tell, and what exact auditing costs.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import combinations

import numpy as np

from discreet.base.arrays import Bits, Integers
from discreet.base.display import Progress
from discreet.errors import InvalidInput
from discreet.lab.attacks.attacks import Attack, AttackSettings, Knob, Outcome, Score, score_bars
from discreet.lab.attacks.counts.differencing import ceiling
from discreet.lab.attacks.counts.people import OWN_FILE, Blocks, blocks_of
from discreet.lab.attacks.counts.reconstruction import half_have_it
from discreet.lab.attacks.curator import curator_over, subsets_table
from discreet.show.charts import lines
from discreet.show.document import DocumentBlock, Figure, Grid

MOST_PEOPLE = 16
"""The auditor looks at all 2^n databases: that is the point, and the limit."""


class Auditor(Enum):
    """How a desk decides which counts to refuse."""

    NONE = "answers everything"
    LOOKING = "refuses what would determine somebody"
    BLIND = "refuses what could determine somebody"


@dataclass(frozen=True, slots=True, eq=False)
class PossibleDatabases:
    """What an attacker has after a row of questions, as the databases that remain possible.

    `by_answers` reads the answers alone (what the auditor believes is known), `by_all` the
    refusals too.
    """

    by_answers: Bits
    by_all: Bits
    refused: int


def databases(people: int) -> Bits:
    """Return all 2^people databases, one a row."""
    if not 1 <= people <= MOST_PEOPLE:
        raise InvalidInput(f"The exact auditor is for 1 to {MOST_PEOPLE} people.")
    return (np.arange(1 << people)[:, None] >> np.arange(people) & 1).astype(bool)


def questions(people: int) -> Bits:
    """Return the questions of the attack: everybody together, all threes, all twos."""
    rows = [np.ones(people, dtype=bool)]
    for size in (3, 2):
        for chosen in combinations(range(people), size):
            row = np.zeros(people, dtype=bool)
            row[list(chosen)] = True
            rows.append(row)
    return np.array(rows)


def determined(possible: Bits, every: Bits) -> Bits:
    """Return for each person whether their bit is the same in all databases that are possible."""
    left = every[possible]
    return np.asarray(left.all(0) | ~left.any(0))


def risky_answers(possible: Bits, counts: Integers, every: Bits) -> Bits:
    """Return for each answer 0, 1, ... whether hearing it would determine somebody's bit."""
    most = int(counts.max())
    risky = np.zeros(most + 1, dtype=bool)
    for answer in range(most + 1):
        left = possible & (counts == answer)
        risky[answer] = bool(left.any()) and bool(determined(left, every).any())
    return risky


def interview(secret: Bits, asked: Bits, every: Bits, auditor: Auditor) -> PossibleDatabases:
    """Return what is known after asking an auditor all questions in order.

    The attacker knows how the auditor works, so keeps exactly those databases for which it would have
    answered, and refused, the same.
    """
    by_answers = np.ones(len(every), dtype=bool)
    by_all = by_answers.copy()
    refused = 0
    for query in asked:
        counts = every[:, query].sum(1)
        truth = int(secret[query].sum())
        risky = np.zeros(int(counts.max()) + 1, dtype=bool)
        if auditor is not Auditor.NONE:
            risky = risky_answers(by_answers, counts, every)
        if auditor is Auditor.BLIND and risky.any():
            # Decided without looking at the data: the attacker could have said so beforehand.
            refused += 1
        elif risky[truth]:
            refused += 1
            by_all &= risky[counts]
        else:
            by_answers &= counts == truth
            by_all &= counts == truth
    return PossibleDatabases(by_answers, by_all, refused)


def best_guess(possible: Bits, every: Bits) -> Bits:
    """Return each person's likelier bit, all possible databases being equally likely."""
    return np.asarray(every[possible].mean(0) > 0.5)


def guess_from_noisy(asked: Bits, answers: Sequence[float], every: Bits, *, epsilon: float) -> Bits:
    """Return each person's likelier bit given counts with discrete Laplace noise of 1 / epsilon."""
    gaps = np.zeros(len(every))
    for query, answer in zip(asked, answers, strict=True):
        gaps += np.abs(every[:, query].sum(1) - answer)
    weights = np.exp(-epsilon * (gaps - gaps.min()))
    return np.asarray(weights @ every > 0.5 * weights.sum())


@dataclass(frozen=True, slots=True)
class AuditingCost:
    """Work of one audit: search steps and seconds for so many people."""

    people: int
    steps: float
    seconds: float


class DatabaseSearch:
    """Looks for a database with given sums over given sets, counting its steps.

    Depth first, cutting a branch as soon as a sum is passed or can no longer be reached.
    """

    def __init__(self, queries: Bits) -> None:
        self.steps = 0
        self._people = int(queries.shape[1])
        # For each person the sums that they are in; for each sum how many people are still to come.
        self._sums = [np.flatnonzero(queries[:, person]).tolist() for person in range(self._people)]
        after = queries[:, ::-1].cumsum(1)[:, ::-1]
        self._after = np.hstack([after, np.zeros((len(queries), 1), dtype=after.dtype)]).tolist()

    def find(self, answers: Sequence[int], *, person: int, bit: int) -> list[int] | None:
        """Return a database with these answers in which `person` has `bit`, or None."""
        left = [int(answer) for answer in answers]
        chosen: list[int] = []
        return chosen if self._extend(left, chosen, person, bit) else None

    def _extend(self, left: list[int], chosen: list[int], person: int, bit: int) -> bool:
        self.steps += 1
        place = len(chosen)
        for wanted, after in zip(left, self._after, strict=True):
            if wanted < 0 or wanted > after[place]:
                return False
        if place == self._people:
            return True
        for value in (bit,) if place == person else (0, 1):
            chosen.append(value)
            rest = left.copy()
            if value:
                for i in self._sums[place]:
                    rest[i] -= 1
            if self._extend(rest, chosen, person, bit):
                return True
            chosen.pop()
        return False


def undetermined(queries: Bits, secret: Bits, search: DatabaseSearch) -> list[int]:
    """Return the people whose bit the answers leave open: the auditor's question, decided exactly."""
    truth = secret.astype(int).tolist()
    answers = (queries @ secret.astype(int)).tolist()
    open_people: set[int] = set()
    for person in range(len(truth)):
        if person in open_people:
            continue
        other = search.find(answers, person=person, bit=1 - truth[person])
        if other is not None:
            # One other database settles everybody in whom it differs.
            open_people |= {i for i, bit in enumerate(other) if bit != truth[i]}
    return sorted(open_people)


def hard_queries(people: int, rng: np.random.Generator) -> Bits:
    """Return as many random sets as just about determine everybody: where auditing is hardest."""
    # A sum over half of n people says about log2(sqrt(pi n / 2)) bits of the n that are secret.
    each = 0.5 * math.log2(math.pi * people / 2)
    return np.asarray(rng.random((max(round(people / each), 1), people)) < 0.5)


def measured(people: int, rng: np.random.Generator, *, repeats: int) -> AuditingCost:
    """Return the mean work of exact audits of `people` people on hard instances."""
    steps, began = 0, time.perf_counter()
    for _ in range(repeats):
        queries = hard_queries(people, rng)
        search = DatabaseSearch(queries)
        undetermined(queries, np.asarray(rng.random(people) < 0.5), search)
        steps += search.steps
    return AuditingCost(people, steps / repeats, (time.perf_counter() - began) / repeats)


def doubling(costs: Sequence[AuditingCost]) -> float:
    """Return after how many more people the work doubles, from a straight line through its log."""
    people = np.array([cost.people for cost in costs], dtype=np.float64)
    work = np.log2([cost.steps for cost in costs])
    slope = float(np.polyfit(people, work, 1)[0])
    return 1 / slope if slope > 0 else math.inf


ATTACK = Attack(
    name="refusals",
    title="Refusals",
    words="Ask an auditor who refuses dangerous questions, and learn from what is refused.",
    knobs=(
        Knob("places", 10, "people whom a desk guards", 4, 10, 1),
        Knob("desks", 60, "desks that are questioned", 1, 60, 1),
        Knob("largest", 20, "people in the largest audit whose cost is measured", 8, 24, 2),
        Knob("epsilon", 1.0, "what all private answers cost together", 0.1, 8.0, 0.1),
        Knob("seed", 0, "which town, and the attacker's dice", 0, 1_000_000, 1),
        *OWN_FILE,
    ),
)
_HALF = 0.5
_SMALLEST = 8
_REPEATS = 4
_SUBSETS = (
    "SELECT p.block, s.subset, COUNT(*) AS n FROM people AS p JOIN subsets AS s "
    "ON p.place = s.place WHERE p.secret GROUP BY p.block, s.subset"
)


@dataclass(frozen=True, slots=True)
class RefusalScore:
    """One kind of desk: right guesses, the same without reading refusals, certain bits, refusals."""

    right: int
    deaf: int
    certain: int
    promised: int
    bits: int
    refused: float


def run(chosen: AttackSettings, *, progress: Progress) -> Outcome:
    """Return how often bits are guessed right from an auditor's refusals, and what auditing costs."""
    rng = np.random.default_rng(chosen.whole("seed"))
    progress(0, 5, "making the town")
    places = chosen.whole("places")
    bits = half_have_it(chosen, places * chosen.whole("desks"), rng)
    blocks = blocks_of(bits, places=places, rng=rng)
    tallies = {}
    for i, auditor in enumerate(Auditor):
        progress(1 + i, 5, f"questioning a desk that {auditor.value}")
        tallies[auditor] = questioned(blocks, auditor)
    progress(4, 5, "asking the curator, and timing exact audits")
    private = against_curator(blocks, epsilon=chosen.number("epsilon"))
    sizes = range(_SMALLEST, chosen.whole("largest") + 1, 2)
    costs = [measured(size, rng, repeats=_REPEATS) for size in sizes]
    return _outcome(chosen, blocks, tallies, private, costs)


def questioned(blocks: Blocks, auditor: Auditor) -> RefusalScore:
    """Return what an attacker makes of all the answers and refusals of these desks."""
    every, asked = databases(blocks.places), questions(blocks.places)
    right = deaf = certain = promised = refused = 0
    for secret in blocks.secret:
        heard = interview(secret, asked, every, auditor)
        right += int((best_guess(heard.by_all, every) == secret).sum())
        deaf += int((best_guess(heard.by_answers, every) == secret).sum())
        certain += int(determined(heard.by_all, every).sum())
        promised += int(determined(heard.by_answers, every).sum())
        refused += heard.refused
    bits = blocks.secret.size
    return RefusalScore(
        right, deaf, certain, promised, bits, refused / (blocks.blocks * len(asked))
    )


def against_curator(blocks: Blocks, *, epsilon: float) -> int:
    """Return how many bits are guessed right from a curator's answers to the same questions."""
    asked = questions(blocks.places)
    answers = np.zeros((blocks.blocks, len(asked)))
    tables = {"people": blocks.exhibit(), "subsets": subsets_table(asked, "place")}
    with curator_over(tables, epsilon=repr(epsilon)) as ask:
        for block, number, count in ask(_SUBSETS, repr(epsilon)).rows:
            answers[int(block), int(number)] = count
    every, price = databases(blocks.places), epsilon / int(asked.sum(0).max())
    guesses = [guess_from_noisy(asked, row.tolist(), every, epsilon=price) for row in answers]
    return int((np.array(guesses) == blocks.secret).sum())


def _outcome(
    chosen: AttackSettings,
    blocks: Blocks,
    tallies: Mapping[Auditor, RefusalScore],
    private: int,
    costs: Sequence[AuditingCost],
) -> Outcome:
    looking, bits = tallies[Auditor.LOOKING], blocks.secret.size
    epsilon = chosen.number("epsilon")
    score = Score.of_guesses(looking.right, bits, baseline=_HALF)
    after = Score.of_guesses(private, bits, baseline=_HALF)
    return Outcome(
        knew="The attacker knows how the auditor decides, and nothing of anybody's bit.",
        released=f"For {blocks.blocks} desks that guard {blocks.places} people each: counts of "
        "everybody, of all threes and of all twos, unless the auditor refuses because the answer, "
        "with those before, would determine somebody.",
        did="The attacker keeps the databases for which the auditor would have answered and refused "
        "the same, and guesses each bit from them.",
        lesson=f"By its answers alone the desk kept its word: {looking.promised} bits determined. "
        f"With its refusals {looking.certain / bits:.0%} of all bits are certain. A desk that "
        f"decides without looking gives nothing away, and refused "
        f"{tallies[Auditor.BLIND].refused:.0%} of the questions.",
        score=score,
        private=after,
        private_words=f"A curator refuses nothing here: all questions answered at epsilon "
        f"{epsilon:g} together leave the same attacker {after.success:.1%} right (counts "
        f"of one value allow at most {ceiling(epsilon):.1%} on a fair coin).",
        details={
            "ignoring_refusals": looking.deaf / bits,
            "certain": looking.certain / bits,
            "determined_by_answers": looking.promised,
            "refused": {auditor.value: tally.refused for auditor, tally in tallies.items()},
            "audit_steps": {cost.people: cost.steps for cost in costs},
            "work_doubles_every_people": doubling(costs) if len(costs) > 1 else None,
        },
        blocks=_blocks(tallies, after, costs),
    )


def _blocks(
    tallies: Mapping[Auditor, RefusalScore], private: Score, costs: Sequence[AuditingCost]
) -> tuple[DocumentBlock, ...]:
    looking = tallies[Auditor.LOOKING]
    found = {
        "refusals read": Score.of_guesses(looking.right, looking.bits, baseline=_HALF),
        "refusals ignored": Score.of_guesses(looking.deaf, looking.bits, baseline=_HALF),
        "private answers": private,
    }
    growth = lines(
        {"search steps of one audit": [(cost.people, cost.steps) for cost in costs]},
        title="steps (logarithmic)",
        across="people guarded",
    )
    for layer in growth["layer"]:
        layer["encoding"]["y"]["scale"] = {"type": "log"}
    return (
        Figure(
            "What refusals tell",
            score_bars(found, "share of bits right"),
            "Share of bits guessed right at the desk that looks at the answer before refusing. "
            "Half of all people have the bit, so guessing is right half the time.",
        ),
        Figure(
            "What an exact audit costs",
            growth,
            "Deciding whether answers determine a bit is coNP-complete. Steps of our own exact "
            f"search on hard instances, the mean of {_REPEATS}: a straight line on this axis is "
            "exponential growth.",
        ),
        Grid.of(
            ("the desk", "questions refused", "bits certain", "right", "right, refusals ignored"),
            [
                (each.value, t.refused, t.certain / t.bits, t.right / t.bits, t.deaf / t.bits)
                for each, t in tallies.items()
            ],
            "Three desks, the same questions.",
            shares=(1, 2, 3, 4),
        ),
        Grid.of(
            ("people", "steps", "seconds"),
            [(cost.people, cost.steps, cost.seconds) for cost in costs],
            "The cost of one exact audit as it grows.",
        ),
    )
