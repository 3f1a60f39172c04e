import re

from playwright.sync_api import expect

RIGHT = re.compile(r"right (\d+) times in 100; guessing")


def move(page, slider, value):
    page.locator(slider).evaluate(
        "(node, value) => { node.value = value; node.dispatchEvent(new Event('input')); }", value
    )


def test_the_two_laws_move_with_epsilon(served, visit):
    page = visit(served, "/learn")
    before = page.locator("#laws-picture .with").get_attribute("points")
    expect(page.locator("#laws-words")).to_contain_text("1.65 times")
    move(page, "#laws-epsilon", 0)
    expect(page.locator("#laws-words")).to_contain_text("ε 0.05")
    expect(page.locator("#laws-words")).to_contain_text("1.06 times")
    assert page.locator("#laws-picture .with").get_attribute("points") != before


def test_coins_and_the_crowd(served, visit):
    page = visit(served, "/learn")
    page.click("#coins-flip")
    expect(page.locator("#coins-words")).to_contain_text("3 times in 4")
    expect(page.locator("#coins-picture rect")).to_have_count(1000)
    move(page, "#coins-share", 100)
    expect(page.locator("#coins-share-value")).to_have_text("100%")
    said = page.locator("#coins-picture .yes").count()
    # 1,000 answers that are yes 3 times in 4: outside 620..880 with probability below 1e-19.
    assert 620 < said < 880


def test_differencing_fails_on_private_numbers_and_succeeds_without_privacy(served, visit):
    page = visit(served, "/learn")

    def rate():
        return int(RIGHT.search(page.locator("#differencing-words").inner_text()).group(1))

    move(page, "#differencing-epsilon", 0)
    # 1,000 fair guesses, all but: above 60 in 100 with probability below 1e-9.
    assert 40 <= rate() <= 60
    move(page, "#differencing-epsilon", 60)
    assert rate() >= 99, "at epsilon 10 the attack must succeed, or the lesson proves nothing"


def test_the_smoking_study_says_the_same_in_both_worlds(served, visit):
    page = visit(served, "/learn")
    expect(page.locator("#smoking-picture")).to_contain_text("without you")
    move(page, "#smoking-people", 40)
    expect(page.locator("#smoking-people-value")).to_have_text("10,000")
    expect(page.locator("#smoking-words")).to_contain_text("0.01%")


def test_nothing_is_asked_of_the_server(served, visit):
    page = visit(served, "/learn")
    page.wait_for_load_state("networkidle")
    before = asked(page)
    for button in ("#coins-flip", "#coins-crowd", "#differencing-go", "#smoking-again"):
        page.click(button)
    assert asked(page) == before


def asked(page):
    """Return what the page asked for; the tab's icon comes whenever the browser likes."""
    return [request for request in page.watched.requests if not request.endswith("/icon.svg")]
