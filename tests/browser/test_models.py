"""The Models page in a real browser: a price before it is paid, a model, its card."""

import pytest

expect = pytest.importorskip("playwright.sync_api").expect

pytestmark = pytest.mark.browser

DESKTOP, PHONE = {"width": 1200, "height": 900}, {"width": 390, "height": 844}
OVER = "document.documentElement.scrollWidth - window.innerWidth"


def test_nothing_is_cut_off_on_a_phone_and_a_model_is_priced_trained_and_its_card_opens(
    visit, served, tmp_path
):
    page = visit(served, "/models", viewport=PHONE)
    assert page.evaluate(OVER) <= 0
    page.set_viewport_size(DESKTOP)
    expect(page.locator("#go")).to_contain_text("uses 1")
    page.select_option("#table", index=0)
    page.fill("#epsilon", "0.5")
    expect(page.locator("#go")).to_contain_text("uses 0.5")
    page.click("#go")
    page.wait_for_selector("details.model")
    assert "right" in page.inner_text("details.model summary")
    page.click("details.model summary")
    assert "What it goes by" in page.inner_text("details.model")
    with page.expect_download() as waiting:
        page.click("details.model a")
    assert waiting.value.suggested_filename.endswith(".zip")
