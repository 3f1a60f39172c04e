"""Codes beside their unit: the unit itself, under its own name, as the last output."""

from __future__ import annotations

import pytest

from discreet.privacy.kernel.facts import SelectedCodes, unit_codes_of
from discreet.privacy.kernel.nodes import Unfit
from kernel_kit import BOUNDED_VISITS, SCANS, trees

VISITS = f"FROM {BOUNDED_VISITS} AS b WHERE b.n <= 3 AND b.c2 IS NOT NULL"


def unit_codes(sql: str, *sizes: int) -> SelectedCodes:
    found, other = (unit_codes_of(tree, sizes, SCANS) for tree in trees(sql))
    assert found == other
    return found


def test_codes_and_whose_they_are() -> None:
    expected = SelectedCodes(3, ("clinic.visits",), person=True)
    assert unit_codes(f"SELECT b.c2 AS c0, b.u AS u {VISITS}", 1001) == expected
    assert unit_codes(f"SELECT 0 AS c0, b.c2 AS c1, b.u AS u {VISITS}", 1, 1001) == expected
    assert unit_codes(f"SELECT b.u AS u {VISITS}") == expected


@pytest.mark.parametrize(
    "outputs",
    [
        "b.c2 AS c0",
        "b.u AS u, b.c2 AS c0",  # not the last
        "b.c2 AS c0, b.u AS v",
        "b.c2 AS c0, b.c2 AS u",  # another column under its name: several units in one vector
        "b.c2 AS c0, 5 AS u",
        "b.c2 AS c0, CASE WHEN b.c2 > 5 THEN b.u ELSE NULL END AS u",
    ],
)
def test_another_last_output_is_no_unit(outputs: str) -> None:
    with pytest.raises(Unfit, match="codes without their unit"):
        unit_codes(f"SELECT {outputs} {VISITS}", 1001)


def test_rows_as_units_have_no_unit_beside_them() -> None:
    with pytest.raises(Unfit, match="codes without their unit"):
        unit_codes('SELECT 0 AS c0, t.c0 AS u FROM canon."town.rows" AS t', 1)


def test_everything_that_holds_of_codes_holds_here_too() -> None:
    with pytest.raises(Unfit, match="leave its table"):
        unit_codes(f"SELECT b.c2 AS c0, b.u AS u {VISITS}", 1000)
    with pytest.raises(Unfit, match="nothing bounds"):
        unit_codes('SELECT 0 AS c0, v.u AS u FROM canon."clinic.visits" AS v', 1)
