"""The Publish pages, used as people use them."""

import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

SHOTS = os.environ.get("DISCREET_SHOTS")
"""A folder for pictures of the pages, for people who want to look at them."""


def shot(page, name):
    if SHOTS:
        page.screenshot(path=Path(SHOTS) / f"{name}.png", full_page=True)


@pytest.fixture(scope="module")
def released(served, chromium):
    """The name of a release that was drafted, rehearsed and released on the page."""
    page = chromium.new_page(viewport={"width": 1200, "height": 900})
    page.goto(f"{served.address}/?token={served.owner}")
    page.goto(served.address + "/publish")
    shot(page, "publish")
    page.fill("#spec", page.input_value("#spec").replace("epsilon = 250", "epsilon = 1.0"))
    page.click("#rehearse")
    page.wait_for_url(re.compile(r"/publish/town-2026$"))
    expect(page.locator(".way [aria-current]")).to_contain_text("rehearsed")
    expect(page.locator("#seen-title ~ article")).to_contain_text("made-up rows")
    shot(page, "rehearsed")
    expect(page.locator("#release")).to_contain_text("uses 1.00 for good")
    page.click("#release")
    page.wait_for_load_state()
    expect(page.locator(".way [aria-current]")).to_contain_text("released")
    page.close()
    return "town-2026"


def test_a_released_package_is_read_by_anybody(served, released, visit):
    page = visit(served, f"/releases/{released}", token="")
    expect(page.locator("h1")).to_have_text(released)
    expect(page.locator("table").first).to_be_visible()
    shot(page, "released-bars")
    page.locator("nav.tables a").nth(1).click()
    expect(page.locator("table.cells")).to_be_visible()
    shot(page, "released-grid")
    page.locator(".choices-row summary").first.click()
    page.locator(".choices-row li a").first.click()
    expect(page.locator("table.bars")).to_be_visible()
    expect(page.locator(".crumbs")).to_be_visible()
    with page.expect_download() as got:
        page.get_by_role("link", name="The whole package").click()
    assert got.value.suggested_filename == f"{released}.zip"


def test_nothing_scrolls_sideways_on_a_phone(served, released, visit):
    phone = {"viewport": {"width": 390, "height": 800}}
    theirs = [f"/releases/{released}", f"/releases/{released}?table=by_region"]
    for token, paths in (("", theirs), (None, ["/publish", f"/publish/{released}"])):
        page = visit(served, paths[0], token=token, **phone)
        for path in paths:
            page.goto(served.address + path)
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, path
            shot(page, "phone" + re.sub(r"\W", "-", path))


def test_a_bad_spec_is_told_where_it_was_written(served, visit):
    page = visit(served, "/publish")
    page.fill("#spec", '[release]\nname = "x"\n')
    page.click("#rehearse")
    expect(page.locator("#problem .wrong")).to_be_visible()
    expect(page.locator("#rehearse")).to_be_enabled()
