from __future__ import annotations

import pytest

from discreet.errors import InvalidInput
from discreet.work.synth.methods.registry import check_whole


def test_whole_numbers_pass():
    check_whole("rap", rounds=1, steps=10**6)


@pytest.mark.parametrize("value", [0, -2, 1.5, "3", None, True, [1]])
def test_anything_else_is_refused_by_name(value):
    with pytest.raises(InvalidInput, match=r"'steps' of rap must be a whole number"):
        check_whole("rap", rounds=2, steps=value)
