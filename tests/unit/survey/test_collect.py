"""The collector's store: donations once, hostile ones refused one by one and counted."""

import numpy as np
import pytest

from discreet.engine.connect import connect
from discreet.errors import InvalidInput, UnknownName
from discreet.survey.collect.check import Refusal
from discreet.survey.collect.columns import count_columns
from discreet.survey.collect.store import SurveyStore
from discreet.survey.command import begin_survey, close_survey, estimate_survey
from discreet.survey.device.cbor import encoded
from discreet.survey.device.device import Device
from discreet.survey.device.donation import Donation
from discreet.survey.estimate.wanted import SurveyWanted

TOML = """
title = "Class"
epsilon = 30
[questions.smokes]
kind = "yes-no"
[questions.street]
kind = "choice"
options = ["a", "b", "c"]
mechanism = "unary"
[questions.hours]
kind = "number"
lower = 0
upper = 10
[questions.word]
kind = "open"
candidates = "words.csv"
rows = 16
buckets = 64
"""


@pytest.fixture
def store(tmp_path):
    (tmp_path / "class.toml").write_text(TOML, encoding="utf-8")
    (tmp_path / "words.csv").write_text("word\ntea\ncoffee\n", encoding="utf-8")
    return SurveyStore.create(tmp_path / "class.toml", tmp_path / "here")


ANSWERS = {"smokes": "yes", "street": "b", "hours": "2.5", "word": "tea"}


def donations(store, count, **more):
    return [Device().donate(store.plan, ANSWERS | more, day=1) for _ in range(count)]


def test_reports_are_kept_and_estimated(store, tmp_path):
    given = [each.to_cbor() for each in donations(store, 200)]
    given += [each.to_cbor() for each in donations(store, 100, smokes=None, word="coffee")]
    assert store.take_cbor(given).accepted == 300
    found = estimate_survey(
        "class", tmp_path / "here", wanted=SurveyWanted(cross=("smokes", "street"))
    )
    questions = found["questions"]
    assert found["reports"] == 300
    assert [each["answers"] for each in questions.values()] == [200, 300, 300, 300]
    # At epsilon 7.5 a question almost every coin tells the truth: six standard errors are below 0.1.
    assert abs(questions["smokes"]["estimates"]["yes"]["value"] - 1) < 0.1
    assert abs(questions["street"]["estimates"]["b"]["value"] - 1) < 0.4
    assert abs(questions["hours"]["mean"]["value"] - 2.5) < 1
    assert abs(questions["word"]["estimates"]["tea"]["value"] - 2 / 3) < 0.3
    assert abs(found["cross"]["estimates"]["yes"]["b"]["value"] - 1) < 0.5


def test_a_report_counts_once(store):
    (one,) = donations(store, 1)
    assert store.take_cbor([one.to_cbor(), one.to_cbor()]).accepted == 1
    again = store.take_json([one.to_json()])
    assert (again.accepted, again.refused) == (0, {Refusal.REPLAYED: 1})
    changed = Donation(one.survey, one.id, (1 - one.reports[0], *one.reports[1:]))
    assert store.take_cbor([changed.to_cbor()]).accepted == 0
    assert store.reports() == 1
    assert store.refused() == {"seen before": 3}


def test_hostile_donations_are_refused_one_by_one(store):
    good, other = donations(store, 2)
    survey, one_use, reports = good.survey, good.id, good.reports

    def with_report(index, report):
        return encoded([1, survey, one_use, [*reports[:index], report, *reports[index + 1 :]]])

    hostile = {
        Refusal.MALFORMED: [
            b"",
            b"\xff",
            encoded(5),
            encoded([1, survey]),
            good.to_cbor() + b"\x00",
        ],
        Refusal.TOO_LARGE: [b"x" * 10_000_000],
        Refusal.VERSION: [
            encoded([2, b"future"]),
            encoded([2, survey, one_use, list(reports)]),
        ],
        Refusal.SURVEY: [encoded([1, b"x" * 16, one_use, list(reports)])],
        Refusal.SHAPE: [
            encoded([1, survey, one_use, [1]]),
            with_report(0, 2),
            with_report(0, b"x"),
            with_report(1, b"ab"),
            with_report(1, b"\xff"),  # a bit beyond the third option
            with_report(2, 2**40),
            with_report(3, b"\x00\x10" + bytes(8)),  # row 16 of 16
            with_report(3, bytes(9)),
        ],
        Refusal.EMPTY: [encoded([1, survey, one_use, [None] * 4])],
    }
    for reason, all_of_them in hostile.items():
        for data in all_of_them:
            taken = store.take_cbor([data])
            assert (taken.accepted, taken.refused) == (0, {reason: 1}), reason
    mixed = [data for several in hostile.values() for data in several]
    taken = store.take_cbor([*mixed, good.to_cbor(), *mixed, other.to_cbor()])
    assert taken.accepted == 2
    assert store.refused() == {str(reason): 3 * len(several) for reason, several in hostile.items()}


def test_hostile_twins_are_refused(store):
    (good,) = donations(store, 1)
    twin = good.to_json()
    cases = {
        Refusal.VERSION: [twin | {"version": 2}],
        Refusal.MALFORMED: [None, [], "x", {}, twin | {"id": "x"}, twin | {"reports": {}}],
        Refusal.SURVEY: [twin | {"survey": "00" * 16}],
        Refusal.SHAPE: [twin | {"reports": [5, 5, 5, 5]}],
    }
    for reason, several in cases.items():
        for stated in several:
            assert store.take_json([stated]).refused == {reason: 1}
    assert store.take_json([twin]).accepted == 1


def test_a_closed_survey_takes_nothing(store, tmp_path):
    given = [each.to_cbor() for each in donations(store, 2)]
    store.take_cbor(given[:1])
    assert close_survey("class", tmp_path / "here")["reports"] == 1
    assert store.take_cbor(given[1:]).refused == {Refusal.CLOSED: 1}
    assert estimate_survey("class", tmp_path / "here")["closed"] is True


def test_an_engine_counts_the_same(store, tmp_path):
    given = donations(store, 40) + donations(store, 30, hours=None, smokes="no")
    store.take_cbor([each.to_cbor() for each in given])
    columns = store.close()
    engine = connect("duckdb:", {"reports": columns.name}, base=columns.parent)
    try:
        found = count_columns(engine, "reports", store.plan)
    finally:
        engine.close()
    for one, two in zip(found, store.tallies(), strict=True):
        assert one.answers == two.answers
        assert np.array_equal(one.tally, two.tally)


def test_names_files_and_changed_surveys(store, tmp_path):
    here = tmp_path / "here"
    with pytest.raises(InvalidInput):
        SurveyStore.create(tmp_path / "class.toml", here)
    with pytest.raises(UnknownName):
        SurveyStore.open("../class", here)
    with pytest.raises(UnknownName):
        SurveyStore.open("other", here)
    with pytest.raises(InvalidInput):
        begin_survey(tmp_path / "class.toml", tmp_path / "there", within=0)
    assert not (tmp_path / "there").exists()
    kept = here / "surveys" / "class" / "survey.toml"
    kept.write_text(TOML.replace("epsilon = 30", "epsilon = 3"), encoding="utf-8")
    with pytest.raises(InvalidInput):
        SurveyStore.open("class", here)


def test_rows_do_not_lie_in_the_order_of_arrival(store):
    given = donations(store, 50)
    store.take_cbor([each.to_cbor() for each in given])
    with store._connection() as connection:
        kept = [row[0] for row in connection.execute("SELECT id FROM reports")]
        columns = [row[1] for row in connection.execute("PRAGMA table_info(reports)")]
    assert kept == sorted(each.id for each in given)
    assert columns == ["id", "q0", "q1", "q2", "q3"]
    assert np.all(store.tallies()[0].tally >= 0)
