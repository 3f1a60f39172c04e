"""The collector's store: donations once, hostile ones refused one by one and counted."""

import json
import secrets
import threading
import time
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pyarrow.parquet as pq
import pytest

from discreet.errors import InvalidInput, UnknownName
from discreet.survey import store as state
from discreet.survey.command import begin_survey, begin_wave, close_survey, estimate_survey
from discreet.survey.device import Device, Donation, encoded
from discreet.survey.donation_checks import Refusal
from discreet.survey.plan import SurveyPlan
from discreet.survey.results import EstimateRequest
from discreet.survey.store import COLUMNS, SurveyStore
from patience import eventually

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


@pytest.fixture(autouse=True)
def one_day(monkeypatch):
    """It stays the day on which a test began: a midnight would make it two."""
    now = time.time()
    monkeypatch.setattr(state, "time", SimpleNamespace(time=lambda: now))


@pytest.fixture
def store(tmp_path):
    (tmp_path / "class.toml").write_text(TOML, encoding="utf-8")
    (tmp_path / "words.csv").write_text("word\ntea\ncoffee\n", encoding="utf-8")
    return SurveyStore.create(tmp_path / "class.toml", tmp_path / "here")


ANSWERS = {"smokes": "yes", "street": "b", "hours": "2.5", "word": "tea"}


def donations(store, count, **more):
    return [Device().donate(store.plan, ANSWERS | more) for _ in range(count)]


def test_reports_are_kept_and_estimated(store, tmp_path):
    given = [each.to_cbor() for each in donations(store, 200)]
    given += [each.to_cbor() for each in donations(store, 100, smokes=None, word="coffee")]
    assert store.take_cbor(given).accepted == 300
    found = estimate_survey(
        "class", tmp_path / "here", wanted=EstimateRequest(cross=("smokes", "street"))
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
        Refusal.MALFORMED: [
            twin | {"version": True},
            twin | {"version": 1.0},
            None,
            [],
            "x",
            {},
            twin | {"id": "x"},
            twin | {"reports": {}},
        ],
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


def test_what_is_accepted_while_a_survey_closes_is_in_its_file(store, monkeypatch):
    """A taker that saw the survey open holds the lock; closing waits for it, and reads it too."""
    one = donations(store, 1)[0].to_cbor()
    insert, closing = store._insert, []

    def slowly(connection, rows):
        closing.append(threading.Thread(target=SurveyStore(store.folder, store.plan).close))
        closing[0].start()
        eventually(lambda: store.closed, "closing has begun")
        return insert(connection, rows)

    monkeypatch.setattr(store, "_insert", slowly)
    assert store.take_cbor([one]).accepted == 1
    closing[0].join()
    assert pq.read_table(store.folder / COLUMNS).num_rows == 1
    assert store.reports() == 1


def test_a_survey_that_is_closed_meanwhile_takes_nothing_more(store):
    one, two = (each.to_cbor() for each in donations(store, 2))

    def slowly():
        yield one
        store.close()
        yield two

    assert store.take_cbor(slowly()).refused == {Refusal.CLOSED: 2}
    assert store.reports() == 0


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


def open_question(candidates):
    return f'title = "t"\nepsilon = 2\n[questions.w]\nkind = "open"\ncandidates = "{candidates}"\n'


@pytest.mark.parametrize("named", ["/etc/hosts", "../words.csv", "in/words.csv", "x" * 201, ".."])
def test_candidates_lie_beside_the_survey(tmp_path, named):
    (tmp_path / "words.csv").write_text("secret\n", encoding="utf-8")
    toml = tmp_path / "in" / "w.toml"
    toml.parent.mkdir()
    toml.write_text(open_question(named), encoding="utf-8")
    with pytest.raises(InvalidInput, match="plain name"):
        begin_survey(toml, tmp_path)


def test_candidates_are_copied_when_the_survey_begins(tmp_path):
    toml = tmp_path / "w.toml"
    toml.write_text(open_question("state.json"), encoding="utf-8")
    with pytest.raises(InvalidInput, match="no file 'state") as refused:
        begin_survey(toml, tmp_path / "here")
    assert str(tmp_path) not in refused.value.message
    assert not (tmp_path / "here").exists()
    (tmp_path / "state.json").write_text("tea\n", encoding="utf-8")
    begin_survey(toml, tmp_path / "here")
    (tmp_path / "state.json").write_text("coffee\n", encoding="utf-8")
    found = estimate_survey("w", tmp_path / "here")
    assert list(found["questions"]["w"]["estimates"]) == ["tea"]


YES_NO = (
    'title = "t"\nepsilon = 1\n[questions.q]\nkind = "yes-no"\n[questions.r]\nkind = "yes-no"\n'
)


@pytest.fixture
def plain(tmp_path):
    (tmp_path / "s.toml").write_text(YES_NO, encoding="utf-8")
    return SurveyStore.create(tmp_path / "s.toml", tmp_path)


def as_of_before(plain, tmp_path):
    """Turn a survey into one that began before there were waves, and return its store."""
    stated = replace(plain.plan.survey)
    plan = SurveyPlan.of(stated, nonce=plain.plan.nonce, wave=0)
    kept = {"id": plan.id.hex(), "nonce": plan.nonce, "begun": state.today(), "ended": -1}
    (plain.folder / "state.json").write_text(json.dumps(kept), encoding="utf-8")
    return SurveyStore.open("s", tmp_path)


def test_copies_of_before_there_were_waves_do_not_count_as_many(plain, tmp_path, monkeypatch):
    plain = as_of_before(plain, tmp_path)
    assert b'"changes":0,"donations_per_day":1' in plain.plan.document
    copies = [Device().donate(plain.plan, {"q": "yes", "r": "no"}) for _ in range(40)]
    widths, mixed, begun = [], [], state.today()
    for day in range(begun, begun + 9):
        monkeypatch.setattr(state, "today", lambda day=day: day)
        given = [replace(each, id=secrets.token_bytes(16)) for each in copies]
        assert plain.take_cbor([each.to_cbor() for each in given]).accepted == 40
        found = estimate_survey("s", tmp_path)
        share = found["questions"]["q"]["estimates"]["yes"]
        widths.append(share["high"] - share["low"])
        mixed.append(found["shuffled"]["epsilon"])
    assert widths == pytest.approx([widths[0]] * 9)
    assert mixed[0] < 1
    assert mixed[1:] == [1.0] * 8
    assert found["warnings"][0].startswith("A device may have given up to 9 times.")
    plain.close()
    monkeypatch.setattr(state, "today", lambda: begun + 100)
    assert plain.repeats == 9
    with pytest.raises(InvalidInput, match="before there were waves"):
        begin_wave("s", tmp_path)


def test_each_wave_is_a_survey_of_its_own(tmp_path):
    toml = YES_NO.replace("epsilon = 1", "epsilon = 3\nwaves = 3")
    (tmp_path / "s.toml").write_text(toml, encoding="utf-8")
    begun = begin_survey(tmp_path / "s.toml", tmp_path)
    assert (begun["wave"], begun["waves"], begun["question_epsilon"]) == (1, 3, 0.5)
    device, answers = Device(), {"q": "yes", "r": "no"}
    first = SurveyStore.open("s", tmp_path)
    given = device.donate(first.plan, answers)
    assert device.donate(first.plan, answers) is None, "a wave is answered once"
    assert first.take_cbor([given.to_cbor()]).accepted == 1
    for wave, (name, expected) in enumerate([("s", "s-wave-2"), ("s-wave-2", "s-wave-3")], 2):
        found = begin_wave(name, tmp_path)
        assert (found["survey"], found["wave"]) == (expected, wave)
        assert SurveyStore.open(name, tmp_path).closed
        store = SurveyStore.open(expected, tmp_path)
        assert store.plan.document.endswith(b'"version":2,"wave":%d,"waves":3}' % wave)
        assert store.take_cbor([given.to_cbor()]).refused == {Refusal.SURVEY: 1}
        given = device.donate(store.plan, answers)
        assert store.take_cbor([given.to_cbor()]).accepted == 1
        assert (store.repeats, store.reports()) == (1, 1)
    with pytest.raises(InvalidInput, match="has 3 of them"):
        begin_wave("s-wave-3", tmp_path)
    with pytest.raises(InvalidInput, match="already"):
        begin_wave("s", tmp_path)


def test_the_words_of_an_open_question_go_with_the_next_wave(tmp_path):
    (tmp_path / "class.toml").write_text(
        TOML.replace("epsilon = 30", "epsilon = 30\nwaves = 2"), encoding="utf-8"
    )
    (tmp_path / "words.csv").write_text("word\ntea\n", encoding="utf-8")
    SurveyStore.create(tmp_path / "class.toml", tmp_path)
    begin_wave("class", tmp_path)
    found = estimate_survey("class-wave-2", tmp_path)
    assert list(found["questions"]["word"]["estimates"]) == ["tea"]


def test_whoever_alone_skips_a_question_is_not_hidden_by_mixing(plain, tmp_path):
    both = [Device().donate(plain.plan, {"q": "yes", "r": "no"}) for _ in range(500)]
    plain.take_cbor([each.to_cbor() for each in both])
    assert estimate_survey("s", tmp_path)["shuffled"]["epsilon"] < 0.9
    plain.take_cbor([Device().donate(plain.plan, {"q": "yes"}).to_cbor()])
    assert estimate_survey("s", tmp_path)["shuffled"]["epsilon"] == 1.0


def test_a_closed_file_lies_in_the_order_of_ids_for_its_owner_only(plain):
    given = [Device().donate(plain.plan, {"q": "yes"}) for _ in range(90)]
    for each in given:
        plain.take_cbor([each.to_cbor()])
    columns = plain.close()
    raw = (plain.folder / "reports.db").read_bytes()
    places = [raw.find(one) for one in sorted(each.id for each in given)]
    arrival = [raw.find(each.id) for each in given]
    assert -1 not in places
    falling = sum(one > two for one, two in pairwise(arrival))
    assert 20 < falling < 70  # about half of 89, six standard errors are 16
    assert sum(one > two for one, two in pairwise(places)) > 85
    assert columns.stat().st_mode & 0o777 == 0o600
    for path in plain.folder.iterdir():
        assert path.stat().st_mode & 0o777 == 0o600, path.name
    assert plain.folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("damaged", ["", "{", "[]", "{}", '{"id": 1, "nonce": 2, "begun": true}'])
def test_a_damaged_state_is_refused_with_a_sentence(plain, tmp_path, damaged):
    (plain.folder / "state.json").write_text(damaged, encoding="utf-8")
    with pytest.raises(InvalidInput, match="damaged"):
        SurveyStore.open("s", tmp_path)


def test_rows_do_not_lie_in_the_order_of_arrival(store):
    given = donations(store, 50)
    store.take_cbor([each.to_cbor() for each in given])
    with store._connection() as connection:
        kept = [row[0] for row in connection.execute("SELECT id FROM reports")]
        columns = [row[1] for row in connection.execute("PRAGMA table_info(reports)")]
    assert kept == sorted(each.id for each in given)
    assert columns == ["id", "q0", "q1", "q2", "q3"]
    assert np.all(store.tallies()[0].tally >= 0)
