import re

from playwright.sync_api import expect

PHONE = {"viewport": {"width": 360, "height": 740}, "is_mobile": True}
NAMELESS = """() => [...document.querySelectorAll("button, a, input, select, textarea")]
    .filter((node) => node.type !== "hidden")
    .filter((node) => !(node.textContent.trim() || node.ariaLabel || node.labels?.length))
    .map((node) => node.outerHTML)"""


def width(page):
    return page.evaluate("document.documentElement.scrollWidth")


def elsewhere(page, served):
    """Return the requests of a page that went to anybody but its server."""
    return [url for url in page.watched.requests if not url.startswith(served.address + "/")]


def test_an_answer_and_its_chart_fit_a_phone_and_ask_nobody_else(served, visit):
    page = visit(served, **PHONE)
    expect(page.locator("#go")).to_have_text(re.compile("uses|free"))
    page.click("#go")
    page.wait_for_selector("#result:not([hidden])")
    assert width(page) <= 360
    assert page.locator("#catalog").get_attribute("open") is None
    page.click("#tab-chart")
    page.wait_for_selector("#panel-chart svg")
    assert width(page) <= 360
    assert elsewhere(page, served) == []


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


def test_motion_only_where_it_is_welcome(served, visit):
    page = visit(served, "/ask")
    for wish, motion in (("reduce", "0s"), ("no-preference", "0.12s")):
        page.emulate_media(reduced_motion=wish)
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


def test_the_page_starts_with_a_way_past_the_menu_which_closes_with_escape(served, visit):
    page = visit(served, "/budget")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.click(".me summary")
    expect(page.locator(".me .menu")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".me .menu")).to_be_hidden()
    expect(page.locator(".me summary")).to_be_focused()


def test_the_watch_itself_notices_what_the_policy_forbids(served, visit):
    page = visit(served, "/course")
    with page.expect_console_message(lambda message: "Content Security Policy" in message.text):
        page.evaluate("document.body.setAttribute('style', 'color: red')")
    with page.expect_console_message(lambda message: "Content Security Policy" in message.text):
        page.evaluate("fetch('https://elsewhere.invalid/').catch(() => {})")
    assert len(page.watched.complaints) >= 2
    page.watched.complaints.clear()
