"""Errors of a release at every level, beside noise on each table alone and top-down scaling.

Like is compared with like. Negative cells allowed: each table alone, parts brought to their total by
equal amounts or in proportion, least squares. Not negative, and so biased where cells are small: parts
in proportion after negative ones were set to 0, the published whole numbers.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

import discreet
from discreet.lab.town import town
from discreet.privacy.kernel.mechanism import Law
from discreet.privacy.noise.rng import Rng, SystemRng
from discreet.work.publish.families import Family
from discreet.work.publish.measure import count_cells, member_cells, noisy_cells
from discreet.work.publish.prepare import planned
from discreet.work.publish.reconcile.least_squares import coarse_to_fine
from discreet.work.publish.reconcile.problem import (
    Array,
    GridProblem,
    Sums,
    add_up,
    linked,
    problem_of,
    spread,
)
from discreet.work.publish.reconcile.solve import reconcile
from discreet.work.publish.specification import parse_spec

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
OTHERS = ("alone", "shared equally", "scaled", "scaled, cut at 0")
OURS = ("least squares", "whole numbers")
WAYS = (*OTHERS, *OURS)
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


Links = Sequence[np.ndarray]
Cells = dict[int, np.ndarray]
"""The cells of every level, by the identity of its measurement."""


def scaled(sums: Sequence[Sums], *, cut: bool) -> Cells:
    """Return what scaling gives: the parts of a cell in proportion, so that they add up to it.

    `cut`: negative parts are set to 0 first. Without, parts that add up to nothing stay as they are.
    """

    def parts(own: np.ndarray, wanted: np.ndarray, links: Links, shape: tuple[int, ...]) -> Array:
        held = np.maximum(own, 0) if cut else own
        total = add_up(held, links, shape)
        rest = np.zeros_like(total) if cut else np.ones_like(total)
        goal = np.maximum(wanted, 0) if cut else wanted
        factor = np.divide(goal, total, out=rest, where=total != 0)
        return held * spread(factor, links, own.shape)

    return _downwards(sums, parts)


def shared_equally(sums: Sequence[Sums]) -> Cells:
    """Return parts that were moved by equal amounts, so that they add up to their total."""

    def parts(own: np.ndarray, wanted: np.ndarray, links: Links, shape: tuple[int, ...]) -> Array:
        count = add_up(np.ones_like(own), links, shape)
        missing = (wanted - add_up(own, links, shape)) / count
        return own + spread(missing, links, own.shape)

    return _downwards(sums, parts)


def _downwards(sums: Sequence[Sums], parts: Callable[..., Array]) -> Cells:
    ordered = coarse_to_fine(sums)
    found = {id(ordered[0]): ordered[0].values.astype(float)}
    for coarse, fine in pairwise(ordered):
        links = linked(fine.maps, coarse.maps, fine.shape)
        own = fine.values.astype(float)
        found[id(fine)] = parts(own, found[id(coarse)], links, coarse.shape)
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
            print(f"{'level':<12}{'cells':>8}" + "".join(f"{way:>18}" for way in WAYS))
            for name, cells, row in level_errors(found, runs):
                print(f"{name:<12}{cells:>8}" + "".join(f"{value:>18.2f}" for value in row))


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


def level_errors(
    subject: Subject, runs: int, rng: Rng | None = None
) -> list[tuple[str, int, np.ndarray]]:
    """Return each level, its cells, and its errors in the order of WAYS.

    Ours has the shares that planning gives it. The others have these or equal shares of rho,
    whichever turns out better for them at that level: no one release could be as good at all.
    """
    rng = rng or SystemRng()
    family, truth, laws = counted(subject.spec, subject.toml)
    equal = counted(_equal_shares(subject.spec), subject.toml)[2]
    with_ours, with_equal = np.zeros((2, len(truth), len(OTHERS)))
    total = np.zeros((len(truth), len(OURS)))
    for _ in range(runs):
        ours = problem_of(family, noisy(truth, laws, rng), [law.variance for law in laws])
        theirs = problem_of(family, noisy(truth, equal, rng), [law.variance for law in equal])
        with_ours += _squares(other_ways(ours.measured), truth)
        with_equal += _squares(other_ways(theirs.measured), truth)
        total += _squares(our_ways(ours), truth)
    best = np.minimum(with_ours, with_equal)
    found = np.sqrt(np.concatenate([best, total], axis=1) / runs)
    return [
        (member.name, member.cells, row) for member, row in zip(family.members, found, strict=True)
    ]


def other_ways(sums: Sequence[Sums]) -> list[list[np.ndarray]]:
    """Return for each level its cells in the order of OTHERS."""
    found = (shared_equally(sums), scaled(sums, cut=False), scaled(sums, cut=True))
    return [[each.values, *(way[id(each)] for way in found)] for each in sums]


def our_ways(problem: GridProblem) -> list[list[np.ndarray]]:
    """Return for each level its cells in the order of OURS."""
    return [[each.estimate.values, each.published.whole] for each in reconcile(problem)]


def _squares(found: list[list[np.ndarray]], truth: list[np.ndarray]) -> np.ndarray:
    return np.array(
        [
            [np.square(cells - exact).mean() for cells in ways]
            for ways, exact in zip(found, truth, strict=True)
        ]
    )


def counted(text: str, toml: Path) -> tuple[Family, list[np.ndarray], Sequence[Law]]:
    """Return the one family of a spec, its cells without noise, and the noise that planning gives."""
    spec = parse_spec(text, base=toml.parent)
    with (
        discreet.open(toml) as curator,
        planned(spec, curator) as (
            plan,
            held,
        ),
    ):
        (family,) = plan.families
        read = plan.reads[0, len(family.members) - 1]
        permit = curator.ledger.record_look(plan.dataset.name, reason="a benchmark")
        exact = count_cells(read, family, held.paid(permit))
        truth = [member_cells(exact, read, family, m) for m in family.members]
        return family, truth, plan.priced.laws


def _equal_shares(text: str) -> str:
    count = text.count("[tables.")
    share = f"share = {1 / count:.4f}"[: 8 + 6]
    return re.sub(r"(\[tables\.\w+\]\n)", rf"\1{share}\n", text)


def noisy(truth: list[np.ndarray], laws: Sequence[Law], rng: Rng) -> list[np.ndarray]:
    """Return what is measured: the cells of every level, each with noise of its law."""
    return [noisy_cells(cells, law, rng) for cells, law in zip(truth, laws, strict=True)]
