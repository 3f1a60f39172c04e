"""The device: one report a wave, nothing kept, the donation's bytes, and the vectors for other devices."""

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import exp, inf

import pytest

from discreet.errors import InvalidInput
from discreet.survey.device import Device, decoded, donation_from_cbor, donation_from_json, encoded
from discreet.survey.plan import SurveyPlan
from discreet.survey.specification import survey_of
from survey_kit import RecordedBytes
from vectors_kit import make_vectors, stored_vectors


def plan_of(questions=None, **more):
    stated = {"title": "t", "epsilon": "2", "questions": questions or {"a": {"kind": "yes-no"}}}
    return SurveyPlan.of(survey_of(stated | more, name="s"))


def test_the_vectors_are_what_this_device_makes():
    assert make_vectors() == stored_vectors()


def test_a_wave_is_answered_once_and_with_coins_of_its_own():
    device, first = Device(), plan_of(waves=2)
    second = SurveyPlan.of(first.survey, wave=2)
    assert device.donate(first, {"a": ""}) is None
    assert device.donate(first, {}) is None, (
        "nothing answered: nothing is sent, and nothing is spent"
    )
    given = device.donate(first, {"a": "no"})
    assert device.donate(first, {"a": "no"}) is None
    assert device.donate(first, {"a": "yes"}) is None, "nor after a change of mind"
    again = device.donate(second, {"a": "no"})
    assert again.id != given.id
    device.forget()
    assert device.donate(first, {"a": "no"}) is not None, "whoever comes next is somebody new"
    told = {Device().donate(first, {"a": "yes"}).reports for _ in range(400)}
    assert len(told) == 2  # each tells "yes" with 0.73: all the same with 1e-54


@pytest.mark.parametrize("answer", ["yes", "no"])
def test_nothing_that_a_device_keeps_depends_on_the_answer(answer):
    device, plan = Device(), plan_of()
    device.donate(plan, {"a": answer})
    assert vars(device) == {"_answered": {plan.id}}


class Remembers(Device):
    """A broken twin, as this device was: an answer that did not change is told by the same report."""

    def __init__(self):
        super().__init__()
        self.told = {}

    def donate(self, plan, answers, *, coins):
        known = self.told.get(answers["a"])
        found = super().donate(plan, answers, coins=coins)
        self.told[answers["a"]] = known or found
        return found if known is None else replace(found, reports=known.reports)


def worst_ratio(kind):
    """Return how much likelier any two reports of two waves are for one pair of answers than for another."""
    first = plan_of(epsilon="2", waves=2)
    plans = (first, SurveyPlan.of(first.survey, wave=2))
    keep = Fraction(first.choices[0].randomizer.keep, 2**32)
    laws = []
    for answers in product(("yes", "no"), repeat=2):
        law = Counter()
        for falls in product((True, False), repeat=2):
            device, told, chance = kind(), [], Fraction(1)
            for plan, answer, truth in zip(plans, answers, falls, strict=True):
                coins = RecordedBytes(bytes(16) + (bytes(4) if truth else b"\xff" * 4))
                told += device.donate(plan, {"a": answer}, coins=coins).reports
                chance *= keep if truth else 1 - keep
            law[tuple(told)] += chance
        laws.append(law)
    reports = {each for law in laws for each in law}
    return max(
        one[each] / other[each] if other[each] else inf
        for one, other in product(laws, repeat=2)
        for each in reports
    )


def test_two_waves_tell_two_shares_whatever_changed_and_a_repeat_tells_everything():
    """Law, not sample: every fall of the coins, for every pair of answers."""
    assert 1 < float(worst_ratio(Device)) <= exp(2)
    # Two reports that differ prove that the answer changed, at any epsilon.
    assert worst_ratio(Remembers) == inf


def test_donations_are_the_same_in_both_forms():
    plan = plan_of(
        {
            "a": {"kind": "yes-no"},
            "b": {"kind": "open"},
            "c": {"kind": "number", "lower": 0, "upper": 9},
        }
    )
    donation = Device().donate(plan, {"a": "yes", "b": "tea"})
    assert donation.reports[2] is None
    assert donation_from_cbor(donation.to_cbor()) == donation
    assert donation_from_json(json.loads(json.dumps(donation.to_json()))) == donation


@pytest.mark.parametrize(
    "data",
    ["", "84", "1801", "1b0000000000000001", "5803aabb", "a0", "6161", "f5", "fb3ff0000000000000",
     "9f01ff", "82010200", "8181818100", "5affffffff", "9b7fffffffffffffff", "1c", "f7", "20"],
)  # fmt: skip
def test_cbor_that_is_not_ours_is_refused(data):
    with pytest.raises(InvalidInput):
        decoded(bytes.fromhex(data))


@pytest.mark.parametrize("item", [0, 23, 24, 255, 256, 65535, 65536, 2**32, 2**64 - 1, b"", b"a" * 300, [], [1, [b"x", None]]])  # fmt: skip
def test_cbor_comes_back(item):
    assert decoded(encoded(item)) == item


def test_cbor_numbers_are_at_most_64_bits():
    with pytest.raises(InvalidInput):
        encoded(2**64)


@pytest.mark.parametrize(
    "change",
    [{"version": 2}, {"survey": "AA" * 16}, {"survey": "aa"}, {"id": 5}, {"id": "zz" * 16}, {"reports": "x"},
     {"reports": [1.5]}, {"reports": [True]}, {"reports": ["=="]}, {"reports": ["gIB"]}, {"more": 1}],
)  # fmt: skip
def test_json_that_is_not_ours_is_refused(change):
    good = {"version": 1, "survey": "ab" * 16, "id": "cd" * 16, "reports": [1, None, "gIA"]}
    assert donation_from_json(good).reports == (1, None, b"\x80\x80")
    with pytest.raises(InvalidInput):
        donation_from_json(good | change)


@pytest.mark.parametrize("parts", [[1], [2, b"s" * 16], [1, b"s", b"i" * 16, []], [1, b"s" * 16, b"i" * 16, 5], [1, b"s" * 16, b"i" * 16, [[]]]])  # fmt: skip
def test_donations_that_are_not_ours_are_refused(parts):
    with pytest.raises(InvalidInput):
        donation_from_cbor(encoded(parts))
    with pytest.raises(InvalidInput):
        donation_from_cbor(encoded(7))
