"""Versions of the data on a server: the owner sees and begins them, and nobody else can try out whether rows changed."""

import re

import pyarrow.parquet as pq
import pytest
from fastapi.routing import APIRoute

from discreet.server.access.auth import all_routes, roles_of
from discreet.server.access.tokens import Role
from discreet.work.publish import workflow
from server_kit import COUNT, running, write_world

API = "/api/v1"
VERSIONS = f"{API}/data/versions"
SPEC = """
[release]
name = "sexes"
dataset = "census"
epsilon = 1
[tables.sexes]
sql = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
"""


def asked(client):
    reply = client.post(f"{API}/query", json={"sql": COUNT, "epsilon": 1})
    assert reply.status_code == 200, reply.text
    return reply.json()


def somebody_leaves(config):
    file = config.parent / "people.parquet"
    pq.write_table(pq.read_table(file).slice(1), file)


def test_the_owner_sees_and_begins_versions(tmp_path):
    config = write_world(tmp_path / "world", rows=200)
    with running(config) as server, server.client(server.token()) as owner:
        bob = server.client(server.token("analyst", "bob"))
        reviewer = server.client(server.token("reviewer"))
        with bob, reviewer:
            first = asked(bob)
            (seen,) = owner.get(VERSIONS, params={"dataset": "census"}).json()["versions"]
            assert (seen["version"], seen["refresh"], seen["changed"]) == (1, "manual", [])
            somebody_leaves(config)
            again = asked(bob)["provenance"]
            assert again["snapshot"] == first["provenance"]["snapshot"] == "people:1"
            (seen,) = owner.get(VERSIONS, params={"dataset": "census"}).json()["versions"]
            assert (seen["version"], seen["changed"]) == (1, ["people"])
            assert len(owner.get(VERSIONS).json()["versions"]) == 2
            for other in (bob, reviewer):
                assert other.get(VERSIONS).status_code == 403
                assert other.post(VERSIONS, json={"dataset": "census"}).status_code == 403
            assert owner.post(VERSIONS, json={"dataset": "nowhere"}).status_code == 404
            begun = owner.post(VERSIONS, json={"dataset": "census", "table": "people"}).json()
            assert [(each["version"], each["changed"]) for each in begun["versions"]] == [(2, [])]
            second = asked(bob)
            assert second["provenance"]["snapshot"] == "people:2"
        told = owner.get(f"{API}/audit").json()["lines"]
    facts = [line["facts"] for line in told if line["what"] == "version begun"]
    assert facts == [{"dataset": "census", "version": "2"}]


def all_that_a_reviewer_can_call(server, reviewer, digest):
    """Call every address that is open to reviewers."""
    called = []
    for route in all_routes(server.app.routes):
        roles = roles_of(route.endpoint) if isinstance(route, APIRoute) else frozenset()
        if roles is None or Role.REVIEWER not in roles:
            continue
        path = re.sub(r"\{\w+[^}]*\}", "sexes", route.path)
        if "GET" in route.methods:
            called.append((path, reviewer.get(path).status_code))
        elif path.endswith("/approve"):
            reply = reviewer.post(path, json={"digest": digest})
            called.append((path, reply.status_code))
    assert (f"{API}/publish/sexes/approve", 200) in called
    assert sum(status == 200 for _, status in called) > 8
    return called


def versions_begun(client):
    entries = client.get(f"{API}/history?last=1000").json()["entries"]
    return sum(entry["kind"] == "version" for entry in entries)


def tried_out(folder):
    """Return how many versions began while a reviewer called what there is, and at the owner's next question."""
    config = write_world(folder, rows=200, analysts="")
    with running(config) as server, server.client(server.token()) as owner:
        asked(owner)
        assert owner.post(f"{API}/publish", json={"spec": SPEC}).status_code == 201
        digest = owner.get(f"{API}/publish/sexes").json()["digest"]
        with server.client(server.token("reviewer")) as reviewer:
            before = versions_begun(reviewer)
            somebody_leaves(config)
            all_that_a_reviewer_can_call(server, reviewer, digest)
            between = versions_begun(reviewer)
            asked(owner)
            return between - before, versions_begun(reviewer) - between


def test_a_reviewer_cannot_try_out_whether_rows_changed(tmp_path):
    """Without analysts versions begin on change, but at the owner's questions alone."""
    assert tried_out(tmp_path / "world") == (0, 1)


def test_the_twin_that_plans_at_an_approval_tells_reviewers(tmp_path, monkeypatch):
    def read(spec, desk):
        return workflow._drafted(spec, desk, "", lambda _plan: None)[0]

    monkeypatch.setattr(workflow, "_draft_that_was_read", read)
    assert tried_out(tmp_path / "world") == (1, 0)


@pytest.mark.parametrize("role", ["owner", "reviewer"])
def test_a_draft_is_approved_without_a_look_at_tables(tmp_path, role):
    config = write_world(tmp_path / "world", rows=200, analysts="")
    with running(config) as server, server.client(server.token()) as owner:
        owner.post(f"{API}/publish", json={"spec": SPEC})
        digest = owner.get(f"{API}/publish/sexes").json()["digest"]
        (config.parent / "people.parquet").unlink()
        with server.client(server.token(role)) as client:
            reply = client.post(f"{API}/publish/sexes/approve", json={"digest": digest})
            assert (reply.status_code, reply.json()["state"]) == (200, "approved")
