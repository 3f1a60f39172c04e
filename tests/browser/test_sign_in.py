from playwright.sync_api import expect


def test_signing_in_and_out_without_javascript(served, visit):
    page = visit(served, "/", token="", java_script_enabled=False)
    expect(page.locator("h1")).to_have_text("Sign in")
    page.fill("#token", "dsc_wrong")
    page.click("main button")
    expect(page.locator("#problem")).to_contain_text("unknown, expired or revoked")
    page.fill("#token", served.owner)
    page.click("main button")
    expect(page.locator("h1")).to_have_text("Protecting data, asking, or teaching?")
    page.click(".me summary")
    page.click(".menu button")
    expect(page.locator("h1")).to_have_text("Sign in")
    page.goto(served.address + "/budget")
    expect(page.locator("h1")).to_have_text("Sign in")


def test_the_token_leaves_the_address_and_hides_from_scripts(served, visit):
    page = visit(served, "/", token="")
    page.goto(f"{served.address}/?token={served.owner}")
    assert page.url == served.address + "/"
    assert "discreet_" not in page.evaluate("document.cookie").replace("discreet_theme", "")
    assert served.owner not in page.content()


def test_a_link_on_another_site_asks_whose_account_it_shall_be(served, visit):
    page = visit(served, "/course/promise", token="")
    page.goto(
        served.address.replace("127.0.0.1", "localhost") + "/course"
    )  # another site to browsers
    page.evaluate(
        "address => { location.href = address }", f"{served.address}/?token={served.owner}"
    )
    expect(page.locator("h1")).to_have_text("Sign in as owner?")
    assert page.request.get(served.address + "/api/v1/session").status == 401
    page.click("main button")
    expect(page.locator("h1")).to_have_text("Protecting data, asking, or teaching?")
    assert served.owner not in page.content()
    assert page.url == served.address + "/"


def test_a_foreign_form_cannot_sign_out(served, visit):
    page = visit(served, "/budget")
    page.evaluate("document.querySelector('.menu input').value = 'guessed'")
    page.click(".me summary")
    page.click(".menu button")
    expect(page.locator("h1")).to_have_text("You are still signed in")


def test_everybody_may_take_the_course(served, visit):
    page = visit(served, "/course/promise", token="")
    assert page.locator(".places a").all_inner_texts() == ["Course"]
    expect(page.locator("#laws-words")).to_contain_text("as likely with you as without you")
