"""Report of the linkage attack on the town."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.attack.attacks import AttackSettings
from discreet.attack.outcome import Outcome, Score
from discreet.examples import parameters as p
from discreet.noise.bars.binomial import clopper_pearson
from discreet.report import Figure, Grid, Paragraph, bars

Shares = Mapping[tuple[str, ...], float]
SHOWN = 25
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
    most = [item for item in ordered if len(item[0]) <= 3][:SHOWN]
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
