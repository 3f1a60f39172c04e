"""Membership: published averages over a group tell whether one person is in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.base.arrays import Floats
from discreet.base.display import Progress
from discreet.base.numbers import to_fraction
from discreet.base.schema import BooleanDomain, CategoryDomain
from discreet.errors import InvalidInput
from discreet.lab.attacks.attacks import AttackSettings, Outcome, Score
from discreet.lab.attacks.curator import temporary_town
from discreet.lab.attacks.files import as_texts, people_of, read_rows
from discreet.lab.attacks.membership.scores import STATISTICS, Genotypes, Statistic, auc_score
from discreet.lab.town import parameters as p
from discreet.privacy.noise import Rng, SystemRng, discrete_laplace
from discreet.privacy.noise.additive import SMALLEST_SCALE
from discreet.show import Figure, Grid, lines

REPEATS = 5
"""Private publications, each of them with the whole budget, over which its AUC is averaged."""
PANEL = 1_000
"""People in the adversary's reference panel, where the true frequencies are not known."""


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


def membership_score(
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
    progress(0, 4, "reading genomes")
    study = own_study(chosen) if chosen.text("original") else _town_study(chosen)
    members, others, reference = study.members, study.others, study.reference
    epsilon = chosen.number("epsilon")
    exact = published_exactly(members)
    noisy = [published_privately(members, epsilon=epsilon) for _ in range(REPEATS)]
    progress(1, 4, "comparing with everyone")
    scores = {
        name: (
            membership_score(statistic, members, others, published=exact, reference=reference),
            averaged(
                [
                    membership_score(
                        statistic, members, others, published=each, reference=reference
                    )
                    for each in noisy
                ]
            ),
        )
        for name, statistic in STATISTICS.items()
    }
    progress(2, 4, "fewer loci")
    curve = _curve(STATISTICS[chosen.text("statistic")], study, epsilon)
    progress(4, 4, "done")
    return _outcome(chosen, scores, curve, study)


def _town_study(chosen: AttackSettings) -> Study:
    people, loci = chosen.whole("people"), chosen.whole("loci")
    panel = PANEL if chosen.text("reference") == "panel" else 0
    with temporary_town(
        1, tables=("genotypes",), seed=chosen.whole("seed"), genotypes=2 * people + panel, loci=loci
    ) as made:
        genotypes = np.array(made.genotypes())
        reference = made.allele_frequencies()
    if panel:
        reference = published_exactly(genotypes[2 * people :])
    return Study(
        genotypes[:people],
        genotypes[people : 2 * people],
        reference,
        f"One person's genome at {loci:,} loci, and "
        + (
            f"a reference panel of {panel:,} other people of the same population."
            if panel
            else "the true frequencies of the population they come from, without error."
        ),
        f"The frequency of the minor allele at each of {loci:,} loci among {people:,} people of a study.",
        {"reference_panel": panel or "true frequencies", "generator": GENERATOR},
    )


def _outcome(
    chosen: AttackSettings,
    scores: Mapping[str, tuple[Score, Score]],
    curve: Mapping[str, list[tuple[float, float]]],
    study: Study,
) -> Outcome:
    people, loci = study.members.shape
    epsilon = chosen.number("epsilon")
    score, private = scores[chosen.text("statistic")]
    return Outcome(
        knew=study.knew,
        released=study.released,
        did="Asked at each published number whether the person is nearer to the study or to the population, and added it up "
        f"(statistic: {chosen.text('statistic')}).",
        lesson="An average over a thousand people is not anonymous when ten thousand averages are published.",
        score=score,
        private=private,
        private_words=f"The same counts with exact discrete Laplace noise of scale {2 * loci / epsilon:,.0f}: epsilon "
        f"{epsilon:g} in all over all {loci:,} published numbers; the mean of {REPEATS} such publications, each on its own.",
        details={
            "members": people,
            "outsiders": len(study.others),
            **study.facts,
            "by_statistic": {
                name: {"exact": a.to_json(), "private": b.to_json()}
                for name, (a, b) in scores.items()
            },
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
                across="numbers published",
                scale="log",
            ),
            "The more numbers are published, the better a member is recognised; with noise for the whole publication "
            "nothing is left to recognise.",
        ),
        Grid.of(
            ("statistic", "exact", "low", "high", "private", "low", "high"),
            rows,
            f"Area under the curve with 95% intervals (DeLong), {people:,} members and {people:,} outsiders.",
        ),
    )


def _curve(
    statistic: Statistic, study: Study, epsilon: float
) -> dict[str, list[tuple[float, float]]]:
    loci = study.members.shape[1]
    private = f"private, epsilon {epsilon:g}"
    found: dict[str, list[tuple[float, float]]] = {"exact": [], private: []}
    for count in sorted({max(1, loci // part) for part in (100, 30, 10, 3, 1)}):
        cut, reference = study.members[:, :count], study.reference[:count]
        some, rest = cut[:500], study.others[:500, :count]
        for name, published in (
            ("exact", published_exactly(cut)),
            (private, published_privately(cut, epsilon=epsilon)),
        ):
            score = membership_score(
                statistic, some, rest, published=published, reference=reference
            )
            found[name].append((float(count), score.success))
    return found


CUTS = 10
"""Numbers are published as the shares of people above each tenth of all."""


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """People in a study and others, as rows of 0, 1 or 2; and what the adversary compares with."""

    members: Genotypes
    others: Genotypes
    reference: Floats
    knew: str
    released: str
    facts: Mapping[str, Any]


def own_study(chosen: AttackSettings) -> Study:
    """Return the study of the people in `original`; half of `control` are outsiders, half a panel."""
    if not chosen.text("control"):
        raise InvalidInput(
            "Name people of the same kind who were not in the study: control is missing."
        )
    tables = [read_rows(chosen.text(name)) for name in ("original", "control")]
    columns = chosen.words("columns") or tuple(tables[0].column_names)
    rows = indicators(as_texts(tables, columns))
    members, rest = rows[: tables[0].num_rows], rows[tables[0].num_rows :]
    half = len(rest) // 2
    if not half:
        raise InvalidInput("The control needs at least two people: half of it are the panel.")
    return Study(
        members,
        rest[:half],
        rest[half:].mean(axis=0) / 2,
        f"All columns of one person, and the shares among {len(rest) - half:,} other people.",
        f"{rows.shape[1]:,} shares of the {len(members):,} people in {chosen.text('original')}: how many "
        "have each value, or lie above each tenth of a number.",
        {"reference_panel": len(rest) - half},
    )


def indicators(table: pa.Table) -> Genotypes:
    """Return for each person and each published share 2 where the person counts in it, else 0."""
    people = people_of(table)
    found = []
    for name, domain in people.domains.items():
        column = people.rows[name]
        if isinstance(domain, CategoryDomain | BooleanDomain):
            words = column.cast(pa.string()).to_numpy(zero_copy_only=False)
            found += [words == value for value in np.unique(words[words != None])]  # noqa: E711
        else:
            values = column.cast(pa.float64()).to_numpy()
            cuts = np.unique(np.nanquantile(values, np.linspace(0, 1, CUTS + 1)[1:-1]))
            found += [values > cut for cut in cuts]
    return (2 * np.stack(found, axis=1)).astype(np.int8)
