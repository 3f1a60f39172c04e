"""Linkage between any two files: who of the one is who of the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.attack.attacks import AttackSettings
from discreet.attack.files import common, named, read_rows
from discreet.attack.linkage.join import MatchTolerance, link
from discreet.attack.linkage.keys import MISSING, KeyColumn, coded, uniqueness
from discreet.attack.outcome import Outcome, Score
from discreet.core.arrays import Bits, Integers
from discreet.core.progress import Progress
from discreet.errors import InvalidInput
from discreet.report import DocumentBlock, Figure, Grid, Paragraph, bars

CLAIMED = "share of people linked to exactly one record (no key was given, so nobody knows whether rightly)"
RIGHT = "share of people in both files who were linked to their own record"
SHOWN = 12
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
        blocks=_blocks(unique, scored=bool(pair.key)),
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


def _blocks(unique: dict[tuple[str, ...], float], *, scored: bool) -> tuple[DocumentBlock, ...]:
    ordered = sorted(unique.items(), key=lambda item: (-item[1], len(item[0])))[:SHOWN]
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
