"""Errors of a release at every level, beside noise on each table alone and top-down scaling."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

import discreet
from discreet.examples import town
from discreet.kernel.mechanism import Law
from discreet.noise.rng import SystemRng
from discreet.publish.families.find import Family
from discreet.publish.grid import add_up
from discreet.publish.measure import count_cells, member_cells, noisy_cells
from discreet.publish.prepare import planned
from discreet.publish.reconcile.problem import Sums, linked, problem_of
from discreet.publish.reconcile.solve import reconcile
from discreet.publish.reconcile.tree import coarse_to_fine
from discreet.publish.spec import parse_spec

KEYS = "p.sex, p.age_group"
SPEC = f"""
[release]
name = "levels"
dataset = "town"
epsilon = 1.0
delta = 1e-9
[tables.nation]
sql = "SELECT {KEYS}, COUNT(*) AS people FROM people p GROUP BY {KEYS}"
[tables.county]
sql = "SELECT r.county, {KEYS}, COUNT(*) AS people FROM people p JOIN regions r ON p.region = r.region GROUP BY r.county, {KEYS}"
[tables.region]
sql = "SELECT p.region, {KEYS}, COUNT(*) AS people FROM people p GROUP BY p.region, {KEYS}"
[cuts]
age_group = {{ column = "age", edges = [0, 18, 35, 50, 65, 121] }}
"""


DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "acs"
EXCERPTS = ("national2019.csv", "ma2019.csv")
WAYS = ("each table alone", "top-down scaling", "least squares", "whole numbers")
PARTS = {
    "Northeast": ("09", "23", "25", "33", "34", "36", "42", "44", "50"),
    "Midwest": ("17", "18", "19", "20", "26", "27", "29", "31", "38", "39", "46", "55"),
    "West": ("02", "04", "06", "08", "15", "16", "30", "32", "35", "41", "49", "53", "56"),
}
"""Three regions of the census by the numbers of their states; the others are the South."""
ACS = """
[ledger]
url = "sqlite:ledger.db"
[datasets.acs]
epsilon = 10
delta = 1e-6
[datasets.acs.tables.people]
source = "people.pq"
unit = "row"
[datasets.acs.tables.people.columns]
puma = {{ type = "category", values = {pumas} }}
sex = {{ type = "integer", lower = 1, upper = 2 }}
age = {{ type = "integer", lower = 0, upper = 99 }}
race = {{ type = "integer", lower = 1, upper = 9 }}
[datasets.acs.tables.areas]
source = "areas.pq"
public = true
key_copies = 1
[datasets.acs.tables.areas.columns]
puma = {{ type = "category", values = {pumas} }}
state = {{ type = "category", values = {states} }}
part = {{ type = "category", values = {parts} }}
"""


def top_down(sums: list[Sums]) -> dict[int, np.ndarray]:
    """Return what scaling gives: the parts of a cell in proportion, so that they add up to it."""
    ordered = coarse_to_fine(sums)
    found = {id(ordered[0]): ordered[0].values.astype(float)}
    for coarse, fine in pairwise(ordered):
        links = linked(fine.maps, coarse.maps, fine.shape)
        own = np.maximum(fine.values, 0).astype(float)
        total = add_up(own, links, coarse.shape)
        factor = np.divide(
            np.maximum(found[id(coarse)], 0), total, out=np.zeros_like(total), where=total > 0
        )
        for axis, link in enumerate(links):
            factor = factor.take(link, axis=axis)
        found[id(fine)] = own * factor
    return found


@dataclass(frozen=True)
class Subject:
    """Rows and a spec whose tables are levels of one hierarchy; `title` says what they are."""

    title: str
    toml: Path
    spec: str


def errors(runs: int) -> None:
    """Print the root mean squared error of every level, over `runs` releases of each subject."""
    for subject in ("town", *EXCERPTS):
        with tempfile.TemporaryDirectory() as folder:
            found = subject_of(subject, Path(folder))
            if found is None:
                print(f"{subject}: ../shared/data is not there")
                continue
            print(
                f"{found.title}, epsilon 1, delta 1e-9, {runs} releases; root mean squared errors"
            )
            print(f"{'level':<12}{'cells':>8}" + "".join(f"{way:>20}" for way in WAYS))
            for name, cells, row in level_errors(found, runs):
                print(f"{name:<12}{cells:>8}" + "".join(f"{value:>20.2f}" for value in row))


def subject_of(name: str, folder: Path) -> Subject | None:
    """Return the town, or an excerpt of the American Community Survey where the file is there."""
    if name == "town":
        return Subject("town of 20,000", town(20_000, folder=folder, tables=("people",)).toml, SPEC)
    return excerpt(name, folder)


def excerpt(name: str, folder: Path) -> Subject | None:
    """Return an excerpt with its areas as a public table: PUMA, state and region of the census."""
    path = DATA / name
    if not path.is_file():
        return None
    rows = csv.read_csv(path).select(["PUMA", "SEX", "AGEP", "RAC1P"])
    rows = rows.rename_columns(["puma", "sex", "age", "race"])
    pq.write_table(rows.set_column(0, "puma", rows["puma"].cast(pa.string())), folder / "people.pq")
    pumas = sorted(set(rows["puma"].to_pylist()))
    states = [puma[:2] for puma in pumas]
    parts = [
        next((part for part, known in PARTS.items() if state in known), "South") for state in states
    ]
    pq.write_table(pa.table({"puma": pumas, "state": states, "part": parts}), folder / "areas.pq")
    toml = folder / "discreet.toml"
    toml.write_text(
        ACS.format(
            pumas=json.dumps(pumas),
            states=json.dumps(sorted(set(states))),
            parts=json.dumps(sorted(set(parts))),
        )
    )
    sizes = {"part": len(set(parts)), "state": len(set(states))}
    levels = {"nation": ""} | {n: f"a.{n}, " for n, size in sizes.items() if size > 1}
    return Subject(f"{name}, {len(rows):,} people", toml, _spec(levels | {"puma": "p.puma, "}))


def _spec(levels: dict[str, str]) -> str:
    head = '[release]\nname = "levels"\ndataset = "acs"\nepsilon = 1.0\ndelta = 1e-9\n'
    cut = '[cuts]\nage_group = { column = "age", edges = [0, 18, 35, 50, 65, 100] }\n'
    keys, joined = "p.sex, p.age_group, p.race", " JOIN areas a ON p.puma = a.puma"
    tables = (
        f'[tables.{level}]\nsql = "SELECT {key}{keys}, COUNT(*) AS people FROM people p'
        f'{joined if "a." in key else ""} GROUP BY {key}{keys}"\n'
        for level, key in levels.items()
    )
    return head + "".join(tables) + cut


def level_errors(subject: Subject, runs: int) -> list[tuple[str, int, np.ndarray]]:
    """Return each level, its cells, and its errors in the order of WAYS.

    Ours has the shares that planning gives it; the other two have equal shares of rho, since our
    weights leave to least squares what they cannot make up for, and would be unfair to them.
    """
    family, truth, laws = _counted(subject.spec, subject.toml)
    equal = _counted(_equal_shares(subject.spec), subject.toml)[2]
    total = np.zeros((len(truth), len(WAYS)))
    rng = SystemRng()
    for _ in range(runs):
        ours = problem_of(family, _noisy(truth, laws, rng), [law.variance for law in laws])
        theirs = problem_of(family, _noisy(truth, equal, rng), [law.variance for law in equal])
        scaled = top_down(list(theirs.measured))
        for i, (alone, result) in enumerate(zip(theirs.measured, reconcile(ours), strict=True)):
            best = result.published.whole
            found = (alone.values, scaled[id(alone)], result.estimate.values, best)
            total[i] += [np.square(each - truth[i]).mean() for each in found]
    return [
        (member.name, member.cells, row)
        for member, row in zip(family.members, np.sqrt(total / runs), strict=True)
    ]


def _counted(text: str, toml: Path) -> tuple[Family, list[np.ndarray], Sequence[Law]]:
    spec = parse_spec(text, base=toml.parent)
    with (
        discreet.open(toml) as curator,
        planned(spec, catalog=curator.catalog, ledger=curator.ledger, engine=curator.engine) as (
            plan,
            held,
        ),
    ):
        (family,) = plan.families
        read = plan.reads[0, len(family.members) - 1]
        atoms = {d.base: d.atoms for d in family.dimensions}
        exact = count_cells(read, tuple(atoms[b] for b in read.bases), held.run)
        truth = [member_cells(exact, read, family, m) for m in family.members]
        return family, truth, plan.priced.laws


def _equal_shares(text: str) -> str:
    count = text.count("[tables.")
    share = f"share = {1 / count:.4f}"[: 8 + 6]
    return re.sub(r"(\[tables\.\w+\]\n)", rf"\1{share}\n", text)


def _noisy(truth: list[np.ndarray], laws: Sequence[Law], rng: SystemRng) -> list[np.ndarray]:
    return [noisy_cells(cells, law, rng) for cells, law in zip(truth, laws, strict=True)]
