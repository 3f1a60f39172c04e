import re

import pytest
from playwright.sync_api import expect

PAGES = ("/ask", "/data", "/budget", "/course", "/course/promise", "/notes", "/notes/0010")


def test_no_request_leaves_for_anywhere_else(served, visit):
    page = visit(served, "/")
    for path in PAGES:
        page.goto(served.address + path)
        page.wait_for_load_state("networkidle")
    page.goto(served.address + "/ask")
    expect(page.locator("#go")).to_have_text(re.compile("uses|free"))
    page.click("#go")
    page.wait_for_selector("#result:not([hidden])")
    page.click("#tab-chart")
    page.wait_for_selector("#panel-chart svg")
    asked = page.watched.requests
    assert len(asked) > 30
    assert [url for url in asked if not url.startswith(served.address + "/")] == []


@pytest.mark.parametrize("path", ["/", *PAGES])
def test_every_page_fits_a_phone(served, visit, path):
    page = visit(served, path, viewport={"width": 360, "height": 740}, is_mobile=True)
    page.wait_for_load_state("networkidle")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_an_answer_fits_a_phone(served, visit):
    page = visit(served, viewport={"width": 360, "height": 740}, is_mobile=True)
    expect(page.locator("#go")).to_have_text(re.compile("uses|free"))
    page.click("#go")
    page.wait_for_selector("#result:not([hidden])")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.locator("#catalog").get_attribute("open") is None


def paper(page):
    return page.evaluate("getComputedStyle(document.documentElement).backgroundColor")


def test_dark_follows_the_system_and_the_switch_which_is_remembered(served, visit):
    page = visit(served, "/budget", color_scheme="dark")
    assert paper(page) == "rgb(21, 23, 24)"
    page.click("#theme")
    assert paper(page) == "rgb(251, 250, 247)"
    page.goto(served.address + "/course")
    assert paper(page) == "rgb(251, 250, 247)"
    light = visit(served, "/budget", color_scheme="light")
    assert paper(light) == "rgb(251, 250, 247)"


@pytest.mark.parametrize(("wish", "motion"), [("reduce", "0s"), ("no-preference", "0.12s")])
def test_motion_only_where_it_is_welcome(served, visit, wish, motion):
    page = visit(served, "/ask", reduced_motion=wish)
    found = page.evaluate("getComputedStyle(document.getElementById('go')).transitionDuration")
    assert found == motion


def test_only_places_that_exist_are_linked(served, visit):
    page = visit(served, "/ask")
    links = page.locator(".places a")
    assert links.all_inner_texts() == [
        "Ask",
        "Publish",
        "Synthesize",
        "Survey",
        "Models",
        "Teach & attack",
        "Course",
        "Data",
        "Budget",
    ]
    for link in [link.get_attribute("href") for link in links.all()]:
        assert page.request.get(served.address + link).status == 200


def test_the_page_starts_with_a_way_past_the_menu(served, visit):
    page = visit(served, "/budget")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"


def test_the_menu_closes_with_escape(served, visit):
    page = visit(served, "/budget")
    page.click(".me summary")
    expect(page.locator(".me .menu")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".me .menu")).to_be_hidden()
    expect(page.locator(".me summary")).to_be_focused()


@pytest.mark.parametrize("path", ["/", *PAGES])
def test_every_control_has_a_name(served, visit, path):
    page = visit(served, path)
    page.wait_for_load_state("networkidle")
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("button, a, input, select, textarea")]
        .filter((node) => node.type !== "hidden")
        .filter((node) => !(node.textContent.trim() || node.ariaLabel || node.labels?.length))
        .map((node) => node.outerHTML)"""
    )
    assert nameless == []
    assert page.locator("h1").count() == 1
    assert page.locator("html").get_attribute("lang") == "en"


def test_the_watch_itself_notices_what_the_policy_forbids(served, visit):
    page = visit(served, "/course")
    with page.expect_console_message(lambda message: "Content Security Policy" in message.text):
        page.evaluate("document.body.setAttribute('style', 'color: red')")
    with page.expect_console_message(lambda message: "Content Security Policy" in message.text):
        page.evaluate("fetch('https://elsewhere.invalid/').catch(() => {})")
    assert len(page.watched.complaints) >= 2
    page.watched.complaints.clear()
