"""Every client that is installed asks the same questions and gets the same answers."""

from __future__ import annotations

import pytest

from clients_kit import CLIENTS, OTHERS, checks_of, expected, town

HOW = "make test-clients installs it"
ASKED_ELSEWHERE = {"SQLAlchemy", "psql"}
"""In test_pgwire_clients.py, less at length."""


@pytest.fixture(scope="module")
def pg(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pg")
    with town(folder) as found:
        yield found, expected(folder)


@pytest.mark.parametrize(
    "client",
    [
        pytest.param(client, marks=[pytest.mark.slow] * (client.name in ASKED_ELSEWHERE))
        for client in CLIENTS
    ],
    ids=lambda client: client.name,
)
def test_a_client_from_the_registry_of_python(pg, client):
    compare(pg, client)


@pytest.mark.clients
@pytest.mark.parametrize("client", OTHERS, ids=lambda client: client.name)
def test_a_client_of_another_world(pg, client):
    compare(pg, client)


def compare(pg, client):
    endpoint, right = pg
    if client.command() is None:
        pytest.skip(f"{client.name} is not here: {HOW}")
    said = client.run(endpoint.port, endpoint.alice)
    wanted = checks_of(client)
    assert sorted(said) == sorted(wanted)
    assert {name: said[name].get("error") for name in wanted if "error" in said[name]} == {}
    assert {name: said[name]["got"] for name in wanted} == {name: right[name] for name in wanted}
