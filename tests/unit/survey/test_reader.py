"""The quick reader takes exactly what the careful one takes, on right and on spoiled donations."""

import secrets
from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidInput
from discreet.survey.device import Device, encoded
from discreet.survey.donation_checks import (
    MOST,
    DonationCheck,
    DonationReader,
    Refusal,
    donations_of,
    twins_of,
)
from discreet.survey.plan import SurveyPlan
from discreet.survey.specification import survey_of
from sittings import FULL
from survey_kit import RecordedBytes

QUESTIONS = {
    "smokes": {"kind": "yes-no"},
    "street": {"kind": "choice", "options": [f"street {i}" for i in range(300)]},
    "bits": {"kind": "choice", "options": list("abcdefghijk"), "mechanism": "unary"},
    "hours": {"kind": "number", "lower": 0, "upper": 12},
    "word": {"kind": "open", "rows": 16, "buckets": 32},
}
ANSWERS = {"smokes": "yes", "street": "street 7", "bits": "c", "hours": "7.5", "word": "tea"}
PLAN = SurveyPlan.of(
    survey_of({"title": "t", "epsilon": "9", "questions": QUESTIONS}, name="s"), nonce="1"
)
READER, CHECK = DonationReader(PLAN), DonationCheck(PLAN)


def careful(data):
    found = CHECK.from_cbor(data)
    return None if isinstance(found, Refusal) else (found.id, *found.reports)


def right(left_out=()):
    answers = {name: answer for name, answer in ANSWERS.items() if name not in left_out}
    coins = RecordedBytes(sha256(b"a donation").digest() * 40)
    return Device().donate(PLAN, answers, coins=coins).to_cbor()


def test_right_donations_are_read():
    for left_out in ((), ("smokes",), ("word", "bits"), ("street", "hours")):
        data = right(left_out)
        assert READER.row(data) == careful(data) is not None


@given(st.data())
@settings(max_examples=400 if FULL else 60, deadline=None)
def test_spoiled_donations_are_judged_alike(data):
    donation = bytearray(right())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(donation)))
        match data.draw(st.sampled_from(["turn", "cut", "add"])):
            case "turn" if at < len(donation):
                donation[at] = data.draw(st.integers(0, 255))
            case "cut":
                del donation[at:]
            case _:
                donation[at:at] = data.draw(st.binary(min_size=1, max_size=9))
    assert READER.row(bytes(donation)) == careful(bytes(donation))


@pytest.mark.parametrize(
    "reports",
    [
        [2, None, None, None, None],  # a third answer to yes or no
        [None] * 5,
        [1, None, None, None],
        [1, None, b"\0\1", None, None],  # a bit beyond the eleventh
        [1, None, b"\0", None, None],
        [None, None, None, None, b"\0\x10" + bytes(4)],  # a row that the sketch does not have
        [b"\1", None, None, None, None],
        [1, 2**64 - 1, None, None, None],
    ],
)
def test_impossible_reports_are_taken_by_neither(reports):
    data = encoded([1, PLAN.id, secrets.token_bytes(16), reports])
    assert READER.row(data) is None
    assert careful(data) is None


def test_a_batch_is_split_without_reading_its_members():
    members = [b"", b"\0", bytes(23), bytes(24), bytes(300), bytes(70_000)]
    assert donations_of(encoded(members)) == members
    assert donations_of(encoded([bytes([i % 256]) for i in range(1000)]))[999] == bytes([231])


@pytest.mark.parametrize(
    "batch",
    [
        b"",
        b"\x40",
        b"\x81",
        b"\x81\x41",
        b"\x81\x40\x40",
        b"\x81\x80",
        b"\x9f\xff",
        b"\x9b" + b"\xff" * 8,
        b"\x81\x5b" + b"\xff" * 8,
        b"\x9a\x00\x01\x00\x00" + b"\x40" * (MOST + 1),
    ],
    ids=range(10),
)
def test_what_is_no_batch_is_refused_at_once(batch):
    with pytest.raises(InvalidInput):
        donations_of(batch)


def test_a_batch_of_twins_is_a_list():
    assert twins_of([1, "anything"]) == [1, "anything"]
    for wrong in ({}, "x", None, [0] * (MOST + 1)):
        with pytest.raises(InvalidInput):
            twins_of(wrong)
