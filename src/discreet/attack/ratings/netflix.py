"""Netflix: a few ratings that somebody mentioned find the whole record, name or no name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from discreet.attack.attacks import Attack, AttackSettings, Knob, file_knob, words_knob
from discreet.attack.curator import AttackTable, curator_over, temporary_town, whole_numbers
from discreet.attack.files import named, read_rows
from discreet.attack.outcome import Outcome, Score
from discreet.attack.ratings.background_knowledge import (
    PUBLISHED,
    KnowledgeSampler,
    KnownRatings,
    RatingKnowledge,
)
from discreet.attack.ratings.claims import (
    CLASSIC,
    ECCENTRICITY,
    LIKELIHOOD,
    Claims,
    RatingsScene,
    calibrated,
    claims,
)
from discreet.attack.ratings.index import GRADES, Index, Ratings
from discreet.attack.ratings.small_club import small_club
from discreet.attack.ratings.story import HERE, outcome_of
from discreet.core.arrays import Floats, Integers
from discreet.core.progress import Progress
from discreet.errors import InvalidInput
from discreet.examples import parameters as p

ATTACK = Attack(
    name="netflix",
    title="Whose ratings are these?",
    words="A handful of film ratings, some wrong, finds a person's whole record among thousands.",
    knobs=(
        Knob("known", 8, "ratings of the person that the adversary knows", 1, 50, 1),
        Knob("wrong", 2, "how many of them are wrong", 0, 25, 1),
        Knob("days", 14, "how far known dates may be off; -1 for no dates", -1, 365, 1),
        Knob("obscure", 0, "how many are of films outside the top 500", 0, 50, 1),
        Knob(
            "club",
            "large",
            "whose ratings are made up: a rental club of six years, or a small site of seven months",
            choices=("large", "small"),
        ),
        Knob("people", 5_100, "people in the release", 100, 20_000, 100),
        Knob("targets", 400, "people looked for, and as many who are not there", 20, 2_000, 20),
        Knob(
            "false_claims", 0.005, "share of absent people that may be claimed", 0.001, 0.5, 0.001
        ),
        Knob("epsilon", 1.0, "total budget of the private version", 0.01, 1_000.0, 0.01),
        file_knob("released", "a file of ratings to attack instead of the town's"),
        words_knob(
            "columns", "user_id,film_id,rating,date", "its columns: person, film, grade, day"
        ),
        Knob("seed", 0, "which town and which people", 0, 1_000_000, 1),
    ),
)
CALIBRATION = 10
"""How many false claims the adversary makes up to set the threshold, on average."""
HELD_OUT = 10
"""One in so many people is kept out of the release: those who are looked for in vain."""
MOST_RATINGS = 200
"""Ratings of one person that count, as the owner of the made-up film club declares."""
MOST_FILMS = 10_000
"""A table by film with a row for each: more keys than this are not listed by a curator."""


def run(chosen: AttackSettings, *, progress: Progress) -> Outcome:
    """Return how often a record is found, and how often one is claimed for somebody absent."""
    known = _knowledge(chosen)
    steps = 3 + len(PUBLISHED)
    progress(0, steps, "reading ratings")
    scene = scene_of(_ratings(chosen), targets=chosen.whole("targets"), seed=chosen.whole("seed"))
    rate = chosen.number("false_claims")
    table = {}
    for step, (name, each) in enumerate({HERE: known, **PUBLISHED}.items(), start=1):
        progress(step, steps, "looking for people" if name == HERE else name)
        better = play(scene, each, rate=rate)
        table[name] = (better, claims(CLASSIC, ECCENTRICITY, scene, each))
    curve = _curve(scene, known, rate)
    progress(steps - 1, steps, "asking a curator instead")
    private = _private(scene, known, epsilon=chosen.number("epsilon"))
    progress(steps, steps, "done")
    return outcome_of(chosen, known, scene.index, table, curve=curve, private=private)


def scene_of(ratings: Ratings, *, targets: int, seed: int) -> RatingsScene:
    """Return a release without a tenth of the people, and whom the adversary looks for."""
    dice = np.random.default_rng(seed)
    everyone = dice.permutation(np.unique(ratings.person))
    absent = everyone[: max(1, len(everyone) // HELD_OUT)]
    if len(everyone) < 20:
        raise InvalidInput("An attack on ratings needs at least 20 people.")
    index = Index.of(
        ratings.only(~np.isin(ratings.person, absent)), films=int(ratings.film.max()) + 1
    )
    rank = np.argsort(np.argsort(-index.support, kind="stable"), kind="stable")
    return RatingsScene(
        index,
        KnowledgeSampler.of(ratings, rank=rank, dice=dice),
        everyone[len(absent) :][:targets],
        absent[:targets],
    )


def play(scene: RatingsScene, known: RatingKnowledge, *, rate: float) -> Claims:
    """Return what an adversary claims who allows a share `rate` of false claims."""
    trials = max(300, round(CALIBRATION / rate))
    threshold = calibrated(scene, known, trials=trials, rate=rate)
    return claims(LIKELIHOOD, threshold, scene, known)


def _curve(
    scene: RatingsScene, known: RatingKnowledge, rate: float
) -> dict[str, list[tuple[float, float]]]:
    """Return how often the record is found, by how many ratings are known."""
    few = replace(scene, present=scene.present[:150], absent=scene.absent[:1])
    found: dict[str, list[tuple[float, float]]] = {}
    dated = 14 if known.days is None else known.days
    for name, days in ((f"dates to {dated} days", dated), ("no dates", None)):
        found[name] = []
        for many in (1, 2, 4, 8):
            wrong = round(many * known.wrong / known.ratings)
            made = play(few, RatingKnowledge(many, wrong, days), rate=max(rate, 0.03))
            found[name].append((float(many), made.right / max(1, made.present)))
    return found


def _private(scene: RatingsScene, known: RatingKnowledge, *, epsilon: float) -> Score:
    noisy = noisy_counts(scene.index, epsilon=epsilon)
    # Every known rating is right here: the adversary of the private version is given more.
    sure = RatingKnowledge(known.ratings, 0, known.days)
    seen = [
        [glimpse for one in people if (glimpse := scene.witness.glimpse(int(one), sure))]
        for people in (scene.present, scene.absent)
    ]
    return presence(noisy, scene.index, inside=seen[0], outside=seen[1])


def noisy_counts(index: Index, *, epsilon: float) -> Floats:
    """Return how often each film was rated, as a curator answers it for `epsilon`."""
    films = min(len(index.support) - 1, MOST_FILMS)
    film = np.repeat(np.arange(len(index.support)), index.support)
    rows = pa.table({"user_id": pa.array(index.record), "film_id": pa.array(film)})
    declared = {"user_id": {"type": "identifier"}, "film_id": whole_numbers(1, films)}
    ratings = AttackTable(rows, declared, people={"unit": "user_id", "max_rows": MOST_RATINGS})
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
    inside: Sequence[KnownRatings],
    outside: Sequence[KnownRatings],
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


def _excess(noisy: Floats, index: Index, seen: KnownRatings, *, present: bool) -> float:
    films: Integers = seen.film
    # Without the target each of the target's films was rated once less, if the target is there.
    without = index.support[films] - (1 if present else 0)
    return float((noisy[films] - without).sum())


def _knowledge(chosen: AttackSettings) -> RatingKnowledge:
    known, wrong, obscure = (chosen.whole(name) for name in ("known", "wrong", "obscure"))
    if wrong >= known:
        raise InvalidInput("At least one of the known ratings must be right.")
    if obscure > known:
        raise InvalidInput("No more ratings can be obscure than are known.")
    days = chosen.whole("days")
    return RatingKnowledge(known, wrong, None if days < 0 else days, obscure=obscure)


def _ratings(chosen: AttackSettings) -> Ratings:
    if chosen.text("released"):
        return from_file(chosen.text("released"), chosen.words("columns"))
    everyone = chosen.whole("people") * HELD_OUT // (HELD_OUT - 1) + 1
    if chosen.text("club") == "small":
        return small_club(everyone, chosen.whole("seed"))
    wanted = everyone * p.RATINGS_A_USER
    with temporary_town(1, tables=("ratings",), seed=chosen.whole("seed"), ratings=wanted) as made:
        return Ratings.of(made.load("ratings"))


def from_file(path: str, columns: tuple[str, ...]) -> Ratings:
    """Return the ratings of a file; people and films may be written in any way."""
    table = read_rows(path)
    if len(columns) != 4:
        raise InvalidInput("Name four columns: person, film, grade and day.")
    names = named(table, columns, label="The file of ratings")
    person, film = (_codes(table[name]) + 1 for name in names[:2])
    if film.max() > MOST_FILMS:
        raise InvalidInput(f"More than {MOST_FILMS:,} films cannot be attacked at once.")
    try:
        grade = table[names[2]].cast(pa.float64()).to_numpy()
        day = table[names[3]].cast(pa.string()).cast(pa.date32()).cast(pa.int32()).to_numpy()
    except pa.ArrowException:
        raise InvalidInput(
            "A grade must be a number and a day a date such as 2024-12-31."
        ) from None
    if np.isnan(grade).any() or grade.min() < 1 or grade.max() > GRADES or (grade % 1).any():
        raise InvalidInput(f"Every grade must be a whole number from 1 to {GRADES}.")
    if np.isnan(day).any():
        raise InvalidInput("Every rating needs a day.")
    return Ratings(person, film, grade.astype(np.int64), day.astype(np.int64))


def _codes(column: pa.ChunkedArray) -> Integers:
    encoded = column.combine_chunks().dictionary_encode()
    codes: Integers = encoded.indices.fill_null(0).to_numpy().astype(np.int64)
    return codes
