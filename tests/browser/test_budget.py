from playwright.sync_api import expect

from discreet.curator import open as open_curator

SQL = "SELECT COUNT(*) AS n FROM people WHERE sex = 'Female'"


def spend(small):
    with small.context.workspace.curator() as curator:
        curator.query(SQL, epsilon="0.2", analyst="alice")


def test_each_sees_what_is_theirs_as_the_ledger_says_it(small, visit):
    spend(small)
    page = visit(small, "/budget", java_script_enabled=False)
    town = page.locator(".purse").first
    with open_curator(small.config) as curator:
        spent = curator.budget_report()["datasets"]["town"]["epsilon"]
    expect(town.locator(".left").first).to_contain_text(f"{spent['limit'] - spent['spent']:.2f}")
    expect(town).to_contain_text("0.30 of 0.50 left")
    expect(town).to_contain_text("Most exposed group so far: sex = 'Female'")
    expect(town).to_contain_text("Enough for 3 counts of people with noise ± 30 (ε 0.1)")
    expect(town.locator("table").first).to_contain_text("alice")
    expect(town.locator(".history")).to_contain_text(SQL)
    expect(page.locator(".purse").nth(1)).to_contain_text("A first question to try")
    href = town.locator(".history a").first.get_attribute("href")
    assert href.startswith("/ask?answer=")
    assert href.endswith("&analyst=alice")
    theirs = visit(small, "/budget", token=small.analyst)
    assert theirs.locator(".purse").count() == 1
    expect(theirs.locator(".purse")).to_contain_text("0.10 of 0.30 left")
    text = theirs.locator("main").inner_text()
    assert "Most exposed" not in text
    assert "Analysts" not in text


def test_the_history_opens_answers_and_says_who_asked_and_who_paid(small, visit):
    spend(small)
    page = visit(small, "/budget")
    page.locator(".history a").first.click()
    expect(page.locator("#panel-table tbody tr")).to_have_count(1)
    expect(page.locator("#sql")).to_have_value(SQL)
    expect(page.locator("#payer")).to_have_value("alice")
    assert ("POST", f"{small.address}/api/v1/jobs") not in page.watched.sent
    page.goto(small.address + "/ask")
    page.select_option("#payer", "alice")
    page.fill("#sql", "SELECT COUNT(*) AS n FROM people WHERE sex = 'Male'")
    page.fill("#epsilon", "0.1")
    expect(page.locator("#go")).to_have_text("Ask · uses 0.10, leaves 0.10")
    page.click("#go")
    page.wait_for_selector("#result:not([hidden])")
    page.goto(small.address + "/budget")
    cells = page.locator(".history tbody tr").first.locator("td")
    expect(cells.nth(1)).to_have_text("owner")
    expect(cells.nth(2)).to_have_text("alice")


def test_when_nothing_is_left_what_is_free_is_said_and_leads_there(small, visit):
    with small.context.workspace.curator() as curator:
        curator.query("SELECT COUNT(*) AS n FROM people", epsilon="0.3", analyst="alice")
    page = visit(small, "/budget", token=small.analyst)
    expect(page.locator(".purse")).to_contain_text("Nothing is left to spend.")
    expect(page.locator(".purse")).to_contain_text("groups that add up to a whole")
    expect(page.locator(".purse")).to_contain_text("synthetic copy")
    page.locator(".history a").first.click()
    expect(page.locator("#panel-table tbody tr")).to_have_count(1)
    expect(page.locator("#paid")).to_contain_text("Free")
    expect(page.locator("#go")).to_have_text("Ask · free")
    expect(page.locator("#free-why")).to_contain_text("Answers that were paid for")
