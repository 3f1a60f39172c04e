"""Membership: published averages over a group tell whether one person is in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.attack.knobs import AttackSettings
from discreet.attack.membership.auc import auc_score
from discreet.attack.membership.copies import against_copies
from discreet.attack.membership.scores import STATISTICS, Floats, Genotypes, Statistic
from discreet.attack.outcome import Outcome, Score
from discreet.attack.registry import Attack, Knob, Progress
from discreet.attack.town import staged
from discreet.core.numbers import to_fraction
from discreet.examples import parameters as p
from discreet.noise import Rng, SystemRng, discrete_laplace
from discreet.noise.additive import SMALLEST_SCALE
from discreet.report import Figure, Grid, lines

ATTACK = Attack(
    name="membership",
    title="Who was in the study?",
    words="Allele frequencies of a study (or a synthetic copy) tell who took part.",
    module="discreet.attack.membership.averages",
    knobs=(
        Knob(
            "release",
            "frequencies",
            "what was published: allele frequencies, or synthetic rows",
            choices=("frequencies", "synthetic"),
        ),
        Knob("people", 1_000, "people in the study, and as many outside it", 20, 2_500, 10),
        Knob("loci", 10_000, "places of the genome with a published frequency", 10, 50_000, 10),
        Knob("epsilon", 1.0, "total budget of the private version", 0.01, 1_000_000.0, 0.01),
        Knob("statistic", "homer", "how the adversary compares", choices=tuple(STATISTICS)),
        Knob(
            "reference",
            "population",
            "what the adversary compares with: the population's true frequencies, or a panel of people",
            choices=("population", "panel"),
        ),
        Knob("seed", 0, "which town and which split", 0, 1_000_000, 1),
    ),
)

REPEATS = 5
"""Private publications, each of them with the whole budget, over which its AUC is averaged."""
PANEL = 1_000
"""People in the adversary's reference panel, where the true frequencies are not known."""


def run(settings: Mapping[str, Any], *, progress: Progress) -> Outcome:
    """Return how well members are told from outsiders, by exact and by private publications."""
    chosen = AttackSettings.of(ATTACK.knobs, settings)
    if chosen.text("release") == "synthetic":
        return against_copies(chosen, progress=progress)
    return against_frequencies(chosen, progress=progress)


def published_exactly(members: Genotypes) -> Floats:
    """Return the members' frequency of the minor allele at each locus."""
    shares: Floats = members.sum(axis=0, dtype=np.int64) / (2.0 * len(members))
    return shares


def published_privately(members: Genotypes, *, epsilon: float, rng: Rng | None = None) -> Floats:
    """Return noisy frequencies, not limited to [0, 1].

    Guarantee: epsilon-DP for all loci together when one person is replaced by another (the number of
        people is public): that moves each of the d counts by at most 2, so all of them by 2d, and
        discrete Laplace noise of scale 2d / epsilon is added to each count. (docs/notes/0002)
    """
    loci = members.shape[1]
    # Exact, so not rounded down; a scale below the smallest that is drawn would mean no noise at all.
    scale = max(Fraction(2 * loci) / to_fraction(epsilon), SMALLEST_SCALE)
    noise = discrete_laplace(scale, loci, rng=SystemRng() if rng is None else rng)
    counts = members.sum(axis=0, dtype=np.int64) + noise
    shares: Floats = counts / (2.0 * len(members))
    return shares


def told_apart(
    statistic: Statistic,
    members: Genotypes,
    others: Genotypes,
    *,
    published: Floats,
    reference: Floats,
) -> Score:
    """Return how well a statistic tells members from others."""
    return auc_score(
        statistic(members, published, reference), statistic(others, published, reference)
    )


def averaged(scores: Sequence[Score]) -> Score:
    """Return the mean of several AUCs, with the mean of their intervals: wider than the mean's own."""
    rows = [(score.success, score.baseline, score.low, score.high) for score in scores]
    success, baseline, low, high = np.mean(rows, axis=0).tolist()
    return Score(success, baseline, low, high, scores[0].measure)


def against_frequencies(chosen: AttackSettings, *, progress: Progress) -> Outcome:
    """Return the outcome against allele frequencies of a study in the example town."""
    people, loci, epsilon = chosen.whole("people"), chosen.whole("loci"), chosen.number("epsilon")
    panel = PANEL if chosen.text("reference") == "panel" else 0
    progress(0, 4, "reading genomes")
    with staged(
        1, tables=("genotypes",), seed=chosen.whole("seed"), genotypes=2 * people + panel, loci=loci
    ) as made:
        genotypes = np.array(made.genotypes())
        reference = made.allele_frequencies()
    members, others = genotypes[:people], genotypes[people : 2 * people]
    if panel:
        reference = published_exactly(genotypes[2 * people :])
    exact = published_exactly(members)
    noisy = [published_privately(members, epsilon=epsilon) for _ in range(REPEATS)]
    progress(1, 4, "comparing with everyone")
    scores = {
        name: (
            told_apart(statistic, members, others, published=exact, reference=reference),
            averaged(
                [
                    told_apart(statistic, members, others, published=each, reference=reference)
                    for each in noisy
                ]
            ),
        )
        for name, statistic in STATISTICS.items()
    }
    progress(2, 4, "fewer loci")
    curve = _curve(STATISTICS[chosen.text("statistic")], members, others, reference, epsilon)
    progress(4, 4, "done")
    return _outcome(chosen, scores, curve, panel=panel)


def _outcome(
    chosen: AttackSettings,
    scores: Mapping[str, tuple[Score, Score]],
    curve: Mapping[str, list[tuple[float, float]]],
    *,
    panel: int,
) -> Outcome:
    people, loci, epsilon = chosen.whole("people"), chosen.whole("loci"), chosen.number("epsilon")
    score, private = scores[chosen.text("statistic")]
    compared = (
        f"a reference panel of {panel:,} other people of the same population"
        if panel
        else "the true frequencies of the population they come from, without error"
    )
    return Outcome(
        attack=ATTACK.name,
        title=ATTACK.title,
        knew=f"One person's genome at {loci:,} loci, and {compared}.",
        released=f"The frequency of the minor allele at each of {loci:,} loci among {people:,} people of a study.",
        did="Asked at each locus whether the person is nearer to the study or to the population, and added it up "
        f"(statistic: {chosen.text('statistic')}).",
        lesson="An average over a thousand people is not anonymous when ten thousand averages are published.",
        score=score,
        private=private,
        private_words=f"The same counts with exact discrete Laplace noise of scale {2 * loci / epsilon:,.0f}: epsilon "
        f"{epsilon:g} in all over {loci:,} loci; the mean of {REPEATS} such publications, each on its own.",
        settings=chosen.values,
        details={
            "members": people,
            "outsiders": people,
            "reference_panel": panel or "true frequencies",
            "by_statistic": {
                name: {"exact": a.to_json(), "private": b.to_json()}
                for name, (a, b) in scores.items()
            },
            "generator": GENERATOR,
        },
        blocks=_blocks(people, scores, curve),
    )


GENERATOR = (
    "made-up genomes: independent loci in Hardy-Weinberg equilibrium, minor allele frequencies uniform "
    f"from {p.ALLELE_LOWEST:g} to {p.ALLELE_HIGHEST:g}"
)


def _blocks(
    people: int,
    scores: Mapping[str, tuple[Score, Score]],
    curve: Mapping[str, list[tuple[float, float]]],
) -> tuple[Figure, Grid]:
    rows = [
        (name, a.success, a.low, a.high, b.success, b.low, b.high)
        for name, (a, b) in scores.items()
    ]
    return (
        Figure(
            "Members told from outsiders",
            lines(
                curve,
                threshold=0.5,
                mark="guessing",
                title="AUC",
                across="loci published",
                scale="log",
            ),
            "The more loci are published, the better a member is recognised; with noise for the whole publication "
            "nothing is left to recognise.",
        ),
        Grid.of(
            ("statistic", "exact", "low", "high", "private", "low", "high"),
            rows,
            f"Area under the curve with 95% intervals (DeLong), {people:,} members and {people:,} outsiders.",
        ),
    )


def _curve(
    statistic: Statistic,
    members: Genotypes,
    others: Genotypes,
    reference: Floats,
    epsilon: float,
) -> dict[str, list[tuple[float, float]]]:
    loci = members.shape[1]
    exact: list[tuple[float, float]] = []
    private: list[tuple[float, float]] = []
    some, rest = members[:500], others[:500]
    for count in sorted({max(1, loci // part) for part in (100, 30, 10, 3, 1)}):
        cut = members[:, :count]
        for published, line in (
            (published_exactly(cut), exact),
            (published_privately(cut, epsilon=epsilon), private),
        ):
            found = told_apart(
                statistic,
                some[:, :count],
                rest[:, :count],
                published=published,
                reference=reference[:count],
            )
            line.append((float(count), found.success))
    return {"exact": exact, f"private, epsilon {epsilon:g}": private}
