"""Homogeneity: a class of k people who share the secret hides none of them.

With the classes of a k-anonymous release, and what they say about the sensitive value of their members.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from discreet.anonymize.groups import group_table, packed
from discreet.anonymize.privacy_models import DistinctDiversity, PrivacyModel
from discreet.anonymize.recoding import entries
from discreet.anonymize.search import AnonymizeMethod, anonymize
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
from discreet.lab.attacks.hospital import (
    OTHERS,
    QUASI,
    SENSITIVE,
    Patients,
    patients_of,
    private_beliefs,
)
from discreet.lab.town.people import DIAGNOSES
from discreet.show import Figure, Grid, lines

SIZES = (2, 3, 5, 10, 20, 50)
"""The sweep over k in the pictures."""
SURE = 0.9
"""Confidence from which a value counts as all but known."""


@dataclass(frozen=True, slots=True, eq=False)
class ClassRelease:
    """A release: the class of each row (-1: left out), its sensitive value, and counts by class."""

    klass: Integers
    value: Integers
    values: tuple[str, ...]
    counts: Integers

    @classmethod
    def of(cls, klass: Integers, value: Integers, values: Sequence[str]) -> ClassRelease:
        """Return the release with these classes."""
        kept = klass >= 0
        classes = int(klass.max(initial=-1)) + 1
        cells = klass[kept] * len(values) + value[kept]
        counts = np.bincount(cells, minlength=classes * len(values))
        return cls(klass, value, tuple(values), counts.reshape(classes, len(values)))

    @property
    def smallest(self) -> int:
        """Return k: the size of the smallest class."""
        return int(self.counts.sum(axis=1).min()) if len(self.counts) else 0

    def shares(self, rows: Integers) -> Floats:
        """Return for each row how its class's sensitive values are distributed."""
        counts = self.counts[self.klass[rows]].astype(np.float64)
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))


@dataclass(frozen=True, slots=True)
class ClassKnowledge:
    """How much is known of some people: guessed right, known for sure, known to 90%; of how many."""

    people: int
    right: int
    certain: int
    nearly: int

    @classmethod
    def of(cls, beliefs: Floats, truth: Integers) -> ClassKnowledge:
        """Return what beliefs (rows that add up to 1, over values) amount to."""
        guess = beliefs.argmax(axis=1)
        best = beliefs.max(axis=1, initial=0.0)
        return cls(
            people=len(truth),
            right=int((guess == truth).sum()),
            certain=int((best >= 1 - 1e-12).sum()),
            nearly=int((best >= SURE).sum()),
        )

    def shares(self) -> dict[str, float]:
        """Return the shares under their names."""
        many = max(1, self.people)
        return {
            "guessed right": self.right / many,
            "known for certain": self.certain / many,
            "known with 90% confidence": self.nearly / many,
        }


def release_of(
    table: pa.Table,
    quasi: Sequence[str],
    sensitive: str,
    *,
    values: Sequence[str],
    k: int,
    diversity: int = 1,
) -> ClassRelease:
    """Return the release that `discreet anonymize` makes of a table, one row a person."""
    models: tuple[PrivacyModel, ...] = (DistinctDiversity(diversity),) if diversity > 1 else ()
    groups = group_table(table, quasi, sensitive=sensitive)
    made = anonymize(groups, {}, k=k, models=models, method=AnonymizeMethod.MONDRIAN)
    klass = made.recoding.klass[entries(table, groups, made.recoding)]
    return ClassRelease.of(klass, codes_of(table[sensitive], values), values)


def codes_of(column: pa.ChunkedArray, values: Sequence[str]) -> Integers:
    """Return the place of each cell among the values."""
    place = {value: i for i, value in enumerate(values)}
    try:
        return np.array([place[str(cell)] for cell in column.to_pylist()], dtype=np.int64)
    except KeyError:
        raise InvalidInput("A sensitive value is not among the listed ones.") from None


def read_release(
    table: pa.Table, quasi: Sequence[str], sensitive: str, *, values: Sequence[str] | None = None
) -> ClassRelease:
    """Return a release as its file shows it: rows that read the same in `quasi` are one class."""
    cells = [str(cell) for cell in table[sensitive].to_pylist()]
    known = tuple(sorted(set(cells))) if values is None else tuple(values)
    found = [table[n].combine_chunks().dictionary_encode(null_encoding="encode") for n in quasi]
    codes = [each.indices.to_numpy(zero_copy_only=False).astype(np.int64) for each in found]
    key, _ = packed(codes, [len(each.dictionary) for each in found])
    klass = np.unique(key, return_inverse=True)[1]
    return ClassRelease.of(klass, codes_of(pa.chunked_array([cells]), known), known)


def picture_by_k(
    title: str, swept: Mapping[int, Mapping[str, float]], baseline: float, caption: str
) -> tuple[Figure, ...]:
    """Return the picture of shares of people by k, beside guessing; none where nothing was swept."""
    if not swept:
        return ()
    names = next(iter(swept.values()))
    spec = lines(
        {name: [(float(k), shares[name]) for k, shares in swept.items()] for name in names},
        threshold=baseline,
        mark="guessing",
        title="share of people",
        across="k",
        scale="log",
    )
    return (Figure(title, spec, caption),)


def without(
    beliefs: Floats, truth: Integers, *, excluded: int, dice: np.random.Generator
) -> Floats:
    """Return beliefs after the adversary rules out values that the person is known not to have.

    Background knowledge: `excluded` of the wrong values that the class still allows, drawn at
    random ("she is not the one with the broken arm").
    """
    possible = beliefs > 0
    possible[np.arange(len(truth)), truth] = False
    lots = np.where(possible, dice.random(beliefs.shape), 2.0)
    order = lots.argsort(axis=1)[:, :excluded]
    left = beliefs.copy()
    np.put_along_axis(
        left,
        order,
        np.where(np.take_along_axis(possible, order, 1), 0.0, np.take_along_axis(left, order, 1)),
        1,
    )
    return np.asarray(left / left.sum(axis=1, keepdims=True))


ATTACK = Attack(
    name="homogeneity",
    title="What does the class give away?",
    words="In a k-anonymous file nobody has to find the row: the class itself gives the secret away.",
    knobs=(
        Knob("k", 5, "smallest class of the release", 2, 200, 1),
        Knob("diversity", 1, "different secrets that every class must hold (l)", 1, 10, 1),
        Knob("background", 1, "secrets that the adversary can rule out", 0, 10, 1),
        Knob("people", 20_000, "people in the town", 1_000, 200_000, 1_000),
        Knob("epsilon", 1.0, "budget of the private version", 0.01, 1_000.0, 0.01),
        file_knob("released", "an anonymized file, instead of the town's hospital"),
        words_knob("columns", "", "its quasi-identifiers"),
        words_knob("sensitive", "", "its sensitive column"),
        Knob("seed", 0, "which town", 0, 1_000_000, 1),
    ),
)


def run(chosen: AttackSettings, *, progress: Progress) -> Outcome:
    """Return how often a person's secret is told by the class that the person hides in."""
    if chosen.text("released"):
        return on_a_file(chosen, progress=progress)
    dice = np.random.default_rng(chosen.whole("seed"))
    progress(0, 3, "building the town")
    patients = patients_of(chosen.whole("people"), seed=chosen.whole("seed"))

    def made(k: int, diversity: int) -> ClassRelease:
        return release_of(
            patients.table, QUASI, SENSITIVE, values=DIAGNOSES, k=k, diversity=diversity
        )

    progress(1, 3, "anonymizing")
    release = made(chosen.whole("k"), chosen.whole("diversity"))
    plain, more = known_of(release, chosen.whole("background"), dice)
    others = _others(patients, chosen, dice)
    releases = {k: made(k, chosen.whole("diversity")) for k in SIZES}
    swept = {k: _shares(each, chosen, dice) for k, each in releases.items()}
    blind = ClassKnowledge.of(patients.prior, patients.truth)
    progress(2, 3, "asking a curator instead")
    noisy = private_beliefs(patients, patients, epsilon=chosen.number("epsilon"))
    private = ClassKnowledge.of(noisy, patients.truth)
    progress(3, 3, "done")
    baseline = blind.right / blind.people
    return _outcome(
        chosen,
        release,
        plain,
        more,
        baseline=baseline,
        private=Score.of_guesses(private.right, private.people, baseline=baseline),
        swept=swept,
        others=others,
        told=f"age, sex, region and household size, made coarser until every class has {chosen.whole('k')} patients",
    )


def known_of(
    release: ClassRelease, background: int, dice: np.random.Generator
) -> tuple[ClassKnowledge, ClassKnowledge]:
    """Return what the release tells about its people, without and with background knowledge."""
    rows: Integers = np.flatnonzero(release.klass >= 0)
    beliefs: Floats = release.shares(rows)
    truth = release.value[rows]
    more = without(beliefs, truth, excluded=background, dice=dice) if background else beliefs
    return ClassKnowledge.of(beliefs, truth), ClassKnowledge.of(more, truth)


def on_a_file(chosen: AttackSettings, *, progress: Progress) -> Outcome:
    """Return the outcome for an anonymized file of the user's."""
    progress(0, 1, "reading the file")
    table = read_rows(chosen.text("released"))
    if not chosen.words("columns") or not chosen.text("sensitive"):
        raise InvalidInput(
            "Say which columns others may know and which one is the secret.",
            hint="Use columns (quasi-identifiers) and sensitive.",
        )
    quasi = named(table, chosen.words("columns"), label="The released file")
    (sensitive,) = named(table, [chosen.text("sensitive")], label="The released file")
    release = read_release(table, quasi, sensitive)
    dice = np.random.default_rng(chosen.whole("seed"))
    plain, more = known_of(release, chosen.whole("background"), dice)
    progress(1, 1, "done")
    return _outcome(
        chosen,
        release,
        plain,
        more,
        baseline=float(release.counts.sum(axis=0).max() / plain.people),
        private=None,
        swept={},
        others=None,
        told=", ".join(quasi),
    )


def _shares(
    release: ClassRelease, chosen: AttackSettings, dice: np.random.Generator
) -> dict[str, float]:
    plain, more = (each.shares() for each in known_of(release, chosen.whole("background"), dice))
    found = {name: plain[name] for name in ("guessed right", "known for certain")}
    return found | {"certain with background knowledge": more["known for certain"]}


def _others(patients: Patients, chosen: AttackSettings, dice: np.random.Generator) -> Grid:
    """Return how much the same classes tell about other secrets."""
    rows: list[tuple[str | float | None, ...]] = []
    for secret in (SENSITIVE, *OTHERS):
        values = sorted({str(cell) for cell in patients.table[secret].to_pylist()})
        release = release_of(patients.table, QUASI, secret, values=values, k=chosen.whole("k"))
        plain, more = known_of(release, chosen.whole("background"), dice)
        common = float(release.counts.sum(axis=0).max() / plain.people)
        certain = "known for certain"
        rows.append((secret, len(values), common, *plain.shares().values(), more.shares()[certain]))
    return Grid.of(
        (
            "secret",
            "values",
            "most common one",
            "guessed right",
            "known for certain",
            "with 90% confidence",
            "certain with background knowledge",
        ),
        rows,
        "The fewer values a secret has, the more classes agree on it.",
        shares=(2, 3, 4, 5, 6),
    )


def _outcome(
    chosen: AttackSettings,
    release: ClassRelease,
    plain: ClassKnowledge,
    more: ClassKnowledge,
    *,
    baseline: float,
    private: Score | None,
    swept: Mapping[int, Mapping[str, float]],
    others: Grid | None,
    told: str,
) -> Outcome:
    background = chosen.whole("background")
    grid = Grid.of(
        ("", "from the class alone", f"and {background} secrets ruled out"),
        [(name, share, more.shares()[name]) for name, share in plain.shares().items()],
        f"{plain.people:,} people in {len(release.counts):,} classes, the smallest of {release.smallest}.",
        shares=(1, 2),
    )
    words = f"Conditions by sex and age band from a curator at epsilon {chosen.number('epsilon'):g}: what is true of all people of that age, not of one."
    caption = "How much a k-anonymous release tells about its people, by k."
    picture = picture_by_k("Larger classes help, slowly", swept, baseline, caption)
    return Outcome(
        knew="Of each person the quasi-identifiers, so the class; nothing else.",
        released=f"A file that is {release.smallest}-anonymous: {told}; beside it the secret, as it is.",
        did="Looked up the class of each person and named its most common secret.",
        lesson="k-anonymity hides which row is yours, not what it says. It is not a guarantee.",
        score=Score.of_guesses(plain.right, plain.people, baseline=baseline),
        private=private,
        private_words=words
        if private
        else "No private version of this file: publish counts through a curator, or a copy by discreet synth.",
        details={
            "k": release.smallest,
            "classes": len(release.counts),
            "from_the_class": plain.shares(),
            "with_background_knowledge": more.shares(),
            "ruled_out": background,
        },
        blocks=(*picture, grid, *((others,) if others else ())),
    )
