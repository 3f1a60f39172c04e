import pytest
from playwright.sync_api import expect

ROWS = "person,age,city\n" + "".join(
    f"p{i // 2},{18 + i * 7 % 60},{('Oslo', 'Rome', 'Lima')[i % 3]}\n" for i in range(600)
)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "guests.csv"
    path.write_text(ROWS, encoding="utf-8")
    return path


def bring(page, file):
    page.set_input_files("#file", file)
    page.click("#bring button")
    page.wait_for_selector("#review:not([hidden])")


def test_from_a_file_to_a_first_answer(small, visit, file):
    page = visit(small, "/data")
    bring(page, file)
    expect(page.locator("#limit")).to_be_disabled()  # no epsilon before who is protected
    page.check("input[name=who][value=column]")
    expect(page.locator("#limit")).to_be_enabled()
    expect(page.locator("#max-rows")).not_to_have_value("")
    expect(page.locator('[data-column="age"]')).to_contain_text("Analysts see that values lie")
    expect(page.locator("#confirm")).to_be_disabled()
    page.check('[data-column="age"] input[value=public]')
    page.fill('[aria-label="to of age"]', "120")
    page.check('[data-column="city"] input[value=hide]')
    page.fill("#limit", "2")
    expect(page.locator("#limit-words")).to_contain_text("Compared with you not taking part")
    page.click("#add-analyst")
    page.locator(".share input").first.fill("alice")
    page.locator(".share input").nth(1).fill("1")
    page.locator(".share input").nth(1).blur()
    expect(page.locator("#confirm")).to_be_enabled()
    page.click("#confirm")
    page.wait_for_url("**/ask?sql=*")
    expect(page.locator("#go")).to_contain_text("uses 0.25")
    page.click("#go")
    expect(page.locator("#panel-table tbody tr")).to_have_count(1)
    expect(page.locator(".catalog .dataset:visible")).not_to_contain_text("city")


def test_junk_is_refused_beside_the_file_and_what_is_open_is_said_where_it_belongs(
    small, visit, file, tmp_path
):
    junk = tmp_path / "junk.parquet"
    junk.write_bytes(b"\x00\x01" * 500)
    page = visit(small, "/data")
    page.set_input_files("#file", junk)
    page.click("#bring button")
    expect(page.locator("#bring-problem")).to_contain_text("Not done.")
    expect(page.locator("#review")).to_be_hidden()
    bring(page, file)
    page.check("input[name=who][value=row]")
    page.check('[data-column="person"] input[value=hide]')
    page.check('[data-column="city"] input[value=public]')
    page.check('[data-column="age"] input[value=public]')
    page.fill('[aria-label="from of age"]', "200")
    page.locator('[aria-label="from of age"]').blur()
    expect(page.locator('[data-column="age"]')).to_contain_text("Open.")
    expect(page.locator('.open[data-step="epsilon"]')).to_contain_text("Choose epsilon")
    expect(page.locator("#confirm")).to_be_disabled()
    page.goto(small.address + "/data")
    expect(page.locator("#waiting-list")).to_contain_text("guests.csv waits for your review")


def test_tokens_are_shown_once_and_revoked(small, visit):
    page = visit(small, "/data")
    page.select_option("#token-for", "analyst:alice")
    page.click("#new-token button")
    shown = page.locator("#token-shown pre")
    expect(shown).to_contain_text("dsc_")
    token = shown.inner_text()
    theirs = visit(small, "/budget", token=token)
    expect(theirs.locator("h1")).to_have_text("Budget")
    rows = page.locator("#token-list tbody tr")
    expect(rows).to_have_count(3)  # the owner's, alice's first and this one
    rows.last.get_by_role("button").click()
    expect(rows).to_have_count(2)
    theirs.goto(small.address + "/budget")
    expect(theirs.locator("h1")).to_have_text("Sign in")
