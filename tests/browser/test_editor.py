"""The editor on Ask: painted, completed, underlined where it is wrong; and answers that stay."""

import re

from playwright.sync_api import expect

COUNT = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"


ODD = """async () => { const { quoted, placeOf } = await import("/static/editor/tokens.js");
    return [["age", "two words", 'a"b', "order", "größe"].map(quoted),
            placeOf("SELECT\\n x,, y", "Check the spelling near line 2, column 4."),
            placeOf('SELECT COUNT("odd name")', "There is no column 'odd name'."),
            placeOf("SELECT 1", "Nothing here is named.")]; }"""


def typed(page, before, keys):
    page.fill("#sql", before)
    page.focus("#sql")
    page.keyboard.press("Control+End")
    page.keyboard.type(keys)


def test_words_are_painted_and_completed_errors_underlined_and_odd_names_quoted(served, visit):
    page = visit(served)
    page.fill("#sql", "SELECT COUNT(*) AS n FROM peopel WHERE sex = 'Male' -- all")
    expect(page.locator(".paint .wrong-here")).to_have_text("peopel")
    assert page.locator(".paint .keyword").all_inner_texts()[:2] == ["SELECT", "AS"]
    expect(page.locator(".paint .string")).to_have_text("'Male'")
    expect(page.locator(".paint .comment")).to_have_text("-- all")

    typed(page, "SELECT COUNT(*) AS n FROM people WHERE ", "hou")
    expect(page.locator("#offers [aria-selected=true]")).to_contain_text("household_size")
    page.keyboard.press("Tab")
    assert page.input_value("#sql").endswith("WHERE household_size")
    assert page.evaluate("document.activeElement.id") == "sql"
    expect(page.locator("#offers")).to_be_hidden()

    typed(page, "SELECT COUNT(*) AS n FROM people p WHERE p.region = ", "'B")
    expect(page.locator("#offers li")).to_have_count(3)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.input_value("#sql").endswith("p.region = 'Birchford'")
    expect(page.locator("#go")).to_have_text(re.compile("uses|free"))
    expect(page.locator(".paint .wrong-here")).to_have_count(0)

    typed(page, "SELECT COUNT(*) AS n FROM people p WHERE ", "p.ag")
    page.keyboard.press("Escape")
    expect(page.locator("#offers")).to_be_hidden()
    assert page.input_value("#sql").endswith("p.ag"), "what was typed stays"

    assert page.evaluate(ODD) == [
        ["age", '"two words"', '"a""b"', '"order"', "größe"],
        {"start": 10, "end": 11},
        {"start": 13, "end": 23},
        None,
    ]


def test_means_tell_their_noise_for_a_group_that_one_names(served, visit):
    page = visit(served)
    page.fill("#sql", "SELECT AVG(age) AS mean, MEDIAN(age) AS m FROM people")
    expect(page.locator("#noise")).to_contain_text("at most ±")
    expect(page.locator("#noise")).to_contain_text("of 1,000 rows")
    before = page.locator("#noise").inner_text()
    page.fill("#group-size", "100000")
    expect(page.locator("#noise")).to_contain_text("of 100,000 rows")
    assert page.locator("#noise").inner_text() != before
    page.fill("#sql", COUNT)
    expect(page.locator("#group")).to_be_hidden()


def test_an_answer_stays_after_reload_and_back_and_while_the_next_is_written(served, visit):
    page = visit(served)
    page.fill("#sql", COUNT)
    expect(page.locator("#go")).to_have_text(re.compile("uses|free"))
    page.click("#go")
    rows = page.locator("#panel-table tbody tr")
    expect(rows).to_have_count(2)
    expect(page).to_have_url(re.compile(r"/ask\?answer=[0-9a-f]{32}$"))
    told = rows.first.text_content()
    page.reload()
    expect(rows.first).to_have_text(told)
    page.fill("#sql", "SELECT COUNT(*) AS n FROM people")
    expect(page.locator("#answered-sql")).to_have_text(COUNT)
    expect(rows).to_have_count(2)
    page.goto(served.address + "/budget")
    page.go_back()
    page.go_back()
    expect(rows).to_have_count(2)
    expect(page.locator("#sql")).to_have_value(COUNT)
    sent = [path for method, path in page.watched.sent if method == "POST" and "/jobs" in path]
    assert len(sent) == 1, "it was asked once"


def test_an_answer_is_kept_in_a_notebook_and_drawn_there(served, visit):
    page = visit(served)
    page.fill("#sql", COUNT)
    expect(page.locator("#go")).to_have_text(re.compile("uses|free"))
    page.click("#go")
    page.wait_for_selector("#result:not([hidden])")
    page.click("#tab-keep")
    page.select_option("#keep-in", "")  # others may have kept something on this server before
    page.fill("#keep-title", "Sexes")
    page.click("#keep")
    page.click("#panel-keep [role=status] a")
    expect(page.locator("h1")).to_have_text("Sexes")
    expect(page.locator(".cell svg")).to_be_visible()
    page.get_by_role("button", name="as table").click()
    expect(page.locator(".cell tbody tr")).to_have_count(2)


def test_a_choice_made_before_the_list_has_come_stays(served, visit):
    page = visit(served)
    made = """async title => (await import("/static/api.js")).call("POST", "/notebooks", { title, cells: [] })"""
    page.evaluate(made, "Older")
    held = []

    def hold(route):
        held.append(route)

    page.route("**/api/v1/notebooks", hold)
    page.fill("#sql", COUNT)
    expect(page.locator("#go")).to_have_text(re.compile("uses|free"))
    page.click("#go")
    page.wait_for_selector("#result:not([hidden])")
    page.click("#tab-keep")
    page.fill("#keep-title", "Mine")
    while not held:  # until the list is asked for
        page.wait_for_timeout(20)
    for route in held:
        route.continue_()
    expect(page.locator("#keep-in option")).not_to_have_count(1)
    expect(page.locator("#keep-title")).to_be_visible()
    expect(page.locator("#keep-in")).to_have_value("")
