"""What a respondent's browser keeps, read from all of its storages after each step, in Chromium."""

import json

import pytest
from playwright.sync_api import expect

from discreet.server.features.survey.pages import words_in
from patience import eventually
from respondent_kit import (
    ANSWERED,
    CONSENT,
    FORGOTTEN,
    LIE,
    NOTHING,
    SENT,
    TRUTH,
    WAITING,
    YES_NO,
    coins,
)

WORDS = words_in("en")
DRAFTS = (
    """addEventListener("change", ({ target }) => localStorage.setItem("draft", target.value))"""
)
"""What a page would do that keeps answers while they are given: the twin of the tests below."""


def name_of(store):
    return f"discreet survey {store.plan.id.hex()}"


def settled(respondent):
    """Wait until no copy of the page is kept any more: that is done beside what is shown."""
    eventually(lambda: respondent.kept()["workers"] == [], "the copy of the page is forgotten")
    eventually(lambda: respondent.kept()["copies"] == {}, "the copy of the page is forgotten")


def steps(device, store, answer, words, **more):
    """Return what is kept after each step of somebody who sends late, comes back, and is forgotten."""
    respondent = device(store, coins=coins(words), **more)
    page, found = respondent.page, {}
    expect(page.locator(CONSENT)).to_be_visible()
    found["opened"] = respondent.kept()
    respondent.begin()
    page.evaluate("navigator.serviceWorker.ready.then(() => undefined)")
    found["begun"] = respondent.kept()
    respondent.say(answer)
    found["answered"] = respondent.kept()
    respondent.look()
    found["shown"] = respondent.kept()
    respondent.context.set_offline(True)
    respondent.send()
    expect(page.locator(WAITING)).to_be_visible()
    found["waiting"] = respondent.kept()
    page.reload()
    expect(page.locator(WAITING)).to_be_visible()
    found["reloaded"] = respondent.kept()
    respondent.context.set_offline(False)
    expect(page.locator(SENT)).to_be_visible()
    settled(respondent)
    found["sent"] = respondent.kept()
    respondent.open()
    expect(page.locator(ANSWERED)).to_be_visible()
    found["back"] = respondent.kept()
    page.click(f"text={WORDS['forget']}")
    expect(page.locator(FORGOTTEN)).to_be_visible()
    found["forgotten"] = respondent.kept()
    report = respondent.sent[-1].post_data_buffer.hex()
    respondent.leave()
    return found, report


def test_nothing_that_a_browser_keeps_depends_on_the_answer(survey, device):
    """Two answers, and coins with which they yield the same report: every storage holds the same bytes."""
    store = survey()
    yes, report = steps(device, store, "yes", TRUTH)
    no, same = steps(device, store, "no", LIE)
    assert report == same
    assert yes == no
    locals_of = {step: kept["local"] for step, kept in yes.items()}
    pending, done = (
        {name_of(store): json.dumps(each, separators=(",", ":"))}
        for each in ({"done": 0, "pending": [report]}, {"done": 1, "pending": []})
    )
    assert locals_of == {
        "opened": {},
        "begun": {},
        "answered": {},
        "shown": {},
        "waiting": pending,
        "reloaded": pending,
        "sent": done,
        "back": done,
        "forgotten": {},
    }
    for kept in yes.values():
        assert kept["session"] == {}
        assert kept["databases"] == kept["cookies"] == []
        assert kept["cookie"] == ""
    # With the same coins another answer is another report, which is all that differs, while it waits.
    other, differs = steps(device, store, "no", TRUTH)
    assert differs != report
    assert {step for step in yes if yes[step] != other[step]} == {"waiting", "reloaded"}


def test_a_page_that_kept_drafts_would_be_caught(survey, device):
    store = survey()
    yes, report = steps(device, store, "yes", TRUTH, script=DRAFTS)
    no, same = steps(device, store, "no", LIE, script=DRAFTS)
    assert report == same
    assert yes != no


@pytest.mark.parametrize("how", ["arrived", "withdrawn", "forgotten", "nothing"])
def test_nothing_of_an_answer_remains_in_the_end(survey, device, how):
    store = survey()
    respondent = device(store)
    page = respondent.page
    respondent.begin()
    respondent.say("yes")
    respondent.look()
    if how in ("withdrawn", "forgotten"):
        respondent.context.set_offline(True)
    if how == "nothing":
        respondent.press(1)
        expect(page.locator(NOTHING)).to_contain_text(WORDS["not_sent_more"])
    else:
        respondent.send()
    if how == "arrived":
        expect(page.locator(SENT)).to_contain_text(WORDS["sent_more"])
    elif how == "withdrawn":
        page.click(f"text={WORDS['stop']}")
        expect(page.locator(NOTHING)).to_contain_text(WORDS["stopped_more"])
    elif how == "forgotten":
        page.click(f"text={WORDS['forget']}")
        expect(page.locator(FORGOTTEN)).to_contain_text(WORDS["forgotten"])
    respondent.context.set_offline(False)
    settled(respondent)
    answered = {name_of(store): '{"done":1,"pending":[]}'}
    expected = answered if how in ("arrived", "withdrawn") else {}
    empty = {"session": {}, "cookie": "", "databases": [], "copies": {}, "workers": []}
    assert respondent.kept() == {"local": expected, "cookies": [], **empty}
    # What was withdrawn is not sent later, whoever comes back.
    respondent.open()
    expect(page.locator(ANSWERED if expected else CONSENT)).to_be_visible()
    assert store.reports() == (how == "arrived")


def test_who_comes_next_is_asked_who_they_are(survey, device):
    store = survey()
    respondent = device(store)
    page = respondent.page
    respondent.answer("yes")
    expect(page.locator(SENT)).to_be_visible()
    respondent.open()
    expect(page.locator(ANSWERED)).to_contain_text(WORDS["answered_who"])
    page.click(f"text={WORDS['answered_me']}")
    expect(page.locator("#survey[data-step=done]")).to_be_visible()
    respondent.open()
    page.click(f"text={WORDS['answered_other']}")
    respondent.answer("no")
    expect(page.locator(SENT)).to_be_visible()
    assert store.reports() == 2
    first, second = (each.post_data_buffer for each in respondent.sent)
    assert first[20:36] != second[20:36], "coins and one-use ids of their own"
    assert respondent.kept()["local"] == {name_of(store): '{"done":2,"pending":[]}'}


def test_somebody_else_may_answer_while_a_report_waits(survey, device):
    store = survey()
    respondent = device(store)
    page = respondent.page
    respondent.context.set_offline(True)
    respondent.answer("yes")
    expect(page.locator(WAITING)).to_be_visible()
    page.click(f"text={WORDS['answered_other']}")
    respondent.answer("no")
    expect(page.locator(WAITING)).to_be_visible()
    respondent.context.set_offline(False)
    expect(page.locator(SENT)).to_be_visible()
    assert store.reports() == 2
    assert respondent.kept()["local"] == {name_of(store): '{"done":2,"pending":[]}'}


def test_who_withdraws_a_report_withdraws_their_own(survey, device):
    store = survey()
    respondent = device(store)
    page = respondent.page
    respondent.context.set_offline(True)
    respondent.answer("yes")
    expect(page.locator(WAITING)).to_be_visible()
    first = json.loads(respondent.kept()["local"][name_of(store)])["pending"]
    page.click(f"text={WORDS['answered_other']}")
    respondent.answer("no")
    expect(page.locator(WAITING)).to_be_visible()
    page.click(f"text={WORDS['stop']}")
    expect(page.locator(NOTHING)).to_be_visible()
    assert json.loads(respondent.kept()["local"][name_of(store)]) == {"done": 1, "pending": first}
    respondent.context.set_offline(False)
    respondent.open()
    expect(page.locator(SENT)).to_be_visible()
    assert store.reports() == 1
    assert respondent.sent[-1].post_data_buffer.hex() == first[0]


def test_what_earlier_versions_kept_is_deleted_when_the_page_is_opened(survey, device):
    """A secret and answers of this survey and of another; a report that was sent off and had not arrived leaves."""
    store, other = survey(), survey()
    respondent = device(store)
    earlier = {"told": {"0": [1]}, "day": 20_000, "given": 1, "pending": None}
    waiting = respondent_report(store)
    planted = {
        "discreet survey secret": "5e" * 32,
        name_of(store): json.dumps(earlier | {"pending": waiting.hex()}),
        name_of(other): json.dumps(earlier),
    }
    respondent.page.evaluate("(all) => Object.assign(localStorage, all)", planted)
    respondent.open()
    expect(respondent.page.locator(SENT)).to_be_visible()
    done = '{"done":1,"pending":[]}'
    assert respondent.kept()["local"] == {name_of(store): done, name_of(other): done}
    assert respondent.sent[0].post_data_buffer == waiting
    assert store.reports() == 1


def respondent_report(store):
    """Return a report as a device of any version sends it."""
    from discreet.survey.device import Device

    return Device().donate(store.plan, {"smokes": "yes"}).to_cbor()


def test_a_wave_says_which_it_is_and_the_next_is_answered_again(survey, device, visit, served):
    store = survey(YES_NO.replace("[questions", "waves = 2\n[questions", 1))
    respondent = device(store)
    expect(respondent.page.locator(".wave")).to_contain_text("wave 1 of at most 2")
    respondent.answer("yes")
    expect(respondent.page.locator(SENT)).to_be_visible()
    owner = visit(served, f"/surveys/{store.plan.survey.name}")
    expect(owner.locator("#wave")).to_contain_text("Wave 1 of at most 2")
    owner.click("#next-wave")
    owner.wait_for_url("**-wave-2")
    expect(owner.locator("#wave")).to_contain_text("Wave 2 of at most 2")
    expect(owner.locator("#next-wave")).to_have_count(0)
    respondent.path += "-wave-2"
    respondent.open()
    expect(respondent.page.locator(".wave")).to_contain_text("wave 2 of at most 2")
    respondent.answer("yes")
    expect(respondent.page.locator(SENT)).to_be_visible()
