from playwright.sync_api import expect


def test_a_page_that_does_not_exist_says_so_as_a_page(served, visit):
    page = visit(served, "/nowhere")
    expect(page.locator("h1")).to_have_text("There is no such page")
    expect(page.get_by_role("link", name="Budget")).to_be_visible()
    assert page.request.get(served.address + "/nowhere").status == 404


def test_a_page_of_another_role_says_so_as_a_page(small, visit):
    page = visit(small, "/data", token=small.analyst)
    expect(page.locator("h1")).to_have_text("This is not open to you")
    expect(page.locator("main")).to_contain_text("for the role owner, not for analyst")


def test_the_api_keeps_answering_problems_as_json(served, visit):
    page = visit(served, "/ask")
    found = page.request.get(
        served.address + "/api/v1/jobs/none", headers={"Accept": "text/html, */*"}
    )
    assert found.headers["content-type"].startswith("application/problem+json")
