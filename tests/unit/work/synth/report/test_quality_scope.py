"""Which tables are compared: by public sizes alone, and the same every time."""

import pytest

from discreet.measure.shape import Shape
from discreet.work.synth.report.quality import ALL_CELLS, CELLS, PAIRS, TRIPLES, ComparisonScope


def wide(width, size):
    return Shape(tuple(f"c{i}" for i in range(width)), (size,) * width)


def test_small_tables_are_compared_wholly():
    scope = ComparisonScope.of(wide(4, 3), 1000)
    assert len(scope.ones) == 4
    assert len(scope.pairs) == 6
    assert len(scope.triples) == 4


def test_wide_tables_get_a_draw_that_is_the_same_every_time():
    scope = ComparisonScope.of(wide(60, 20), 50_000)
    assert len(scope.pairs) == PAIRS
    assert len(scope.triples) == TRIPLES
    assert scope == ComparisonScope.of(wide(60, 20), 50_000)


def test_tables_with_more_cells_than_rows_are_left_out():
    assert ComparisonScope.of(wide(5, 20), 100).triples == ()
    assert ComparisonScope.of(wide(3, 400), 10**9).pairs == ()
    assert all(
        wide(3, 200).cells(p) <= CELLS for p in ComparisonScope.of(wide(3, 200), 10**9).pairs
    )


@pytest.mark.parametrize("width", [1, 2])
def test_one_and_two_columns_have_no_triples(width):
    assert ComparisonScope.of(wide(width, 3), 10).triples == ()


def test_memory_is_bounded_for_many_large_pairs():
    shape = wide(40, 200)
    scope = ComparisonScope.of(shape, 10**9)
    assert 0 < sum(shape.cells(pair) for pair in scope.pairs) <= ALL_CELLS
