"""Report of the Netflix attack: claims made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from discreet.attack.attacks import AttackSettings
from discreet.attack.outcome import Outcome, Score
from discreet.attack.ratings.background_knowledge import RatingKnowledge
from discreet.attack.ratings.claims import CLASSIC, LIKELIHOOD, Claims
from discreet.attack.ratings.index import Index
from discreet.examples import parameters as p
from discreet.noise.bars.binomial import clopper_pearson
from discreet.report import Figure, Grid, Paragraph, lines

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
