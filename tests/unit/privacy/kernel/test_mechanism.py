"""What a planner leaves open: nothing is bounded, monotone or allowed to fail until the kernel says so."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.base.event import NOTHING, Pure, Select
from discreet.errors import InvalidInput
from discreet.privacy.kernel.look import ExactResults, noised
from discreet.privacy.kernel.mechanism import LargestGroup, Mechanisms, Selection
from discreet.testing import SeededRng

ONE = Fraction(1)


@pytest.mark.parametrize(("flip", "event"), [(True, Pure(ONE)), (False, Select(ONE))])
def test_the_largest_group_costs_what_the_way_of_choosing_it_costs(flip: bool, event: Any) -> None:
    assert LargestGroup(ONE, flip=flip).event == event


def test_nothing_is_known_of_what_was_not_admitted() -> None:
    top, chosen, whole = (
        LargestGroup(ONE, flip=True),
        Selection(Fraction(1, 2), ONE, 4),
        Mechanisms({}, {}),
    )
    assert top.event == Pure(ONE)
    assert (top.sensitivity, top.monotone, chosen.sensitivity) == (0, False, 0)
    assert (whole.failing, whole.threshold, whole.event) == (0, None, NOTHING)


@pytest.mark.parametrize(
    "proposed",
    [
        Mechanisms({}, {"q0": Selection(Fraction(1, 2), ONE, 4)}),
        Mechanisms({}, {}, top=LargestGroup(ONE, flip=True)),
        Mechanisms({}, {}, top=LargestGroup(ONE, flip=False)),
    ],
)
def test_a_choice_that_was_not_admitted_cannot_be_made(proposed: Mechanisms) -> None:
    """It would be made for a unit that moves nothing, which no choice can be."""
    found = ExactResults(((1,), (2,)), {"m0": [1, 2]}, {"q0": np.array([[1, 2, 3, 4]] * 2)})
    with pytest.raises(InvalidInput, match="sensitivity of a utility must be greater than 0"):
        noised(found, proposed, SeededRng(1))
