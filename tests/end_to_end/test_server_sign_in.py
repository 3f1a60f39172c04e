"""Signing in: not across sites, not by guessing, not for those who were taken out, not for ever."""

import re
import threading
import time

import pytest

from discreet.server.access.tokens import Role
from discreet.server.settings import Settings
from patience import LONG, SLACK, eventually
from server_kit import COUNT, once_it_waits, running, sign_in, write_world

API = "/api/v1"
OWN = {"Sec-Fetch-Site": "none"}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running(write_world(tmp_path_factory.mktemp("world"))) as found:
        yield found


def whoami(client):
    return client.get(f"{API}/session").json().get("role")


@pytest.mark.parametrize("site", ["cross-site", "same-site", "same-origin", None])
def test_a_link_from_elsewhere_asks_first(server, site):
    headers = {} if site is None else {"Sec-Fetch-Site": site}
    with server.client() as browser:
        shown = browser.get(f"/ask?token={server.token()}&sql=a", headers=headers)
        assert shown.status_code == 200
        assert "Sign in as owner?" in shown.text
        assert shown.headers["cache-control"] == "no-store"
        assert whoami(browser) is None
        fields = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', shown.text))
        answer = browser.post("/sign-in", data=fields, headers={"Sec-Fetch-Site": "same-origin"})
        assert (answer.status_code, answer.headers["location"]) == (303, "/ask?sql=a")
        assert whoami(browser) == "owner"


def test_the_users_own_link_signs_in_at_once_but_replaces_nobody(server):
    with server.client() as browser:
        link = f"/?token={server.token('reviewer')}"
        assert browser.get(link, headers=OWN).headers["location"] == "/"
        assert whoami(browser) == "reviewer"
        assert browser.get(link, headers=OWN).status_code == 303
        other = browser.get(f"/?token={server.token('analyst', 'bob')}", headers=OWN)
        assert "Sign in as bob?" in other.text
        assert whoami(browser) == "reviewer"


@pytest.mark.parametrize("sent", [{"nonce": ""}, {"nonce": "guessed"}])
def test_a_form_of_another_site_signs_nobody_in(server, sent):
    with server.client() as browser:
        browser.get("/")
        assert sign_in(browser, server.token(), **sent).status_code == 403
        assert whoami(browser) is None


def test_a_browser_that_names_another_site_is_believed(server):
    with server.client() as browser:
        headers = {"Sec-Fetch-Site": "cross-site"}
        assert sign_in(browser, server.token(), headers=headers).status_code == 403
        body = {"token": server.token()}
        assert browser.post(f"{API}/session", json=body, headers=headers).status_code == 403
        assert whoami(browser) is None
        assert sign_in(browser, server.token()).status_code == 303


def test_where_a_form_leads_stays_here(server):
    for to in ("//elsewhere.example", "https://elsewhere.example", "/\\elsewhere.example"):
        with server.client() as browser:
            place = sign_in(browser, server.token(), to=to).headers["location"]
            assert place[0] == "/"
            assert place[1] not in "/\\"


@pytest.mark.parametrize("way", ["address", "page", "session", "bearer"])
def test_every_way_to_guess_a_token_is_limited_alike(tmp_path, way):
    with running(write_world(tmp_path), address_rate=0.001, address_burst=30) as found:
        with found.client() as nobody:
            page = nobody.get("/").text
            nonce = re.search(r'name="nonce" value="([^"]+)"', page)[1]
            tries = {
                "address": lambda: nobody.get("/?token=dsc_wrong", headers=OWN),
                "page": lambda: nobody.post(
                    "/sign-in", data={"token": "dsc_wrong", "nonce": nonce}
                ),
                "session": lambda: nobody.post(f"{API}/session", json={"token": "dsc_wrong"}),
                "bearer": lambda: nobody.get(
                    f"{API}/budget", headers={"Authorization": "Bearer dsc_wrong"}
                ),
            }
            seen = [tries[way]().status_code for _ in range(30)]
        assert 429 in seen
        assert seen.index(429) <= 30 / 6 + 1
        assert seen[-10:] == [429] * 10


def test_signing_in_again_and_again_is_limited(tmp_path):
    with running(write_world(tmp_path), rate=0.001, burst=5) as found:
        token = found.token()
        with found.client() as browser:
            link = f"/?token={token}"
            seen = [browser.get(link, headers=OWN).status_code for _ in range(7)]
    assert seen == [303] * 5 + [429] * 2


def test_a_removed_analyst_sees_nothing(tmp_path):
    config = write_world(tmp_path)
    with running(config) as found:
        token = found.token("analyst", "bob")
        with found.client(token) as bob, found.client() as browser:
            assert sign_in(browser, token).status_code == 303
            body = {"sql": COUNT, "epsilon": 1, "request_id": "mine"}
            assert bob.post(f"{API}/query", json=body).status_code == 200
            started = bob.post(f"{API}/jobs", json={"sql": COUNT, "epsilon": 1}).json()["job"]
            places = ["history", "answers", "answers/mine", "budget", "catalog", "jobs"]
            places += [f"jobs/{started}", "synth", "lab", "session"]
            for each in (bob, browser):
                assert {each.get(f"{API}/{place}").status_code for place in places} == {200}
            text = config.read_text()
            config.write_text(text[: text.index("[analysts.bob]")])
            eventually(lambda: bob.get(f"{API}/history").status_code == 401, "the file is read")
            for each in (bob, browser):
                assert {each.get(f"{API}/{place}").status_code for place in places} == {401}
            for route in ("query", "explain", "jobs"):
                assert bob.post(f"{API}/{route}", json=body).status_code == 401
            assert "Sign in" in browser.get("/").text
            assert sign_in(browser, token).status_code == 401
            config.write_text(text)
            eventually(lambda: bob.get(f"{API}/history").status_code == 200, "and read again")


@pytest.fixture
def held(server):
    """A job of bob's that goes on until the gate opens."""
    gate = threading.Event()
    token = server.context.tokens.new(Role.ANALYST, analyst="bob")
    job = server.context.runner.submit("analyst bob", lambda _job: gate.wait(LONG), keep=True)
    yield token, job
    gate.set()


def test_a_stream_ends_when_its_token_is_revoked(server, held):
    token, job = held
    with server.client(token.text) as bob, bob.stream("GET", f"{API}/jobs/{job.id}/events") as told:
        lines = told.iter_lines()
        assert next(lines) == "event: step"
        server.context.tokens.revoke(token.token.id)
        began = time.monotonic()
        rest = list(lines)
    assert time.monotonic() - began < 3 * SLACK  # the job goes on for longer
    assert not job.state.final
    assert "event: end" not in rest


def test_waiting_for_an_answer_ends_when_the_token_is_revoked(tmp_path):
    with running(write_world(tmp_path)) as found:
        token = found.context.tokens.new(Role.ANALYST, analyst="bob")
        gate = threading.Event()
        blocks = [
            found.context.runner.submit("analyst bob", lambda _job: gate.wait(LONG))
            for _ in range(4)
        ]
        revoke = once_it_waits(found, lambda: found.context.tokens.revoke(token.token.id))
        with found.client(token.text) as bob:
            answer = bob.post(f"{API}/query", json={"sql": COUNT, "epsilon": 1})
        revoke.join()
        assert answer.status_code == 401
        assert found.context.runner.load == (0, 4)  # and what waited is gone
        gate.set()
        assert all(job.future.result(LONG) for job in blocks)
        with found.context.workspace.curator() as curator:
            assert not [entry for entry in curator.history() if entry["kind"] == "charge"]


def test_the_cookie_says_what_protects_it(tmp_path, server):
    tls = Settings(config=tmp_path, tls_certificate=tmp_path, tls_key=tmp_path)
    assert (tls.cookie, tls.exposed) == ("__Host-discreet_8765", False)
    open_to_all = Settings(config=tmp_path, host="0.0.0.0", allow_plain_http=True)
    assert (open_to_all.cookie, open_to_all.exposed) == ("discreet_8765", True)
    assert not Settings(config=tmp_path).exposed
    with server.client() as browser:
        cookies = sign_in(browser, server.token()).headers.get_list("set-cookie")
        assert not any("secure" in cookie.lower() for cookie in cookies)
        assert "Not encrypted" not in browser.get("/").text
