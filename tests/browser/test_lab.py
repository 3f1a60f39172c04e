"""The attack lab, used as a class would use it."""

import re

from playwright.sync_api import expect

from discreet.server.features.lab import pages

SMALL = {"people": "2000", "places": "5", "pairs": "5"}


def open_attack(visit, served, **options):
    page = visit(served, "/lab/differencing", **options)
    for name, value in SMALL.items():
        page.fill(f"#knob-{name}", value)
    return page


def attacked(page):
    page.wait_for_url(re.compile(r"/lab/differencing\?result=[0-9a-f]{32}$"))
    expect(page.locator("#outcome")).to_be_visible()


def test_the_list_leads_to_every_attack(served, visit):
    page = visit(served, "/lab")
    links = page.locator(".attacks a")
    assert links.count() >= 8
    paths = [link.get_attribute("href") for link in links.all()]
    for path in paths:
        page.goto(served.address + path)
        expect(page.locator("#go")).to_be_enabled()
        expect(page.locator(".knob").first).to_be_visible()


def test_by_keyboard_alone_to_an_outcome_beside_guessing(served, visit):
    page = open_attack(visit, served)
    page.focus("#go")
    page.keyboard.press("Enter")
    attacked(page)
    expect(page.locator(".verdict")).to_contain_text(re.compile(r"Right 100 times in 100"))
    expect(page.locator(".verdict")).to_contain_text("guessing would give 50")
    expect(page.locator(".scores")).to_contain_text("on the private version")
    expect(page.locator(".report svg").first).to_be_visible()
    # What it was run with stands in the form.
    expect(page.locator("#knob-people")).to_have_value("2000")
    # The same settings again are answered from memory.
    page.click("#go")
    attacked(page)


def test_it_opens_with_a_result_which_it_makes_itself_the_first_time(served, visit, monkeypatch):
    monkeypatch.setattr(pages, "FIRST", "differencing")
    started = ("POST", f"{served.address}/api/v1/lab/differencing")
    page = visit(served, "/lab")
    expect(page.locator(".verdict")).to_contain_text("guessing would give 50")
    assert page.watched.sent.count(started) == 1
    page.reload()
    expect(page.locator(".verdict")).to_be_visible()
    assert page.watched.sent.count(started) == 1


def test_a_slider_moves_its_number_and_back_and_a_wrong_one_is_said_where_it_is(served, visit):
    page = visit(served, "/lab/differencing")
    slider = page.locator('.slide[data-for="knob-epsilon"]')
    slider.evaluate("each => { each.value = 0; each.dispatchEvent(new Event('input')); }")
    expect(page.locator("#knob-epsilon")).to_have_value("0.1")
    page.fill("#knob-epsilon", "8")
    assert slider.input_value() == "100"
    page.fill("#knob-people", "many")
    page.click("#go")
    expect(page.locator("#lab-problem")).to_contain_text("'people' must be a whole number")
    expect(page.locator("#go")).to_be_enabled()


def test_an_attack_can_be_cancelled(served, visit):
    page = visit(served, "/lab/netflix")
    page.fill("#knob-people", "20000")  # it would take minutes: the press comes in time
    page.fill("#knob-targets", "2000")
    page.click("#go")
    expect(page.locator("#work")).to_be_visible()
    page.click("#cancel")
    expect(page.locator("#lab-problem")).to_contain_text("cancelled")


def test_it_can_be_cancelled_before_the_server_has_named_the_job(served, visit):
    page = visit(served, "/lab/netflix")
    held = []

    def hold(route):
        held.append(route)

    page.route("**/api/v1/lab/netflix", hold)
    with page.expect_request("**/api/v1/lab/netflix"):
        page.click("#go")
    page.click("#cancel")
    held[0].continue_()
    expect(page.locator("#lab-problem")).to_contain_text("cancelled")


def test_it_fits_a_phone_in_both_lights(served, visit):
    page = visit(served, "/lab/differencing", viewport={"width": 390, "height": 844})
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
    outside = [url for url in page.watched.requests if not url.startswith(served.address)]
    assert outside == []
