"""Errors of a release at every level, beside noise on each table alone and top-down scaling."""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np

import discreet
from discreet.examples import town
from discreet.noise.rng import SystemRng
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


def errors(runs: int) -> None:
    """Print the root mean squared error of every level, over `runs` releases."""
    with tempfile.TemporaryDirectory() as folder:
        made = town(20_000, folder=folder, tables=("people",))
        spec = parse_spec(SPEC, base=Path(folder))
        with (
            discreet.open(made.toml) as curator,
            planned(
                spec, catalog=curator.catalog, ledger=curator.ledger, engine=curator.engine
            ) as (plan, held),
        ):
            (family,) = plan.families
            read = plan.reads[0, len(family.members) - 1]
            atoms = {d.base: d.atoms for d in family.dimensions}
            exact = count_cells(read, tuple(atoms[b] for b in read.bases), held.run)
            truth = [member_cells(exact, read, family, m) for m in family.members]
            laws = plan.priced.laws
    print(f"town of 20,000, epsilon 1, delta 1e-9, {runs} releases; root mean squared errors")
    ways = ("each table alone", "top-down scaling", "least squares", "whole numbers")
    total = np.zeros((len(truth), len(ways)))
    rng = SystemRng()
    for _ in range(runs):
        noisy = [noisy_cells(cells, law, rng) for cells, law in zip(truth, laws, strict=True)]
        problem = problem_of(family, noisy, [law.variance for law in laws])
        scaled = top_down(list(problem.measured))
        for i, (sums, result) in enumerate(zip(problem.measured, reconcile(problem), strict=True)):
            found = (sums.values, scaled[id(sums)], result.estimate.values, result.published.whole)
            total[i] += [np.square(each - truth[i]).mean() for each in found]
    print(f"{'level':<12}{'cells':>8}" + "".join(f"{way:>20}" for way in ways))
    for member, row in zip(family.members, np.sqrt(total / runs), strict=True):
        print(f"{member.name:<12}{member.cells:>8}" + "".join(f"{value:>20.2f}" for value in row))
