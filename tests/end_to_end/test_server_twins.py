"""The server's own defences, each taken away: the tests of signing in must tell the difference."""

from __future__ import annotations

import importlib
import pkgutil
import sys
import threading
import time

from discreet import server as room
from discreet.server.access import sign_in as module
from discreet.server.access.tokens import Role
from patience import LONG
from server_kit import COUNT, once_it_waits, running, sign_in, write_world

API = "/api/v1"


def without(monkeypatch, name: str, instead) -> None:
    """Replace a function in every module of the server that has it.

    All are imported first: one that came later would keep the replacement for good.
    """
    for each in pkgutil.walk_packages(room.__path__, "discreet.server."):
        importlib.import_module(each.name)
    for known, found in list(sys.modules.items()):
        if known.startswith("discreet.server") and hasattr(found, name):
            monkeypatch.setattr(found, name, instead)


def whoami(client):
    return client.get(f"{API}/session").json().get("role")


def test_without_the_nonce_another_site_signs_somebody_in(tmp_path, monkeypatch):
    without(monkeypatch, "own_form", lambda *_: True)
    with running(write_world(tmp_path)) as server, server.client() as browser:
        browser.get("/")
        assert sign_in(browser, server.token(), nonce="guessed").status_code == 303
        assert whoami(browser) == "owner"


def test_without_the_question_a_link_from_elsewhere_signs_somebody_in(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_own_doing", lambda *_: True)
    with running(write_world(tmp_path)) as server, server.client() as browser:
        headers = {"Sec-Fetch-Site": "cross-site"}
        assert browser.get(f"/?token={server.token()}", headers=headers).status_code == 303
        assert whoami(browser) == "owner"


def test_without_the_fine_tokens_are_guessed_five_times_as_often(tmp_path, monkeypatch):
    without(monkeypatch, "fine", lambda *_: None)
    with (
        running(write_world(tmp_path), address_rate=0.001, address_burst=30) as server,
        server.client() as nobody,
    ):
        headers = {"Authorization": "Bearer dsc_wrong"}
        seen = [nobody.get(f"{API}/budget", headers=headers).status_code for _ in range(12)]
    assert 429 not in seen


def test_without_the_catalog_a_removed_analyst_goes_on_reading(tmp_path, monkeypatch):
    config = write_world(tmp_path)
    with running(config) as server:
        monkeypatch.setattr(server.context.tokens, "_listed", lambda _: True)
        with server.client(server.token("analyst", "bob")) as bob:
            assert bob.get(f"{API}/session").status_code == 200
            text = config.read_text()
            config.write_text(text[: text.index("[analysts.bob]")])
            time.sleep(0.6)
            assert bob.get(f"{API}/session").status_code == 200


def test_without_looking_again_a_revoked_token_gets_its_answer(tmp_path, monkeypatch):
    async def always(_request) -> bool:
        return True

    without(monkeypatch, "still_signed_in", always)
    with running(write_world(tmp_path)) as server:
        token = server.context.tokens.new(Role.ANALYST, analyst="bob")
        gate = threading.Event()
        submit = server.context.runner.submit
        blocks = [submit("analyst bob", lambda _job: gate.wait(LONG)) for _ in range(4)]

        def revoke():
            server.context.tokens.revoke(token.token.id)
            time.sleep(2)  # time enough to look again
            gate.set()

        once_it_waits(server, revoke)
        with server.client(token.text) as bob:
            answer = bob.post(f"{API}/query", json={"sql": COUNT, "epsilon": 1})
        assert answer.status_code == 200
        assert all(job.future.result(LONG) for job in blocks)
