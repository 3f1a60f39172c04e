import math

import pytest

from discreet.errors import InvalidInput, NotAllowed
from discreet.server.access.auth import Principal
from discreet.server.access.tokens import Role
from discreet.server.asking.request_id import payer_of, request_id_of
from discreet.server.features.query.body import QuestionBody, finite

OWNER = Principal(Role.OWNER, None, "1")
ALICE = Principal(Role.ANALYST, "alice", "2")


def test_analysts_pay_themselves_and_owners_name_who_pays():
    assert payer_of(ALICE, None) == "alice"
    assert payer_of(ALICE, "alice") == "alice"
    with pytest.raises(NotAllowed):
        payer_of(ALICE, "bob")
    assert payer_of(OWNER, None) is None
    assert payer_of(OWNER, "bob") == "bob"


def test_callers_are_told_apart_by_analyst_and_otherwise_by_token():
    assert ALICE.key == Principal(Role.ANALYST, "alice", "3").key
    assert OWNER.key != Principal(Role.OWNER, None, "3").key


def test_header_and_body_must_agree_on_the_id():
    question = QuestionBody(sql="x", request_id="a")
    assert request_id_of(question, None) == "a"
    assert request_id_of(question, "a") == "a"
    assert request_id_of(QuestionBody(sql="x"), "b") == "b"
    with pytest.raises(InvalidInput):
        request_id_of(question, "b")


def test_infinities_become_null():
    assert finite({"a": [1.5, math.inf, [-math.inf, math.nan]], "b": "inf"}) == {
        "a": [1.5, None, [None, None]],
        "b": "inf",
    }
