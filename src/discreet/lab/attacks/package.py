"""Attacks on a release package: lone people and secret bits read off its finest table.

Scored by the owner, who has the rows: the look is written into the ledger before anything is read. The
baseline is an attacker who knows the exact facts and the coarsest table, and nothing finer.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.csv as pa_csv

from discreet.base.arrays import Floats, Integers
from discreet.base.numbers import counted
from discreet.curator import Curator
from discreet.curator import open as open_curator
from discreet.data.engines.base import Held, PaidReader
from discreet.data.engines.formats import BROKEN
from discreet.errors import InvalidInput
from discreet.lab.attacks.attacks import Outcome, Score
from discreet.work.publish.assemble import Layout
from discreet.work.publish.families import Family, Member
from discreet.work.publish.measure import count_cells, member_cells
from discreet.work.publish.prepare import PlannedRelease, planned
from discreet.work.publish.reconcile.least_squares import TreeEstimate
from discreet.work.publish.reconcile.problem import GridProblem, Sums, add_up
from discreet.work.publish.reconcile.solve import fitted_cells
from discreet.work.publish.specification import parse_spec

SMALL = 3
"""People in groups of at most so many: there a table would give a bit away."""


@dataclass(frozen=True, slots=True, eq=False)
class PackageTarget:
    """The finest table of a package: what it says, the truth, and what facts alone say of it."""

    member: Member
    published: Integers
    truth: Integers
    known: Floats
    facts: int


def load_target(package: str, config: str) -> PackageTarget:
    """Return what is attacked and what it is scored by; the owner's look is recorded first.

    `config` is the owner's discreet.toml, empty for the one in this folder: only rows score guesses.
    """
    try:
        with zipfile.ZipFile(package) as archive:
            manifest = json.loads(archive.read("manifest.json"))
            text = archive.read("spec.toml").decode()
            tables = {name: archive.read(f"tables/{name}.csv") for name in manifest["tables"]}
    except (*BROKEN, KeyError, ValueError, TypeError, RuntimeError):
        raise InvalidInput(f"'{package}' is no release package.") from None
    with open_curator(config or None) as curator:
        spec = parse_spec(text, base=curator.catalog.base)
        with planned(spec, curator) as (plan, held):
            if plan.snapshot != manifest["snapshot"]:
                raise InvalidInput("The rows have changed since the package was made.")
            return _loaded(plan, held, curator, tables)


def _loaded(
    plan: PlannedRelease, held: Held, curator: Curator, tables: dict[str, bytes]
) -> PackageTarget:
    permit = curator.ledger.record_look(
        plan.dataset.name, reason=f"an attack on the package {plan.spec.name}", columns=()
    )
    reader = held.paid(permit)
    number, place = max(
        ((i, j) for i, f in enumerate(plan.families) for j in range(len(f.members))),
        key=lambda at: plan.families[at[0]].members[at[1]].cells,
    )
    family = plan.families[number]
    member = family.members[place]
    exact = _exact(plan, reader, number, place)
    facts = {f.place: f for f in plan.facts if f.family == number}
    values = [
        f.values
        if f.values is not None
        else _exact(plan, reader, number, len(family.members) + f.place)
        for _, f in sorted(facts.items())
    ]
    coarse = min(family.members, key=lambda each: each.cells)
    said = _column(tables[coarse.table.name], coarse)
    known = _from_facts(family, member, values, coarse, said)
    return PackageTarget(
        member, _column(tables[member.table.name], member), exact, known, len(values)
    )


def _exact(plan: PlannedRelease, reader: PaidReader, number: int, place: int) -> Integers:
    family, read = plan.families[number], plan.reads[number, place]
    cells = count_cells(read, family, reader)
    return member_cells(cells, read, family, (*family.members, *family.facts)[place])


def _column(text: bytes, member: Member) -> Integers:
    """Return a published column as cells of its member."""
    column = pa_csv.read_csv(io.BytesIO(text)).column(member.measure.name)
    order = Layout(member).flat(np.arange(member.cells).reshape(member.shape))
    cells = np.empty(member.cells, dtype=np.int64)
    cells[order] = np.asarray(column, dtype=np.int64)
    return cells.reshape(member.shape)


def _from_facts(
    family: Family, member: Member, facts: Sequence[Integers], coarse: Member, said: Integers
) -> Floats:
    """Return what facts and the coarsest table imply for the finest one: nothing else is used."""
    exact = tuple(
        Sums(each.maps, each.shape, values, 0.0)
        for each, values in zip(family.facts, facts, strict=True)
    )
    measured = (Sums(coarse.maps, coarse.shape, said, 1.0),)
    estimate = TreeEstimate(said.astype(np.float64), np.ones((1,) * said.ndim))
    cells = fitted_cells(GridProblem(family.shape, measured, exact), [estimate])
    return np.asarray(add_up(cells, member.maps, member.shape))


@dataclass(frozen=True, slots=True)
class PackageScores:
    """What the same guesses are worth on exact tables and on the package, and how many there were."""

    exact: Score
    package: Score
    details: dict[str, int | str]


def lone_people(target: PackageTarget) -> PackageScores:
    """Return how often a published 1 is one person, beside guesses from the facts alone."""
    claimed = target.published == 1
    count = int(claimed.sum())
    right = int((claimed & (target.truth == 1)).sum())
    likely = np.exp(-target.known) * target.known
    best = np.argsort(-likely, axis=None)[:count]
    guessed = (target.truth.reshape(-1)[best] == 1).sum()
    baseline = float(guessed) / count if count else float((target.truth == 1).mean())
    alone = int((target.truth == 1).sum())
    return PackageScores(
        Score.of_guesses(alone, alone, baseline=baseline),
        Score.of_guesses(right, count, baseline=baseline),
        {"claims": count, "lone_people": alone},
    )


def secret_bits(target: PackageTarget) -> PackageScores:
    """Return how often the majority of a small group tells a bit, beside the facts' majority."""
    binary = [key for key in target.member.keys if len(key.labels) == 2]
    if not binary:
        raise InvalidInput(
            "No column of the finest table has two values.", hint="Try the attack 'census'."
        )
    axis, name = binary[0].dimension, binary[0].name
    truth = np.moveaxis(target.truth, axis, 0)
    small = (truth.sum(axis=0) > 0) & (truth.sum(axis=0) <= SMALL)
    people = int(truth[:, small].sum())

    def right(says: Floats) -> int:
        moved = np.moveaxis(says, axis, 0)
        choice = np.where(moved[1] > moved[0], 1, 0)
        return int(np.where(choice == 1, truth[1], truth[0])[small].sum())

    baseline = right(target.known) / people if people else 0.5
    published = right(target.published.astype(np.float64))
    return PackageScores(
        Score.of_guesses(right(target.truth.astype(np.float64)), people, baseline=baseline),
        Score.of_guesses(published, people, baseline=baseline),
        {"secret": name, "people_in_small_groups": people},
    )


def _words(found: PackageScores) -> str:
    if not found.details.get("claims", found.details.get("people_in_small_groups")):
        return "There is nothing to guess: the finest table of the package has no group that small."
    return (
        f"From the package {found.package.success:.1%} of the guesses are right; from the facts "
        f"and the coarsest table alone {found.package.baseline:.1%}."
    )


def attack_package(kind: str, package: str, config: str) -> Outcome:
    """Return the outcome of one attack on a package; exact facts are known to both sides."""
    target = load_target(package, config)
    name = target.member.table.name
    known = (
        f"the package, and its {counted(target.facts, 'exact fact')}"
        if target.facts
        else "the package"
    )
    if kind == "census":
        found = lone_people(target)
        did = "Wherever the finest table says 1, the attacker claims that exactly one person is there."
    else:
        found = secret_bits(target)
        did = (
            "The attacker knows all other columns of people in groups of at most three, and reads the "
            f"secret one ({found.details['secret']}) off the majority of their group."
        )
    score = found.package
    return Outcome(
        title=f"{kind.capitalize()} against a package",
        knew=f"The attacker knows {known}.",
        released=f"The package {Path(package).name}; its finest table is {name}.",
        did=did,
        lesson="Tables without noise single people out. What the noisy ones say beyond the facts alone "
        "is about groups, not about a person.",
        score=found.exact,
        private=score,
        private_words=_words(found),
        settings={"package": package},
        details=found.details,
    )
