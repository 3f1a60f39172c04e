"""Statements about prices that hold for every event."""

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.base.event import (
    FREE,
    Approximate,
    Composed,
    Concentrated,
    Cost,
    Failing,
    Gaussian,
    Laplace,
    Pure,
    Repeated,
    Sampled,
    Select,
)
from discreet.base.numbers import Delta, Epsilon
from discreet.privacy.account.composition import Limits
from discreet.privacy.account.price import gaussian_sigma_squared, laplace_scale, price
from sittings import examples

amounts = st.fractions(min_value=Fraction(1, 100), max_value=5, max_denominator=100)
scales = st.fractions(min_value=Fraction(1, 10), max_value=1000, max_denominator=50)
deltas = st.integers(6, 12).map(lambda power: Fraction(1, 10**power))
rates = st.fractions(min_value=Fraction(1, 100), max_value=1, max_denominator=100)
small = st.integers(1, 4)

pure_leaves = st.one_of(
    st.builds(Laplace, scales, small.map(Fraction)),
    st.builds(Pure, amounts),
    st.builds(Select, amounts),
    st.builds(Approximate, amounts, deltas),
)
leaves = st.one_of(
    pure_leaves,
    st.builds(Concentrated, amounts),
    st.builds(
        lambda variance, move, one: Gaussian(variance, Fraction(move * move), 1 if one else None),
        scales,
        small,
        st.booleans(),
    ),
)


def wrap(inner):
    return st.one_of(
        st.builds(Failing, inner, deltas),
        st.builds(Sampled, inner, rates),
        st.builds(Repeated, inner, small),
        st.builds(lambda parts: Composed(tuple(parts)), st.lists(inner, max_size=3)),
    )


events = st.recursive(leaves, wrap, max_leaves=4)
pure_events = st.recursive(pure_leaves, wrap, max_leaves=4)


def cost(event, epsilon="0.001", delta="1e-3"):
    return price(event, epsilon=Epsilon.of(epsilon), delta=Delta.of(delta)).cost


@given(events)
def test_costs_are_never_negative_and_can_be_kept(event):
    found = cost(event)
    for component in (found.epsilon, found.delta, found.rho, found.rho_delta):
        assert component is None or component >= 0
    assert Cost.from_json(found.to_json()) == found


@given(events)
def test_composing_with_nothing_changes_nothing(event):
    assert cost(Composed((event, Composed(())))) == cost(event)
    assert cost(Repeated(event, 1)) == cost(event)
    assert cost(Repeated(event, 0)) == FREE


@given(pure_events, pure_events)
def test_what_has_an_epsilon_of_its_own_adds_up_exactly(first, second):
    tiny = "1e-9"  # below any event here, so that each pays its true cost
    both = cost(Composed((first, second)), tiny)
    apart = cost(first, tiny) + cost(second, tiny)
    assert (both.delta, both.rho, both.rho_delta) == (apart.delta, apart.rho, apart.rho_delta)
    # Something that costs nothing, or only a delta, is still charged the epsilon that was written.
    assert abs(both.epsilon - apart.epsilon) <= Fraction(1, 10**9)


@given(events, events)
def test_more_never_costs_less(first, second):
    one, both = cost(first), cost(Composed((first, second)))
    assert both.rho_delta >= one.rho_delta
    if one.epsilon is not None and both.epsilon is not None and both.delta == one.delta:
        # At an equal delta only: a part that brings its own delta may lower the epsilon of the whole.
        assert both.epsilon >= one.epsilon * (1 - Fraction(1, 10**6))
    if one.rho is not None and both.rho is not None:
        assert both.rho >= one.rho


@given(scales, scales, small)
def test_more_noise_never_costs_more(first, second, move):
    less, more = sorted((first, second))
    assert (
        cost(Laplace(more, Fraction(move))).epsilon <= cost(Laplace(less, Fraction(move))).epsilon
    )
    wide = cost(Gaussian(more, Fraction(move)))
    narrow = cost(Gaussian(less, Fraction(move)))
    assert wide.rho <= narrow.rho
    assert wide.epsilon <= narrow.epsilon * (1 + Fraction(1, 10**6))


@given(amounts, deltas, small, st.sampled_from([1, None, 3]))
@settings(max_examples=examples(60))
def test_calibrate_then_price_meets_the_target(epsilon, delta, move, coordinates):
    target, failure = Epsilon(epsilon), Delta(delta)
    squared = Fraction(move * move)
    sigma_squared = gaussian_sigma_squared(squared, target, failure, coordinates)
    found = price(Gaussian(sigma_squared, squared, coordinates), epsilon=target, delta=failure)
    assert (found.cost.epsilon, found.cost.delta) == (epsilon, delta)
    laplace = price(
        Laplace(laplace_scale(move, target), Fraction(move)), epsilon=target, delta=failure
    )
    assert (laplace.cost.epsilon, laplace.cost.delta) == (epsilon, 0)


@given(amounts, deltas, st.lists(events, max_size=4))
def test_limits_never_grow_back(epsilon, delta, charges):
    limits = Limits.of(epsilon, delta)
    total, refused = FREE, False
    for event in charges:
        total = total + cost(event, delta=delta)
        allowed = limits.allows(total)
        assert not (refused and allowed), "a total that was refused was accepted after growing"
        refused = refused or not allowed
        if allowed:
            assert limits.spent(total)[0] <= limits.epsilon
