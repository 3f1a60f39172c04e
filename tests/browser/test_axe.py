"""Every page by axe-core: both themes, desktop and phone; nothing serious, nothing moderate, nothing cut off."""

import re
import secrets

import pytest
from playwright.sync_api import expect
from test_frame import NAMELESS, elsewhere, width

from discreet.server.access.auth import all_routes
from discreet.survey.command import begin_survey
from respondent_kit import YES_NO

sync_axe = pytest.importorskip(
    "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
)

DESKTOP, PHONE = {"width": 1200, "height": 800}, {"width": 360, "height": 740}
WAYS = [(DESKTOP, "light"), (PHONE, "dark"), (DESKTOP, "dark"), (PHONE, "light")]
OPTIONS = {"resultTypes": ["violations"]}
NO_PAGES = {
    "/docs/images/{file}",
    "/start/{word}",
    "/static/charts.js",
    "/static",
    "/favicon.ico",
    "/learn",
    "/openid",
    "/openid/callback",
    "/s/worker.js",
}
"""Routes that show nothing of their own, or nothing without a provider to sign in with."""
COUNT = "SELECT sex, COUNT(*) AS n, AVG(age) AS mean FROM people GROUP BY sex"


def violations(page):
    """Return what axe finds; all that is in order stays in the browser."""
    if page.evaluate("typeof axe") == "undefined":
        page.evaluate(sync_axe.Axe().axe_script)
    return page.evaluate("options => axe.run(options).then(found => found.violations)", OPTIONS)


def walked(page, ways=WAYS):
    """Return what is wrong with the page that is open, in all these ways to look at it."""
    found = []
    for size, theme in ways:
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        found += violations(page)
    page.set_viewport_size(DESKTOP)
    return [
        (page.url.partition("?")[0], each["id"], each["impact"], each["nodes"][0]["html"][:200])
        for each in found
        if each["impact"] not in ("minor", None)
    ]


def an_answer(served):
    with served.context.workspace.curator() as curator:
        return curator.query(COUNT, epsilon=1, request_id=secrets.token_hex(8)).request_id


def a_survey(served, tmp_path):
    file = tmp_path / f"s{secrets.token_hex(4)}.toml"
    file.write_text(YES_NO, encoding="utf-8")
    begin_survey(file, served.config.parent)
    return file.stem


def a_copy(page, served):
    page.goto(served.address + "/synthesize")
    page.check('input[name="method"][value="random"]')
    page.fill("#rows", "30")
    expect(page.locator("#go")).to_have_text("Make a copy · free")
    page.click("#go")
    page.wait_for_url(re.compile(r"/synthesize/[0-9a-f]{32}$"))
    return page.url.removeprefix(served.address)


def an_anonymized(page, served):
    page.goto(served.address + "/anonymize?table=town.people")
    for column, role in {"sex": "quasi", "education": "quasi"}.items():
        page.select_option(f'tr[data-column="{column}"] .role', role)
    page.click("#measure")
    expect(page.locator("#found")).to_be_visible()
    page.click("#make")
    page.wait_for_url(re.compile(r"/anonymize/[0-9a-f]{32}$"))
    return page.url.removeprefix(served.address)


def a_release(page, served):
    page.goto(served.address + "/publish")
    name = f"r{secrets.token_hex(3)}"
    spec = page.input_value("#spec")
    spec = re.sub(r'name = "[^"]*"', f'name = "{name}"', spec, count=1)
    page.fill("#spec", spec.replace("epsilon = 250", "epsilon = 1.0"))
    page.click("#draft")
    page.wait_for_url(f"**/publish/{name}")
    page.click("#release")
    expect(page.locator(".way [aria-current]")).to_contain_text("released")
    return name


def a_notebook(page, served):
    cells = [{"kind": "text", "text": "What we asked"}]
    cells.append({"kind": "question", "sql": COUNT, "epsilon": "1", "answer": an_answer(served)})
    made = page.evaluate(
        """async body => (await import("/static/api.js")).call("POST", "/notebooks", body)""",
        {"title": "Our questions", "cells": cells},
    )
    return f"/notebooks/{made['notebook']}"


def places(page, served, tmp_path):
    """Yield the address of every page there is, with something on it."""
    survey, release = a_survey(served, tmp_path), a_release(page, served)
    yield from (
        "/",
        f"/ask?answer={an_answer(served)}",
        "/ask",
        "/data",
        "/budget",
        "/course",
        "/course/promise",
        "/course/teacher",
    )
    yield from ("/publish", f"/publish/{release}", "/releases", f"/releases/{release}")
    yield from ("/surveys", f"/surveys/{survey}", f"/surveys/{survey}/projector", f"/s/{survey}")
    yield from ("/synthesize", a_copy(page, served), "/anonymize", an_anonymized(page, served))
    yield from ("/notebooks", a_notebook(page, served))
    yield from ("/models", "/lab", "/lab/differencing", "/notes", "/notes/0010", "/nowhere")
    yield from ("/docs", "/docs/coming-from", "/docs/tutorials/first-answer")


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_every_page_in_both_themes_on_desktop_and_phone(served, visit, tmp_path, every):
    """In the short form each page is walked one way, and each way by a quarter of the pages.

    Each fits a phone, names its controls and asks nobody else.
    """
    page = visit(served, "/course")
    wrong, seen = [], []
    for i, path in enumerate(places(page, served, tmp_path)):
        page.set_viewport_size(PHONE)
        page.goto(served.address + path)
        page.wait_for_load_state("networkidle")
        assert width(page) <= PHONE["width"], path
        assert page.evaluate(NAMELESS) == [], path
        assert page.locator("h1").count() == 1, path
        assert page.locator("html").get_attribute("lang") == "en", path
        seen.append(path.partition("?")[0])
        wrong += walked(page, WAYS if every else [WAYS[i % len(WAYS)]])
    assert wrong == []
    assert len(page.watched.requests) > 30
    assert elsewhere(page, served) == []
    missed = [
        route for route in pages_of(served.app) if not any(fits(route, path) for path in seen)
    ]
    assert missed == [], "every page is walked; add new ones to `places`"


def pages_of(app):
    """Return the paths of all routes that show a page."""
    return [
        route.path
        for route in all_routes(app.routes)
        if "GET" in (getattr(route, "methods", None) or ())
        and not route.path.startswith("/api/")
        and route.path not in NO_PAGES
    ]


def fits(route, path):
    return re.fullmatch(re.sub(r"\{[^}]*\}", "[^/]+", route), path) is not None


def test_the_walk_finds_what_is_wrong(served, visit):
    page = visit(served, "/course")
    page.evaluate("document.querySelector('main').append(document.createElement('input'))")
    page.evaluate("document.querySelector('h1').className = 'faint'")
    page.evaluate(
        """() => { const sheet = new CSSStyleSheet(); sheet.replaceSync(".faint { color: #ddd }");
        document.adoptedStyleSheets.push(sheet); }"""
    )
    assert {"label", "color-contrast"} <= {kind for _, kind, _, _ in walked(page, WAYS[:1])}
