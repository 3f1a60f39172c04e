"""The Anonymize page, used as people use it."""

import csv
import re

import pytest
from playwright.sync_api import expect

COPY = re.compile(r"/anonymize/[0-9a-f]{32}$")


def choose(page, **roles):
    for column, role in roles.items():
        page.select_option(f'tr[data-column="{column}"] .role', role)


def measured(visit, served, **options):
    page = visit(served, "/anonymize?table=town.people", **options)
    choose(page, sex="quasi", region="quasi", job="sensitive")
    page.click("#measure")
    expect(page.locator("#found")).to_be_visible()
    return page


@pytest.fixture(scope="module")
def copy(served, chromium):
    """The page of a copy that was made once: its address."""
    page = chromium.new_page()
    page.goto(f"{served.address}/?token={served.owner}")
    page.goto(served.address + "/anonymize?table=town.people")
    choose(page, age="quasi", region="quasi", job="sensitive", sex="keep")
    page.click("#measure")
    expect(page.locator("#found")).to_be_visible()
    page.click("#make")
    page.wait_for_url(COPY)
    address = page.url.removeprefix(served.address)
    page.close()
    return address


def test_it_says_what_it_is_not_before_anything_else_and_what_must_be_said_first(served, visit):
    page = visit(served, "/anonymize?table=town.people")
    first = page.locator("main > p").first
    expect(first).to_contain_text("no guarantee")
    expect(first.get_by_role("link", name="synthesize")).to_be_visible()
    expect(page.locator("#found")).to_be_hidden()
    page.click("#measure")
    expect(page.locator("#problem")).to_contain_text("Say first what others may know")


def test_the_slider_moves_risk_and_cost_together(served, visit):
    page = measured(visit, served)
    expect(page.locator("#k-words")).to_contain_text("k 5:")
    low = page.locator("#facts").inner_text()
    page.focus("#k")
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    expect(page.locator("#k-words")).to_contain_text("k 20:")
    assert page.locator("#facts").inner_text() != low
    assert not [u for m, u in page.watched.sent if m == "POST" and u.endswith("/api/v1/anonymize")]
    # Another column changes everything: what was measured is gone.
    choose(page, job="redact")
    expect(page.locator("#found")).to_be_hidden()


def test_a_copy_has_its_report_its_files_and_its_mark(served, visit, copy, tmp_path):
    page = visit(served, copy)
    expect(page.locator(".report")).to_contain_text("Not a guarantee")
    expect(page.locator(".report")).to_contain_text("What remains, and what breaks it")
    assert page.locator(".report svg").count() >= 1
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    path = tmp_path / "rows.csv"
    download.value.save_as(path)
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    sizes: dict[tuple[str, str], int] = {}
    for row in rows:
        sizes[row["age"], row["region"]] = sizes.get((row["age"], row["region"]), 0) + 1
    assert min(sizes.values()) >= 5
    assert list(rows[0]) == ["age", "sex", "region", "job"], "what is not chosen is left out"
    page.goto(served.address + "/budget")
    expect(page.locator("main")).to_contain_text("Outside the budget")
    expect(page.locator("main")).to_contain_text("people.age")


def test_an_own_hierarchy_is_used_and_closeness_by_order_asked_for_beside_the_method(
    served, visit, tmp_path
):
    page = visit(served, "/anonymize?table=town.people")
    levels = tmp_path / "sex.csv"
    levels.write_text("Female;person\n")
    choose(page, region="quasi", sex="quasi", age="sensitive")
    page.set_input_files('tr[data-column="sex"] .levels', levels)
    page.click("#measure")
    expect(page.locator("#k-words")).to_contain_text("does not cover")
    expect(page.locator("#make")).to_be_disabled()
    levels.write_text("Female;person\nMale;person\n")
    page.set_input_files('tr[data-column="sex"] .levels', levels)
    page.fill("#closeness", "0.2")
    page.select_option("#distance", "ordered")
    with page.expect_request("**/api/v1/anonymize/measure") as sent:
        page.click("#measure")
    assert (sent.value.post_data_json["t"], sent.value.post_data_json["distance"]) == (
        0.2,
        "ordered",
    )
    expect(page.locator("#k-words")).to_contain_text("names the right row")
    expect(page.locator("#found")).to_be_visible()
    page.fill("#closeness", "3")
    page.click("#measure")
    expect(page.locator("#problem")).to_contain_text("between 0 and 1")
