"""A respondent's page that was left, a site that is forgotten, and everything else that goes wrong around a report."""

import html
import json
import re

import pytest
from playwright.sync_api import expect

from discreet.server.features.survey.pages import words_in
from patience import eventually
from respondent_kit import CONSENT, FORGOTTEN, NOTHING, PREVIEW, SENT, WAITING

WORDS = words_in("en")
OPEN = 'title = "Word"\nepsilon = 2\n[questions.word]\nkind = "open"\nrows = 1024\nbuckets = 32\n'
SECRET = "quartzflamingo"
LEAVE, RETURN = (
    f"dispatchEvent(new PageTransitionEvent('{name}', {{ persisted: true }}))"
    for name in ("pagehide", "pageshow")
)
DEAF = """{
  const listen = globalThis.addEventListener;
  globalThis.addEventListener = (name, ...more) => name === "pagehide" || listen.call(globalThis, name, ...more);
}"""
"""What makes a page that is not emptied when it is left: the broken twin."""


def heap_of(respondent):
    """Return all that the page's memory holds, as the browser's own tool for that writes it down."""
    wire = respondent.context.new_cdp_session(respondent.page)
    parts = []
    wire.on("HeapProfiler.addHeapSnapshotChunk", lambda event: parts.append(event["chunk"]))
    wire.send("HeapProfiler.enable")
    wire.send("HeapProfiler.collectGarbage")
    wire.send("HeapProfiler.takeHeapSnapshot", {"reportProgress": False})
    wire.detach()
    return "".join(parts)


def typed(respondent, step):
    """Answer with one word as far as a step."""
    respondent.begin()
    respondent.page.fill("input[name=word]", SECRET)
    if step == "preview":
        respondent.look()


@pytest.mark.parametrize("step", ["questions", "preview"])
def test_a_page_that_was_left_shows_and_holds_nothing_of_an_answer(survey, device, step):
    respondent = device(survey(OPEN))
    page = respondent.page
    typed(respondent, step)
    page.evaluate(LEAVE)
    assert page.inner_html("#survey") == ""
    assert SECRET not in heap_of(respondent)
    with page.expect_navigation():
        page.evaluate(RETURN)
    expect(page.locator(CONSENT)).to_be_visible()
    respondent.begin()
    assert page.input_value("input[name=word]") == ""
    assert respondent.sent == []


def test_a_page_that_is_not_emptied_holds_the_answer(survey, device):
    respondent = device(survey(OPEN), script=DEAF)
    typed(respondent, "preview")
    respondent.page.evaluate(LEAVE)
    expect(respondent.page.locator(PREVIEW)).to_be_visible()
    assert SECRET in heap_of(respondent)


def test_back_does_not_return_to_an_answer(survey, device, served):
    store, other = survey(), survey()
    respondent = device(store)
    page = respondent.page
    respondent.begin()
    respondent.say("yes")
    respondent.look()
    page.goto(f"{served.address}/s/{other.plan.survey.name}")
    expect(page.locator(CONSENT)).to_be_visible()
    page.go_back()
    expect(page.locator(CONSENT)).to_be_visible()


def test_what_was_forgotten_on_another_survey_is_not_sent_after_back(survey, device, served):
    store, other = survey(), survey()
    respondent = device(store)
    page = respondent.page
    page.route("**/reports", lambda route: route.abort())
    respondent.answer("yes")
    expect(page.locator(WAITING)).to_be_visible()
    page.goto(f"{served.address}/s/{other.plan.survey.name}")
    page.click(f"text={WORDS['forget']}")
    expect(page.locator(FORGOTTEN)).to_be_visible()
    page.unroute("**/reports")
    page.go_back()
    expect(page.locator(CONSENT)).to_be_visible()
    assert respondent.kept()["local"] == {}
    assert store.reports() == 0


def test_forgetting_removes_the_copies_of_all_surveys_of_the_site(survey, device, served):
    store, other = survey(), survey()
    respondent = device(store)
    page = respondent.page
    respondent.begin()
    page.evaluate("navigator.serviceWorker.ready.then(() => undefined)")
    assert len(respondent.kept()["copies"]) == len(respondent.kept()["workers"]) == 1
    page.goto(f"{served.address}/s/{other.plan.survey.name}")
    # Nothing but the other survey's copy is kept here: that is enough to be asked to forget.
    page.click(f"text={WORDS['forget']}")
    expect(page.locator(FORGOTTEN)).to_contain_text(WORDS["forgotten"])
    kept = respondent.kept()
    assert (kept["local"], kept["copies"], kept["workers"]) == ({}, {}, [])


def test_beginning_again_throws_other_coins_and_looking_twice_does_not(survey, device):
    respondent = device(survey())
    page = respondent.page
    shown = []
    for _ in range(2):
        respondent.begin()
        respondent.say("yes")
        respondent.look()
        shown.append(page.locator(".bytes").text_content())
        page.click(f"text={WORDS['back']}")
        respondent.look()
        assert page.locator(".bytes").text_content() == shown[-1]
        said = WORDS["coin_again"].format(begin=WORDS["begin"])
        assert said in page.locator("#survey").text_content()
        respondent.press(1)
        expect(page.locator(NOTHING)).to_be_visible()
        page.click(f"text={WORDS['again']}")
    # Whoever comes next shares no coins with who has sent nothing: the one-use ids are different.
    assert shown[0] != shown[1]
    assert respondent.sent == []


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("null", ""),
        ("[]", ""),
        ("7", ""),
        ('{"detail": 5}', ""),
        ('{"detail": {"a": 1}}', ""),
        ("<html>", ""),
        ("", ""),
        ('{"detail": "No <b>."}', "No <b>."),
    ],
)
def test_whatever_a_server_answers_is_said(survey, device, body, reason):
    respondent = device(survey())
    respondent.page.route("**/reports", lambda route: route.fulfill(status=400, body=body))
    respondent.answer("yes")
    refused = respondent.page.locator("#survey[data-step=refused] p")
    expect(refused.first).to_have_text(WORDS["refused"].format(reason=reason).replace("  ", " "))
    assert json.loads(*respondent.kept()["local"].values()) == {"done": 1, "pending": []}


FULL = """() => {
  let part = "x".repeat(1_000_000);
  for (let place = 0; part.length; place += 1) {
    try {
      localStorage.setItem(`full ${place}`, part);
    } catch {
      part = part.slice(0, part.length >> 1);
    }
  }
}"""


def test_without_room_for_the_report_it_is_said_and_sent_once_there_is(survey, device):
    store = survey()
    respondent = device(store)
    page = respondent.page
    respondent.begin()
    respondent.say("yes")
    respondent.look()
    page.evaluate(FULL)
    respondent.send()
    expect(page.locator(".wrong")).to_have_text(WORDS["full"])
    expect(page.locator("#survey button:disabled")).to_have_count(0)
    assert respondent.sent == []
    page.evaluate("localStorage.clear()")
    respondent.send()
    expect(page.locator(SENT)).to_be_visible()
    assert store.reports() == 1


@pytest.mark.parametrize("kept", ['{"pending":[1]}', '{"pending":{"a":1}}'])
def test_what_something_else_wrote_leaves_no_empty_page(survey, device, kept):
    store = survey()
    respondent = device(store)
    page = respondent.page
    name = f"discreet survey {store.plan.id.hex()}"
    page.evaluate("([name, kept]) => localStorage.setItem(name, kept)", [name, kept])
    respondent.open()
    expect(page.locator("#survey[data-step=answered]")).to_be_visible()
    page.click(f"text={WORDS['forget']}")
    expect(page.locator(FORGOTTEN)).to_be_visible()
    assert respondent.kept()["local"] == {}


@pytest.mark.parametrize(
    ("step", "change"),
    [
        ("unread", lambda document: document.update(version=9)),
        ("broken", lambda document: document.update(questions=[])),
        ("broken", lambda document: document.update(questions=None)),
    ],
)
def test_a_document_that_is_none_gets_a_sentence(survey, device, step, change):
    store, other = survey(), survey()
    respondent = device(other)
    respondent.answer("yes")
    expect(respondent.page.locator(SENT)).to_be_visible()
    sent = len(respondent.sent)
    document = json.loads(store.plan.document)
    change(document)

    stated = f'data-document="{html.escape(json.dumps(document))}"'

    def lie(route):
        found = route.fetch()
        text = re.sub(r'data-document="[^"]*"', lambda _: stated, found.text())
        route.fulfill(response=found, body=text)

    page = respondent.page
    page.route(f"**/s/{store.plan.survey.name}", lie)
    respondent.path = f"/s/{store.plan.survey.name}"
    respondent.open()
    expect(page.locator(f"#survey[data-step={step}]")).to_contain_text(WORDS[step])
    page.click(f"text={WORDS['forget']}")
    expect(page.locator(FORGOTTEN)).to_be_visible()
    eventually(lambda: respondent.kept()["local"] == {}, "nothing is kept")
    assert len(respondent.sent) == sent
