"""What is pressed before a page's modules have run is done when they have."""

from playwright.sync_api import expect


def pressed_before_the_modules(page, address, *, without=None):
    """Press and choose on the Data page while its module is held, and then let it go."""
    held = []

    def hold(route):
        held.append(route)

    page.route("**/static/data.js", hold)
    if without:
        page.route(
            f"**/static/{without}",
            lambda route: route.fulfill(body="", content_type="text/javascript"),
        )
    page.goto(address + "/data", wait_until="commit")
    box = page.locator('.manage[data-dataset="town"]')
    box.locator("summary").first.click()
    box.locator(".refresh").click()
    box.locator(".drop").check()
    while not held:  # the test's own limit of time ends it
        page.wait_for_timeout(20)
    expect(box.locator(".manage-problem")).to_be_empty()
    with page.expect_event("load"):
        for route in held:
            route.continue_()
    return box


def test_an_early_press_waits_for_the_modules(served, visit):
    box = pressed_before_the_modules(visit(served, "/ask"), served.address)
    expect(box.locator(".manage-problem")).to_contain_text("Choose a file first.")
    expect(box.locator("button.remove")).to_be_enabled()


def test_without_the_script_it_would_be_lost(served, visit):
    box = pressed_before_the_modules(visit(served, "/ask"), served.address, without="early.js")
    expect(box.locator(".manage-problem")).to_be_empty()
    expect(box.locator("button.remove")).to_be_disabled()
