"""Which sums agree: found families against a brute force over every point of the public domain."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from discreet.errors import InvalidInput
from discreet.work.publish.families import Family, Member
from publish_kit import Made, catalog_of, families_of, points, random_tables
from sittings import FULL

SPECS = 200 if FULL else 15
POINTS = points()
BASES = ("region", "sex", "job", "age")


def leaf_of(family: Family, point: dict) -> tuple[int, ...]:
    found = []
    for dimension in family.dimensions:
        value = point[dimension.base]
        found.append(int(dimension.leaf[dimension.atoms.values.index(value)]))
    return tuple(found)


def cell_of(member: Member, leaf: tuple[int, ...]) -> tuple[int, ...] | None:
    if -1 in leaf:
        return None
    found = tuple(int(classes[i]) for classes, i in zip(member.maps, leaf, strict=True))
    return None if -1 in found else found


def labels_of(member: Member, cell: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(key.labels[key.codes[cell[key.dimension]]] for key in member.keys)


def brute_families(tables: list[Made]) -> set[frozenset[str]]:
    """Return the families by sets of points: one measure, linked where one set holds another."""
    sets = {t.name: frozenset(i for i, p in enumerate(POINTS) if t.holds(p)) for t in tables}
    groups = [{t.name} for t in tables]
    measure = {t.name: t.measure for t in tables}
    for one, mine in sets.items():
        for two, theirs in sets.items():
            if measure[one] == measure[two] and mine <= theirs:
                first = next(g for g in groups if one in g)
                second = next(g for g in groups if two in g)
                if first is not second:
                    groups.remove(second)
                    first |= second
    return {frozenset(group) for group in groups}


def check(tables: list[Made], families: tuple[Family, ...]) -> None:
    found = {frozenset(m.table.name for m in family.members) for family in families}
    assert found == brute_families(tables)
    made = {table.name: table for table in tables}
    for family in families:
        leaves: dict[tuple[int, ...], tuple] = {}
        for point in POINTS:
            leaf = leaf_of(family, point)
            seen = []
            for member in family.members:
                table = made[member.table.name]
                cell = cell_of(member, leaf)
                assert (cell is not None) == table.holds(point)
                seen.append(None if cell is None else table.cell(point))
                if cell is not None:
                    assert labels_of(member, cell) == table.cell(point)
            # No member tells two points of one leaf cell apart.
            if -1 not in leaf:
                assert leaves.setdefault(leaf, tuple(seen)) == tuple(seen)
        for member in family.members:
            table = made[member.table.name]
            assert member.cells == len({table.cell(p) for p in POINTS if table.holds(p)})


def test_random_specs_against_brute_force(tmp_path: Path):
    dice = random.Random(12)
    catalog = catalog_of(tmp_path)
    sizes = []
    for _ in range(SPECS):
        tables = random_tables(dice)
        families = families_of(tables, catalog)
        check(tables, families)
        sizes += [len(family.members) for family in families]
    # The specs were not all alone or all together: the comparison had something to find.
    assert sizes.count(1) > SPECS / 2
    assert sum(size > 1 for size in sizes) > SPECS / 2


def test_a_wrong_family_would_be_seen(tmp_path: Path):
    tables = [Made("t0", ("sex",), "", "COUNT(*)"), Made("t1", ("half",), "", "COUNT(*)")]
    (family,) = families_of(tables, catalog_of(tmp_path))
    wrong = Made("t1", ("third",), "", "COUNT(*)")
    with pytest.raises(AssertionError):
        check([tables[0], wrong], (family,))


def test_leaf_cells_are_no_finer_than_needed(tmp_path: Path):
    tables = [
        Made("nation", ("sex", "half"), "", "COUNT(*)"),
        Made("by_county", ("county", "sex", "third"), "", "COUNT(*)"),
    ]
    (family,) = families_of(tables, catalog_of(tmp_path))
    sizes = dict(zip([d.base for d in family.dimensions], family.shape, strict=True))
    # Halves and thirds of the ages cut each other into 0-3, 4-5, 6-7, 8-11.
    assert sizes == {"region": 4, "sex": 2, "age": 4}


def test_large_columns_are_cut_where_the_edges_are(tmp_path: Path):
    from discreet.work.publish.bound_tables import bind_spec, draft
    from discreet.work.publish.families import find_families
    from discreet.work.publish.specification import parse_spec
    from publish_kit import public

    text = """
    [release]
    name = "r"
    dataset = "d"
    epsilon = 1
    [tables.rich]
    sql = "SELECT class, COUNT(*) AS n FROM people WHERE wealth < 5000.5 GROUP BY class"
    [cuts]
    class = { column = "wealth", edges = [-1000000, 0, 1000, 1000000.01] }
    """
    catalog = catalog_of(tmp_path)
    bound = bind_spec(draft(parse_spec(text, base=tmp_path), catalog), public)
    (family,) = find_families(bound.tables)
    assert family.shape == (3,)
    (member,) = family.members
    assert member.keys[0].labels == ("-1000000 to <0", "0 to <1000", "1000 to <1000000.01")
    assert np.array_equal(member.maps[0], [0, 1, 2])
    whole = text.replace(" GROUP BY class", " GROUP BY wealth").replace(
        "SELECT class", "SELECT wealth"
    )
    with pytest.raises(InvalidInput, match="cut it into classes"):
        find_families(bind_spec(draft(parse_spec(whole, base=tmp_path), catalog), public).tables)
