"""The Synthesize page, used as people use it."""

import re

import pytest
from playwright.sync_api import expect

from discreet.server.features.synth import pages
from sittings import FULL

PRICED = re.compile(r"Make a copy · (uses|free)")


def open_form(visit, served, **options):
    page = visit(served, "/synthesize", **options)
    page.select_option("#table", "town.people")
    expect(page.locator("#go")).to_have_text(PRICED)
    return page


def choose(page, method, epsilon=None, rows=None):
    page.check(f'input[name="method"][value="{method}"]')
    if epsilon:
        page.fill("#epsilon", epsilon)
    if rows:
        page.fill("#rows", rows)
    words = "free" if method == "random" else f"uses {float(epsilon or 1):.2f}"
    expect(page.locator("#go")).to_contain_text(words)


def made(page):
    page.wait_for_url(re.compile(r"/synthesize/[0-9a-f]{32}$"))


@pytest.fixture(scope="module")
def copy(served, chromium):
    """The page of a copy that was made once, by the method that was chosen for us: its address.

    Among two methods: each candidate is fitted, and one more says nothing new about the pages.
    """
    page = chromium.new_page()
    page.goto(f"{served.address}/?token={served.owner}")
    with pytest.MonkeyPatch.context() as patch:
        if not FULL:
            patch.setattr(pages, "choice_view", lambda: ["independent", "tree"])
        page.goto(served.address + "/synthesize")
    page.select_option("#table", "town.people")
    expect(page.locator("#go")).to_have_text(PRICED)
    page.get_by_label("choose for me").check()
    expect(page.locator("#go")).to_contain_text("uses 1.00")
    page.click("#go")
    made(page)
    address = page.url.removeprefix(served.address)
    page.close()
    return address


def test_everything_is_said_before_anything_is_spent_also_what_is_wrong(served, visit):
    page = open_form(visit, served)
    expect(page.locator("#columns")).to_contain_text("region")
    expect(page.locator("#columns li", has_text="age")).to_contain_text("121 values")
    expect(page.locator("#columns li", has_text="person_id")).to_contain_text("made up")
    expect(page.locator("#odds")).to_contain_text("Compared with you not taking part")
    expect(page.locator("#go")).to_contain_text(re.compile(r"uses 1\.00, leaves \S+"))
    among = page.locator("input[name=method][data-among]").get_attribute("data-among")
    assert among.split(",") == pages.choice_view()
    assert len(among.split(",")) > 2
    page.focus("#slider")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#epsilon")).to_have_value("0.75")
    expect(page.locator("#go")).to_contain_text("uses 0.75")
    choose(page, "random", rows="50")
    expect(page.locator("#odds")).to_contain_text("nobody's odds change")
    page.fill("#rows", "many")
    expect(page.locator("#price-problem")).to_contain_text("whole number")
    expect(page.locator("#go")).to_be_disabled()
    page.fill("#rows", "1,000")
    expect(page.locator("#go")).to_be_enabled()
    assert not [
        url for method, url in page.watched.sent if method == "POST" and url.endswith("/synth")
    ]


def test_by_keyboard_alone_away_and_back_to_a_copy_with_its_report_its_files_and_its_end(
    served, visit, held_job
):
    page = open_form(visit, served)
    choose(page, "independent", epsilon="0.5")
    page.focus("#go")
    page.keyboard.press("Enter")
    expect(page.locator("#work")).to_be_visible()
    held_job.wait()
    expect(page.locator("#steps")).to_have_attribute("max", "100")
    page.goto(served.address + "/learn")
    page.goto(served.address + "/synthesize")
    expect(page.locator("#work")).to_be_visible()
    held_job.go()
    made(page)
    address = page.url
    expect(page.locator("h1")).to_have_text("Synthetic copy of people")
    expect(page.locator(".report")).to_contain_text("What it supports, and by how much")
    assert page.locator(".report svg").count() > 5
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    assert download.value.suggested_filename == "people-independent-rows.csv"
    expect(page.locator(".places [aria-current]")).to_have_text("Synthesize")
    page.get_by_role("link", name="All copies").click()
    expect(page.locator("table.copies")).to_contain_text("independent")
    assert all(url.startswith((served.address, "blob:", "data:")) for url in page.watched.requests)
    page.goto(address)
    page.click("#delete")
    expect(page.locator("#delete-words")).to_contain_text("what it cost stays spent")
    assert page.request.get(address).status == 200, "one press deletes nothing"
    page.click("#delete")
    expect(page).to_have_url(served.address + "/synthesize")
    assert page.request.get(address).status == 404


def test_cancelling_says_what_was_charged(served, visit, held_job):
    page = open_form(visit, served)
    choose(page, "tree", epsilon="0.25")
    page.click("#go")
    held_job.wait()
    page.click("#cancel")
    expect(page.locator("#price-problem")).to_contain_text(
        "cancelled. The charge stands, and there is no answer."
    )
    expect(page.locator("#go")).to_be_enabled()


def test_the_choice_was_paid_for_and_the_comparison_is_the_owners_and_is_recorded(
    served, visit, copy
):
    page = visit(served, copy)
    expect(page.locator(".report")).to_contain_text("by a paid selection")
    expect(page.locator(".compare")).to_contain_text("never to be published")
    page.click("#compare")
    link = page.get_by_role("link", name="Download the comparison")
    expect(link).to_be_visible()
    with page.expect_download() as download:
        link.click()
    text = download.value.path().read_text(encoding="utf-8")
    assert text.count("Do not publish") > 5
    page.goto(served.address + "/budget")
    expect(page.locator("main")).to_contain_text("looked: compared a synthetic copy")


def test_on_a_phone_nothing_runs_over_the_edge(served, visit, copy):
    page = visit(served, "/synthesize", viewport={"width": 390, "height": 800})
    for path in ("/synthesize", copy):
        page.goto(served.address + path)
        expect(page.locator("h1")).to_be_attached()
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    for scheme, ink in (("light", "rgb(92, 97, 102)"), ("dark", "rgb(163, 167, 171)")):
        page.emulate_media(color_scheme=scheme)
        text = "getComputedStyle(document.querySelector('.report svg text')).fill"
        assert page.evaluate(text) == ink


def test_what_is_left_can_be_used_and_when_it_is_gone_ask_names_the_copy(small, visit):
    page = visit(small, "/synthesize", token=small.analyst)
    page.select_option("#table", "town.people")
    choose(page, "independent", epsilon="1")
    expect(page.locator("#price-problem")).to_contain_text("more than is left")
    page.get_by_role("button", name="Use what is left").click()
    expect(page.locator("#go")).to_contain_text("uses 0.30")
    expect(page.locator("#price-problem")).to_be_empty()
    page.click("#go")
    made(page)
    expect(page.locator(".compare")).to_have_count(0)  # not the owner
    page.goto(small.address + "/ask")
    page.fill("#sql", "SELECT COUNT(*) AS n FROM people")
    expect(page.locator("#free")).to_be_visible()
    page.get_by_role("link", name="Synthetic copy of people").click()
    expect(page.locator("h1")).to_have_text("Synthetic copy of people")
