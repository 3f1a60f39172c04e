"""Statements of strangers in the course: planned where they can be stopped, few at a time, at the lesson's price."""

import resource

import pytest

from discreet.errors import InvalidInput, QueryRefused, TooManyRequests
from discreet.lab.course import grade, practice_town
from discreet.lab.course.practice_town import AT_ONCE, MEMORY_MB, PLAIN, Planner, PracticeTown
from patience import slowness

RIGHT = "SELECT COUNT(*) AS n FROM people WHERE age = 83 AND sex = 'Female'"
JOINS = "SELECT COUNT(*) AS n FROM people" + " JOIN people" * 40
HANGS = "SELECT COUNT(*) AS n FROM people WHERE " + "DATE(" * 40 + "1" + ")" * 40


@pytest.fixture
def planned(monkeypatch):
    """What the bench lets its curator plan, which is written down instead."""
    seen = []
    with PLAIN._held(RIGHT, "1") as curator:
        monkeypatch.setattr(PLAIN, "_used", 0)  # so that no other one is opened in between
        monkeypatch.setattr(curator, "explain", lambda sql, **_: seen.append(sql))
    return seen


@pytest.mark.parametrize(("text", "error"), [(JOINS, InvalidInput), (HANGS, QueryRefused)])
def test_a_text_that_hangs_the_parser_never_reaches_it(planned, text, error):
    used = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    with pytest.raises(error):
        PLAIN.explain(text, epsilon="1")
    assert planned == []
    assert resource.getrusage(resource.RUSAGE_SELF).ru_utime - used < slowness()
    PLAIN.explain(RIGHT, epsilon="1")
    assert planned == [RIGHT], "and the next one is planned"


@pytest.mark.parametrize("text", [JOINS, HANGS])
def test_a_bench_without_the_trial_is_caught(planned, monkeypatch, text):
    """The broken twin, as it was: the same text goes straight to the parser."""
    monkeypatch.setattr(practice_town, "_refuse_large", lambda _: None)
    monkeypatch.setattr(PracticeTown, "_refuse_unplannable", lambda *_: None)
    PLAIN.explain(text, epsilon="1")
    assert planned == [text]


def test_short_texts_are_tried_as_well(monkeypatch):
    monkeypatch.setattr(PLAIN._planner, "_judged", None)
    with pytest.raises(TypeError):
        PLAIN.explain("SELECT COUNT(*) AS never_asked_before FROM people", epsilon="1")


def test_whoever_comes_too_many_is_told_at_once():
    """Nobody waits: with all turns taken the refusal comes without any being given back."""
    for _ in range(AT_ONCE):
        assert practice_town._turns.acquire(blocking=False)
    try:
        with pytest.raises(TooManyRequests):
            grade("aggregates", "single", RIGHT)
    finally:
        practice_town._turns.release(AT_ONCE)
    assert grade("aggregates", "single", RIGHT).right


@pytest.fixture
def impatient(monkeypatch):
    """Let the bench give up sooner: the test that a text never reaches the parser waits as strangers do."""
    planner = Planner(seconds=0.2 * slowness(), memory_mb=MEMORY_MB, spare_short=False)
    monkeypatch.setattr(PLAIN, "_planner", planner)
    yield
    planner.close()


@pytest.mark.usefixtures("impatient")
def test_a_turn_comes_back_after_a_refusal():
    for text in (HANGS, "SELECT * FROM people", JOINS):
        assert not grade("aggregates", "single", text).right
        for _ in range(AT_ONCE):
            assert practice_town._turns.acquire(blocking=False), "its turn has come back"
        practice_town._turns.release(AT_ONCE)
    assert grade("aggregates", "single", RIGHT).right


def test_no_price_in_an_answer_is_paid(monkeypatch):
    """One statement with a price of its own would use the town up for everybody."""
    monkeypatch.setattr(PLAIN, "_used", 0)  # so that no other ledger is opened in between

    def spent():
        with PLAIN._held(RIGHT, "1") as curator:
            [facts] = curator.budget_report()["datasets"].values()
            return facts["epsilon"]["spent"]

    before = spent()
    dear = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=99000) COUNT(*) AS n FROM people"
    found = grade("aggregates", "single", dear)
    assert not found.right
    assert "part of the exercise" in found.words
    assert spent() == before
    assert grade("aggregates", "single", RIGHT).right
    assert spent() == before + float(practice_town.NEARLY_EXACT), (
        "the ledger tells when it is spent"
    )
