"""Several servers over one folder or one PostgreSQL ledger: nothing is granted twice."""

import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from discreet.curator import add_analysts
from discreet.server import workspace
from patience import LONG, eventually
from ports import free_port
from postgres_server import postgres_server, postgres_url  # noqa: F401  # fixtures
from server_kit import COUNT, running, write_world

API = "/api/v1"
CAP = """
[analysts.carol]
datasets = { census = { epsilon = 2 } }
"""


def spend(first, second, *, asked):
    """Ask both servers at once for more than carol has; return the statuses."""
    token = first.token("analyst", "carol")
    body = {"sql": COUNT, "epsilon": "0.1", "fresh": True}
    barrier = threading.Barrier(4)

    def ask(which):
        with (first, second)[which % 2].client(token) as client:
            barrier.wait(LONG)
            return [client.post(f"{API}/query", json=body).status_code for _ in range(asked // 4)]

    with ThreadPoolExecutor(4) as pool:
        return [status for found in pool.map(ask, range(4)) for status in found]


def health(client):
    return client.get(f"{API}/health").json().get("catalog", "")


def test_two_servers_over_one_folder_grant_what_is_allowed(tmp_path):
    config = write_world(tmp_path, rows=100, analysts=CAP)
    with running(config) as first, running(config) as second:
        found = spend(first, second, asked=28)
        assert found.count(200) == 20
        assert found.count(402) == 8
        # Tokens and sessions are shared, and a revocation in one holds in the other at once.
        text = second.token()
        with first.client(text) as client:
            assert client.get(f"{API}/budget").status_code == 200
            second.context.tokens.revoke(second.context.tokens.find(text).id)
            assert client.get(f"{API}/budget").status_code == 401


@pytest.mark.postgres
def test_two_servers_over_one_postgres_ledger_grant_what_is_allowed(tmp_path, postgres_url):  # noqa: F811
    configs = [
        write_world(tmp_path / name, rows=100, analysts=CAP, ledger=postgres_url)
        for name in ("a", "b")
    ]
    with (
        running(configs[0], state=tmp_path / "state") as first,
        running(configs[1], state=tmp_path / "state") as second,
    ):
        found = spend(first, second, asked=28)
    assert found.count(200) == 20
    assert found.count(402) == 8


def test_a_changed_file_is_in_force_without_a_restart(tmp_path):
    config = write_world(tmp_path, rows=100, analysts=CAP)
    with running(config) as server:
        with server.client(server.token()) as owner:
            assert owner.get(f"{API}/catalog").json()["analysts"] == ["carol"]
            add_analysts(config, ["dave"], epsilon="0.5", datasets=["census"])

            def listed():
                return owner.get(f"{API}/catalog").json()["analysts"]

            # By whoever asks after LOOK_AGAIN; opening a catalog takes a slow machine longer.
            assert workspace.LOOK_AGAIN < 1
            eventually(lambda: listed() == ["carol", "dave"], "the change is in force")
            good = config.read_text()
            config.write_text(good + "\n[nonsense")
            eventually(lambda: "cannot be read" in health(owner), "a wrong file is noticed")
            assert owner.get(f"{API}/catalog").status_code == 503
            config.write_text(good)
            eventually(lambda: health(owner) == "in force", "the right one is in force")
            assert listed() == ["carol", "dave"]
        with server.client(server.token("analyst", "dave")) as dave:
            body = {"sql": COUNT, "epsilon": 0.1}
            assert dave.post(f"{API}/query", json=body).status_code == 200


def test_the_postgres_endpoint_lives_and_ends_with_the_server(tmp_path):
    config, port = write_world(tmp_path, rows=10), free_port()
    with running(config, pg_port=port):
        socket.create_connection(("127.0.0.1", port), timeout=LONG).close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=LONG)
