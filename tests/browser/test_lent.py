"""What one test leaves in its browser is not there for the next."""

LEAVE = """async (scope) => {
    localStorage.setItem("left", "1");
    sessionStorage.setItem("left", "1");
    document.cookie = "left=1";
    await caches.open("left");
    await navigator.serviceWorker.register("/s/worker.js", { scope });
    await new Promise((done) => { indexedDB.open("left").onsuccess = done; });
}"""
LEFT = """async () => [
    localStorage.length, sessionStorage.length, document.cookie, (await caches.keys()).length,
    (await indexedDB.databases()).length, (await navigator.serviceWorker.getRegistrations()).length,
    history.length]"""
"""A page that has been opened once has nothing of these, and two places in its history."""


def opened(lent, address):
    page = lent.page()
    page.goto(address + "/course")
    return page


def test_a_context_that_was_given_back_is_like_new(served, chromium, survey):
    first = chromium.lend(served.address, locale="en")
    page = opened(first, served.address)
    link = f"{served.address}/?token={served.owner}"
    first.context.request.get(link, max_redirects=0, headers={"Sec-Fetch-Site": "none"})
    new = page.evaluate(LEFT)
    page.evaluate(LEAVE, f"/s/{survey().plan.survey.name}")
    assert all(a != b for a, b in zip(new[:6], page.evaluate(LEFT)[:6], strict=True))
    other = chromium.lend(served.address, locale="en")
    assert other is not first, "two at a time never share one"
    assert opened(other, served.address).evaluate(LEFT) == new
    other.clean()
    first.clean()
    again = chromium.lend(served.address, locale="en")
    assert again is first
    assert opened(again, served.address).evaluate(LEFT) == new
    assert again.context.request.get(f"{served.address}/api/v1/session").status == 401
    again.clean()
