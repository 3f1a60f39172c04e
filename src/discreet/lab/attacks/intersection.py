"""Intersection: two releases, each k-anonymous, pin down whoever is in both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np

from discreet.base.arrays import Floats, Integers
from discreet.base.display import Progress
from discreet.errors import InvalidInput
from discreet.lab.attacks.attacks import (
    Attack,
    AttackSettings,
    Knob,
    Outcome,
    Score,
    file_knob,
    words_knob,
)
from discreet.lab.attacks.files import named, read_rows
from discreet.lab.attacks.homogeneity import (
    SIZES,
    ClassKnowledge,
    ClassRelease,
    picture_by_k,
    read_release,
    release_of,
)
from discreet.lab.attacks.hospital import QUASI, SENSITIVE, Patients, patients_of, private_beliefs
from discreet.lab.town.people import DIAGNOSES
from discreet.show import Grid

ATTACK = Attack(
    name="intersection",
    title="Who is in both releases?",
    words="Two hospitals publish k-anonymous files; whoever was a patient of both is found out.",
    knobs=(
        Knob("k", 5, "smallest class of each release", 2, 200, 1),
        Knob("overlap", 0.2, "share of patients who were in both hospitals", 0.01, 1.0, 0.01),
        Knob("people", 20_000, "people in the town", 1_000, 200_000, 1_000),
        Knob("epsilon", 1.0, "budget of each hospital's private version", 0.01, 1_000.0, 0.01),
        file_knob("released", "one anonymized file, instead of the town's first hospital"),
        file_knob("auxiliary", "the other anonymized file"),
        words_knob("columns", "", "their quasi-identifiers"),
        words_knob("sensitive", "", "their sensitive column"),
        words_knob("key", "", "a column of both files that says who is who"),
        Knob("seed", 0, "which town", 0, 1_000_000, 1),
    ),
)

TwoReleases: TypeAlias = tuple[ClassRelease, ClassRelease]
Known: TypeAlias = tuple[ClassKnowledge, ClassKnowledge]
"""What is known from the first release alone, and from both together."""


def run(chosen: AttackSettings, *, progress: Progress) -> Outcome:
    """Return how often the secret of a person in both releases is told."""
    if chosen.text("released") or chosen.text("auxiliary"):
        return on_files(chosen, progress=progress)
    dice = np.random.default_rng(chosen.whole("seed"))
    progress(0, 3, "building the town")
    patients = patients_of(chosen.whole("people"), seed=chosen.whole("seed"))
    here, there = two_hospitals(len(patients.truth), chosen.number("overlap"), dice)
    both = np.intersect1d(here, there)
    targets = patients.some(both)

    def released(k: int) -> tuple[TwoReleases, Known]:
        first, second = (
            release_of(patients.some(rows).table, QUASI, SENSITIVE, values=DIAGNOSES, k=k)
            for rows in (here, there)
        )
        places_of_both = places(here, both), places(there, both)
        return (first, second), known_of((first, second), *places_of_both, targets.truth)

    progress(1, 3, "anonymizing twice")
    pair, known = released(chosen.whole("k"))
    few = min(len(here), len(there))
    swept = {k: _shares(released(k)[1]) for k in SIZES if k <= few}
    progress(2, 3, "asking two curators instead")
    private = ClassKnowledge.of(
        _privately(patients, here, there, targets, chosen.number("epsilon")), targets.truth
    )
    progress(3, 3, "done")
    baseline = ClassKnowledge.of(targets.prior, targets.truth).right / len(both)
    return _outcome(
        chosen,
        pair,
        known,
        baseline=baseline,
        private=Score.of_guesses(private.right, private.people, baseline=baseline),
        swept=swept,
    )


def two_hospitals(
    patients: int, overlap: float, dice: np.random.Generator
) -> tuple[Integers, Integers]:
    """Return the patients of each hospital; a share `overlap` of all goes to both."""
    order = dice.permutation(patients)
    both = max(1, round(overlap * patients))
    middle = both + (patients - both) // 2
    return (
        np.sort(order[:middle]),
        np.sort(np.concatenate([order[:both], order[middle:]])),
    )


def places(among: Integers, wanted: Integers) -> Integers:
    """Return where each wanted number stands in a sorted list that has them all."""
    return np.searchsorted(among, wanted).astype(np.int64)


def believed(pair: TwoReleases, first: Integers, second: Integers) -> tuple[Floats, Floats]:
    """Return beliefs about people in both releases: from the first alone, and from both together.

    `first` and `second` are their rows. Rows of a release are evidence independent of the other's,
    so beliefs are multiplied; a secret that either class excludes is excluded.
    """
    alone = pair[0].shares(first)
    product = alone * pair[1].shares(second)
    total = product.sum(axis=1, keepdims=True)
    return alone, np.asarray(np.where(total > 0, product / np.where(total > 0, total, 1.0), alone))


def known_of(pair: TwoReleases, first: Integers, second: Integers, truth: Integers) -> Known:
    """Return what these beliefs amount to."""
    alone, together = believed(pair, first, second)
    return ClassKnowledge.of(alone, truth), ClassKnowledge.of(together, truth)


def _shares(known: Known) -> dict[str, float]:
    return {
        f"{name}: {measure}": each.shares()[measure]
        for name, each in zip(("one release", "both releases"), known, strict=True)
        for measure in ("guessed right", "known for certain")
    }


def on_files(chosen: AttackSettings, *, progress: Progress) -> Outcome:
    """Return the outcome for two anonymized files of the user's."""
    progress(0, 1, "reading the files")
    needed = ("released", "auxiliary", "columns", "sensitive", "key")
    absent = [name for name in needed if not chosen.text(name)]
    if absent:
        raise InvalidInput(
            f"Two files need these settings too: {', '.join(absent)}.",
            hint="key is a column that says who is who, only to score the attack.",
        )
    tables = [read_rows(chosen.text(name)) for name in ("released", "auxiliary")]
    asked = (*chosen.words("columns"), chosen.text("sensitive"), chosen.text("key"))
    labels = ("The released file", "The auxiliary file")
    spelled = [named(table, asked, label=each) for table, each in zip(tables, labels, strict=True)]
    files = [(table, *names[-2:], names[:-2]) for table, names in zip(tables, spelled, strict=True)]
    secrets = {str(cell) for table, secret, *_ in files for cell in table[secret].to_pylist()}
    pair = [
        read_release(table, quasi, secret, values=sorted(secrets))
        for table, secret, _, quasi in files
    ]
    who = [[str(cell) for cell in table[key].to_pylist()] for table, _, key, _ in files]
    second = {name: row for row, name in enumerate(who[1])}
    rows = [(row, second[name]) for row, name in enumerate(who[0]) if name in second]
    if not rows:
        raise InvalidInput(f"By '{chosen.text('key')}', nobody is in both files.")
    first, other = np.array(rows, dtype=np.int64).T
    truth = pair[0].value[first]
    known = known_of((pair[0], pair[1]), first, other, truth)
    progress(1, 1, "done")
    return _outcome(
        chosen,
        (pair[0], pair[1]),
        known,
        baseline=float(np.bincount(truth).max() / len(truth)),
        private=None,
        swept={},
    )


def _privately(
    patients: Patients, here: Integers, there: Integers, targets: Patients, epsilon: float
) -> Floats:
    first, second = (
        private_beliefs(patients.some(rows), targets, epsilon=epsilon) for rows in (here, there)
    )
    product = first * second
    return np.asarray(product / product.sum(axis=1, keepdims=True))


def _outcome(
    chosen: AttackSettings,
    pair: TwoReleases,
    known: Known,
    *,
    baseline: float,
    private: Score | None,
    swept: Mapping[int, Mapping[str, float]],
) -> Outcome:
    alone, together = known
    many = together.people
    grid = Grid.of(
        ("", "one release", "both releases"),
        [(name, share, together.shares()[name]) for name, share in alone.shares().items()],
        f"{many:,} people who are in both releases, of {len(pair[0].value):,} and {len(pair[1].value):,}.",
        shares=(1, 2),
    )
    caption = "Share of the people in both releases, by k of each."
    picture = picture_by_k("Two anonymous files are less than one", swept, baseline, caption)
    epsilon = chosen.number("epsilon")
    return Outcome(
        knew="Of each person the quasi-identifiers, and that the person was in both hospitals.",
        released=f"Two files, {pair[0].smallest}-anonymous and {pair[1].smallest}-anonymous, made without knowledge of each other.",
        did="Looked up the person's class in each and kept only the secrets that both allow.",
        lesson="k-anonymity does not compose: what each release hides, two of them show. Noise under a budget adds up instead.",
        score=Score.of_guesses(together.right, many, baseline=baseline),
        private=private,
        private_words=f"Each hospital's table of conditions by sex and age band, from a curator at epsilon {epsilon:g}: for a person in both, "
        f"{2 * epsilon:g} in all, and no more than that."
        if private
        else "No private version of these files: publish counts through a curator, or copies by discreet synth.",
        details={
            "k": [release.smallest for release in pair],
            "in_both": many,
            "one_release": alone.shares(),
            "both_releases": together.shares(),
        },
        blocks=(*picture, grid),
    )
