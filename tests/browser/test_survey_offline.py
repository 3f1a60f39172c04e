"""The respondent's page without a connection, in other languages, and with RAPPOR."""

import secrets

import pytest
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import expect

from discreet.survey.device import Device
from patience import eventually
from respondent_kit import CONSENT, NOTHING, SENT, WAITING, YES_NO, coins
from survey_kit import RecordedBytes


def kept_for_offline(page):
    """Return how many workers and copies of pages a browser keeps."""
    script = """async () => [(await navigator.serviceWorker.getRegistrations()).length,
                             (await caches.keys()).length]"""
    return page.evaluate(script)


def test_a_reload_without_a_connection_goes_on_until_it_is_sent(survey, device):
    store = survey()
    respondent = device(store)
    page = respondent.page
    expect(page.locator(CONSENT)).to_be_visible()
    assert kept_for_offline(page) == [0, 0], "nothing is kept before somebody begins"
    respondent.begin()
    page.evaluate("navigator.serviceWorker.ready.then(() => undefined)")
    respondent.context.set_offline(True)
    page.reload()
    respondent.answer("yes")
    expect(page.locator(WAITING)).to_be_visible()
    page.reload()
    expect(page.locator(WAITING)).to_be_visible()
    assert store.reports() == 0
    respondent.context.set_offline(False)
    expect(page.locator(SENT)).to_be_visible()
    assert store.reports() == 1
    bodies = {request.post_data_buffer for request in respondent.sent}
    assert len(bodies) == 1
    eventually(lambda: kept_for_offline(page) == [0, 0], "nothing is kept after it was sent")


def test_without_its_worker_a_reload_needs_a_connection(survey, device):
    """The broken twin of the test above; and the page itself works all the same."""
    store = survey()
    none = "Object.defineProperty(Navigator.prototype, 'serviceWorker', { value: undefined })"
    respondent = device(store, script=none)
    respondent.begin()
    respondent.context.set_offline(True)
    with pytest.raises(PlaywrightError):
        respondent.page.reload()
    respondent.context.set_offline(False)
    respondent.open()
    respondent.answer("yes")
    expect(respondent.page.locator(SENT)).to_be_visible()


def test_sending_nothing_forgets_the_copy_of_the_page(survey, device):
    respondent = device(survey())
    respondent.begin()
    respondent.page.evaluate("navigator.serviceWorker.ready.then(() => undefined)")
    assert kept_for_offline(respondent.page) == [1, 1]
    respondent.press(1)
    expect(respondent.page.locator(NOTHING)).to_be_visible()
    eventually(lambda: kept_for_offline(respondent.page) == [0, 0], "nothing is kept")


def test_another_language_is_one_press_and_no_request(survey, device):
    respondent = device(survey())
    expect(respondent.page.locator(CONSENT)).to_contain_text("Chance decides")
    loaded = len(respondent.requests)
    respondent.page.click("text=Deutsch")
    expect(respondent.page.locator(CONSENT)).to_contain_text("entscheidet der Zufall")
    expect(respondent.page.locator("html")).to_have_attribute("lang", "de")
    respondent.page.click("text=Français")
    expect(respondent.page.locator(CONSENT)).to_contain_text("le hasard décide")
    assert len(respondent.requests) == loaded
    respondent.answer("yes")
    expect(respondent.page.locator(SENT)).to_contain_text("Merci")


def test_rappor_sends_one_report_of_both_its_steps(survey, device):
    store = survey(f'{YES_NO}mechanism = "rappor"\n')
    given = coins(*[secrets.token_bytes(4) for _ in range(4)])
    respondent = device(store, coins=given)
    respondent.answer("yes")
    expect(respondent.page.locator(SENT)).to_be_visible()
    made = Device().donate(store.plan, {"smokes": "yes"}, coins=RecordedBytes(given))
    assert respondent.sent[0].post_data_buffer == made.to_cbor()
