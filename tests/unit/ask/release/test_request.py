"""Requests: the words of the outside world, checked once."""

from fractions import Fraction

import pytest

from discreet.ask.release.desk import Request
from discreet.base.numbers import Epsilon
from discreet.base.requests.paid import NoiseLimit, QuestionFields
from discreet.errors import InvalidInput


def test_amounts_are_what_was_written():
    assert Request.of("q", epsilon=0.1).epsilon == Epsilon(Fraction(1, 10))
    assert NoiseLimit.of("50") == NoiseLimit(Fraction(50), relative=False)
    assert NoiseLimit.of("5%") == NoiseLimit(Fraction(1, 20), relative=True)


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
        {"epsilon": "1", "max_rows": 10**9 + 1},
        {"epsilon": "1", "max_rows": 2.0},
    ],
)
def test_nonsense_is_refused(options):
    with pytest.raises(InvalidInput):
        Request.of("q", **options)


def test_a_price_in_the_statement_is_the_one_that_counts():
    written = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.5) COUNT(*) FROM t"
    found = Request.of(written, within="50")
    assert (found.epsilon, found.within) == (Epsilon.of("0.5"), None)


def test_the_words_of_the_body_are_what_they_were():
    """Answers are stored under it: other words would refuse an id that was used before."""
    assert Request.of("q", epsilon="0.1").body == "q\nepsilon 0.1\nfresh False\nmax_rows None"
    wanted = "Wanted(error=Fraction(1, 20), relative=True)"
    found = Request.of("q", within="5%", fresh=True, max_rows=3)
    assert found.body == f"q\nwithin {wanted}\nfresh True\nmax_rows 3"


def test_what_was_asked_is_the_request_but_for_what_was_checked():
    asked = QuestionFields(sql="q", within=50, analyst="ann", request_id="mine")
    found = Request.of_asked(asked)
    assert found == Request.of("q", within=50, analyst="ann", request_id="mine")
    assert (found.analyst, found.request_id, found.named) == ("ann", "mine", True)
    assert not Request.of("q", within=50).named


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
