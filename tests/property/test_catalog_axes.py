"""Axis names: equal exactly if everything on which a position depends is equal."""

from hypothesis import example, given
from hypothesis import strategies as st

from discreet.data.catalog.axes import NamedAxis, parse_axis

TEXTS = st.text(st.sampled_from("ab./@#+%é 2E"), min_size=1, max_size=6) | st.text(min_size=1)
PRINTS = st.sampled_from(["0123456789abcdef", "ffffffffffffffff"])
AXES = st.builds(NamedAxis, TEXTS, TEXTS, TEXTS, PRINTS, st.none() | TEXTS)


@given(AXES)
@example(NamedAxis("d", "a.b", "c", "0", "v"))
@example(NamedAxis("d", "a", "b.c", "0", None))
def test_a_name_is_read_in_one_way_only(axis):
    assert parse_axis(str(axis)) == axis


@given(AXES, AXES)
def test_equal_names_mean_equal_axes(one, two):
    assert (str(one) == str(two)) == (one == two)


def naive(axis):
    """The broken twin: names put together without escaping."""
    return f"{axis.dataset}/{axis.table}.{axis.column}@{axis.fingerprint}+{axis.snapshot}"


def test_the_broken_twin_confuses_two_columns():
    one, two = NamedAxis("d", "a.b", "c", "0", "v"), NamedAxis("d", "a", "b.c", "0", "v")
    assert naive(one) == naive(two)
    assert str(one) != str(two)
