"""Linkage: a file without names, joined to one with names on what both contain."""

from __future__ import annotations

import numpy as np

from discreet.attack.attacks import Attack, AttackSettings, Knob, file_knob, words_knob
from discreet.attack.curator import curated, temporary_town
from discreet.attack.linkage.files import between_files
from discreet.attack.linkage.join import MatchTolerance, link
from discreet.attack.linkage.keys import coded, narrowed, uniqueness
from discreet.attack.linkage.story import LinkageFindings, outcome_of
from discreet.attack.linkage.town import Hospital, VoterRoll, asked, learned, prior_of, shuffled
from discreet.attack.outcome import Outcome, Score
from discreet.core.progress import Progress
from discreet.errors import InvalidInput

ATTACK = Attack(
    name="linkage",
    title="Whose hospital file is this?",
    words="ZIP code, birth date and sex join a hospital's file without names to the voter roll.",
    knobs=(
        Knob("people", 20_000, "people in the town", 1_000, 2_000_000, 1_000),
        words_knob("columns", "zip,birth_date,sex", "columns that both files have"),
        Knob("fuzzy", "no", "also link people who nearly agree", choices=("no", "yes")),
        Knob("days", 3, "days by which a date may be off, where fuzzy", 0, 31, 1),
        Knob("prefix", 3, "letters that must agree at least, where fuzzy (0: all)", 0, 10, 1),
        Knob("errors", 0.0, "share of the roll copied with a slip of the pen", 0.0, 1.0, 0.01),
        Knob("epsilon", 1.0, "budget of the private version", 0.01, 1_000.0, 0.01),
        file_knob("released", "a file without names, instead of the town's hospital"),
        file_knob("auxiliary", "a file with names, instead of the town's voter roll"),
        words_knob("key", "", "a column of both files that says who is who, to score the links"),
        words_knob(
            "person", "", "a column of the released file that is the same for all rows of a person"
        ),
        file_knob("private", "a private copy of the released file, attacked in the same way"),
        Knob("seed", 0, "which town", 0, 1_000_000, 1),
    ),
)
ASKED = 100
"""Targets for whom the curator is asked, one question each."""
TOWN_COLUMNS = ("zip", "birth_date", "sex")
NARROWING = ("birth_date", "sex", "zip")
"""The order in which Weld was found."""
MORE_COLUMNS = ("region", "education", "job", "married", "household_size")
"""Further columns of the hospital's patients, for the table of who is unique."""


def run(chosen: AttackSettings, *, progress: Progress) -> Outcome:
    """Return how many people are found again, on the town or between two files."""
    given = [name for name in ("released", "auxiliary") if chosen.text(name)]
    if len(given) == 1:
        raise InvalidInput(
            f"Only one file was given ({given[0]}).",
            hint="Linking takes two: released, without names, and auxiliary, with them.",
        )
    if given:
        # The default names are the town's: between two files, all common columns are meant.
        same = chosen.text("columns") == ATTACK.knobs[1].default
        columns = () if same else chosen.words("columns")
        return between_files(chosen, columns, slack_of(chosen), progress=progress)
    return on_the_town(chosen, progress=progress)


def slack_of(chosen: AttackSettings) -> MatchTolerance | None:
    """Return how far rows may differ, or None where they must agree."""
    if chosen.text("fuzzy") == "no":
        return None
    return MatchTolerance(days=chosen.whole("days"), prefix=chosen.whole("prefix"), typos=True)


def on_the_town(chosen: AttackSettings, *, progress: Progress) -> Outcome:
    """Return the outcome on the example town: hospital against voter roll."""
    columns = chosen.words("columns")
    wrong = [name for name in columns if name not in TOWN_COLUMNS]
    if wrong or not columns:
        raise InvalidInput(
            f"The town's two files have only these columns in common: {', '.join(TOWN_COLUMNS)}."
        )
    dice = np.random.default_rng(chosen.whole("seed"))
    progress(0, 4, "building the town")
    with temporary_town(
        chosen.whole("people"), tables=("people", "visits", "voters"), seed=chosen.whole("seed")
    ) as made:
        roll = VoterRoll.of(made, errors=chosen.number("errors"), dice=dice)
        hospital = Hospital.of(made, made.truth["diagnoses"])
        progress(1, 4, "joining the files")
        both = [coded(name, roll.voters[name], hospital.patients[name]) for name in columns]
        links = link(both, slack_of(chosen))
        prior = prior_of(made, roll.voters)
        found, named, blind = learned(hospital, roll, links, prior)
        control = shuffled(roll, dice)
        chance, _, _ = learned(hospital, control, links, prior)
        progress(2, 4, "counting who is unique")
        unique = uniqueness(made.load("people"), TOWN_COLUMNS)
        more = uniqueness(made.load("people"), (*TOWN_COLUMNS, *MORE_COLUMNS), largest=3)
        progress(3, 4, "asking a curator instead")
        epsilon = chosen.number("epsilon")
        with curated(made.toml, epsilon=epsilon) as curator:
            right, trials = asked(
                lambda sql, price: curator.query(sql, epsilon=price, max_rows=1),
                hospital,
                roll,
                prior,
                epsilon=epsilon,
                targets=ASKED,
                dice=dice,
            )
    progress(4, 4, "done")
    hits = np.flatnonzero(roll.identity[links.first] == hospital.identity[links.second])
    example = (
        narrowed(hospital.patients, int(links.second[hits[0]]), NARROWING) if len(hits) else []
    )
    facts = LinkageFindings(
        people=chosen.whole("people"),
        voters=len(roll.identity),
        patients=len(hospital.identity),
        targets=len(found),
        claims=len(links.first),
        exact_claims=links.exact,
        right_claims=len(hits),
        identified=int(found.sum()),
        by_chance=int(chance.sum()),
        named=int(named.sum()),
        blind=int(blind.sum()),
        unique=unique,
        unique_more=more,
        example=tuple(zip(NARROWING, example, strict=False)),
    )
    private = Score.of_guesses(right, trials, baseline=float(blind.mean()))
    return outcome_of(chosen, facts, private)
