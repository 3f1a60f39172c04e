from playwright.sync_api import expect


def test_what_does_not_exist_says_so_as_a_page_and_to_programs_as_json(served, visit):
    page = visit(served, "/nowhere")
    expect(page.locator("h1")).to_have_text("There is no such page")
    expect(page.get_by_role("link", name="Budget")).to_be_visible()
    assert page.request.get(served.address + "/nowhere").status == 404
    found = page.request.get(
        served.address + "/api/v1/jobs/none", headers={"Accept": "text/html, */*"}
    )
    assert found.headers["content-type"].startswith("application/problem+json")


def test_a_page_of_another_role_is_not_linked_and_says_so_as_a_page(small, visit):
    page = visit(small, "/data", token=small.analyst)
    expect(page.locator("h1")).to_have_text("This is not open to you")
    expect(page.locator("main")).to_contain_text("for the role owner, not for analyst")
    assert "Data" not in page.locator(".places a").all_inner_texts()
    assert page.request.get(small.address + "/data").status == 403
