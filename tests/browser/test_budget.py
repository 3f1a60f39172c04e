from playwright.sync_api import expect

from discreet.api import open as open_curator

SQL = "SELECT COUNT(*) AS n FROM people WHERE sex = 'Female'"


def spend(small):
    with small.context.workspace.curator() as curator:
        curator.query(SQL, epsilon="0.2", analyst="alice")


def test_the_owner_sees_everything_without_javascript(small, visit):
    spend(small)
    page = visit(small, "/budget", java_script_enabled=False)
    town = page.locator(".purse").first
    expect(town).to_contain_text("0.30 of 0.50 left")
    expect(town).to_contain_text("Most exposed group so far: sex = 'Female'")
    expect(town).to_contain_text("Enough for 3 counts with noise ± 30 (ε 0.1)")
    expect(town.locator("table").first).to_contain_text("alice")
    expect(town.locator(".history")).to_contain_text(SQL)
    expect(page.locator(".purse").nth(1)).to_contain_text("A first question to try")
    href = town.locator(".history a").first.get_attribute("href")
    page.goto(small.address + href)
    assert page.input_value("#sql") == SQL


def test_an_analyst_sees_the_own_share_and_no_more(small, visit):
    spend(small)
    page = visit(small, "/budget", token=small.analyst)
    assert page.locator(".purse").count() == 1
    expect(page.locator(".purse")).to_contain_text("0.10 of 0.30 left")
    text = page.locator("main").inner_text()
    assert "Most exposed" not in text
    assert "Analysts" not in text


def test_the_page_says_what_the_ledger_says(small, visit):
    spend(small)
    with open_curator(small.config) as curator:
        spent = curator.budget_report()["datasets"]["town"]["epsilon"]
    page = visit(small, "/budget")
    expect(page.locator(".purse .left").first).to_contain_text(
        f"{spent['limit'] - spent['spent']:.2f}"
    )
