"""Data sets after their first day: edited, renamed, refreshed, removed; nothing spent is forgotten."""

import tomllib

import pytest

from server_kit import running, write_world

API = "/api/v1"
UPLOADS = f"{API}/data/uploads"
SETS = f"{API}/data/datasets"


def rows(people=400, more=""):
    lines = [f'p{i},{20 + i % 50},{"FM"[i % 2]} ,"1,{i % 900 + 100}.5"' for i in range(people)]
    return f"person_id,age,sex,cost{more}\n" + "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    path = write_world(
        tmp_path_factory.mktemp("world"),
        analysts="\n[analysts.alice]\ndatasets = { census = { epsilon = 5 } }\n",
    )
    with running(path, max_upload_mb=8) as found:
        yield found


@pytest.fixture(scope="module")
def owner(server):
    with server.client(server.token()) as client:
        yield client


@pytest.fixture(scope="module")
def alice(server):
    with server.client(server.token("analyst", "alice")) as client:
        yield client


def sent(owner, content):
    reply = owner.post(UPLOADS, files={"file": ("visits.csv", content)})
    assert reply.status_code == 201, reply.text
    return reply.json()["id"]


def declared(owner, upload, name):
    proposal = owner.get(f"{UPLOADS}/{upload}/proposal").json()["proposal"]
    columns = {c["name"]: c["settings"] | {"public": True} for c in proposal["columns"]}
    review = {
        "unit": "row", "epsilon": "10", "columns": columns, "dataset": name, "table": name,
        "analysts": {"alice": {"epsilon": "4"}},
    }  # fmt: skip
    seen = owner.post(f"{UPLOADS}/{upload}/losses", json={"unit": "row", "columns": columns}).json()
    assert sum(column["lost"] for column in seen["columns"]) == 0
    return owner.post(f"{UPLOADS}/{upload}/confirm", json=review)


def asked(client, sql, epsilon=0.5):
    return client.post(f"{API}/query", json={"sql": sql, "epsilon": epsilon})


def spent(owner, dataset):
    return owner.get(f"{API}/budget").json()["datasets"][dataset]["epsilon"]["spent"]


def test_the_life_of_a_data_set(server, owner, alice):
    upload = sent(owner, rows())
    assert declared(owner, upload, "visits").status_code == 200
    assert asked(alice, "SELECT SUM(cost) AS c FROM visits").status_code == 200

    # Losses of another draft are told before anything changes.
    found = owner.get(f"{SETS}/visits/columns").json()
    columns = {c["name"]: c["settings"] for c in found["columns"]}
    assert columns["cost"]["thousands"] == ","
    wrong = {"type": "number", "lower": 0, "upper": 5000, "step": "0.1", "public": True}
    draft = {"unit": "row", "columns": {"cost": wrong}}
    seen = owner.post(f"{UPLOADS}/{found['upload']}/losses", json=draft).json()["columns"][0]
    assert (seen["lost"], seen["safe"]) == (400, False)
    assert seen["examples"][0][0].startswith("1,")

    # Edited: another bound, the same spelling.
    edited = {**columns["cost"], "upper": "5000", "public": True}
    reply = owner.put(f"{SETS}/visits/columns", json={"columns": {"cost": edited}})
    assert reply.status_code == 200, reply.text
    assert "upper = 5000" in server.context.settings.config.read_text()
    unsaid = owner.put(
        f"{SETS}/visits/columns", json={"columns": {"cost": wrong | {"public": False}}}
    )
    assert unsaid.status_code == 400

    # Renamed: the budget, its history and the shares stay with the people.
    before = spent(owner, "visits")
    assert before > 0
    reply = owner.put(f"{SETS}/visits/name", json={"name": "stays"})
    assert reply.status_code == 200, reply.text
    assert spent(owner, "stays") == before
    raw = tomllib.loads(server.context.settings.config.read_text())
    assert raw["datasets"]["stays"]["budget"] == "visits"
    assert raw["analysts"]["alice"]["datasets"]["stays"] == {"epsilon": 4}
    assert owner.put(f"{SETS}/stays/name", json={"name": "census"}).status_code == 400

    # Refreshed: a new snapshot, nobody's bill is lower than it was.
    lacking = sent(owner, "person_id,age\n1,2\n")
    reply = owner.put(f"{SETS}/stays/file", json={"upload": lacking})
    assert "lacks columns that are declared: sex, cost" in reply.json()["detail"]
    newer = sent(owner, rows(500))
    reply = owner.put(f"{SETS}/stays/file", json={"upload": newer})
    assert reply.status_code == 200, reply.text
    answer = asked(alice, "SELECT COUNT(*) AS n FROM visits WHERE age >= 0", epsilon=2).json()
    assert abs(answer["rows"][0][0] - 500) < 40
    assert spent(owner, "stays") == pytest.approx(before + 2)

    # The first file cannot come back under another name, and so start afresh.
    again = sent(owner, rows())
    refused = declared(owner, again, "others")
    assert refused.status_code == 409
    assert "was in use as dataset 'visits'" in refused.json()["detail"]

    # Removed: nobody asks any more, the file is gone, the ledger is not.
    assert owner.delete(f"{SETS}/stays").status_code == 200
    assert asked(alice, "SELECT COUNT(*) AS n FROM visits").status_code == 404
    assert declared(owner, sent(owner, rows(500)), "fresh").status_code == 409
    told = owner.get(f"{API}/audit").json()
    assert {"dataset renamed", "dataset refreshed", "dataset edited", "dataset removed"} <= {
        line["what"] for line in told["lines"]
    }
