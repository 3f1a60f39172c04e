"""Surveys in a real browser: a class of isolated devices, and a log of everything that leaves them."""

import re
import secrets

import pytest
from playwright.sync_api import expect

from discreet.survey.device import Device, donation_from_cbor
from discreet.survey.store import SurveyStore
from patience import eventually
from respondent_kit import (
    ALL_KINDS,
    ANSWERED,
    CONSENT,
    LIE,
    NOTHING,
    PREVIEW,
    SENT,
    TRUTH,
    WAITING,
    YES_NO,
    coins,
)
from survey_kit import RecordedBytes


def told(respondent, loaded):
    """Return each request in full: those that load the page (in any order), and those that follow."""
    found = [
        (
            request.method,
            request.url,
            sorted(request.all_headers().items()),
            request.post_data_buffer,
        )
        for request in respondent.requests
    ]
    return sorted(found[:loaded], key=repr), found[loaded:]


def test_answers_that_yield_one_report_make_identical_requests(survey, device):
    store = survey()
    for same in (True, False):
        logs = []
        for answer in ("yes", "no"):
            respondent = device(store, coins=coins(LIE if same and answer == "no" else TRUTH))
            expect(respondent.page.locator(CONSENT)).to_be_visible()
            loaded = len(respondent.requests)
            respondent.answer(answer)
            expect(respondent.page.locator(SENT)).to_be_visible()
            logs.append(told(respondent, loaded))
            respondent.leave()
        # Whether two answers can be told apart from all that ever left: only if the reports differ.
        assert (logs[0] == logs[1]) is same
        for _, (request,) in logs:
            assert request[0] == "POST"


def test_nothing_but_the_report_is_sent(survey, device, served):
    store = survey()
    given = coins(LIE)
    respondent = device(store, coins=given)
    respondent.begin()
    loaded = len(respondent.requests)
    respondent.say("yes")
    respondent.look()
    respondent.page.click("text=Watch the coin")
    respondent.page.click("text=The exact bytes")
    shown = respondent.page.locator(".bytes").inner_text()
    assert len(respondent.requests) == loaded, "nothing leaves before Send"
    respondent.send()
    expect(respondent.page.locator(SENT)).to_be_visible()
    (request,) = respondent.sent
    assert len(respondent.requests) == loaded + 1
    assert request.url == f"{served.address}/api/v1/surveys/{store.plan.survey.name}/reports"
    body = request.post_data_buffer
    assert body.hex() == shown, "what was shown is what was sent"
    made = Device().donate(store.plan, {"smokes": "yes"}, coins=RecordedBytes(given))
    assert body == made.to_cbor()
    headers = request.all_headers()
    assert not {"cookie", "referer", "authorization"} & set(headers)
    assert headers["content-length"] == str(len(body))
    assert all(each.url.startswith(served.address) for each in respondent.requests)
    assert {each.method for each in respondent.requests[:loaded]} == {"GET"}
    assert store.reports() == 1


def test_every_kind_of_question_yields_a_possible_report(survey, device):
    store = survey(ALL_KINDS)
    given = coins(*[secrets.token_bytes(4) for _ in range(3_000)])
    respondent = device(store, coins=given)
    answers = {
        "smokes": "no",
        "grade": "11",
        "street": "street 7",
        "hours": "7.5",
        "emoji": "\U0001f600",
    }
    respondent.begin()
    respondent.say("no")
    respondent.page.check("input[name=grade][value='11']")
    respondent.page.select_option("select[name=street]", "street 7")
    respondent.page.fill("input[name=hours]", "7,5")
    respondent.page.fill("input[name=emoji]", " \U0001f600 ")
    respondent.look()
    respondent.send()
    expect(respondent.page.locator(SENT)).to_be_visible()
    sent = donation_from_cbor(respondent.sent[0].post_data_buffer)
    assert sent == Device().donate(store.plan, answers, coins=RecordedBytes(given))
    respondent.open()
    expect(respondent.page.locator(ANSWERED)).to_be_visible()
    assert store.reports() == 1


def test_wrong_answers_are_told_where_they_stand(survey, device):
    respondent = device(survey(ALL_KINDS))
    respondent.begin()
    respondent.press(0)
    expect(respondent.page.locator(".wrong")).to_have_text("You have answered nothing yet.")
    respondent.page.fill("input[name=hours]", "13")
    respondent.press(0)
    expect(respondent.page.locator("fieldset[data-question=hours] .wrong")).to_contain_text(
        "from 0 to 12"
    )
    respondent.page.fill("input[name=hours]", "")
    respondent.page.fill("input[name=emoji]", "\U0001f600" * 65)
    respondent.press(0)
    expect(respondent.page.locator("fieldset[data-question=emoji] .wrong")).to_be_visible()
    assert respondent.sent == []


def test_offline_until_sending_and_across_a_closed_page(survey, device, served):
    store = survey()
    respondent = device(store)
    respondent.context.set_offline(True)
    respondent.answer("yes")
    expect(respondent.page.locator(WAITING)).to_be_visible()
    assert store.reports() == 0
    respondent.context.set_offline(False)
    expect(respondent.page.locator(SENT)).to_be_visible()
    assert store.reports() == 1
    other = device(store)
    other.context.set_offline(True)
    other.answer("no")
    expect(other.page.locator(WAITING)).to_be_visible()
    other.page.close()
    other.context.set_offline(False)
    other.page = other.context.new_page()
    other.page.goto(served.address + other.path)
    expect(other.page.locator(SENT)).to_be_visible()
    assert store.reports() == 2


def test_an_answer_that_was_lost_on_the_way_back_is_sent_again_and_counted_once(survey, device):
    store = survey()
    respondent = device(store)
    lost = []

    def lose(route):
        if lost:
            route.continue_()
        else:
            lost.append(route.fetch())  # it arrives, but the device never hears of it
            route.abort()

    respondent.page.route("**/reports", lose)
    respondent.answer("yes")
    expect(respondent.page.locator(SENT)).to_be_visible()
    bodies = {request.post_data_buffer for request in respondent.sent}
    assert len(bodies) == 1
    assert len(respondent.sent) == 2
    assert store.reports() == 1
    assert store.refused() == {"seen before": 1}


def test_sending_nothing_is_one_press_at_every_step(survey, device):
    store = survey()
    respondent = device(store)
    for step in ("consent", "questions", "preview"):
        respondent.open()
        expect(respondent.page.locator(CONSENT)).to_be_visible()
        if step != "consent":
            respondent.begin()
            respondent.say("yes")
        if step == "preview":
            respondent.look()
        sizes = [each.bounding_box() for each in respondent.page.locator(".pair button").all()]
        assert len(sizes) == 2
        assert sizes[0]["width"] == pytest.approx(sizes[1]["width"], abs=1)
        assert sizes[0]["height"] == pytest.approx(sizes[1]["height"], abs=1)
        respondent.press(1)
        expect(respondent.page.locator(NOTHING)).to_be_visible()
        assert respondent.page.evaluate("JSON.stringify(localStorage)") == "{}"
    assert respondent.sent == []
    assert store.reports() == 0


def test_a_change_of_mind_while_waiting_sends_nothing(survey, device):
    store = survey()
    respondent = device(store)
    respondent.context.set_offline(True)
    respondent.answer("yes")
    expect(respondent.page.locator(WAITING)).to_be_visible()
    respondent.page.click("text=Send nothing after all")
    expect(respondent.page.locator(NOTHING)).to_be_visible()
    respondent.context.set_offline(False)
    respondent.open()
    expect(respondent.page.locator(ANSWERED)).to_be_visible()  # it may have left
    assert store.reports() == 0


def test_two_tabs_tell_one_answer(survey, device, served):
    """Both are shown what would leave; the second to send is asked who is there."""
    store = survey()
    one = device(store)
    two = one.context.new_page()
    two.goto(served.address + one.path)
    one.begin()
    one.say("yes")
    one.look()
    two.locator(".pair button").nth(0).click()
    two.check("input[name=smokes][value=no]")
    two.locator(".pair button").nth(0).click()
    expect(two.locator(PREVIEW)).to_be_visible()
    one.send()
    expect(one.page.locator(SENT)).to_be_visible()
    two.locator(".pair button").nth(0).click()
    expect(two.locator(ANSWERED)).to_be_visible()
    assert store.reports() == 1


def test_a_survey_that_tells_more_than_it_promises_is_not_answered(survey, device, served):
    store = survey()

    def lie(route):
        found = route.fetch()
        text = found.text()
        keep = str(store.plan.choices[0].randomizer.keep)
        assert keep in text
        route.fulfill(response=found, body=text.replace(keep, str(2**32 - 5)))

    respondent = device(store)
    respondent.page.route("**/s/*", lie)
    respondent.open()
    expect(respondent.page.locator("#survey[data-step=broken]")).to_be_visible()
    assert respondent.sent == []


def test_a_page_that_could_have_been_changed_on_its_way_sends_nothing(survey, device):
    script = "Object.defineProperty(globalThis, 'isSecureContext', { value: false })"
    respondent = device(survey(), script=script)
    expect(respondent.page.locator("#survey[data-step=insecure]")).to_be_visible()


def the_class(survey, device, pupils):
    """Return how many a class of devices should have sent, after they have."""
    store = survey()
    expected = 0
    for pupil in range(pupils):
        respondent = device(store)
        answer = "yes" if pupil % 4 == 0 else "no"
        match pupil % 6:
            case 0:  # offline when sending
                respondent.context.set_offline(True)
                respondent.answer(answer)
                expect(respondent.page.locator(WAITING)).to_be_visible()
                respondent.context.set_offline(False)
            case 1:  # looks at what would leave, and leaves
                respondent.begin()
                respondent.say(answer)
                respondent.look()
                respondent.leave()
                continue
            case 2:  # sends, comes back and tries again
                respondent.answer(answer)
                expect(respondent.page.locator(SENT)).to_be_visible()
                respondent.open()
                expect(respondent.page.locator(ANSWERED)).to_be_visible()
                assert len(respondent.sent) == 1
                expected += 1
                respondent.leave()
                continue
            case _:
                respondent.answer(answer)
        expect(respondent.page.locator(SENT)).to_be_visible()
        expected += 1
        assert {len(request.post_data_buffer) for request in respondent.sent} == {38}
        respondent.leave()
    return store, expected


@pytest.mark.parametrize(
    "pupils", [4, pytest.param(90, marks=[pytest.mark.slow, pytest.mark.timeout(3000)])]
)
def test_a_class_of_isolated_devices(survey, device, visit, served, pupils):
    store, expected = the_class(survey, device, pupils)
    assert store.reports() == expected
    assert set(store.refused()) <= {"seen before"}  # a device that heard nothing may send again
    owner = visit(served, f"/surveys/{store.plan.survey.name}")
    expect(owner.locator("#reports")).to_have_text(str(expected))
    expect(owner.locator("[data-question=smokes] tr")).to_have_count(2)


def test_the_owner_watches_closes_and_hands_out(survey, device, visit, served):
    store = survey()
    owner = visit(served, f"/surveys/{store.plan.survey.name}")
    expect(owner.locator("tr[data-answer=yes]")).to_contain_text("no reports yet")
    answers = ["yes"] * 300 + ["no"] * 900
    store.take_cbor([Device().donate(store.plan, {"smokes": each}).to_cbor() for each in answers])
    expect(owner.locator("#reports")).to_have_text("1,200")
    expect(owner.locator("tr[data-answer=yes] .interval circle")).to_have_count(1)
    expect(owner.locator(".qr path")).to_have_attribute("d", re.compile("^M"))
    expect(owner.locator("#link")).to_have_text(f"{served.address}/s/{store.plan.survey.name}")
    room = visit(served, f"/surveys/{store.plan.survey.name}/projector")
    expect(room.locator(".big[data-answer=yes]")).to_contain_text("±")
    owner.click("#close")
    owner.click("#close-no")
    assert not store.closed
    owner.click("#close")
    owner.click("#close-yes")
    expect(owner.locator("#state")).to_have_text("· closed")
    late = device(store)
    expect(late.page.locator("#survey[data-step=closed]")).to_be_visible()


def test_two_questions_together_and_what_a_liar_can_do(survey, visit, served):
    store = survey(ALL_KINDS)
    given = {"smokes": "yes", "grade": "9"}
    answers = [given if n % 2 else {"smokes": "no", "grade": "12"} for n in range(400)]
    store.take_cbor([Device().donate(store.plan, each).to_cbor() for each in answers])
    owner = visit(served, f"/surveys/{store.plan.survey.name}")
    expect(owner.locator("[data-question=smokes]")).to_contain_text("One liar moves it by at most")
    owner.select_option("#cross-one", "smokes")
    owner.select_option("#cross-two", "smokes")
    expect(owner.locator("#crossed table")).to_have_count(0)
    owner.select_option("#cross-two", "grade")
    expect(owner.locator("#crossed tbody tr")).to_have_count(2)
    expect(owner.locator("#crossed thead th")).to_have_text(["9", "10", "11", "12"])
    expect(owner.locator("#crossed tbody td")).to_have_count(8)


def test_an_open_question_waits_for_words_and_not_for_answers(survey, visit, served):
    store = survey(ALL_KINDS)
    answers = {"smokes": "yes", "emoji": "tea"}
    given = [Device().donate(store.plan, answers).to_cbor() for _ in range(40)]
    assert store.take_cbor(given).accepted == 40
    owner = visit(served, f"/surveys/{store.plan.survey.name}")
    expect(owner.locator("[data-question=emoji] .care strong")).to_have_text("No words yet.")
    expect(owner.locator("[data-question=grade] .care strong")).to_have_text("Too early.")


def test_a_survey_is_begun_on_the_page(visit, served):
    page = visit(served, "/surveys")
    name = f"new-{secrets.token_hex(4)}"
    page.fill("#name", name)
    page.click("#look")
    expect(page.locator("#planned")).to_contain_text("1,458")
    page.fill("#toml", "title =")
    page.click("#begin")
    expect(page.locator("#problem")).to_contain_text("not valid TOML")
    page.fill("#toml", YES_NO)
    page.click("#begin")
    page.wait_for_url(f"**/surveys/{name}")
    expect(page.locator("h1")).to_have_text("Smoking")
    eventually(lambda: SurveyStore.open(name, served.config.parent).reports() == 0, "it is there")


def test_nothing_needs_scrolling_sideways(survey, visit, served):
    name, width = survey(ALL_KINDS).plan.survey.name, 360
    page = visit(served, "/surveys", viewport={"width": width, "height": 800})
    for path in ("/surveys", f"/surveys/{name}", f"/surveys/{name}/projector", f"/s/{name}"):
        page.goto(served.address + path)
        page.wait_for_load_state("networkidle")
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, path
