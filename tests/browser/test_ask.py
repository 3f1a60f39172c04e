import json
import re

from playwright.sync_api import expect

from patience import LONG

OUTLINE = """(() => { const seen = getComputedStyle(document.activeElement);
    return [seen.outlineWidth, seen.outlineStyle]; })()"""
COUNT = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"


def ask(page, sql, epsilon="0.25"):
    page.fill("#sql", sql)
    page.fill("#epsilon", epsilon)
    expect(page.locator("#go")).to_have_text(re.compile("uses|free"))
    with page.expect_response("**/api/v1/explain"):
        page.locator("#epsilon").dispatch_event("input")
    page.click("#go")
    page.wait_for_selector("#result:not([hidden])")


def test_first_visit_asks_one_question_and_enter_leads_to_an_answer(untouched, visit):
    page = visit(untouched, "/")
    expect(page.locator("h1")).to_have_text("Protecting data, asking, or teaching?")
    page.get_by_text("Asking", exact=True).click()
    expect(page.locator("#go")).to_have_text(re.compile(r"Ask · uses 0\.25, leaves \S+"))
    expect(page.locator("#preview")).to_contain_text("Aldbrook")
    expect(page.locator("#go")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#panel-table tbody tr")).to_have_count(50)
    expect(page.locator("#panel-table svg.interval")).to_have_count(50)
    page.goto(untouched.address + "/")
    expect(page).to_have_url(untouched.address + "/ask")


def test_the_price_and_the_noise_stand_before_the_button(served, visit):
    page = visit(served)
    page.fill("#sql", "SELECT COUNT(*) AS n FROM people WHERE age > 30")
    expect(page.locator("#noise")).to_have_text("expected noise ± 12 (95%)")
    page.fill("#epsilon", "0.5")
    expect(page.locator("#noise")).to_have_text("expected noise ± 6 (95%)")
    expect(page.locator("#go")).to_contain_text("uses 0.50")
    expect(page.locator("#odds")).to_contain_text("Compared with you not taking part")
    expect(page.locator("#odds")).to_contain_text("1.65 times")


def test_the_slider_changes_the_sentence_and_the_noise(served, visit):
    page = visit(served)
    expect(page.locator("#noise")).to_contain_text("± 12")
    before = page.locator("#odds").inner_text()
    page.focus("#slider")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#odds")).not_to_have_text(before)
    expect(page.locator("#epsilon")).to_have_value("0.3")
    expect(page.locator("#noise")).to_contain_text("± 10")
    expect(page.locator("#slider")).to_have_attribute("aria-valuetext", "epsilon 0.3")


def test_a_wanted_noise_finds_epsilon(served, visit):
    page = visit(served)
    page.fill("#sql", "SELECT COUNT(*) AS n FROM people")
    page.fill("#within", "5")
    expect(page.locator("#noise")).to_contain_text("± 5 ")
    found = float(page.input_value("#epsilon"))
    assert 0.4 < found < 0.7, "the discrete law needs about 0.55 for ± 5"
    page.fill("#within", "a lot")
    expect(page.locator("#price-problem")).to_contain_text("Not like this.")
    page.fill("#within", "")
    expect(page.locator("#price-problem")).to_be_empty()


def test_refusals_stand_under_the_editor_and_nothing_is_asked(served, visit):
    page = visit(served)
    page.fill("#sql", "SELECT * FROM people")
    expect(page.locator("#sql-problem")).to_contain_text("Not like this.")
    expect(page.locator("#go")).to_be_disabled()
    page.keyboard.press("Control+Enter")
    page.fill("#sql", "SELECT COUNT(*) AS n FROM peopel")
    expect(page.locator("#sql-problem")).to_contain_text("Did you mean 'people'?")
    page.fill("#sql", COUNT)
    expect(page.locator("#sql-problem")).to_be_empty()
    assert ("POST", f"{served.address}/api/v1/explain") in page.watched.sent
    assert ("POST", f"{served.address}/api/v1/jobs") not in page.watched.sent


def test_the_catalog_inserts_names_and_says_domains(served, visit):
    page = visit(served)
    expect(page.locator(".catalog")).to_contain_text("Female, Male")
    expect(page.locator(".catalog")).to_contain_text("50 values")
    page.fill("#sql", "SELECT COUNT(*) AS n FROM ")
    page.click(".catalog [data-insert=people]")
    assert page.input_value("#sql") == "SELECT COUNT(*) AS n FROM people"
    page.select_option("#dataset", "films")
    expect(page.locator(".catalog .dataset:visible")).to_contain_text("rating")
    expect(page.locator("#protects")).to_have_text("each person in user_id")


def test_the_whole_way_by_keyboard_alone(served, visit):
    page = visit(served)
    page.focus("#sql")
    page.keyboard.press("Control+A")
    page.keyboard.type("SELECT COUNT(*) AS n FROM people WHERE age < 18")
    expect(page.locator("#noise")).to_contain_text("±")
    expect(page.locator("#go")).to_be_enabled()  # it rests until the price is known
    for wanted in ("slider", "epsilon", "go"):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.id") == wanted
        assert page.evaluate(OUTLINE) == ["2px", "solid"], "focus can be seen"
    expect(page.locator("#go")).to_have_text(re.compile("uses|free"))
    page.keyboard.press("Control+Enter")
    expect(page.locator("#panel-table tbody tr")).to_have_count(1)
    page.focus("#tab-table")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#tab-how")).to_be_focused()
    expect(page.locator("#panel-how")).to_contain_text("discrete Laplace noise of scale")
    page.keyboard.press("End")
    expect(page.locator("#panel-download")).to_be_visible()


def test_an_answer_is_drawn_under_the_strict_policy_and_downloads_as_csv_json_and_python(
    served, visit
):
    page = visit(served)
    ask(page, COUNT)
    expect(page.locator("#go")).to_have_text("Ask · free")
    page.click("#tab-chart")
    expect(page.locator("#panel-chart svg")).to_be_visible()
    expect(page.locator("#panel-chart svg")).to_contain_text("Female")
    expect(page.locator("#panel-chart")).not_to_contain_text("Drawing")
    page.click("#theme")
    expect(page.locator("#panel-chart svg")).to_be_visible()
    page.click("#tab-download")
    with page.expect_download() as csv:
        page.get_by_role("button", name="CSV").click()
    lines = csv.value.path().read_text(encoding="utf-8").splitlines()
    assert lines[0] == "sex,n,n ±"
    assert [line.split(",")[0] for line in lines[1:]] == ["Female", "Male"]
    with page.expect_download() as whole:
        page.get_by_role("button", name="JSON").click()
    assert json.loads(whole.value.path().read_text())["columns"] == ["sex", "n"]
    expect(page.locator("#panel-download pre")).to_contain_text("discreet.connect(")
    formulas_are_harmless(page)


def formulas_are_harmless(page):
    text = page.evaluate(
        """async () => (await import("/static/how.js")).csvOf({
            columns: ["=a", "n"], noisy: [1], error95: [[null, 1], [null, null]],
            rows: [["=1+1", -5], ['say "hi", all', 7]]})"""
    )
    assert text == '\'=a,n,n ±\n\'=1+1,-5,1\n"say ""hi"", all",7,\n'


def test_a_question_goes_on_while_one_is_away(served, visit, gated):
    page = visit(served)
    page.fill("#sql", "SELECT COUNT(*) AS n FROM people WHERE age BETWEEN 40 AND 41")
    expect(page.locator("#noise")).to_contain_text("± 12 (95%)")
    page.click("#go")
    assert gated.reading.wait(LONG)
    expect(page.locator("#step")).to_have_text("reading the data")
    page.goto(served.address + "/learn")
    page.goto(served.address + "/ask")
    expect(page.locator("#step")).to_have_text("reading the data")
    gated.gate.set()
    expect(page.locator("#panel-table tbody tr")).to_have_count(1)
    expect(page.locator("#sql")).to_have_value(re.compile("BETWEEN 40 AND 41"))


def test_a_question_can_be_cancelled(served, visit, gated):
    page = visit(served)
    page.fill("#sql", "SELECT COUNT(*) AS n FROM people WHERE age BETWEEN 50 AND 51")
    expect(page.locator("#noise")).to_contain_text("± 12 (95%)")
    page.click("#go")
    assert gated.reading.wait(LONG)
    page.click("#cancel")
    expect(page.locator("#price-problem")).to_contain_text(
        "cancelled. The charge stands, and there is no answer."
    )
    expect(page.locator("#work")).to_be_hidden()
    expect(page.locator("#result")).to_be_hidden()


def test_the_button_says_what_the_worst_hit_person_will_have_left(small, visit):
    page = visit(small, token=small.analyst)
    ask(page, "SELECT COUNT(*) AS n FROM people WHERE sex = 'Female'", epsilon="0.2")
    page.fill("#sql", "SELECT COUNT(*) AS n FROM people WHERE sex = 'Male'")
    page.fill("#epsilon", "0.15")
    expect(page.locator("#go")).to_have_text("Ask · uses 0.15, leaves 0.10")
    expect(page.locator("#price-problem")).to_be_empty()
    page.click("#go")
    expect(page.locator("#paid")).to_have_text("Used 0.15 · leaves 0.10 of 0.30")


def test_each_mechanism_leads_to_its_proof(served, visit):
    page = visit(served)
    ask(page, "SELECT COUNT(*) AS n, MEDIAN(age) AS m FROM people WHERE age > 11")
    page.click("#tab-how")
    noise = page.locator("#panel-how li")
    expect(noise.filter(has_text="Laplace").locator("a")).to_have_attribute("href", "/notes/0002")
    chosen = noise.filter(has_text="exponential").locator("a")
    expect(chosen).to_have_attribute("href", "/notes/0004")
    chosen.click()
    expect(page.locator("h1")).to_have_text("Exact selection")
    page.go_back()
    expect(page.locator("#panel-table tbody tr")).to_have_count(1)


def test_the_price_says_what_cannot_be_told(served, visit):
    page = visit(served)
    page.fill("#sql", "SELECT CORR(age, income) AS c FROM people")
    page.fill("#epsilon", "0.02")
    expect(page.locator("#noise")).to_contain_text("'c' cannot be told at this epsilon from fewer")


def test_a_chosen_value_stands_beside_its_error(served, visit):
    page = visit(served)
    ask(page, "SELECT COUNT(*) AS n, MEDIAN(age) AS m FROM people WHERE age > 12")
    expect(page.locator("#panel-table thead th").filter(has_text="error")).to_have_count(1)
    cell = page.locator("#panel-table tbody td.quiet").last
    expect(cell).to_have_text(re.compile(r"^(too noisy to use: )?rank ± [\d,]+ of [\d,]+ rows?$"))


def test_when_the_budget_is_gone_what_is_free_is_shown(small, visit):
    page = visit(small, token=small.analyst)
    ask(page, COUNT, epsilon="0.3")
    expect(page.locator("#left")).to_have_text("0.00 of 0.30 left")
    page.fill("#sql", "SELECT COUNT(*) AS n FROM people WHERE sex = 'Male' AND age > 20")
    expect(page.locator("#price-problem")).to_contain_text("Too much.")
    page.click("#go")
    expect(page.locator("#price-problem")).to_contain_text("Not done.")
    expect(page.locator("#free-list")).to_contain_text(COUNT)
    page.locator("#free-list button").first.click()
    expect(page.locator("#paid")).to_contain_text("Free")
    expect(page.locator("#panel-table tbody tr")).to_have_count(2)


def test_an_owner_says_whose_share_pays(small, visit):
    page = visit(small)
    page.fill("#sql", COUNT)
    expect(page.locator("#payer")).to_have_value("")
    expect(page.locator("#go")).to_contain_text("uses 0.25, leaves 0.25")
    page.select_option("#payer", "alice")
    expect(page.locator("#go")).to_contain_text("uses 0.25, leaves 0.05")
