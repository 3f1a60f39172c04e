"""Before a budget ends, and after: who is told, where, and how it is renewed."""

import json

import pytest

from patience import eventually
from server_kit import COUNT, running, write_world

API = "/api/v1"
RENEW = (
    'renew = { every = "quarter", since = "2020-Q1", epsilon = 0.5, at_most = 1 }\nalert = 0.5\n'
)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    analysts = "\n[analysts.alice]\ndatasets = { census = { epsilon = 5 } }\n"
    path = write_world(folder, rows=50, epsilon="1", limits=RENEW, analysts=analysts)
    with running(path) as found:
        yield found


def alerts(server):
    lines = [json.loads(line) for line in server.log.getvalue().splitlines()]
    return [(line["event"], line["budget"]) for line in lines if line["event"].startswith("budget")]


def spend(client, epsilon):
    body = {"sql": COUNT, "epsilon": epsilon, "fresh": True}
    return client.post(f"{API}/query", json=body).status_code


def test_the_owner_is_told_before_and_renews_once(server):
    owner, alice = server.client(server.token()), server.client(server.token("analyst", "alice"))
    with owner, alice:
        assert spend(alice, "0.4") == 200
        assert 'discreet_budget_used_ratio{budget="census"} 0.4' in owner.get(f"{API}/metrics").text
        assert alerts(server) == []
        assert "Nearly gone" not in owner.get("/budget").text
        assert spend(alice, "0.2") == 200
        # Told by the server itself, without anybody asking.
        eventually(lambda: alerts(server) == [("budget nearly spent", "census")], "an alert")
        assert "Nearly gone" in owner.get("/budget").text
        assert "Losses add up over periods" in owner.get("/budget").text
        assert "Nearly gone" not in alice.get("/budget").text
        assert "alert" not in alice.get(f"{API}/budget").json()["datasets"]["census"]
        assert spend(alice, "0.4") == 200
        assert spend(alice, "0.1") == 402
        owner.get(f"{API}/metrics")
        owner.get(f"{API}/metrics")
        assert alerts(server) == [("budget nearly spent", "census"), ("budget spent", "census")]

        place = f"{API}/data/datasets/census/renewal"
        assert alice.post(place).status_code == 403
        done = owner.post(place)
        assert done.status_code == 200, done.text
        assert (done.json()["epsilon"], done.json()["left"]) == (1.5, 0)
        assert owner.get(f"{API}/budget").json()["datasets"]["census"]["epsilon"]["spent"] == 1.0
        assert spend(alice, "0.1") == 200
        again = owner.post(place)
        assert again.status_code == 400
        assert "All 1 renewals" in again.json()["detail"]
        line = owner.get(f"{API}/audit").json()["lines"][0]
        assert (line["what"], line["facts"]["epsilon_after"]) == ("budget renewed", "1.5")
