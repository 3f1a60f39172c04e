"""A data set after its first day, with the buttons of the page: its bound, another name, a newer file, its end."""

from playwright.sync_api import expect

ROWS = "person,city\n" + "".join(
    f"p{i},{('Oslo', 'Rome')[i % 2]}\n" * (1 + 49 * (i % 2)) for i in range(400)
)
"""Half of the people have one row, half have fifty: a bound of 2 leaves out 48 rows of each of 200."""


def declared(page, folder):
    file = folder / "guests.csv"
    file.write_text(ROWS, encoding="utf-8")
    page.set_input_files("#file", file)
    page.click("#bring button")
    page.wait_for_selector("#review:not([hidden])")
    page.check("input[name=who][value=column]")
    page.fill("#max-rows", "2")
    page.check('[data-column="city"] input[value=public]')
    page.fill("#limit", "5")
    page.fill("#dataset-name", "guests")
    page.fill("#table-name", "guests")
    page.locator("#table-name").blur()
    expect(page.locator("#confirm")).to_be_enabled()
    page.click("#confirm")
    page.wait_for_url("**/ask?sql=*")


def opened(page, dataset):
    box = page.locator(f'.manage[data-dataset="{dataset}"]')
    box.locator("summary").first.click()
    return box


def loss_is_shown(page, address):
    page.goto(address + "/data")
    box = page.locator('.bounds[data-table="guests.guests"]')
    box.locator("summary").click()
    box.locator(".look-epsilon").fill("0")
    expect(box.locator(".bounds-problem")).to_contain_text("Not done.")
    expect(box.locator(".look")).to_be_disabled()
    box.locator(".look-epsilon").fill("9")
    expect(box.locator(".look")).to_have_text("Look: uses 9.00")
    box.locator(".look").click()
    expect(box.locator(".bounds-problem")).to_contain_text("Not done.")
    box.locator(".look-epsilon").fill("2")
    expect(box.locator(".look")).to_have_text("Look: uses 2.00")
    box.locator(".look").click()
    line = box.locator("tbody tr", has_text="declared")
    low, high = line.locator("td").nth(2).inner_text().replace(",", "").split(" to ")
    # An interval of 95%. The noise of a count of people has a scale of 1/2: that it takes six people
    # more away than the interval allows for has a chance below 1e-9.
    assert int(low) <= 48 * 200 <= int(high) + 48 * 6
    expect(line.locator("td").nth(3)).to_have_text("± 6")
    expect(box.locator(".look")).to_have_text("Look again, free")
    page.goto(address + "/ask")
    page.fill("#sql", "SELECT COUNT(*) AS n FROM guests")
    expect(page.locator("#go")).to_contain_text("uses")
    page.click("#go")
    expect(page.locator("#panel-table tbody tr")).to_have_count(1)
    expect(page.locator("main")).to_contain_text("that leaves out about")


def an_older_price_that_comes_later_is_not_shown(page, address):
    page.goto(address + "/data")
    held = []

    def hold(route):
        if "0.1" in (route.request.post_data or ""):
            held.append(route)
        else:
            route.continue_()

    page.route("**/api/v1/bounds/explain", hold)
    box = page.locator('.bounds[data-table="guests.guests"]')
    box.locator("summary").click()
    box.locator(".look-epsilon").fill("0.1")
    while not held:  # the test's own limit of time ends it
        page.wait_for_timeout(50)
    box.locator(".look-epsilon").fill("0")
    expect(box.locator(".bounds-problem")).to_contain_text("Not done.")
    with page.expect_response("**/api/v1/bounds/explain"):
        for route in held:
            route.continue_()
    page.wait_for_timeout(200)
    expect(box.locator(".bounds-problem")).to_contain_text("Not done.")
    expect(box.locator(".look")).to_be_disabled()
    page.unroute("**/api/v1/bounds/explain")


def a_new_version_is_begun(page, address):
    page.goto(address + "/data")
    box = opened(page, "guests")
    expect(box.locator(".versions")).to_contain_text("read version 1, since")
    with page.expect_navigation():
        box.locator(".new-version").click()
    expect(page.locator("#log")).to_contain_text("began version 2 of guests")
    box = opened(page, "guests")
    expect(box.locator(".versions")).to_contain_text("read version 2, since")
    expect(box.locator(".versions")).not_to_contain_text("are others by now")


def test_bound_name_newer_file_and_end(small, visit, tmp_path):
    page = visit(small, "/data")
    declared(page, tmp_path)
    an_older_price_that_comes_later_is_not_shown(page, small.address)
    loss_is_shown(page, small.address)
    a_new_version_is_begun(page, small.address)

    page.goto(small.address + "/data")
    box = opened(page, "guests")
    box.locator(".new-name").fill("visitors")
    box.locator(".rename").click()
    expect(page.locator('.manage[data-dataset="visitors"]')).to_have_count(1)
    expect(page.locator('.manage[data-dataset="guests"]')).to_have_count(0)

    box = opened(page, "visitors")
    box.locator(".refresh").click()
    expect(box.locator(".manage-problem")).to_contain_text("Choose a file first.")
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("somebody\np1\n", encoding="utf-8")
    box.locator(".new-file").set_input_files(wrong)
    box.locator(".refresh").click()
    expect(box.locator(".manage-problem")).to_contain_text("lacks columns that are declared")
    newer = tmp_path / "newer.csv"
    newer.write_text(ROWS + "p400,Rome\n", encoding="utf-8")
    box.locator(".new-file").set_input_files(newer)
    with page.expect_navigation():
        box.locator(".refresh").click()
    expect(page.locator("#log")).to_contain_text("visitors")

    box = opened(page, "visitors")
    expect(box.locator("button.remove")).to_be_disabled()
    box.locator(".drop").check()
    with page.expect_navigation():
        box.locator("button.remove").click()
    expect(page.locator("#have-title")).to_have_count(1)
    expect(page.locator('.manage[data-dataset="visitors"]')).to_have_count(0)
