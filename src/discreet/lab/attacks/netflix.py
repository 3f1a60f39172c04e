"""Netflix: a few ratings that somebody mentioned find the whole record, name or no name.

The town's ratings are those of a large rental club: thousands of films, six years, about a hundred evenings a
person. On a site such as MovieLens (100k: 943 people, 1,682 films, seven months) most people rate what
everybody rates, and nearly all of it on the evening they joined; a date says little about one rating that it
does not say about the others. Both exist, and an attack fares differently on them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pyarrow as pa

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
from discreet.lab.attacks.curator import AttackTable, curator_over, temporary_town, whole_numbers
from discreet.lab.attacks.files import named, read_rows
from discreet.lab.attacks.ratings import (
    CLASSIC,
    ECCENTRICITY,
    GRADES,
    LIKELIHOOD,
    PUBLISHED,
    Claims,
    Index,
    KnowledgeSampler,
    KnownRatings,
    RatingKnowledge,
    Ratings,
    RatingsScene,
    calibrated,
    claims,
)
from discreet.lab.town import parameters as p
from discreet.privacy.noise.error_bars import clopper_pearson
from discreet.show import Figure, Grid, Paragraph, lines

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


NOT_EVIDENCE = (
    "The ratings are made up, so no figure here is evidence about Netflix. Parameters of the generator: "
    f"{p.FILMS:,} films drawn in proportion to 1 / ({p.FILM_POPULARITY_OFFSET} + rank)^{p.FILM_POPULARITY_POWER:g}, "
    f"{p.RATINGS_A_USER} ratings a person on average (log-normal, spread {p.RATINGS_LOG_SPREAD:g}), dates from "
    f"{p.RATING_FIRST_DAY} to {p.RATING_LAST_DAY} in sessions of about {p.RATINGS_A_SESSION}."
)
NOT_MOVIELENS = (
    "The ratings are made up, so no figure here is evidence about MovieLens. The generator draws how many ratings a "
    "person and a film have from about the published quantiles of MovieLens 100k; nearly all ratings of a person are "
    "of one evening, and people join in crowds (both assumed, so that two ratings with dates to three days find about "
    "as many people as there)."
)
HERE = "here"
Pair = tuple[Claims, Claims]
"""What the two methods claimed."""


def outcome_of(
    chosen: AttackSettings,
    known: RatingKnowledge,
    index: Index,
    table: Mapping[str, Pair],
    *,
    curve: Mapping[str, Sequence[tuple[float, float]]],
    private: Score,
) -> Outcome:
    """Return the outcome; the rate of false claims stands beside every success."""
    people, ratings = len(index.people), int(index.support.sum())
    ours = table[HERE][0]
    false = ours.false / max(1, ours.absent)
    made_up = ""
    if not chosen.text("released"):
        made_up = NOT_MOVIELENS if chosen.text("club") == "small" else NOT_EVIDENCE
    return Outcome(
        knew=f"Of each person {known.words}.",
        released=f"{ratings:,} ratings of {people:,} people, names replaced by numbers.",
        did="Compared what is known with every record (how likely are these ratings if the record is theirs, and if it is not), "
        f"and named the best record only when sure enough. When the person was not in the release, a record was named all the "
        f"same in {false:.1%} of {ours.absent} cases.",
        lesson="Sparse rows are fingerprints: taking the names off does not make them anonymous.",
        score=Score.of_guesses(ours.right, ours.present, baseline=1 / people),
        private=private,
        private_words=f"Only how often each film was rated, asked of a curator at epsilon {chosen.number('epsilon'):g}. There is no record "
        "to find; what is left is whether the person is in the data at all, asked by an adversary who knows everyone else.",
        details=_details(people, ratings, table, made_up),
        blocks=_blocks(known, table, curve, made_up),
    )


def _details(people: int, ratings: int, table: Mapping[str, Pair], made_up: str) -> dict[str, Any]:
    ours = table[HERE][0]
    by_method = {
        name: {LIKELIHOOD.name: asdict(pair[0]), CLASSIC.name: asdict(pair[1])}
        for name, pair in table.items()
    }
    right = ours.right + ours.absent - ours.false
    return {
        "people": people,
        "ratings": ratings,
        "false_claims_when_absent": _share(ours.false, ours.absent),
        "wrong_claims_when_present": _share(ours.mistaken, ours.present),
        "presence_decided_right": right / max(1, ours.present + ours.absent),
        "milliseconds_a_target": round(ours.milliseconds, 3),
        **by_method.pop(HERE),
        "published_settings": by_method,
        **({"generator": made_up} if made_up else {}),
    }


def _share(count: int, of: int) -> dict[str, float]:
    low, high = clopper_pearson(count, of, 0.95)
    return {"share": count / max(1, of), "low": low, "high": high}


def _blocks(
    known: RatingKnowledge,
    table: Mapping[str, Pair],
    curve: Mapping[str, Sequence[tuple[float, float]]],
    made_up: str,
) -> tuple[Figure | Grid | Paragraph, ...]:
    rows = [
        (
            f"here: {known.words}" if name == HERE else name,
            method.name,
            each.right / max(1, each.present),
            each.mistaken / max(1, each.present),
            each.false / max(1, each.absent),
            round(each.milliseconds, 2),
        )
        for name, pair in table.items()
        for method, each in zip((LIKELIHOOD, CLASSIC), pair, strict=True)
    ]
    picture = Figure(
        "How much is enough",
        lines(curve, title="share found", across="ratings known"),
        "Share of people whose record was found, with at most 3 false claims for 100 people who are absent.",
    )
    grid = Grid.of(
        (
            "what is known",
            "method",
            "found",
            "wrong record",
            "claimed though absent",
            "ms a target",
        ),
        rows,
        "A method is worth its false claims: the last share is for people who are not in the release.",
        shares=(2, 3, 4),
    )
    return (picture, grid, Paragraph(made_up)) if made_up else (picture, grid)


FILMS = 1_682
_STEEPER = 1.3
"""Weights grow faster than counts: nobody can rate a popular film twice."""
DAYS = 215
_SHARES = (0.0, 0.25, 0.5, 0.75, 0.95, 1.0)
_RATINGS_A_PERSON = (20, 33, 65, 148, 310, 737)
_RATINGS_A_FILM = (0.5, 6, 27, 80, 230, 583)
"""Least, quartiles, 95% and most: about those of MovieLens 100k."""
_LATER = 0.1
"""Share of ratings that are not of the first evening (assumed)."""
_CROWDED = 2.0
"""How unevenly people join, week by week: the spread of the logarithm (assumed). With these three the figure
for two ratings and three days comes near the 38% that the attack finds on MovieLens 100k."""
_PAUSE = 20.0
"""Mean days until somebody comes back (assumed)."""
_GRADES = (0.06, 0.11, 0.27, 0.34, 0.22)
_STANDARD = np.random.default_rng(0).normal(size=20_000)
_LIMITS = np.quantile(_STANDARD, np.cumsum(_GRADES)[:-1]) * 1.2
"""From which liking on a film gets which grade."""


def small_club(people: int, seed: int) -> Ratings:
    """Return the ratings of a made-up club of so many people, each film at most once a person."""
    dice = np.random.default_rng([seed, 100_000])
    popular = _STEEPER * np.log(_quantiles(_RATINGS_A_FILM, (np.arange(FILMS) + 0.5) / FILMS))
    wanted = np.rint(_quantiles(_RATINGS_A_PERSON, dice.random(people))).astype(np.int64)
    quality = dice.normal(0.0, 0.5, FILMS) + 0.15 * (popular - popular.mean())
    rush = np.repeat(np.exp(_CROWDED * dice.normal(size=DAYS // 7 + 1)), 7)[:DAYS]
    joined = dice.choice(DAYS, people, p=rush / rush.sum())
    persons, films, grades, days = [], [], [], []
    for person, many in enumerate(wanted, start=1):
        # The largest of weight times a draw from Gumbel's law: that many films without repetition.
        chosen = np.argsort(-(popular + dice.gumbel(size=FILMS)))[:many]
        persons.append(np.full(many, person))
        films.append(chosen + 1)
        grades.append(_graded(quality[chosen] + dice.normal(0.0, 1.0, many) + dice.normal(0, 0.4)))
        days.append(_days(int(many), int(joined[person - 1]), dice))
    return Ratings(*(np.concatenate(each) for each in (persons, films, grades, days)))


def _quantiles(points: tuple[float, ...], at: Floats) -> Floats:
    """Return the values at these shares: published quantiles, evenly in logarithms between them."""
    return np.asarray(np.exp(np.interp(at, _SHARES, np.log(points))))


def _graded(liking: Floats) -> Integers:
    """Return grades with about the shares that such sites see."""
    return np.asarray(np.searchsorted(_LIMITS, liking) + 1).clip(1, GRADES).astype(np.int64)


def _days(many: int, joined: int, dice: np.random.Generator) -> Integers:
    """Return the day of each rating: most on the evening of joining, some on a few later ones."""
    visits = 1 + dice.poisson(many * _LATER / 40)
    evenings = joined + np.concatenate([[0.0], np.cumsum(dice.exponential(_PAUSE, visits))])
    later = dice.random(many) < _LATER
    picked = np.where(later, dice.integers(1, visits + 1, many), 0)
    day = np.minimum(evenings[picked].astype(np.int64), DAYS - 1)
    return np.asarray(day + 10_123)  # 1997-09-19
