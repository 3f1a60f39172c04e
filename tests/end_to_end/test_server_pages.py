"""The pages over HTTP, without a browser: who sees what, and what a form may do."""

import re
from contextlib import contextmanager

import pytest

from server_kit import running, sign_in, write_world

HTML = {"Accept": "text/html"}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running(write_world(tmp_path_factory.mktemp("world"))) as found:
        yield found


@contextmanager
def signed_in(server, role="owner", analyst=None):
    with server.client() as client:
        answer = sign_in(client, server.token(role, analyst))
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        yield client


def test_strangers_get_the_door_and_the_lessons(server):
    with server.client() as nobody:
        assert "Sign in" in nobody.get("/").text
        assert nobody.get("/course").status_code == 200
        assert nobody.get("/learn").headers["location"] == "/course"
        assert nobody.get("/ask").headers["location"] == "/"


@pytest.mark.parametrize("token", ["", "dsc_wrong", "x" * 5000, "\x00"])
def test_wrong_tokens_are_refused_in_place(server, token):
    with server.client() as nobody:
        answer = sign_in(nobody, token)
        assert answer.status_code == 401
        assert "unknown, expired or revoked" in answer.text
        assert nobody.get("/api/v1/session").status_code == 401


def test_signing_out_needs_the_sessions_own_form(server):
    with signed_in(server) as client:
        assert client.post("/sign-out", data={"csrf": "guessed"}).status_code == 403
        text = client.get("/budget").text
        csrf = re.search(r'name="csrf" value="([^"]+)"', text).group(1)
        assert client.post("/sign-out", data={"csrf": csrf}).status_code == 303
        assert "Sign in" in client.get("/").text


def test_the_first_visit_is_remembered(server):
    with signed_in(server) as client:
        assert "Protecting data, asking, or teaching?" in client.get("/").text
        assert client.get("/start/asking").headers["location"] == "/ask"
        assert client.get("/").headers["location"] == "/ask"
        assert client.get("/start/nowhere").headers["location"] == "/"
    with signed_in(server, "reviewer") as client:
        assert client.get("/").headers["location"] == "/budget"


def test_an_address_may_bring_a_question_but_no_markup(server):
    with signed_in(server, "analyst", "bob") as client:
        text = client.get("/ask", params={"sql": "</textarea><script>x</script>"}).text
        assert "<script>x" not in text
        assert "&lt;/textarea&gt;&lt;script&gt;" in text


def test_analysts_see_their_own_datasets_only(server):
    with signed_in(server, "analyst", "alice") as client:
        for path in ("/ask", "/budget"):
            text = client.get(path).text
            assert "census" in text or "people" in text
            assert "things" not in text
            assert "note" not in re.findall(r'data-insert="([^"]+)"', text)


def test_wrong_addresses_are_pages_for_browsers_and_problems_for_programs(server):
    with signed_in(server) as client:
        page = client.get("/nowhere", headers=HTML)
        assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
        assert ('href="/budget"' in page.text, "Sign out" in page.text) == (True, True)
        assert 'href="/budget"' in client.get("/static/nothing.css", headers=HTML).text
        assert client.get("/nowhere").headers["content-type"] == "application/problem+json"
        problem = client.get("/api/v1/jobs/none", headers=HTML)
        assert problem.headers["content-type"] == "application/problem+json"
    with server.client(cookies={server.context.settings.cookie: "made up"}) as nobody:
        page = nobody.get("/nowhere", headers=HTML)
        assert (page.status_code, 'href="/budget"' in page.text) == (404, False)


def test_assets_are_checked_again_and_stay_inside_their_folder(server):
    with server.client() as nobody:
        found = nobody.get("/static/base.css")
        assert found.headers["cache-control"] == "no-cache"
        again = nobody.get("/static/base.css", headers={"If-None-Match": found.headers["etag"]})
        assert again.status_code == 304
        for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py"):
            assert nobody.get(path).status_code == 404


def test_notes_are_open_to_everybody_and_ask_nobody_else(server):
    with server.client() as nobody:
        listed = nobody.get("/notes").text
        assert 'href="/notes/0010"' in listed
        found = nobody.get("/notes/0010", headers=HTML)
        assert found.status_code == 200
        assert "<h1>What the worst-hit person has paid</h1>" in found.text
        assert re.findall(r'(?:src|href)="(?:https?:)?//', found.text) == []
        for wrong in ("/notes/9999", "/notes/0010.md", "/notes/..%2f..%2fREADME"):
            assert nobody.get(wrong, headers=HTML).status_code == 404, wrong


def test_an_address_may_bring_an_amount_and_a_payer_but_nothing_else(server):
    with signed_in(server) as client:
        address = {"sql": "SELECT 1", "epsilon": "0.125", "analyst": "bob"}
        text = client.get("/ask", params=address).text
        assert 'value="0.125"' in text
        assert '<option value="bob" selected>' in text
        for wrong in ('"><b>', "1e999", "-1", "x", "9" * 400):
            text = client.get("/ask", params={"epsilon": wrong, "analyst": wrong}).text
            assert 'value="0.25"' in text
            assert "<b>" not in text
            assert "selected>" not in text
