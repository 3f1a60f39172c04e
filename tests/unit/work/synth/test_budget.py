"""What a run costs: exactly what was written, divided into parts that add up."""

from fractions import Fraction

import pytest

from discreet.base.event import EVERYONE, Composed, Concentrated, Failing, Pure
from discreet.base.numbers import Delta, Epsilon
from discreet.base.unit import Neighbours
from discreet.errors import InvalidInput
from discreet.measure.budget import check_epsilon_useful, noise_of, synth_budget
from discreet.measure.private_marginals import CountSensitivity
from discreet.privacy.account.price import price
from discreet.privacy.account.tally import tally

FIFTH = Fraction(1, 5)


def budget(epsilon="1", delta="1e-9", *, learn=Fraction(0), words=0):
    return synth_budget(
        Epsilon.of(epsilon), Delta.of(delta), region=EVERYONE, learn_share=learn, words=words
    )


@pytest.mark.parametrize("epsilon", ["0.01", "0.1", "1", "3", "10", "1/3"])
@pytest.mark.parametrize("delta", ["1e-6", "1e-9", "4.2e-10"])
@pytest.mark.parametrize("words", [0, 3])
def test_the_charge_is_what_was_written(epsilon, delta, words):
    found = budget(epsilon, delta, learn=FIFTH, words=words)
    assert found.quote.cost.epsilon == Epsilon.of(epsilon).value
    assert found.quote.cost.delta == Delta.of(delta).value
    assert found.learning.amount + found.fitting.amount == found.whole.amount
    assert isinstance(found.whole.event, Concentrated)
    used = tally(found.quote.event)
    assert used.delta == found.threshold_delta == (Delta.of(delta).value / 10 if words else 0)


def test_it_could_not_buy_more():
    found = budget()
    more = Concentrated(found.whole.amount * Fraction(1001, 1000))
    assert price(more, epsilon=Epsilon.of(1), delta=Delta.of("1e-9")).cost.epsilon > 1


def test_without_delta_the_currency_is_pure():
    found = budget("0.5", "0")
    assert found.whole.event == Pure(Fraction(1, 2))
    assert found.quote.cost.delta == 0
    assert found.quote.cost.epsilon == Fraction(1, 2)


def test_thresholds_take_their_part_of_delta():
    found = budget(words=2)
    assert isinstance(found.quote.event, Composed)
    assert isinstance(found.quote.event.events[1], Failing)
    assert found.whole.amount < budget().whole.amount


def test_an_epsilon_that_says_nothing_is_refused():
    for epsilon, delta in (("1e-9", "0"), ("1e-12", "1e-9"), ("1e-30", "1e-9")):
        with pytest.raises(InvalidInput, match="nothing could be seen") as refused:
            check_epsilon_useful(budget(epsilon, delta), CountSensitivity(), Epsilon.of(epsilon))
        assert "Nothing was charged" in refused.value.hint
    check_epsilon_useful(budget("0.001"), CountSensitivity(), Epsilon.of("0.001"))


def test_noise_grows_with_what_one_unit_can_do():
    whole = budget().whole
    one, three = noise_of(whole, CountSensitivity()), noise_of(whole, CountSensitivity(3))
    assert three == pytest.approx(3 * one)
    assert noise_of(whole, CountSensitivity(neighbours=Neighbours.REPLACE_ONE)) == pytest.approx(
        2**0.5 * one
    )
    pure = budget("1", "0").whole
    assert noise_of(pure, CountSensitivity(neighbours=Neighbours.REPLACE_ONE)) == pytest.approx(
        2 * noise_of(pure, CountSensitivity())
    )


@pytest.mark.parametrize("delta", ["0", "1e-9"])
def test_a_huge_epsilon_buys_no_noise_that_cannot_be_drawn(delta):
    found = budget("1e7", delta)
    assert found.whole.amount == 1000
    assert found.quote.cost.epsilon == 10**7
