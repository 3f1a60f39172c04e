"""Models over HTTP: priced, trained as a job, listed, downloaded, deleted; others see nothing."""

import io
import time
import zipfile

import pytest

from server_kit import running, write_world


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running(write_world(tmp_path_factory.mktemp("world"))) as found:
        yield found


def done(client, job):
    for _ in range(600):
        found = client.get(f"/api/v1/jobs/{job}").json()
        if found["state"] not in ("queued", "running"):
            return found
        time.sleep(0.1)
    raise AssertionError("the job did not end")


BODY = {"table": "census.people", "target": "sex", "epsilon": "0.05"}


def test_a_model_from_price_to_deletion(server):
    token = server.token("analyst", "alice")
    with server.client(token) as alice, server.client(server.token("analyst", "bob")) as bob:
        priced = alice.post("/api/v1/models/explain", json=BODY).json()
        assert priced["cost"]["epsilon"] == 0.05
        assert priced["rows_needed"] > 0
        started = alice.post("/api/v1/models", json=BODY)
        assert started.status_code == 202
        name = done(alice, started.json()["job"])["answer"]["model_id"]
        assert [m["id"] for m in alice.get("/api/v1/models").json()["models"]] == [name]
        file = alice.get(f"/api/v1/models/{name}/model.zip")
        assert "card.html" in zipfile.ZipFile(io.BytesIO(file.content)).namelist()
        assert bob.get(f"/api/v1/models/{name}").status_code == 404
        assert alice.delete(f"/api/v1/models/{name}").status_code == 204
        assert alice.get(f"/api/v1/models/{name}").status_code == 404


def test_a_mistake_is_refused_before_the_queue(server):
    with server.client(server.token("analyst", "alice")) as alice:
        found = alice.post("/api/v1/models", json=BODY | {"target": "nothing"})
    assert 400 <= found.status_code < 500
    assert "not declared" in found.text
