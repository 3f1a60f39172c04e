"""What is known of a value has ends: 64 bits for a number, 100,000 letters for a text."""

from __future__ import annotations

import pytest

from discreet.privacy.kernel.functions import TooLong, Value, ValueKind, integer, text
from discreet.privacy.kernel.nodes import TooWide, Unfit

MOST = 9_223_372_036_854_775_807


@pytest.mark.parametrize(
    ("low", "high"), [(-MOST, MOST), (0, 0), (MOST, MOST), (-MOST, -MOST), (-3, 4)]
)
def test_a_whole_number_has_64_bits(low: int, high: int) -> None:
    assert integer(low, high) == Value(ValueKind.INTEGER, low, high, wide=True)
    assert integer(low, high).bounded == (low, high)
    assert not integer(low, high, wide=False).wide


@pytest.mark.parametrize(("low", "high"), [(0, MOST + 1), (-MOST - 1, 0), (4, 3), (0, 2 * MOST)])
def test_and_no_more(low: int, high: int) -> None:
    with pytest.raises(TooWide, match="leave 64 bits"):
        integer(low, high)


@pytest.mark.parametrize(
    "value",
    [
        Value(ValueKind.INTEGER),
        Value(ValueKind.INTEGER, 0, None),
        Value(ValueKind.INTEGER, None, 9),
        Value(ValueKind.TEXT, 0, 9, length=3),  # places in a list are no numbers
        Value(ValueKind.NOTHING, 0, 9),
        Value(ValueKind.BOOLEAN),
    ],
)
def test_only_a_number_with_two_ends_is_bounded(value: Value) -> None:
    with pytest.raises(Unfit, match="no bounded whole number"):
        value.bounded  # noqa: B018


def test_a_text_has_letters() -> None:
    assert text(100_000).letters == 100_000
    assert text(0) == Value(ValueKind.TEXT, length=0)
    with pytest.raises(TooLong, match="100001 letters") as refused:
        text(100_001)
    assert refused.value.letters == 100_001


@pytest.mark.parametrize(
    "value",
    [Value(ValueKind.TEXT), Value(ValueKind.INTEGER, 0, 9, length=3), Value(ValueKind.UNIT)],
)
def test_nothing_else_has_any(value: Value) -> None:
    with pytest.raises(Unfit, match="a function of text over something else"):
        value.letters  # noqa: B018


def test_nothing_is_wide_or_its_own_clamp_unless_that_is_said() -> None:
    value = Value(ValueKind.INTEGER, 0, 9)
    assert (value.wide, value.canonical) == (False, False)
    assert not integer(0, 9).canonical
