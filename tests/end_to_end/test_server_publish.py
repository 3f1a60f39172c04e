"""Releases through a real server: drafted, rehearsed, approved by a second person, read by anybody."""

from __future__ import annotations

import hashlib

import pytest

from discreet.work.publish.recheck import verify_package
from server_kit import CANARY, running, write_world

SPEC = """
[release]
name = "census-2026"
dataset = "census"
epsilon = 1.0
[tables.nation]
sql = "SELECT sex, COUNT(*) AS people FROM people GROUP BY sex"
[tables.by_age]
sql = "SELECT sex, age_group, COUNT(*) AS people FROM people GROUP BY sex, age_group"
[cuts]
age_group = { column = "age", edges = [0, 18, 65, 121] }
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    config = write_world(tmp_path_factory.mktemp("publish"), limits="second_person = true")
    with running(config) as found:
        yield found


def ended(client, job):
    with client.stream("GET", f"/api/v1/jobs/{job}/events") as stream:
        stream.read()
    return client.get(f"/api/v1/jobs/{job}").json()


def test_from_draft_to_public_page(server, tmp_path):
    owner, reviewer, anybody = (
        server.client(server.token("owner")),
        server.client(server.token("reviewer")),
        server.client(),
    )
    body = {"spec": SPEC}
    with owner, reviewer, anybody:
        job = owner.post("/api/v1/publish/rehearse", json=body).json()["job"]
        rehearsed = ended(owner, job)["answer"]
        assert rehearsed["spends"] is False
        assert set(rehearsed["tables"]) == {"nation", "by_age"}
        assert anybody.get("/releases/census-2026").status_code == 404
        assert "Nothing has been released" in anybody.get("/releases").text

        # Nothing is charged before a second person approves.
        job = owner.post("/api/v1/publish/census-2026/release").json()["job"]
        assert ended(owner, job)["problem"]["kind"] == "NotAllowed"
        read = reviewer.get("/api/v1/publish/census-2026").json()
        assert read["spec"] == SPEC
        approval = {"digest": read["digest"]}
        approve = "/api/v1/publish/census-2026/approve"
        assert owner.post(approve, json=approval).status_code == 403
        # A draft that changed after it was read is not what was approved.
        owner.post("/api/v1/publish", json={"spec": SPEC + "# changed\n"})
        assert reviewer.post(approve, json=approval).status_code == 409
        owner.post("/api/v1/publish", json=body)
        spent = owner.get("/api/v1/budget").json()["datasets"]["census"]["epsilon"]["spent"]
        assert spent == 0
        assert reviewer.post(approve, json=approval).json()["state"] == "approved"
        job = owner.post("/api/v1/publish/census-2026/release").json()["job"]
        released = ended(owner, job)["answer"]
        assert released["cost"]["epsilon"] == 1.0

        # The same again is the same package, free.
        job = owner.post("/api/v1/publish/census-2026/release").json()["job"]
        again = ended(owner, job)["answer"]
        assert again["free"]
        assert again["sha256"] == released["sha256"]

        got = anybody.get("/api/v1/releases/census-2026/package.zip")
        assert got.status_code == 200
        assert hashlib.sha256(got.content).hexdigest() == released["sha256"]
        (tmp_path / "got.zip").write_bytes(got.content)
        assert verify_package(tmp_path / "got.zip", key=released["key"])["problems"] == []
        assert CANARY.encode() not in got.content

        rows = anybody.get("/api/v1/releases/census-2026/files/tables/nation.csv").text
        assert rows.splitlines()[0] == "sex,people,people_low,people_high"
        for wanted in ("secret", "../ledger.db", "signature", "tables/nothing.csv"):
            path = f"/api/v1/releases/census-2026/files/{wanted}"
            assert anybody.get(path).status_code in (404, 400), wanted

        assert "census-2026" in anybody.get("/releases").text
        shown = anybody.get("/releases/census-2026")
        assert shown.status_code == 200
        assert "nation" in shown.text
        grid = anybody.get("/releases/census-2026?table=by_age").text
        assert "0-17" in grid
        one = anybody.get("/releases/census-2026?table=by_age&sex=Male").text
        assert "sex: Male" in one
        assert anybody.get("/releases/census-2026?table=by_age&sex=Nobody").status_code == 200
        for page in ("/publish", "/publish/census-2026"):
            assert owner.get(page).status_code == 200
            assert reviewer.get(page).status_code == 200

        # Withdrawn: the page says why, the package is no longer handed out, the price stays.
        reason = {"reason": "a column was wrong"}
        assert owner.post("/api/v1/publish/census-2026/withdraw", json=reason).status_code == 200
        assert "a column was wrong" in anybody.get("/releases/census-2026").text
        assert anybody.get("/api/v1/releases/census-2026/package.zip").status_code == 404
        spent = owner.get("/api/v1/budget").json()["datasets"]["census"]["epsilon"]["spent"]
        assert spent == 1.0


def test_strangers_and_analysts_may_not_publish(server):
    with server.client() as anybody, server.client(server.token("analyst", "alice")) as alice:
        for client, status in ((anybody, 401), (alice, 403)):
            assert client.post("/api/v1/publish", json={"spec": SPEC}).status_code == status
            assert client.get("/api/v1/publish").status_code == status
            digest = {"digest": "0" * 64}
            assert client.post("/api/v1/publish/x/approve", json=digest).status_code == status


def test_bad_specs_are_one_sentence_and_free(server):
    bad = (
        "no toml [",
        SPEC.replace("census-2026", "other").replace('"census"', '"nowhere"'),
        SPEC.replace("census-2026", "../escape"),
        SPEC.replace("census-2026", "other").replace("sex, COUNT", "note, COUNT"),
        SPEC.replace("census-2026", "other")
        + '[[exact]]\nfact = "SELECT COUNT(*) AS people FROM people"\nreason = "r"\n'
        'file = "../../etc/passwd"\n',
    )
    with server.client(server.token("owner")) as owner:
        before = owner.get("/api/v1/budget").json()["datasets"]["census"]["epsilon"]["spent"]
        for text in bad:
            got = owner.post("/api/v1/publish", json={"spec": text})
            assert 400 <= got.status_code < 500, text
            assert "\n" not in got.json()["detail"]
        after = owner.get("/api/v1/budget").json()["datasets"]["census"]["epsilon"]["spent"]
        assert after == before
        assert owner.get("/publish/nothing").status_code == 404
        assert owner.post("/api/v1/publish/nothing/release").status_code == 404
