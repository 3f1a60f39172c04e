"""The paid look at bounds over HTTP: one key is one charge and one reply, as for every question."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from server_kit import ANALYSTS, running, write_world

VISITS = """
[datasets.clinic]
epsilon = 100
[datasets.clinic.tables.visits]
source = "visits.csv"
unit = "person"
max_rows = 20
[datasets.clinic.tables.visits.columns]
person = { type = "identifier" }
"""
SHARES = ANALYSTS.replace(
    "census = { epsilon = 0.5 } }", "census = { epsilon = 0.5 }, clinic = { epsilon = 50 } }"
)
BODY = {"table": "clinic.visits", "epsilon": "0.5"}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    place = tmp_path_factory.mktemp("world")
    config = write_world(place, analysts=VISITS + SHARES, rows=20)
    lines = "".join(f"p{i}\n" * (1 + i % 30) for i in range(300))
    (place / "visits.csv").write_text(f"person\n{lines}")
    with running(config) as found:
        yield found


def spent(client):
    datasets = client.get("/api/v1/budget").json()["datasets"]
    return round(datasets["clinic"]["epsilon"]["spent"], 9), datasets["clinic"]["charges"]


def test_one_key_is_one_charge_and_one_reply_however_often_it_comes(server):
    token = server.token("analyst", "alice")

    def ask(_):
        with server.client(token) as client:
            return client.post("/api/v1/bounds", json=BODY, headers={"Idempotency-Key": "look"})

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(ask, range(16)))
    assert {response.status_code for response in found} == {200}
    assert len({response.content for response in found}) == 1
    assert found[0].json()["request_id"] == "look"
    with server.client(token) as client:
        assert spent(client) == (0.5, 1)
        in_body = client.post("/api/v1/bounds", json=BODY | {"request_id": "look"})
        assert in_body.content == found[0].content
        other = client.post(
            "/api/v1/bounds", json=BODY | {"epsilon": "0.25"}, headers={"Idempotency-Key": "look"}
        )
        assert (other.status_code, other.json()["kind"]) == (409, "RequestConflict")
        differ = client.post(
            "/api/v1/bounds", json=BODY | {"request_id": "a"}, headers={"Idempotency-Key": "b"}
        )
        assert (differ.status_code, differ.json()["kind"]) == (400, "InvalidInput")
        assert spent(client) == (0.5, 1)


def test_what_makes_no_sense_is_refused_before_it_is_paid(server):
    with server.client(server.token("analyst", "alice")) as client:
        before = spent(client)
        wrong = client.post("/api/v1/bounds", json=BODY | {"at": "-1", "epsilon": "0.125"})
        assert wrong.status_code == 400
        assert spent(client) == before
        named = client.post("/api/v1/bounds", json=BODY | {"analyst": "bob"})
        assert named.status_code == 403
