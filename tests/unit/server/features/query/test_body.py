import math
import re
from pathlib import Path

import pytest

from discreet.errors import InvalidInput, NotAllowed
from discreet.server.access import auth
from discreet.server.access.auth import Principal
from discreet.server.access.tokens import AskedAs, Role
from discreet.server.features.query.pages import QuestionBody, finite
from discreet.server.jobs.long import request_id_of

OWNER = Principal(Role.OWNER, None, "1")
ALICE = Principal(Role.ANALYST, "alice", "2")
REVIEWER = Principal(Role.REVIEWER, None, "4")


@pytest.mark.parametrize("who", [ALICE, OWNER, REVIEWER])
def test_everybody_pays_themselves_and_only_owners_name_who_pays(who):
    assert who.asks_as().analyst == who.asks_as(who.analyst).analyst == who.analyst
    assert who.asks_as().asker == who.name
    if who is OWNER:
        assert who.asks_as("bob") == AskedAs("bob", "owner")
        assert who.asks_as("owner") == who.asks_as()
    else:
        with pytest.raises(NotAllowed, match="own name only"):
            who.asks_as("bob")


def test_the_whole_budget_is_asked_in_the_owners_name():
    assert (ALICE.asks_as().name, OWNER.asks_as().name) == ("alice", "owner")
    source = Path(auth.__file__).parents[2]
    again = [path for path in source.rglob("*.py") if re.search(r"\bor OWNER\b", path.read_text())]
    assert again == [source / "base" / "bill.py"]


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
