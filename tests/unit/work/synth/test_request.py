"""A request is checked once; what is paid for is its body, what is free is not."""

import pytest

from discreet.base.numbers import Delta, Epsilon
from discreet.errors import InvalidInput
from discreet.measure.columns import Bins
from discreet.work.synth.prepare import SynthRequest


def test_words_become_values():
    found = SynthRequest.of("people", epsilon="0.1", delta="1e-9", method="TREE", bins="equal")
    assert found.epsilon == Epsilon.of("0.1")
    assert found.delta == Delta.of("1e-9")
    assert (found.method, found.bins) == ("tree", Bins.EQUAL)
    assert len(found.request_id) == 32
    assert SynthRequest.of("people", epsilon=1).request_id != found.request_id


def test_only_what_costs_is_part_of_the_body():
    plain = SynthRequest.of("people", epsilon=1)
    same = SynthRequest.of("people", epsilon=1, rows=3, where="age > 3", rules=["age < 9"])
    assert plain.body == same.body
    for change in (
        {"epsilon": 2},
        {"delta": "1e-9"},
        {"method": "independent"},
        {"bins": "quantile"},
        {"choose": ["tree", "independent"]},
        {"options": {"parents": 2}},
    ):
        other = SynthRequest.of("people", **({"epsilon": 1} | change))
        assert other.body != plain.body


@pytest.mark.parametrize("change", [{"rows": -1}, {"rows": True}, {"bins": "odd"}, {"epsilon": -1}])
def test_nonsense_is_refused(change):
    with pytest.raises(InvalidInput):
        SynthRequest.of("people", **({"epsilon": 1} | change))
