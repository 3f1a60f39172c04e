"""Linkage: a file without names, joined to one with names on what both contain; on the town, or between any two files."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.base.arrays import Bits, Integers
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
from discreet.lab.attacks.curator import curated, temporary_town
from discreet.lab.attacks.files import common, named, read_rows
from discreet.lab.attacks.hospital import Hospital, VoterRoll, asked, learned, prior_of, shuffled
from discreet.lab.attacks.record_links import (
    MISSING,
    KeyColumn,
    MatchTolerance,
    coded,
    link,
    narrowed,
    uniqueness,
)
from discreet.lab.town import parameters as p
from discreet.privacy.noise.error_bars import clopper_pearson
from discreet.show import DocumentBlock, Figure, Grid, Paragraph, bars

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


CLAIMED = "share of people linked to exactly one record (no key was given, so nobody knows whether rightly)"
RIGHT = "share of people in both files who were linked to their own record"
MOST_NARROWED = 12
NOTHING_PRIVATE = (
    "No private version was given: make one with discreet synth and name it as private."
)


@dataclass(frozen=True, slots=True, eq=False)
class LinkedFiles:
    """An auxiliary file and a released one, with the columns they are linked by."""

    auxiliary: pa.Table
    released: pa.Table
    columns: tuple[str, ...]
    key: str

    def coded(self, columns: Sequence[str]) -> list[KeyColumn]:
        """Return some columns of both in common codes, the auxiliary file first."""
        known = named(self.auxiliary, columns, label="The auxiliary file")
        kept = named(self.released, columns, label="The released file")
        return [
            coded(name, self.auxiliary[name], self.released[other])
            for name, other in zip(known, kept, strict=True)
        ]


def between_files(
    chosen: AttackSettings,
    columns: Sequence[str],
    slack: MatchTolerance | None,
    *,
    progress: Progress,
) -> Outcome:
    """Return what linking two files finds; scored where a key says who is who."""
    progress(0, 3, "reading the files")
    auxiliary = read_rows(chosen.text("auxiliary"))
    pair = _pair(auxiliary, read_rows(chosen.text("released")), columns, chosen)
    progress(1, 3, "joining the files")
    dice = np.random.default_rng(chosen.whole("seed"))
    found = linked(pair, slack, dice)
    private = None
    if chosen.text("private"):
        copy = read_rows(chosen.text("private"))
        private = linked(LinkedFiles(auxiliary, copy, pair.columns, ""), slack, dice).score
    progress(2, 3, "counting who is unique")
    unique = uniqueness(
        pair.released, named(pair.released, pair.columns, label="The released file")
    )
    progress(3, 3, "done")
    wrong = "" if found.right is None else f", {found.claims - found.right:,} of them wrong"
    return Outcome(
        title="Who is in this file?",
        knew=f"A file of {auxiliary.num_rows:,} people with {', '.join(pair.columns)}.",
        released=f"A file of {pair.released.num_rows:,} records with the same columns.",
        did=f"Joined the two wherever nobody else fits: {found.claims:,} links{wrong}.",
        lesson="Whoever holds the other file knows whose records these are.",
        score=found.score,
        private=private,
        private_words="The same join with the private copy, in which no row is anybody's."
        if private
        else NOTHING_PRIVATE,
        details={
            **found.to_json(),
            "unique_share_by_columns": {" + ".join(key): share for key, share in unique.items()},
            "scored_by_key": bool(pair.key),
        },
        blocks=_file_blocks(unique, scored=bool(pair.key)),
    )


@dataclass(frozen=True, slots=True)
class FileLinks:
    """How many people were linked, how many links there are, and how many are right where a key tells."""

    score: Score
    claims: int
    right: int | None

    def to_json(self) -> dict[str, Any]:
        """Return the links as plain numbers; `precision` is the share of them that is right."""
        if self.right is None:
            return {"links": self.claims}
        return {
            "links": self.claims,
            "right_links": self.right,
            "wrong_links": self.claims - self.right,
            "precision": self.right / max(1, self.claims),
        }


def linked(pair: LinkedFiles, slack: MatchTolerance | None, dice: np.random.Generator) -> FileLinks:
    """Return how many people were linked beside a control of equal size, and how many links are right.

    The control is the auxiliary file with its linking columns shuffled against each other: people who
    do not exist.
    """
    columns = pair.coded(pair.columns)
    links = link(columns, slack)
    many = len(columns[0].first)
    order = [dice.permutation(many) for _ in columns]
    fake = link(
        [
            KeyColumn(column.name, column.first[moved], column.second, column.values)
            for column, moved in zip(columns, order, strict=True)
        ],
        slack,
    )
    if not pair.key:
        baseline = len(fake.first) / many
        score = Score.of_guesses(len(links.first), many, baseline=baseline, measure=CLAIMED)
        return FileLinks(score, len(links.first), None)
    (who,) = pair.coded([pair.key])
    there = np.isin(who.first, who.second[who.second != MISSING])
    if not there.any():
        raise InvalidInput(f"By '{pair.key}', nobody is in both files, so no link can be scored.")
    targets = int(there.sum())
    right = int((_same(who, links.first, links.second)).sum())
    chance = int((_same(who, fake.first, fake.second)).sum())
    score = Score.of_guesses(right, targets, baseline=chance / targets, measure=RIGHT)
    return FileLinks(score, len(links.first), right)


def _same(who: KeyColumn, first: Integers, second: Integers) -> Bits:
    known = who.first[first] != MISSING
    return np.asarray(known & (who.first[first] == who.second[second]))


def _pair(
    auxiliary: pa.Table, released: pa.Table, columns: Sequence[str], chosen: AttackSettings
) -> LinkedFiles:
    key, person = chosen.text("key"), chosen.text("person")
    shared = tuple(columns) or tuple(
        name for name in common(auxiliary, released) if name.lower() != key.lower()
    )
    if not shared:
        raise InvalidInput(f"Besides the key '{key}' the two files have no column in common.")
    named(auxiliary, shared, label="The auxiliary file")
    kept = named(released, shared, label="The released file")
    if person:
        (person,) = named(released, [person], label="The released file")
        used = [*kept, person, *named(released, [key] if key else [], label="The released file")]
        # One row for each person and each way in which the person's rows read.
        released = released.select(list(dict.fromkeys(used))).group_by(list(dict.fromkeys(used)))
        released = released.aggregate([])
    return LinkedFiles(auxiliary, released, shared, key)


def _file_blocks(
    unique: dict[tuple[str, ...], float], *, scored: bool
) -> tuple[DocumentBlock, ...]:
    ordered = sorted(unique.items(), key=lambda item: (-item[1], len(item[0])))[:MOST_NARROWED]
    labels = [" + ".join(key) for key, _ in ordered]
    blocks: list[DocumentBlock] = [
        Figure(
            "Whom these columns single out",
            bars(labels, [share for _, share in ordered], title="share of records"),
            "Share of released records that nobody else equals in these columns.",
        ),
        Grid.of(
            ("columns", "singled out"),
            [(" + ".join(key), share) for key, share in ordered],
            "The most telling sets of columns.",
            shares=(1,),
        ),
    ]
    if not scored:
        words = "Without a column that says who is who, links cannot be scored, only counted."
        blocks.append(Paragraph(words, warning=True))
    return tuple(blocks)


Shares = Mapping[tuple[str, ...], float]
MOST_LISTED = 25
GENERATOR = (
    f"The town is made up: about {p.ZIP_PEOPLE:,} people a ZIP code, birth dates uniform in the year, {p.VOTER_SHARE:.0%} of adults "
    f"on the roll, {p.VOTER_OLD_ZIP_SHARE:.0%} of them with an old ZIP code. Nothing here is evidence about a real place."
)


@dataclass(frozen=True, slots=True)
class LinkageFindings:
    """What the attack on the town counted."""

    people: int
    voters: int
    patients: int
    targets: int
    claims: int
    exact_claims: int
    right_claims: int
    identified: int
    by_chance: int
    named: int
    blind: int
    unique: Shares
    unique_more: Shares
    example: tuple[tuple[str, int], ...]


def outcome_of(chosen: AttackSettings, found: LinkageFindings, private: Score) -> Outcome:
    """Return the outcome of the attack on the town."""
    columns, epsilon = chosen.words("columns"), chosen.number("epsilon")
    score = Score.of_guesses(
        found.named, found.targets, baseline=found.blind / max(1, found.targets)
    )
    return Outcome(
        knew=f"The voter roll: name, {_listed(columns)} of {found.voters:,} people; and how common each illness is at each age.",
        released=f"The hospital's file of {found.patients:,} patients, names taken off, with {_listed(columns)} and their diagnoses.",
        did=f"Joined the two wherever nobody else fits: {found.claims:,} patients got a name, {found.right_claims:,} of them the right one. "
        f"Then named a diagnosis for each of the {found.targets:,} voters who are patients (without a link, the most common for age and sex).",
        lesson="Columns that are harmless one by one are a name together. Taking names off is not anonymization.",
        score=score,
        private=private,
        private_words=f"A curator was asked about each target with the whole budget of epsilon {epsilon:g}: the diagnoses of people with that "
        f"ZIP code, birth date and sex. The noisy counts were weighed with common knowledge; {private.success:.0%} right, where common knowledge "
        f"alone gives {private.baseline:.0%}. That is the most exposed that one person can be; epsilon {epsilon:g} promises at most "
        f"{most_right(private.baseline, epsilon):.0%}.",
        details=_details(found),
        blocks=_blocks(found),
        person=_example(found),
    )


def most_right(blind: float, epsilon: float) -> float:
    """Return how often a guess can be right at most, which without the person is right in `blind`.

    Guarantee: for any question of epsilon about a person, P(right) <= e^epsilon P(right without the
        person) and P(wrong) >= e^-epsilon P(wrong without the person). (add or remove one person)

    >>> round(most_right(0.5, 1.0), 3), round(most_right(0.01, 1.0), 3)
    (0.816, 0.027)
    """
    return min(math.exp(epsilon) * blind, 1 - math.exp(-epsilon) * (1 - blind))


def _details(found: LinkageFindings) -> dict[str, Any]:
    low, high = clopper_pearson(found.identified, found.targets, 0.95)
    return {
        "unique_share": found.unique[("zip", "birth_date", "sex")],
        "unique_share_by_columns": {" + ".join(key): share for key, share in found.unique.items()},
        "identified": {
            "share": found.identified / max(1, found.targets),
            "low": low,
            "high": high,
            "control": found.by_chance / max(1, found.targets),
        },
        "example": {f"also {name}": count for name, count in found.example},
        "claims": found.claims,
        "claims_that_agree_in_full": found.exact_claims,
        "right_claims": found.right_claims,
        "precision": found.right_claims / max(1, found.claims),
        "people": found.people,
        "voters": found.voters,
        "patients": found.patients,
        "voters_who_are_patients": found.targets,
        "generator": GENERATOR,
    }


def _blocks(found: LinkageFindings) -> tuple[Figure | Grid | Paragraph, ...]:
    ordered = sorted(found.unique_more.items(), key=lambda item: (-item[1], len(item[0])))
    most = [item for item in ordered if len(item[0]) <= 3][:MOST_LISTED]
    return (
        Figure(
            "Whom these columns single out",
            bars(
                [" + ".join(key) for key in found.unique],
                list(found.unique.values()),
                title="share of people",
            ),
            "Share of all people of the town whom nobody else equals in these columns. For the United States, ZIP code, birth date "
            "and sex were published to single out 87% (Sweeney 2000) and 63% (Golle 2006).",
        ),
        Grid.of(
            ("columns", "people singled out"),
            [(" + ".join(key), share) for key, share in most],
            "The most telling sets of up to three of the released columns.",
            shares=(1,),
        ),
        Grid.of(
            ("", "share"),
            [
                (
                    "voters who are patients, given their own file",
                    found.identified / max(1, found.targets),
                ),
                (
                    "the same after the roll was shuffled (control)",
                    found.by_chance / max(1, found.targets),
                ),
                ("links that are right", found.right_claims / max(1, found.claims)),
            ],
            "How good the links are.",
            shares=(1,),
        ),
        Paragraph(GENERATOR),
    )


def _example(found: LinkageFindings) -> str:
    if len(found.example) < 3:
        return ""
    born, sex, place = (count for _, count in found.example)
    patients = "patient was" if born == 1 else "patients were"
    return (
        f"One of them: {born} {patients} born on that day, {sex} of that sex too, and {place} in that ZIP code as well. The "
        "voter roll has the name, the hospital's file has the diagnosis, and now they stand in one line."
    )


def _listed(columns: tuple[str, ...]) -> str:
    words = [column.replace("_", " ").replace("zip", "ZIP code") for column in columns]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
