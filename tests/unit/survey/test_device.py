"""The device: memoised reports, limits, the donation's bytes, and the vectors for other devices."""

import json

import pytest

from discreet.errors import InvalidInput
from discreet.survey.device.cbor import decoded, encoded
from discreet.survey.device.device import Device
from discreet.survey.device.donation import donation_from_cbor, donation_from_json
from discreet.survey.device.secret import SecretStream, report_id
from discreet.survey.spec.plan import SurveyPlan
from discreet.survey.spec.read import survey_of
from vectors_kit import make_vectors, stored_vectors


def plan_of(questions=None, **more):
    stated = {"title": "t", "epsilon": "2", "questions": questions or {"a": {"kind": "yes-no"}}}
    return SurveyPlan.of(survey_of(stated | more, name="s"))


def test_the_vectors_are_what_this_device_makes():
    assert make_vectors() == stored_vectors()


def test_the_same_answer_is_the_same_report_for_ever():
    plan, device = plan_of(donations_per_day=1000), Device()
    found = [device.donate(plan, {"a": "yes"}, day=day) for day in range(1000)]
    assert len({each.reports for each in found}) == 1
    assert len({each.id for each in found}) == 1000  # one-use ids, not to be linked
    fresh = {Device().donate(plan, {"a": "yes"}, day=1).reports for _ in range(400)}
    assert len(fresh) == 2  # other secrets, other coins: each tells "yes" with 0.88, all with 1e-22


def test_different_answers_questions_and_surveys_have_independent_bytes():
    secret, survey = bytes(32), b"s" * 16
    first = SecretStream(secret, survey, 0, 0).take(100)
    assert first == SecretStream(secret, survey, 0, 0).take(100)
    others = [
        SecretStream(secret, survey, 0, 1),
        SecretStream(secret, survey, 1, 0),
        SecretStream(secret, b"t" * 16, 0, 0),
        SecretStream(bytes(31) + b"x", survey, 0, 0),
        SecretStream(secret, survey, 0, 0.0),
        SecretStream(secret, survey, 0, "0"),
    ]
    assert len({first, *(other.take(100) for other in others)}) == 7
    with pytest.raises(InvalidInput):
        SecretStream(b"short", survey, 0, 0)
    assert report_id(secret, survey, 1, 0) != report_id(secret, survey, 1, 1)


@pytest.mark.parametrize("changes", [0, 2])
def test_past_the_limit_of_changes_nothing_seems_to_change(changes):
    plan = plan_of(
        {"a": {"kind": "choice", "options": list("abcdefgh")}}, changes=changes, epsilon="9"
    )
    device = Device()
    for day, letter in enumerate("abcdefgh"):
        found = device.donate(plan, {"a": letter}, day=day)
        if day == changes:
            last = found.reports
        if day > changes:
            assert found.reports == last
    assert device.spent(plan) == 9
    again = device.donate(plan, {"a": "a"}, day=99)
    assert again.reports == Device(device.secret).donate(plan, {"a": "a"}, day=0).reports


def test_a_day_has_its_limit_and_nothing_answered_sends_nothing():
    plan, device = plan_of(donations_per_day=2), Device()
    assert device.donate(plan, {"a": ""}, day=5) is None
    assert device.donate(plan, {}, day=5) is None
    given = [device.donate(plan, {"a": "no"}, day=5) for _ in range(4)]
    assert [each is None for each in given] == [False, False, True, True]
    assert device.donate(plan, {"a": "no"}, day=6) is not None


def test_donations_are_the_same_in_both_forms():
    plan = plan_of(
        {
            "a": {"kind": "yes-no"},
            "b": {"kind": "open"},
            "c": {"kind": "number", "lower": 0, "upper": 9},
        }
    )
    donation = Device().donate(plan, {"a": "yes", "b": "tea"}, day=1)
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
