"""Notebooks over HTTP: kept questions, sharing without showing too much, and files to take away."""

import io
import json

import pyarrow.parquet as pq
import pytest

from server_kit import COUNT, running, write_world

API = "/api/v1/notebooks"
ANALYSTS = """
[analysts.alice]
datasets = { census = { epsilon = 5 } }
[analysts.bob]
datasets = { census = { epsilon = 5 } }
[analysts.carol]
datasets = { other = { epsilon = 0.5 } }
"""


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    world = write_world(tmp_path_factory.mktemp("world"), rows=200, analysts=ANALYSTS)
    with running(world) as server:
        names = ("alice", "bob", "carol")
        clients = {name: server.client(server.token("analyst", name)) for name in names}
        clients["owner"] = server.client(server.token())
        yield clients
        for client in clients.values():
            client.close()


def asked(client, number=1, **more):
    body = {"sql": COUNT, "epsilon": "0.1", "fresh": True, "request_id": f"r{number}", **more}
    assert client.post("/api/v1/query", json=body).status_code == 200
    return {"kind": "question", "sql": COUNT, "epsilon": "0.1", "answer": f"r{number}"}


def begun(client, cells, **more):
    sent = client.post(API, json={"title": "Sexes", "cells": cells, **more})
    assert sent.status_code == 201
    return f"{API}/{sent.json()['notebook']}"


def test_a_notebook_keeps_questions_with_their_answers(people):
    alice = people["alice"]
    before = alice.get("/api/v1/budget").json()["datasets"]["census"]["epsilon"]["spent"]
    place = begun(alice, [{"kind": "text", "text": "Why"}, asked(alice)])
    found = alice.get(place).json()
    assert [cell["kind"] for cell in found["cells"]] == ["text", "question"]
    assert found["cells"][1]["found"]["columns"] == ["sex", "n"]
    assert alice.post(f"{place}/cells", json=asked(alice, 2) | {"view": "chart"}).status_code == 201
    spent = alice.get("/api/v1/budget").json()["datasets"]["census"]["epsilon"]["spent"]
    assert spent == pytest.approx(before + 0.2), "reading and keeping cost nothing"
    written = {"title": "Two sexes", "shared": False, "cells": [{"kind": "text", "text": "Gone"}]}
    assert alice.put(place, json=written).json()["title"] == "Two sexes"
    assert alice.delete(place).status_code == 204
    assert alice.get(place).status_code == 404


def test_what_is_not_shared_does_not_exist_for_others(people):
    place = begun(people["alice"], [asked(people["alice"], 3)])
    for name in ("bob", "owner"):
        assert people[name].get(place).status_code == 404
        assert people[name].get(f"{place}/notebook.ipynb").status_code == 404
        assert place.rpartition("/")[2] not in people[name].get(API).text


def test_sharing_shows_answers_only_where_the_data_set_is_open(people):
    place = begun(people["alice"], [asked(people["alice"], 4)], shared=True)
    seen = people["bob"].get(place).json()
    assert seen["cells"][0]["found"]["columns"] == ["sex", "n"]
    assert seen["mine"] is False
    for change in (people["bob"].put, people["bob"].delete):
        sent = {"json": {"title": "Mine now"}} if change == people["bob"].put else {}
        assert change(place, **sent).status_code == 403
    closed = people["carol"].get(place).json()["cells"][0]
    assert closed["found"] is None
    assert COUNT not in people["carol"].get(place).text, "nor what was asked"
    assert COUNT not in people["carol"].get(f"{place}/notebook.ipynb").text


def test_nobody_names_an_answer_that_another_has_paid_for(people):
    cell = asked(people["alice"], 5) | {"analyst": "alice"}
    sent = people["bob"].post(API, json={"title": "Stolen", "cells": [cell]})
    assert sent.status_code == 403
    own = begun(people["bob"], [cell | {"analyst": None}])
    assert people["bob"].get(own).json()["cells"][0]["found"] is None, "ids are everybody's own"


def test_answers_and_notebooks_leave_as_files(people):
    alice = people["alice"]
    place = begun(alice, [{"kind": "text", "text": "Why"}, asked(alice, 6)])
    told = alice.get("/api/v1/answers/r6").json()
    table = pq.read_table(io.BytesIO(alice.get("/api/v1/answers/r6/answer.parquet").content))
    assert table.column("n").to_pylist() == [row[1] for row in told["rows"]]
    assert alice.get("/api/v1/answers/r6/answer.csv").text.startswith("sex,n")
    assert alice.get("/api/v1/answers/r6/answer.exe").status_code == 404
    assert people["bob"].get("/api/v1/answers/r6/answer.csv").status_code == 404
    for path in ("/api/v1/answers/r6/answer.ipynb", f"{place}/notebook.ipynb"):
        notebook = json.loads(alice.get(path).text)
        assert notebook["nbformat"] == 4
        asks = [cell for cell in notebook["cells"] if "client.query" in cell["source"]]
        assert "request_id='r6'" in asks[0]["source"], "asked again it is free"
        compile(asks[0]["source"], "cell", "exec")
        assert "Female" in asks[0]["outputs"][0]["data"]["text/plain"]
