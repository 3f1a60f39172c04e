"""A lying planner cannot hurt: whatever SQL is drafted, no exact number moves further than its noise.

Drafts are drawn at random or enumerated; the kernel refuses them, or what it says of them is true of
every neighbouring database that is tried. For each of its rules a kernel without that rule is caught.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import combinations_with_replacement, product

import pytest

from discreet.base.unit import Neighbours
from discreet.privacy.kernel.nodes import Unfit
from discreet.privacy.kernel.read_sqlglot import read_sqlglot
from discreet.privacy.kernel.seal import Draft, Read, sealed
from lying_kit import Liar
from lying_shapes import SHAPES
from lying_twins import TWINS, Twin
from lying_world import SCANS, World, compared, database, hunt, judged, violations
from sittings import FULL

BOTH = list(Neighbours)


def drafts(seed: int, count: int) -> Iterator[Draft]:
    dice = random.Random(seed)
    for _ in range(count):
        yield Liar(dice, dice.choice([0.0, 0.02, 0.05, 0.15])).draft()


@pytest.mark.parametrize("neighbours", BOTH)
def test_random_drafts(neighbours: Neighbours, record_property) -> None:
    tally = hunt(drafts(7, 50), random.Random(7), neighbours, each=1)
    assert tally.violations == []
    assert tally.accepted > 0.3 * tally.statements, str(tally)
    record_property("statements of a lying planner, 0 violations", tally.statements)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", range(40))
def test_random_drafts_in_full(seed: int) -> None:
    """20,000 statements in 40 runs, each of which can be repeated alone."""
    neighbours = BOTH[seed % 2]
    tally = hunt(drafts(100 + seed, 500), random.Random(100 + seed), neighbours)
    print(f"seed {seed}, {neighbours.value}: {tally}")  # the counts are the result
    assert tally.violations == []
    assert tally.accepted > 0.3 * tally.statements, str(tally)


# -- every rule is needed --------------------------------------------------------------------------


def _sealed(twin: Twin, world: World) -> Read | None:
    if not twin.sqlglot:
        return judged(twin.draft, world, twin.neighbours)
    try:
        tree = read_sqlglot(twin.draft.sql, "duckdb")
        return sealed(twin.draft, tree, SCANS[twin.neighbours])
    except Unfit:
        return None


def caught(twin: Twin, databases: int = 60) -> list[str]:
    """Return the first violation that some random database shows."""
    world, dice = World(), random.Random(3)
    read = _sealed(twin, world)
    if read is None:
        return []
    for _ in range(databases):
        found = violations(read, database(dice), world, dice, twin.neighbours)
        if found:
            return found
    return []


@pytest.mark.parametrize("rule", TWINS)
def test_a_kernel_without_one_rule_is_caught(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    TWINS[rule].broken(monkeypatch)
    assert caught(TWINS[rule]), f"nobody notices that '{rule}' is gone"


@pytest.mark.parametrize("rule", TWINS)
def test_the_kernel_itself_is_not(rule: str) -> None:
    assert caught(TWINS[rule], databases=12) == []


# -- small databases, all of them ------------------------------------------------------------------

_ROWS = list(product((None, -2, 3), (0, 1000), ("x",)))
_VISITS = list(product((1, 2), (0, 3), (-1000, 1000), ("y",)))
_PEOPLE = [(1, 3, 0, "x"), (1, 3, 1000, "x"), (2, None, 1000, "y")]
_PUBLIC = [(0, 1000), (3, 0), (3, 1000)]
LARGEST = 3 if FULL else 2


def _measured(world: World, reads: list[Read], table: str, rows: tuple) -> list:
    """Return the exact results of all shapes on one database."""
    dice = random.Random(0)
    found = []
    for read in reads:
        full = {"clinic.people": _PEOPLE, "clinic.public": _PUBLIC, table: list(rows)}
        if table == "clinic.visits":
            full["clinic.people"] = [p for p in _PEOPLE if any(p[0] == row[0] for row in rows)]
        world.fill(full, dice, read.draft.sql)
        found.append(world.vectors(read))
    return found


@pytest.mark.parametrize("table", ["town.rows", "clinic.visits"])
def test_all_small_databases(table: str) -> None:
    world = World()
    named = {n: d for n, d in SHAPES.items() if (table == "town.rows") == ('"town.rows"' in d.sql)}
    accepted = {name: judged(draft, world, Neighbours.ADD_REMOVE) for name, draft in named.items()}
    assert [name for name, read in accepted.items() if read is None] == []
    reads = [read for read in accepted.values() if read is not None]
    kinds = _ROWS if table == "town.rows" else _VISITS
    results = {
        rows: _measured(world, reads, table, rows)
        for size in range(LARGEST + 1)
        for rows in combinations_with_replacement(kinds, size)
    }
    pairs = 0
    for rows, found in results.items():
        for less in _less(rows, table):
            pairs += 1
            for read, one, two in zip(reads, found, results[less], strict=True):
                assert compared(read, one, two, outside=False) == [], (read.draft.sql, rows)
    assert pairs >= len(results) - 1


def _less(rows: tuple, table: str) -> set[tuple]:
    """Return the databases with one unit less."""
    if table == "town.rows":
        return {rows[:i] + rows[i + 1 :] for i in range(len(rows))}
    return {tuple(r for r in rows if r[0] != unit) for unit in {row[0] for row in rows}}
