"""The JavaScript device: what it keeps at each step, and what it makes of surveys that promise too much."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from node import run_node

from discreet.survey.plan import SurveyPlan
from discreet.survey.specification import survey_of
from vectors_kit import stored_vectors

LETTERS = {"kind": "choice", "options": ["a", "b", "c"]}
WORD = 2**32
STRANGE = {
    '{"pending":[1]}': (1, 0),
    '{"done":2,"pending":[null,"8401","zz","840"]}': (5, 1),
    '{"done":"x","pending":[]}': (0, 0),
    '{"done":-1,"pending":[]}': (0, 0),
    '{"done":1e300,"pending":[]}': (0, 0),
    '{"pending":{"a":1}}': (1, 0),
    "[]": (0, 0),
    "null": (0, 0),
    "no json": (0, 0),
}
"""What may stand in storage, and how many it says have answered and are still to be sent."""


def plan_of(questions, **more):
    stated = {"title": "t", "epsilon": "4", "questions": questions, **more}
    return SurveyPlan.of(survey_of(stated, name="s"), nonce="00")


WAVES = plan_of({"letter": LETTERS}, waves=2)
KINDS = plan_of(
    {
        "letter": LETTERS,
        "hours": {"kind": "number", "lower": 0, "upper": 12},
        "word": {"kind": "open", "rows": 16, "buckets": 32},
    }
)


def altered(document, question, **settings):
    stated = json.loads(document)
    stated["questions"][question]["settings"] |= settings
    return json.dumps(stated)


def of_kind(document, question, kind, **more):
    stated = json.loads(document)
    stated["questions"][question] |= {"kind": kind, **more}
    return json.dumps(stated)


def earlier(stated):
    """Return a document as it was before there were waves."""
    new = {name: value for name, value in stated.items() if name not in ("wave", "waves")}
    return new | {"version": 1, "changes": 0, "donations_per_day": 1}


def lies():
    """Surveys that tell more than they promise, one for each way; and the honest ones."""
    honest = {f"honest {i}": each["document"] for i, each in enumerate(stored_vectors()["surveys"])}
    _, listed, others, found, blurred = (each["document"] for each in stored_vectors()["surveys"])
    one = json.loads(listed)
    return honest | {
        "honest before waves": json.dumps(earlier(one)),
        "k-ary keeps too much": altered(listed, 1, keep=WORD - 9),
        "k-ary keeps too little": altered(listed, 1, keep=9),
        "k-ary of other codes": altered(listed, 1, codes=3),
        "k-ary in halves": altered(listed, 1, keep=0.5),
        "projective inside": altered(listed, 2, inside=WORD - 9),
        "projective without a prime": altered(listed, 2, prime=4),
        "projective of few points": altered(listed, 2, dimension=1),
        "hybrid window": altered(listed, 3, window=1),
        "hybrid base": altered(listed, 3, base=1),
        "sketch lie": altered(listed, 4, lie=1),
        "sketch truth": altered(listed, 4, lie=WORD - 1),
        "sketch of odd rows": altered(listed, 4, rows=1000),
        "unary lie": altered(others, 0, lie=1),
        "local hash": altered(others, 1, keep=WORD - 9),
        "duchi rises": altered(others, 2, rise=WORD // 2048),
        "piecewise": altered(others, 3, keep=WORD - 9),
        "hadamard": altered(others, 4, lie=1),
        "prefix tree": altered(found, 0, lie=1),
        "rappor lies too little": altered(blurred, 0, lie=1),
        "rappor without a blur": altered(blurred, 0, loud=WORD),
        "rappor of other codes": altered(blurred, 0, codes=3),
        "rappor sketch": altered(blurred, 1, lie=1),
        "shares": json.dumps(one | {"epsilon": "7.9"}),
        "waves": json.dumps(one | {"waves": 2}),
        "wave": json.dumps(one | {"wave": 2}),
        "changes": json.dumps(earlier(one) | {"changes": 1}),
        "nothing asked": json.dumps(one | {"questions": []}),
        "no list of questions": json.dumps(one | {"questions": {"length": 1}}),
        "no decimal": json.dumps(one | {"epsilon": "1e9"}),
        "a number told as a code": of_kind(listed, 0, "number", lower=0, upper=1e9),
        "a code told as a number": of_kind(listed, 3, "choice", options=["a", "b"]),
        "a word told as a code": of_kind(listed, 1, "open"),
        "no kind": of_kind(listed, 0, "toString"),
        "unknown": listed.replace("k-ary", "plain"),
    }


@pytest.fixture(scope="module")
def found():
    documents = {"waves": WAVES.document.decode(), "kinds": KINDS.document.decode()}
    given = {"documents": documents, "lies": lies(), "strangeMemory": list(STRANGE)}
    return run_node("behaviour.mjs", given)


def test_a_device_keeps_a_report_until_it_has_arrived_and_nothing_else(found):
    assert found["steps"] == {
        "twice": True,  # looking twice throws no coin twice
        "looked": {},
        "given": True,
        "again": "Changed",
        "arrived": '{"done":1,"pending":[]}',
        "otherCoins": True,
        "notShown": "Changed",
        "both": '{"done":2,"pending":[]}',
        "forgotten": {},
    }


def test_what_one_tab_takes_back_another_does_not_send_nor_write_down(found):
    done = '{"done":1,"pending":[]}'
    for how, kept in (("forget", None), ("withdraw", done), ("finish", done)):
        expected = {"begun": ["sent"], "kept": kept, "late": False, "then": kept}
        assert found["takenBack"][how] == expected


def test_what_something_else_wrote_is_not_sent_and_not_in_the_way(found):
    for (kept, pending, holds), (done, sound) in zip(
        found["strangeMemory"], STRANGE.values(), strict=True
    ):
        assert (json.loads(kept)["done"], pending, holds) == (done, sound, True)


def test_two_tabs_give_once(found):
    assert found["twoTabs"] == "Changed"


def test_secrets_and_answers_of_earlier_versions_are_deleted_at_once(found):
    told = '{"done":1,"pending":[]}'
    expected = [
        (told, told, 1),
        ('{"done":0,"pending":["8401"]}', told, 1),  # sent off by its respondent, not arrived
        (told, told, 1),  # withdrawn: it may have left, so the survey is not answered twice
        ('{"done":0,"pending":[]}', '{"done":0,"pending":[]}', 0),
    ]
    for each, (this, other, answered) in zip(found["earlier"], expected, strict=True):
        names = {called: name for name, called in each["names"].items()}
        assert each["kept"] == {names["this"]: this, names["other"]: other, "theirs": "stays"}
        assert each["answered"] == answered


def test_answers_that_cannot_be_told(found):
    assert found["refused"] == [
        "option",
        "range",
        "range",
        "range",
        "taken",
        "taken",
        "text",
        "long",
        "taken",
    ]


def test_a_promise_that_is_not_kept_is_noticed(found):
    kept = {name for name, outcome in found["promises"].items() if outcome == "kept"}
    assert kept == {
        "honest 0",
        "honest 1",
        "honest 2",
        "honest 3",
        "honest 4",
        "honest before waves",
    }
    assert set(found["promises"].values()) == {"kept", "broken"}


def test_a_code_that_no_option_has_is_never_told(found):
    assert found["strange"] == ["RangeError"] * 5
