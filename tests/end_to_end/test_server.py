"""Every route of the HTTP API, with httpx against a real server."""

import http.client
import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from patience import LONG
from server_kit import COUNT, running, write_world

ASK = {"sql": COUNT, "epsilon": 0.1}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running(write_world(tmp_path_factory.mktemp("world"))) as found:
        yield found


@pytest.fixture(scope="module")
def owner(server):
    with server.client(server.token()) as client:
        yield client


@pytest.fixture(scope="module")
def bob(server):
    with server.client(server.token("analyst", "bob")) as client:
        yield client


def problem(response, status, kind):
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    found = response.json()
    assert found["kind"] == kind
    assert found["status"] == status
    assert set(found) >= {"type", "title", "status", "detail", "hint", "kind"}
    return found


def charges(server, analyst):
    with server.context.workspace.curator() as curator:
        return curator.ledger.spent("census", analyst).charges


def test_a_question_is_answered(bob):
    response = bob.post("/api/v1/query", json=ASK)
    assert response.status_code == 200
    found = response.json()
    assert found["columns"] == ["sex", "n"]
    assert [row[0] for row in found["rows"]] == ["Female", "Male"]
    assert found["cost"] == {"epsilon": 0.1, "delta": 0.0}
    assert found["keys"] == 1
    assert set(found["budget"]) == {"before", "after", "limit"}


def test_explain_spends_nothing_and_says_what_it_promises(server, bob):
    before = charges(server, "bob")
    found = bob.post("/api/v1/explain", json={**ASK, "epsilon": "0.5", "fresh": True}).json()
    assert found["spends"] is False
    assert found["words"].startswith("Compared with you not taking part")
    assert "1.65 times" in found["words"]
    assert charges(server, "bob") == before
    wanted = bob.post("/api/v1/explain", json={"sql": COUNT, "within": 50, "fresh": True}).json()
    assert 0 < wanted["cost"]["epsilon"] < 0.2


def test_what_is_free_says_so(bob):
    first = bob.post("/api/v1/query", json={**ASK, "epsilon": 0.2}).json()
    again = bob.post("/api/v1/query", json=ASK).json()
    assert again["free"] is True
    assert again["rows"] == first["rows"]
    assert "nothing more" in bob.post("/api/v1/explain", json=ASK).json()["words"]


def test_the_same_id_at_once_is_one_charge_and_one_answer(server):
    token = server.token("analyst", "bob")
    body = {**ASK, "sql": "SELECT COUNT(*) AS n FROM people WHERE age < 33", "fresh": True}
    before = charges(server, "bob")

    def ask(_):
        with server.client(token) as client:
            return client.post("/api/v1/query", json=body, headers={"Idempotency-Key": "same-100"})

    with ThreadPoolExecutor(20) as pool:
        found = list(pool.map(ask, range(100)))
    assert {response.status_code for response in found} == {200}
    assert len({response.content for response in found}) == 1
    assert charges(server, "bob") == before + 1
    with server.client(token) as client:
        other = client.post(
            "/api/v1/query", json={**body, "epsilon": 0.2, "request_id": "same-100"}
        )
        problem(other, 409, "RequestConflict")
    assert charges(server, "bob") == before + 1


@pytest.mark.parametrize("fresh", [False, True])
def test_a_repeated_id_gets_the_stored_answer_and_another_body_a_conflict(bob, fresh):
    body = {"sql": "SELECT COUNT(*) AS n FROM people WHERE age > 90", "epsilon": 0.3}
    body |= {"fresh": fresh, "request_id": f"again-{fresh}"}
    first = bob.post("/api/v1/query", json=body)
    assert first.status_code == 200
    assert bob.post("/api/v1/query", json=body).content == first.content
    problem(bob.post("/api/v1/query", json={**body, "epsilon": 0.25}), 409, "RequestConflict")


def test_another_analysts_id_gives_no_answer_away(server, bob):
    body = {**ASK, "fresh": True, "request_id": "bobs-own"}
    assert bob.post("/api/v1/query", json=body).status_code == 200
    with server.client(server.token("analyst", "alice")) as alice:
        problem(alice.get("/api/v1/answers/bobs-own"), 404, "UnknownName")
        assert not alice.post("/api/v1/query", json=body).json()["free"], "an id of her own"
    assert bob.get("/api/v1/answers/bobs-own").status_code == 200


def test_over_budget_is_refused_and_not_charged(server):
    with server.client(server.token("analyst", "alice")) as alice:
        before = charges(server, "alice")
        found = problem(
            alice.post("/api/v1/query", json={**ASK, "epsilon": 7}), 402, "BudgetExceeded"
        )
        assert found["left"]
        assert charges(server, "alice") == before


@pytest.mark.parametrize(
    ("body", "status", "kind"),
    [
        ({"sql": "SELECT * FROM people", "epsilon": 1}, 400, "QueryRefused"),
        ({"sql": "DROP TABLE people", "epsilon": 1}, 400, "QueryRefused"),
        ({"sql": "SELECT COUNT(*) FROM nowhere", "epsilon": 1}, 404, "UnknownName"),
        ({"sql": COUNT}, 400, "InvalidInput"),
        ({"sql": COUNT, "epsilon": 1, "within": 5}, 400, "InvalidInput"),
        ({"sql": COUNT, "epsilon": -1}, 400, "InvalidInput"),
        ({"sql": COUNT, "epsilon": True}, 400, "InvalidInput"),
        ({"sql": COUNT, "epsilon": [1]}, 400, "InvalidInput"),
        ({"sql": COUNT, "epsilon": 1, "max_rows": 0}, 400, "InvalidInput"),
        ({"sql": COUNT, "epsilon": 1, "extra": 1}, 400, "InvalidInput"),
        ({"sql": 7, "epsilon": 1}, 400, "InvalidInput"),
        ({"sql": "\ud800", "epsilon": 1}, 400, "InvalidInput"),
        ({"sql": COUNT, "epsilon": 1, "request_id": "a\nb"}, 400, "InvalidInput"),
        ({"sql": COUNT, "epsilon": 1, "analyst": "alice"}, 403, "NotAllowed"),
        ([], 400, "InvalidInput"),
    ],
)
def test_nonsense_is_refused_and_not_charged(server, bob, body, status, kind):
    before = charges(server, "bob")
    for path in ("query", "jobs") if status != 400 or kind != "QueryRefused" else ("query",):
        if path == "jobs" and kind == "UnknownName":
            continue
        content = json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        response = bob.post(f"/api/v1/{path}", content=content, headers=headers)
        if path == "query" or response.status_code != 202:
            problem(response, status, kind)
    assert charges(server, "bob") == before


@pytest.mark.parametrize("content", [b"{", b"", b"\xff\xfe", b"[" * 50_000, b'{"sql": 1e999}'])
def test_junk_is_refused(bob, content):
    headers = {"Content-Type": "application/json"}
    problem(bob.post("/api/v1/query", content=content, headers=headers), 400, "InvalidInput")


def test_huge_bodies_are_refused_declared_or_not(bob):
    problem(bob.post("/api/v1/query", content=b"x" * (300 << 10)), 413, "TooLarge")
    pieces = (b"x" * (64 << 10) for _ in range(6))
    problem(bob.post("/api/v1/query", content=pieces), 413, "TooLarge")


def test_unknown_paths_and_methods(owner):
    problem(owner.get("/api/v1/nothing"), 404, "UnknownName")
    problem(owner.put("/api/v1/query"), 405, "InvalidInput")


def test_an_owner_asks_in_her_own_name_or_from_a_share(owner):
    shares = owner.get("/api/v1/budget").json()["analysts"]
    assert owner.post("/api/v1/query", json={**ASK, "fresh": True}).status_code == 200
    assert owner.get("/api/v1/budget").json()["analysts"] == shares, "nobody's share paid"
    found = owner.post("/api/v1/query", json={**ASK, "analyst": "bob", "fresh": True})
    assert found.status_code == 200
    paid, own = owner.get("/api/v1/history?last=6").json()["entries"][:2]
    assert (paid["asker"], paid["analyst"]) == ("owner", "bob")
    assert (own["asker"], own["analyst"]) == ("owner", None)
    again = owner.get(f"/api/v1/answers/{paid['request_id']}?analyst=bob").json()
    assert again["rows"] == found.json()["rows"]
    assert again["question"]["sql"] == ASK["sql"]
    problem(owner.get(f"/api/v1/answers/{paid['request_id']}"), 404, "UnknownName")


def test_catalog_shows_what_the_caller_may_ask(owner, bob):
    everything = owner.get("/api/v1/catalog").json()
    assert set(everything["datasets"]) == {"census", "other"}
    assert everything["analysts"] == ["alice", "bob"]
    mine = bob.get("/api/v1/catalog").json()
    assert set(mine["datasets"]) == {"census"}
    people = mine["datasets"]["census"]["tables"]["people"]
    assert people["unit"] == "each row"
    assert people["columns"]["age"]["domain"] == "0 to 120"
    assert "note" not in people["columns"]
    assert mine["datasets"]["census"]["left"]["epsilon"]["limit"] == 100000


def test_datasets_without_a_share_do_not_exist(owner, bob):
    ask = {"sql": "SELECT COUNT(*) AS n FROM things", "epsilon": 0.1}
    near = {"sql": "SELECT COUNT(*) AS n FROM thing", "epsilon": 0.1}
    for path in ("query", "explain"):
        for body in (ask, near):
            found = problem(bob.post(f"/api/v1/{path}", json=body), 404, "UnknownName")
            assert "things" not in found["hint"]
    found = problem(
        owner.post("/api/v1/explain", json={**ask, "analyst": "nobody"}), 404, "UnknownName"
    )
    assert "nobody" in found["detail"]


def test_budget_by_role(server, owner, bob):
    bob.post("/api/v1/query", json={**ASK, "fresh": True})
    whole = owner.get("/api/v1/budget").json()
    assert whole["datasets"]["census"]["worst_region"]
    assert set(whole["analysts"]) == {"alice", "bob"}
    mine = bob.get("/api/v1/budget").json()
    assert mine["analyst"] == "bob"
    assert "worst_region" not in json.dumps(mine)
    assert "alice" not in json.dumps(mine)
    with server.client(server.token("reviewer")) as reviewer:
        seen = reviewer.get("/api/v1/budget").json()
    assert "worst_region" not in json.dumps(seen)
    assert set(seen["analysts"]) == {"alice", "bob"}


def test_history_and_answers(server, owner, bob):
    asked = bob.post("/api/v1/query", json={**ASK, "fresh": True}).json()
    with server.client(server.token("analyst", "alice")) as alice:
        alice.post("/api/v1/query", json={**ASK, "epsilon": 0.01, "fresh": True})
        assert {e["analyst"] for e in alice.get("/api/v1/history").json()["entries"]} == {"alice"}
    entries = owner.get("/api/v1/history?last=5").json()["entries"]
    assert len(entries) == 5
    assert {"alice", "bob"} <= {entry.get("analyst") for entry in entries}
    latest = bob.get("/api/v1/answers?last=1").json()["answers"][0]
    assert latest["request_id"] == asked["request_id"]
    again = bob.get(f"/api/v1/answers/{asked['request_id']}").json()
    assert again["rows"] == asked["rows"]
    assert owner.get("/api/v1/history?last=-1").status_code == 400


def test_tokens_are_made_listed_and_revoked(server, owner):
    made = owner.post(
        "/api/v1/tokens", json={"role": "analyst", "analyst": "bob", "expires_days": 1}
    )
    assert made.status_code == 201
    text, token_id = made.json()["token"], made.json()["id"]
    with server.client(text) as client:
        assert client.get("/api/v1/session").json() == {
            "role": "analyst",
            "analyst": "bob",
            "csrf": None,
        }
        listed = owner.get("/api/v1/tokens")
        assert token_id in listed.text
        assert text not in listed.text
        assert owner.delete(f"/api/v1/tokens/{token_id}").status_code == 200
        problem(client.get("/api/v1/session"), 401, "NotSignedIn")
    problem(owner.delete("/api/v1/tokens/none"), 404, "UnknownName")
    wrong = {"role": "analyst", "analyst": "nobody"}
    problem(owner.post("/api/v1/tokens", json=wrong), 404, "UnknownName")
    problem(owner.post("/api/v1/tokens", json={"role": "king"}), 400, "InvalidInput")
    problem(owner.post("/api/v1/tokens", json={"role": "analyst"}), 400, "InvalidInput")
    wrong = {"role": "owner", "expires_days": 1e300}
    problem(owner.post("/api/v1/tokens", json=wrong), 400, "InvalidInput")


def test_health_and_metrics(server, owner):
    with server.client() as nobody:
        assert nobody.get("/api/v1/health").json()["status"] == "ok"
    owner.get("/api/v1/budget")
    text = owner.get("/api/v1/metrics").text
    assert 'route="/api/v1/budget",status="200"' in text
    assert 'le="+Inf"' in text


def test_the_schema_lists_every_route(server, owner):
    schema = owner.get("/api/v1/openapi.json").json()
    assert {"/api/v1/query", "/api/v1/jobs/{job_id}/events"} <= set(schema["paths"])


def test_security_headers_on_every_kind_of_answer(server, owner):
    for path in ("/api/v1/health", "/api/v1/nothing", "/api/v1/openapi.json", "/"):
        headers = owner.get(path).headers
        assert "default-src 'self'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "server" not in headers
    asked = owner.get("/api/v1/health", headers={"Origin": "https://elsewhere.example"})
    assert not [name for name in asked.headers if name.startswith("access-control")]


def test_an_address_with_a_token_becomes_a_session(server):
    with server.client() as browser:
        opened = {"Sec-Fetch-Site": "none"}
        first = browser.get(f"/?token={server.token()}&next=a", headers=opened)
        assert first.status_code == 303
        assert first.headers["location"] == "/?next=a"
        cookie = first.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        said = browser.get("/api/v1/session").json()
        body = {**ASK, "analyst": "bob", "fresh": True}
        problem(browser.post("/api/v1/query", json=body), 403, "NotAllowed")
        wrong = {"X-CSRF-Token": "é".encode("latin-1")}
        problem(browser.post("/api/v1/query", json=body, headers=wrong), 403, "NotAllowed")
        right = {"X-CSRF-Token": said["csrf"]}
        assert browser.post("/api/v1/query", json=body, headers=right).status_code == 200
        assert browser.delete("/api/v1/session", headers=right).status_code == 200
        problem(browser.get("/api/v1/session"), 401, "NotSignedIn")


def test_an_address_with_a_token_never_leads_elsewhere(server):
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=LONG)
    for path in ("//elsewhere.example/", "/\\elsewhere.example", "///%09/elsewhere.example"):
        connection.request("GET", f"{path}?token=dsc_wrong")
        reply = connection.getresponse()
        reply.read()
        assert reply.status == 303
        assert reply.headers["location"][:2] not in {"//", "/\\"}
        assert "set-cookie" not in reply.headers
    connection.close()


def test_signing_in_by_hand(server):
    with server.client() as browser:
        text = server.token("reviewer")
        assert browser.post("/api/v1/session", json={"token": text}).json()["role"] == "reviewer"
        assert browser.get("/api/v1/budget").status_code == 200
        problem(browser.post("/api/v1/session", json={"token": "dsc_x"}), 401, "NotSignedIn")
