"""Database reconstruction (Dinur and Nissim): enough answers with too little noise give back everybody's secret bit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.base.answer import Answer
from discreet.base.arrays import Bits, Floats
from discreet.base.display import Progress
from discreet.base.packages import needs
from discreet.errors import InternalError, InvalidInput
from discreet.lab.attacks.attacks import Attack, AttackSettings, Knob, Outcome, Score
from discreet.lab.attacks.counts.differencing import ceiling
from discreet.lab.attacks.counts.people import OWN_FILE, balanced_bits, secret_bits
from discreet.lab.attacks.curator import (
    MOST_KEYS,
    AttackTable,
    curator_over,
    people_table,
    subsets_table,
)
from discreet.lab.attacks.package import attack_package
from discreet.show.charts import LIGHT, lines
from discreet.show.document import DocumentBlock, Figure, Grid, Paragraph

ATTACK = Attack(
    name="reconstruction",
    title="Reconstruction",
    words="Ask for many sums over random groups and solve for everybody's secret bit.",
    knobs=(
        Knob("people", 1_024, "people whose bit is secret", 64, 2_048, 64),
        Knob("queries", 4, "queries for each person", 1, 8, 1),
        Knob("noise", 0.25, "noise of each answer, in square roots of the people", 0.0, 8.0, 0.05),
        Knob("lp_people", 128, "people in the linear programme (it is slower)", 32, 256, 32),
        Knob("epsilon", 1.0, "what all private answers cost together", 0.1, 8.0, 0.1),
        Knob("seed", 0, "which town, and the attacker's dice", 0, 1_000_000, 1),
        *OWN_FILE,
        Knob("package", "", "a release package to attack, instead of the town"),
        Knob("config", "", "the owner's discreet.toml, which scores the guesses at a package"),
    ),
)
LEVELS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0, 2.0, 4.0)
"""The sweep of the picture, in square roots of the number of people."""
SUBSET_SUMS = (
    "SELECT s.subset, COUNT(*) AS n FROM people AS p JOIN subsets AS s ON p.person = s.person "
    "WHERE p.secret GROUP BY s.subset"
)
"""Which subsets a person is in is public; the ledger charges for the person's most subsets."""
ONE_BY_ONE = "SELECT person, COUNT(*) AS n FROM people WHERE secret GROUP BY person"
"""Disjoint questions, so each may use all of the price."""


def run(chosen: AttackSettings, *, progress: Progress) -> Outcome:
    """Return the share of bits given back: by noise, by solver, and against a curator."""
    if chosen.text("package"):
        return attack_package(ATTACK.name, chosen.text("package"), chosen.text("config"))
    rng = np.random.default_rng(chosen.whole("seed"))
    people, each = chosen.whole("people"), chosen.whole("queries")
    progress(0, 4, "making the town")
    secret = half_have_it(chosen, people, rng)
    queries = subset_queries(people, each * people, rng)
    progress(1, 4, "solving by least squares")
    noise = chosen.number("noise") * math.sqrt(people)
    levels = sorted({*(level * math.sqrt(people) for level in LEVELS), people / 401, noise})
    swept = sweep(queries, secret, levels, rng, solver="least squares")
    progress(2, 4, "solving the linear programme")
    small = min(people, chosen.whole("lp_people"))
    few = subset_queries(small, each * small, rng)
    scaled = [level / math.sqrt(people) * math.sqrt(small) for level in levels]
    programmed = sweep(few, balanced(small, rng), scaled, rng, solver="linear programme")
    progress(3, 4, "asking the curator")
    against = against_curator(queries, secret, epsilon=chosen.number("epsilon"))
    return _outcome(
        chosen, noise, dict(zip(levels, zip(swept, programmed, strict=True), strict=True)), against
    )


def half_have_it(chosen: AttackSettings, people: int, rng: np.random.Generator) -> Bits:
    """Return the secret bits of `people` people (in the town: who is married), half of them ones."""
    bits = secret_bits(chosen, people=max(8 * people, 2_000), town="married")
    return balanced_bits(bits, people, rng)


def balanced(people: int, rng: np.random.Generator) -> Bits:
    """Return as many ones as zeros in random order."""
    return np.asarray(rng.permutation(np.arange(people) % 2 == 0))


def sweep(
    queries: Bits, secret: Bits, levels: Sequence[float], rng: np.random.Generator, *, solver: str
) -> list[Score]:
    """Return the score of a solver at each level of bounded noise."""
    exact = sums(queries, secret)
    found = []
    for most in levels:
        answers = uniform_noise(exact, most, rng)
        if solver == "least squares":
            estimate = least_squares(queries, answers, spread=spread_of_uniform(most))
        else:
            estimate = linear_programme(queries, answers)
        found.append(Score.of_bits(estimate > 0.5, secret))
    return found


@dataclass(frozen=True, slots=True)
class AgainstNoise:
    """The same attack on private answers, and the simplest attack of all."""

    subsets: Score
    one_by_one: Score
    spread: float
    words: str


def against_curator(queries: Bits, secret: Bits, *, epsilon: float) -> AgainstNoise:
    """Return the score when a real curator answers all subset sums at `epsilon` together.

    At most MOST_KEYS of them. `one_by_one` is the strongest use of the same price, and reaches what
    counts of one value allow (e^epsilon / (1 + e^epsilon)).
    """
    price, asked = repr(epsilon), queries[:MOST_KEYS]
    people = {"people": people_table(secret, "person")}
    subsets = {"subsets": subsets_table(asked, "person")}
    values, answer = answered({**people, **subsets}, SUBSET_SUMS, price)
    assert answer.covariance is not None, "the noise of a count is known"
    spread = math.sqrt(answer.covariance[0][0][0])
    bits, _ = answered(people, ONE_BY_ONE, price)
    return AgainstNoise(
        Score.of_bits(least_squares(asked, values, spread=spread) > 0.5, secret),
        Score.of_bits(bits > 0.5, secret),
        spread,
        "; ".join(answer.provenance.mechanisms),
    )


def answered(tables: Mapping[str, AttackTable], sql: str, epsilon: str) -> tuple[Floats, Answer]:
    """Return the answer of a curator with `epsilon` in total, and first its counts in order."""
    with curator_over(tables, epsilon=epsilon) as ask:
        answer = ask(sql, epsilon)
    return np.array([count for _, count in sorted(answer.rows)], dtype=np.float64), answer


def _outcome(
    chosen: AttackSettings,
    noise: float,
    swept: Mapping[float, tuple[Score, Score]],
    against: AgainstNoise,
) -> Outcome:
    people, queries = chosen.whole("people"), chosen.whole("queries") * chosen.whole("people")
    epsilon = chosen.number("epsilon")
    return Outcome(
        knew="The attacker knows who is in the table, and nothing of anybody's bit.",
        released=f"{queries:,} counts over random groups of the {people:,} people, each within "
        f"{noise:.3g} of the truth.",
        did="The attacker solves the counts for the bits, by least squares or by a linear programme, "
        "and rounds.",
        lesson="A few wrong digits do not protect: too many, too exact answers give everything "
        "back. Noise has to grow with the number of answers, which is what a budget enforces.",
        score=swept[noise][0],
        private=against.subsets,
        private_words=f"A curator answered {min(queries, MOST_KEYS):,} such counts at epsilon {epsilon:g} in "
        f"all ({against.words}). The same solver then gets {against.subsets.success:.1%} right. "
        "Asked for each person alone, at the same price, it gives "
        f"{against.one_by_one.success:.1%}: counts of one value allow at most {ceiling(epsilon):.1%}.",
        details={
            "noise": noise,
            "n_over_401": people / 401,
            "root_n": math.sqrt(people),
            "private_noise_spread": against.spread,
            "one_by_one": against.one_by_one.to_json(),
            "ceiling": ceiling(epsilon),
            "sweep": [
                {"noise": most, "least_squares": a.to_json(), "linear_programme": b.to_json()}
                for most, (a, b) in swept.items()
            ],
        },
        blocks=_blocks(chosen, swept, against),
    )


def _blocks(
    chosen: AttackSettings, swept: Mapping[float, tuple[Score, Score]], against: AgainstNoise
) -> tuple[DocumentBlock, ...]:
    people, small = chosen.whole("people"), min(chosen.whole("people"), chosen.whole("lp_people"))
    rows = [
        (most, most / math.sqrt(people), first.success, first.low, first.high, second.success)
        for most, (first, second) in swept.items()
    ]
    return (
        Figure(
            "How much noise it takes",
            noise_sweep(people, swept, against.subsets),
            f"Share of bits given back. Least squares with {people:,} people; the linear programme "
            f"with {small}, at the same noise in square roots of the people. Below n/401 all 2^n "
            "queries always give back 99%; around the square root of n a few queries per person "
            "stop being enough.",
        ),
        Grid.of(
            ("noise at most", "in roots of n", "least squares", "95% from", "to", "programme"),
            rows,
            f"Bits right of {people:,} ({small} in the programme); guessing gives 50%.",
            shares=(2, 3, 4, 5),
        ),
        Paragraph(
            "The noise of the sweep is uniform between its bounds. The bits are those of the made-up "
            "town (who is married), drawn so that half are ones."
        ),
    )


def noise_sweep(
    people: int, swept: Mapping[float, tuple[Score, Score]], private: Score
) -> dict[str, Any]:
    """Return lines of success by noise on a logarithmic axis, and both thresholds."""
    shown = {most: pair for most, pair in swept.items() if most > 0}
    spec = lines(
        {
            "least squares": [(most, pair[0].success) for most, pair in shown.items()],
            "linear programme": [(most, pair[1].success) for most, pair in shown.items()],
        },
        threshold=private.success,
        mark="against the curator",
        title="share of bits right",
        across="noise of each answer, at most",
        scale="log",
    )
    for layer in spec["layer"][:2]:
        layer["encoding"]["x"]["scale"]["nice"] = False
    spec["layer"] += _upright(people / 401, "n/401", "all 2^n queries")
    spec["layer"] += _upright(math.sqrt(people), "√n", "few queries")
    return spec


def _upright(at: float, name: str, words: str) -> list[dict[str, Any]]:
    """A rule at one place of the axis, with its name: thresholds of noise, not of success."""
    once: dict[str, Any] = {"values": [{}]}
    text = {"type": "text", "align": "left", "dx": 4, "text": f"{name}: {words}"}
    return [
        {
            "data": once,
            "mark": {"type": "rule", "color": LIGHT["quiet"], "strokeDash": [2, 2]},
            "encoding": {"x": {"datum": at}},
        },
        {
            "data": once,
            "mark": {**text, "color": LIGHT["ink"]},
            "encoding": {"x": {"datum": at}, "y": {"value": 186}},
        },
    ]


def subset_queries(people: int, queries: int, rng: np.random.Generator) -> Bits:
    """Return random subsets, one a row: each person is in each with probability a half."""
    if people < 1 or queries < 1:
        raise InvalidInput("Reconstruction needs at least one person and one query.")
    return np.asarray(rng.random((queries, people)) < 0.5)


def sums(queries: Bits, secret: Bits) -> Floats:
    """Return the exact answers: how many of each subset have the bit."""
    # Products of floats, not of bits: the library for matrices is a hundred times faster.
    return queries.astype(np.float64) @ secret.astype(np.float64)


def uniform_noise(answers: Floats, most: float, rng: np.random.Generator) -> Floats:
    """Return the answers, each moved by at most `most` either way: what Dinur and Nissim allow."""
    return answers + rng.uniform(-most, most, answers.shape)


def spread_of_uniform(most: float) -> float:
    """Return the standard deviation of noise that is uniform between -most and most."""
    return most / math.sqrt(3)


def least_squares(queries: Bits, answers: Floats, *, spread: float) -> Floats:
    """Return for each person a value near their bit: the best linear estimate.

    `spread` is the standard deviation of the noise, which a publisher states; before any answer
    a bit is 1/2 give or take 1/2, so the estimate exists for fewer queries than people too.
    """
    matrix = queries.astype(np.float64)
    gram = matrix.T @ matrix
    gram[np.diag_indices_from(gram)] += max(4 * spread**2, 1e-6)
    centred = matrix.T @ (answers - matrix.sum(1) / 2)
    return np.asarray(0.5 + np.linalg.solve(gram, centred), dtype=np.float64)


def linear_programme(queries: Bits, answers: Floats) -> Floats:
    """Return values in [0, 1] whose sums miss no answer by more than they must (HiGHS).

    Minimises the greatest gap, so it needs no knowledge of the noise: where every answer is within
    E of the truth, every sum of the values returned is within 2E of it.
    """
    optimize = optimizer()
    count, people = queries.shape
    matrix = queries.astype(np.float64)
    slack = -np.ones((count, 1))
    found = optimize.linprog(
        np.append(np.zeros(people), 1.0),
        A_ub=np.block([[matrix, slack], [-matrix, slack]]),
        b_ub=np.concatenate([answers, -answers]),
        bounds=[(0.0, 1.0)] * people + [(0.0, None)],
        method="highs-ds",
    )
    if found.x is None:
        raise InternalError("a linear programme that always has a solution was not solved")
    return np.asarray(found.x[:people], dtype=np.float64)


def optimizer() -> Any:
    """Return scipy's solvers; they are an extra, so they are imported when needed."""
    with needs("scipy", extra="lab"):
        from scipy import optimize
    return optimize
