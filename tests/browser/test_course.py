"""The course in a real browser: every lesson on desktop and phone, things that move, answers that are graded."""

import itertools
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect
from test_axe import DESKTOP, PHONE, WAYS, walked
from test_frame import NAMELESS

from discreet.lab.course import all_lessons
from sittings import FULL

LESSONS = all_lessons()

KINDS = """() => {
    const name = (node) => [node.tagName, ...[...node.classList].sort()].join(".");
    const said = ({ name, value }) => (["role", "type"].includes(name) ? `${name}=${value}` : name);
    const found = new Set();
    let heading = "";
    for (const node of document.querySelectorAll("*")) {
        const attributes = [...node.attributes].map(said).sort().join(" ");
        found.add(`${node.parentElement ? name(node.parentElement) : ""} > ${name(node)} ${attributes}`);
        if (/^H[1-6]$/.test(node.tagName)) {
            found.add(`${heading}, ${node.tagName}`);
            heading = node.tagName;
        }
    }
    return [...found];
}"""
"""What a page is made of: elements with their classes and attributes, in what they stand, and how headings follow."""
RIGHT = re.compile(r"right (\d+) times in 100; guessing")


def move(page, slider, value):
    page.locator(slider).evaluate(
        "(node, value) => { node.value = value; node.dispatchEvent(new Event('input')); }", value
    )


@pytest.fixture
def lesson(served, visit):
    """Return a function that opens a lesson; what moves on it afterwards asks nothing of the server."""
    opened = []

    def lesson_of(name):
        page = visit(served, f"/course/{name}")
        page.wait_for_load_state("networkidle")
        opened.append((page, asked(page)))
        return page

    yield lesson_of
    for page, before in opened:
        assert asked(page) == before


def asked(page):
    """Return what the page asked for; the tab's icon comes whenever the browser likes."""
    return [request for request in page.watched.requests if not request.endswith("/icon.svg")]


def test_the_two_laws_move_with_epsilon_and_the_study_says_the_same_in_both_worlds(lesson):
    page = lesson("promise")
    before = page.locator("#laws-picture .with").get_attribute("points")
    expect(page.locator("#laws-words")).to_contain_text("1.65 times")
    move(page, "#laws-epsilon", 0)
    expect(page.locator("#laws-words")).to_contain_text("ε 0.05")
    expect(page.locator("#laws-words")).to_contain_text("1.06 times")
    assert page.locator("#laws-picture .with").get_attribute("points") != before
    expect(page.locator("#smoking-picture")).to_contain_text("without you")
    move(page, "#smoking-people", 40)
    expect(page.locator("#smoking-people-value")).to_have_text("10,000")
    expect(page.locator("#smoking-words")).to_contain_text("0.01%")
    page.click("#smoking-again")


def test_coins_and_the_crowd(lesson):
    page = lesson("randomized_response")
    page.click("#coins-flip")
    expect(page.locator("#coins-words")).to_contain_text("3 times in 4")
    expect(page.locator("#coins-picture rect")).to_have_count(1000)
    page.click("#coins-crowd")
    move(page, "#coins-share", 100)
    expect(page.locator("#coins-share-value")).to_have_text("100%")
    said = page.locator("#coins-picture .yes").count()
    # 1,000 answers that are yes 3 times in 4: outside 620..880 with probability below 1e-19.
    assert 620 < said < 880


def test_differencing_fails_on_private_numbers_and_succeeds_without_privacy(lesson):
    page = lesson("aggregates")

    def rate():
        return int(RIGHT.search(page.locator("#differencing-words").inner_text()).group(1))

    page.click("#differencing-go")
    move(page, "#differencing-epsilon", 0)
    # 1,000 fair guesses, all but: above 60 in 100 with probability below 1e-9.
    assert 40 <= rate() <= 60
    move(page, "#differencing-epsilon", 60)
    assert rate() >= 99, "at epsilon 10 the attack must succeed, or the lesson proves nothing"


def over(page):
    """Return by how many pixels a page is wider than its window."""
    return page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )


class News:
    """What pages are made of: whether one has anything that those before it had not."""

    def __init__(self):
        self._known = set()

    def on(self, page):
        kinds = set(page.evaluate(KINDS))
        new = kinds - self._known
        self._known |= kinds
        return new


def walk_lessons(page, address, ways_of, news=None):
    """Open every lesson; return what axe finds in the ways that `ways_of` names for its place.

    With `news`, axe looks at lessons with something new on them.
    """
    wrong = []
    for place, lesson in enumerate(LESSONS):
        page.set_viewport_size(DESKTOP)
        page.goto(f"{address}/course/{lesson.name}")
        page.wait_for_load_state("networkidle")
        expect(page.locator(".live:empty")).to_have_count(0)
        for size in (DESKTOP, PHONE):
            page.set_viewport_size(size)
            assert over(page) == 0, f"{lesson.name} scrolls sideways at {size['width']}"
        assert page.evaluate(NAMELESS) == [], lesson.name
        if news is None or news.on(page):
            wrong += walked(page, ways_of(place))
    return wrong


def test_every_lesson_fits_and_is_open_to_everybody(served, visit):
    """Each that has something new is walked one way, and each way by a quarter of the lessons."""
    page = visit(served, "/course", token="")
    links = page.locator(".contents a").evaluate_all("nodes => nodes.map(node => node.pathname)")
    assert links == [f"/course/{lesson.name}" for lesson in LESSONS]
    linked = page.locator(".by-topic li").evaluate_all(
        "nodes => nodes.map(node => node.querySelectorAll('a').length)"
    )
    assert len(linked) == 25
    assert min(linked) >= 1, "every subject is two clicks away"
    ways = itertools.cycle(WAYS)
    assert walk_lessons(page, served.address, lambda _: [next(ways)], News()) == []


@pytest.mark.slow
def test_every_lesson_in_all_four_ways(served, visit):
    page = visit(served, "/course", token="")
    assert walk_lessons(page, served.address, lambda _: WAYS) == []


def test_the_walk_would_see_a_fault(served, visit):
    page, news = visit(served, "/course/promise", token=""), News()
    expect(page.locator(".live:empty")).to_have_count(0)
    assert news.on(page)
    assert not news.on(page)
    page.evaluate("document.querySelector('#laws-epsilon').removeAttribute('aria-label')")
    page.evaluate("document.querySelector('label[for=laws-epsilon]').remove()")
    assert [each[1] for each in walked(page, [WAYS[1]])] == ["label"]
    assert len(page.evaluate(NAMELESS)) == 1
    page.evaluate("document.querySelector('h1').className = 'faint'")
    assert news.on(page), "a page of known parts is looked at when one of them has changed"


def test_a_slider_over_steps_shows_one_at_a_time(served, visit):
    page = visit(served, "/course/k_anonymity", token="")
    expect(page.locator(".sweep").first.locator("output")).to_have_text("k = 5")
    move(page, "#sweep_intersection", 0)
    expect(page.locator(".sweep").first.locator("output")).to_have_text("k = 2")
    assert page.locator(".sweep").first.locator(".step:visible").count() == 1


def test_answers_are_graded_in_place_and_remembered(served, visit):
    page = visit(served, "/course/randomized_response", token="")
    form = page.locator('form[data-question="epsilon"]')
    form.locator("input").fill("3")
    form.locator("button").click()
    expect(form.locator(".verdict")).to_contain_text("Not yet.")
    form.locator("input").fill("ln(3)")
    form.locator("input").press("Enter")
    expect(form.locator(".verdict")).to_contain_text("Right.")
    page.goto(served.address + "/course")
    expect(page.locator('li[data-lesson="randomized_response"] .done')).to_have_text(
        " · 1 of 4 right"
    )


def test_the_auditor_gives_everything_away(served, visit):
    page = visit(served, "/course/refusing", token="")
    for pair in ("Ann + Ben", "Ann + Cem", "Ann + Dee"):
        page.get_by_role("button", name=pair).click()
    expect(page.locator("#live .said")).to_contain_text("2 of 16 tables are possible")
    assert page.locator("#live .worlds .strong").count() == 2


def test_the_bill_of_four_questions(served, visit):
    page = visit(served, "/course/composition", token="")
    expect(page.locator("#live .said")).to_contain_text(
        "The sum of all prices is 1.20. The bill is 1.00"
    )
    expect(page.locator("#live .worst")).to_contain_text("women over 20")


def test_solutions_are_the_owners(served, small, visit):
    page = visit(served, "/course/teacher")
    expect(page.locator("h1")).to_have_text("For teachers")
    assert page.locator("article li").count() == sum(len(each.questions) for each in LESSONS)
    assert page.request.get(served.address + "/course/teacher", max_redirects=0).ok
    stranger = visit(served, "/course/teacher", token="")
    assert "Solutions" not in stranger.content()
    analyst = visit(small, "/course/teacher", token=small.analyst)
    assert "Solutions" not in analyst.content()


def test_a_class_gets_its_links_and_ends(small, visit):
    page = visit(small, "/course/teacher")
    expect(page.locator("#class-budget")).to_contain_text("0.1 = 3 if all ask")
    expect(page.locator("#class-budget")).to_contain_text("With 0.016 each it lasts for everybody")
    page.fill("#class-size", "4")
    expect(page.locator("#class-budget")).to_contain_text("so it lasts for everybody")
    page.click("#new-class button")
    expect(page.locator(".cards li")).to_have_count(4)
    page.set_viewport_size(PHONE)
    assert over(page) == 0
    assert walked(page, WAYS if FULL else WAYS[1:2]) == []
    link = page.locator(".cards code").first.inner_text()
    student = visit(small, "/budget", token=link.partition("token=")[2])
    expect(student.locator(".me summary")).to_have_text("student001")
    page.set_viewport_size(DESKTOP)
    page.emulate_media(media="print")
    assert page.locator("#class-sheet").is_visible()
    assert not page.locator("h1").is_visible()
    page.emulate_media(media="screen")
    page.get_by_role("button", name="End the class student").click()
    page.get_by_role("button", name="End the class student").click()
    expect(page.locator("#class-list tbody")).to_contain_text("0 of 4 valid")
    expect(page.locator("#class-sheet")).to_be_hidden()
    page.click("#new-class button")
    expect(page.locator("#class-problem")).to_contain_text("take another, such as 'student-b'")
    page.reload()
    expect(page.locator("#class-name")).to_have_value("student-b")
    student.goto(small.address + "/budget")
    expect(student.locator(".me summary")).to_have_count(0)


def test_a_rehearsal_is_the_same_for_everybody_and_marked(served, visit):
    seen = []
    for _ in range(2):
        page = visit(served, "/ask")
        page.click("#rehearse summary")
        page.fill("#seed", "7")
        page.click("#rehearse-go")
        expect(page.locator("#rehearsal .care")).to_contain_text("rehearsal: not private")
        seen.append(page.locator("#rehearsal tbody").inner_text())
    assert seen[0] == seen[1]
    page.locator("#rehearsal").get_by_role("button", name="Chart").click()
    expect(page.locator("#rehearsal .chart")).to_contain_text("rehearsal: not private")
    with page.expect_download() as saved:
        page.locator("#rehearsal").get_by_role("button", name="CSV").click()
    lines = Path(saved.value.path()).read_text(encoding="utf-8").splitlines()
    assert all(line.endswith("rehearsal: not private") for line in lines[1:])
    page.fill("#seed", "x")
    page.click("#rehearse-go")
    expect(page.locator("#rehearse-problem")).to_contain_text("whole number")


def test_a_room_sees_it_large(served, visit):
    page = visit(served, "/course/noise?projector=1", token="")
    assert page.locator("h1").evaluate("node => node.getBoundingClientRect().height") > 45
    assert over(page) == 0
