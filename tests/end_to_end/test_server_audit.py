"""Who did what: tokens, sign-ins, uploads, limits and refusals leave a line, and no secret does."""

import pytest

from discreet.errors import AuditTampered
from discreet.server.access.audit_log import LOG, RateLimitedLog
from discreet.server.settings import Settings
from discreet.server.start import create_app
from server_kit import CANARY, ROWS, running, sign_in, write_world

API = "/api/v1"
PLACE = f"{API}/data/datasets/census"


@pytest.fixture
def server(tmp_path):
    with running(write_world(tmp_path / "world")) as found:
        yield found


def lines(server):
    return server.context.access.audit.last(1000)


def told(server):
    """Return (who, what) of every line, oldest first."""
    return [(line.who, line.what) for line in reversed(lines(server))]


def test_everything_an_owner_does_is_told(server):
    secret = server.token()
    with server.client(secret) as owner:
        made = owner.post(f"{API}/tokens", json={"role": "analyst", "analyst": "bob"}).json()
        owner.get(f"{API}/tokens")
        owner.delete(f"{API}/tokens/{made['id']}")
        owner.put(f"{PLACE}/budget", json={"epsilon": "7"})
        owner.put(f"{PLACE}/analysts/alice", json={"epsilon": "0.25"})
        owner.put(f"{PLACE}/analysts/zoe", json={"epsilon": "0.5"})
        owner.delete(f"{PLACE}/analysts/zoe")
        file = {"file": ("pets.csv", f"age,name\n3,{CANARY}\n4,{CANARY}\n")}
        upload = owner.post(f"{API}/data/uploads", files=file).json()["id"]
        owner.delete(f"{API}/data/uploads/{upload}")
        found = owner.get(f"{API}/audit?last=9").json()["lines"]
    assert [line["what"] for line in reversed(found)] == [
        "token made",
        "tokens listed",
        "token revoked",
        "budget changed",
        "share changed",
        "share changed",
        "share removed",
        "uploaded",
        "upload removed",
    ]
    assert {line["who"] for line in found} == {"owner"}
    assert {line["token"] for line in found} == {server.context.tokens.find(secret).id}
    by_deed = {line["what"]: line["facts"] for line in found}
    assert by_deed["token made"] == {"id": made["id"], "role": "analyst", "analyst": "bob"}
    assert by_deed["budget changed"] == {
        "dataset": "census",
        "epsilon_before": "1e+06",
        "delta_before": "0",
        "epsilon_after": "7",
        "delta_after": "0",
    }
    assert by_deed["upload removed"] == {"upload": upload}
    alice = next(line["facts"] for line in found if line["facts"].get("analyst") == "alice")
    assert (alice["epsilon_before"], alice["epsilon_after"]) == ("0.5", "0.25")
    assert server.context.access.audit.verify() == len(lines(server))


def test_a_confirmation_is_told_with_what_became_public_only(server):
    with server.client(server.token()) as owner:
        file = {"file": (f"{CANARY}.csv", "age,name\n" + f"3,{CANARY}\n4,{CANARY}\n" * 50)}
        upload = owner.post(f"{API}/data/uploads", files=file).json()["id"]
        age = {"type": "integer", "lower": 0, "upper": 30, "public": True}
        review = {
            "unit": "row",
            "epsilon": "1.5",
            "columns": {"age": age, "name": {"type": "text", "hidden": True}},
            "analysts": {"bob": {"epsilon": "1"}},
            "dataset": "pets",
            "table": "pets",
        }
        reply = owner.post(f"{API}/data/uploads/{upload}/confirm", json=review)
        assert reply.status_code == 200, reply.text
    latest = lines(server)[0]
    assert (latest.what, latest.facts) == (
        "upload confirmed",
        {"upload": upload, "dataset": "pets", "table": "pets", "epsilon": "1.5"},
    )
    assert CANARY not in (server.context.settings.state_folder / LOG).read_text(encoding="ascii")


def test_what_was_refused_changes_nothing_and_is_not_told_as_done(server):
    with server.client(server.token()) as owner:
        before = told(server)
        assert owner.put(f"{PLACE}/budget", json={"epsilon": "1e9"}).status_code == 400
        assert owner.delete(f"{API}/tokens/none").status_code == 404
        assert owner.delete(f"{PLACE}/analysts/nobody").status_code == 404
    assert told(server) == before


def test_sign_ins_and_refusals_are_told(server):
    owner, analyst = server.token(), server.token("analyst", "bob")
    with server.client() as browser:
        sign_in(browser, "dsc_wrong")
        browser.post(f"{API}/session", json={"token": "dsc_wrong"})
        browser.get("/?token=dsc_wrong")
        browser.get(f"{API}/budget", headers={"Authorization": "Bearer dsc_wrong"})
        sign_in(browser, owner)
        csrf = browser.get(f"{API}/session").json()["csrf"]
        assert browser.post(f"{API}/tokens", json={"role": "owner"}).status_code == 403
        browser.delete(f"{API}/session", headers={"X-CSRF-Token": csrf})
    with server.client(analyst) as bob:
        assert bob.get(f"{API}/audit").status_code == 403
        assert bob.get("/data", headers={"Accept": "text/html"}).status_code == 403
    failed, done = ("somebody", "sign-in failed"), ("owner", "signed in")
    made = ("command line", "token made")
    assert told(server) == [
        made,
        made,
        *[failed] * 4,
        done,
        ("owner", "refused"),
        ("owner", "signed out"),
        ("bob", "refused"),
        ("bob", "refused"),
    ]
    ways = [line.facts["way"] for line in reversed(lines(server)) if "way" in line.facts]
    assert ways == ["page", "session", "address", "token", "page"]
    routes = [line.facts for line in lines(server) if line.what == "refused"]
    assert routes[0] == {"route": "GET /data", "why": "role"}
    assert routes[-1] == {"route": f"POST {API}/tokens", "why": "csrf"}


def test_no_secret_and_no_exact_value_is_in_the_log(server):
    owner = server.token()
    with server.client() as browser:
        sign_in(browser, owner)
        browser.get("/?token=" + owner, headers={"Sec-Fetch-Site": "none"})
        sign_in(browser, owner[:-1])
    with server.client(owner) as client:
        client.get(f"{API}/budget?x={CANARY}", headers={"X-Other": CANARY})
        client.post(f"{API}/query", json={"sql": "SELECT 1", "epsilon": CANARY})
        client.delete(f"{API}/tokens/{CANARY}")
    text = (server.context.settings.state_folder / LOG).read_text(encoding="ascii")
    for secret in (owner, owner[4:20], CANARY):
        assert secret not in text
    # Hashes and ids are left out: their digits hold any four in one log of a hundred.
    facts = [value for line in lines(server) for key, value in line.facts.items() if key != "id"]
    assert facts
    assert not [value for value in facts if str(ROWS) in value]


def test_a_form_of_another_site_changes_no_limit_and_is_told(server):
    with server.client() as browser:
        sign_in(browser, server.token())
        for headers in ({}, {"X-CSRF-Token": "guessed"}):
            for method, place in (
                ("PUT", "budget"),
                ("PUT", "analysts/bob"),
                ("DELETE", "analysts/bob"),
            ):
                reply = browser.request(
                    method, f"{PLACE}/{place}", json={"epsilon": 1}, headers=headers
                )
                assert reply.status_code == 403
        with server.context.workspace.curator() as curator:
            assert curator.share_report()["datasets"]["census"]["epsilon"]["limit"] == 1e6
    assert [line.facts["why"] for line in lines(server)[:6]] == ["csrf"] * 6


def test_a_crowd_of_strangers_writes_few_lines(server, monkeypatch):
    # The clock stands still: a slow machine would be allowed a line more each minute.
    monkeypatch.setattr(server.context.access.audit, "_limited", RateLimitedLog(clock=lambda: 0.0))
    with server.client() as nobody:
        for _ in range(100):
            sign_in(nobody, "dsc_wrong")
    assert len(lines(server)) == 30


def test_reads_are_bounded(server):
    with server.client(server.token()) as owner:
        assert owner.get(f"{API}/audit?last=0").json() == {"lines": []}
        assert len(owner.get(f"{API}/audit").json()["lines"]) == 1
        for wrong in ("-1", "1001", "x"):
            assert owner.get(f"{API}/audit?last={wrong}").status_code in {400, 422}


def test_a_server_does_not_start_over_a_log_that_was_changed(tmp_path):
    config = write_world(tmp_path / "world")
    with running(config) as server:
        server.token("reviewer")
        log = server.context.settings.state_folder / LOG
    content = log.read_bytes()
    log.write_bytes(content.replace(b"reviewer", b"analyst!"))
    with pytest.raises(AuditTampered, match="line 1 does not match"):
        create_app(Settings(config=config))
    log.write_bytes(content)
    create_app(Settings(config=config)).state.context.close()
