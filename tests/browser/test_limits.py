"""Changing budgets and shares on the Data page, and the log of who did what."""

from playwright.sync_api import expect

from discreet.curator import open as open_curator

TOWN = '.limits[data-dataset="town"]'


def opened(small, visit, **options):
    page = visit(small, "/data", **options)
    page.locator(f"{TOWN} summary").click()
    return page, page.locator(TOWN)


def limits(small):
    with open_curator(small.config) as curator:
        report = curator.share_report()["datasets"]["town"]["epsilon"]
        shares = {
            name: curator.share_report(name)["datasets"]["town"]["epsilon"]["limit"]
            for name in curator.catalog.analysts
            if "town" in curator.visible(name)
        }
    return report["limit"], shares


def test_lowering_says_what_it_does_and_the_ledger_and_the_log_have_it(small, visit):
    with small.context.workspace.curator() as curator:
        curator.query("SELECT COUNT(*) AS n FROM people", epsilon="0.2", analyst="alice")
    page, form = opened(small, visit)
    change = form.locator("button.main")
    expect(change).to_be_disabled()
    expect(form.locator(".total-words")).to_have_text("0.20 of 0.50 is spent, 0.30 is left.")
    form.locator(".total").fill("0.1")
    expect(form.locator(".total-words")).to_contain_text(
        "From 0.50 to 0.10: 0.20 is spent already, so no further question is answered. It takes "
        "nothing back"
    )
    form.locator(".total").fill("0.25")
    expect(form.locator(".total-words")).to_have_text(
        "From 0.50 to 0.25: 0.05 is left instead of 0.30."
    )
    expect(form.locator(".agree")).to_be_hidden()
    change.click()
    expect(form.locator(".done")).to_contain_text("Changed.")
    expect(page.locator(f"{TOWN} summary")).to_be_focused()
    assert limits(small) == (0.25, {"alice": 0.3})
    expect(page.locator("#log")).to_contain_text("changed the budget of town from ε 0.50 to 0.25")


def test_raising_needs_the_owners_word_and_shares_are_changed_added_and_taken_away(small, visit):
    _, form = opened(small, visit)
    form.locator(".total").fill("0.9")
    expect(form.locator(".total-words")).to_contain_text("at most 1.65 times")
    expect(form.locator(".total-words")).to_contain_text("may be 2.46 times")
    expect(form.locator("button.main")).to_be_disabled()
    form.locator(".agree input").check()
    form.locator("button.main").click()
    expect(form.locator(".done")).to_be_visible()
    assert limits(small) == (0.9, {"alice": 0.3})
    form.locator(".share-line input.short").fill("0.1")
    expect(form.locator(".share-words")).to_have_text(
        "From 0.30 to 0.10: 0.10 is left instead of 0.30."
    )
    form.locator(".add-share").click()
    form.locator(".new-share input").first.fill("zoë")
    expect(form.locator("button.main")).to_be_disabled()
    form.locator(".new-share input").nth(1).fill("0.2")
    form.locator("button.main").click()
    expect(form.locator(".share-line")).to_have_count(2)
    assert limits(small) == (0.9, {"alice": 0.1, "zoë": 0.2})
    alice = form.locator('.share-line[data-analyst="alice"]')
    alice.locator(".remove").check()
    expect(alice.locator(".share-words")).to_contain_text("What was spent stays spent.")
    form.locator("button.main").click()
    expect(form.locator(".share-line")).to_have_count(1)
    assert limits(small) == (0.9, {"zoë": 0.2})


def test_what_is_no_amount_cannot_be_sent_and_a_refusal_stands_beside_the_button(small, visit):
    page, form = opened(small, visit)
    for wrong in ("", "x", "0", "-1"):
        form.locator(".total").fill(wrong)
        expect(form.locator(".total")).to_have_attribute("aria-invalid", "true")
        expect(form.locator("button.main")).to_be_disabled()
        form.locator(".total").fill("0.5")
        expect(form.locator(".total")).not_to_have_attribute("aria-invalid", "true")
    form.locator(".share-line .remove").check()
    form.locator("button.main").click()
    expect(form.locator(".limits-problem")).to_contain_text("Not done. This is the last share")
    assert limits(small) == (0.5, {"alice": 0.3})
    assert page.locator(".done").count() == 0


def test_by_keyboard_on_a_phone(small, visit):
    page, form = opened(small, visit, viewport={"width": 360, "height": 740}, is_mobile=True)
    page.locator(f"{TOWN} summary").focus()
    page.keyboard.press("Tab")
    expect(form.locator(".total")).to_be_focused()
    page.keyboard.press("Control+A")
    page.keyboard.type("0.4")
    page.keyboard.press("Enter")
    expect(form.locator(".done")).to_be_visible()
    assert limits(small)[0] == 0.4
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_the_log_tells_who_did_what_and_no_secret(small, visit):
    page = visit(small, "/data", java_script_enabled=False)
    log = page.locator("#log")
    expect(log).to_contain_text("made a token for alice")
    expect(log).to_contain_text("signed in")
    for secret in (small.owner, small.analyst):
        assert secret not in page.content()
