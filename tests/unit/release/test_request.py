"""Requests: the words of the outside world, checked once."""

from fractions import Fraction

import pytest

from discreet.core.numbers import Epsilon
from discreet.errors import InvalidInput
from discreet.release.request import Request, Wanted


def test_amounts_are_what_was_written():
    assert Request.of("q", epsilon=0.1).epsilon == Epsilon(Fraction(1, 10))
    assert Wanted.of("50") == Wanted(Fraction(50), relative=False)
    assert Wanted.of("5%") == Wanted(Fraction(1, 20), relative=True)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"epsilon": "1", "within": "5"},
        {"epsilon": "0"},
        {"epsilon": "-1"},
        {"epsilon": "nan"},
        {"epsilon": "x"},
        {"within": "0"},
        {"within": "-5%"},
        {"epsilon": "1", "max_rows": 0},
        {"epsilon": "1", "max_rows": True},
    ],
)
def test_nonsense_is_refused(options):
    with pytest.raises(InvalidInput):
        Request.of("q", **options)


def test_ids_are_fresh_unless_given():
    assert Request.of("q", epsilon=1).request_id != Request.of("q", epsilon=1).request_id
    assert Request.of("q", epsilon=1, request_id="mine").request_id == "mine"


@pytest.mark.parametrize(
    "other", [{"epsilon": "0.2"}, {"fresh": True}, {"max_rows": 3}, {"sql": "r"}]
)
def test_the_body_tells_different_requests_apart(other):
    plain = {"sql": "q", "epsilon": "0.1"}
    assert Request.of(**plain).body == Request.of(**plain).body
    assert Request.of(**plain).body != Request.of(**(plain | other)).body
