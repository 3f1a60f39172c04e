"""Models over HTTP: priced, trained as a job, listed, downloaded, deleted; others see nothing."""

import io
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from patience import eventually
from server_kit import ANALYSTS, running, write_world

FILMS = """
[datasets.films]
epsilon = 1000000
delta = 0.01
[datasets.films.tables.ratings]
source = "ratings.parquet"
unit = "user_id"
max_rows = 20
[datasets.films.tables.ratings.columns]
user_id = { type = "identifier" }
film = { type = "integer", lower = 1, upper = 6 }
rating = { type = "integer", lower = 1, upper = 5 }
"""
BOTH = ANALYSTS.replace(
    "census = { epsilon = 0.5 } }",
    "census = { epsilon = 0.5 }, films = { epsilon = 1000, delta = 0.001 } }",
)


def ratings(people=1500):
    """Return ratings of six films: half of the people like the odd ones, half the even ones."""
    rows = [(person, film) for person in range(people) for film in range(1, 7)]
    return pa.table(
        {
            "user_id": [person for person, _ in rows],
            "film": [film for _, film in rows],
            "rating": [5 if (person + film) % 2 else 1 for person, film in rows],
        }
    )


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    place = tmp_path_factory.mktemp("world")
    config = write_world(place, analysts=FILMS + BOTH)
    pq.write_table(ratings(), place / "ratings.parquet")
    with running(config) as found:
        yield found


def done(client, job):
    def ended():
        return client.get(f"/api/v1/jobs/{job}").json()["state"] not in ("queued", "running")

    eventually(ended, "the job did not end")
    return client.get(f"/api/v1/jobs/{job}").json()


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


CHOICE = {"table": "census.people", "column": "sex", "epsilon": "0.05"}


def test_a_choice_is_priced_made_and_the_same_when_asked_again(server):
    with server.client(server.token("analyst", "alice")) as alice:
        priced = alice.post("/api/v1/choices/explain", json=CHOICE).json()
        assert (priced["candidates"], priced["cost"]["epsilon"]) == (2, 0.05)
        headers = {"Idempotency-Key": "the-vote"}
        found = [
            done(alice, alice.post("/api/v1/choices", json=CHOICE, headers=headers).json()["job"])
            for _ in range(2)
        ]
        assert found[0]["answer"]["choice"] in ("Female", "Male")
        assert found[0]["answer"]["loss95"] == pytest.approx(priced["loss95"], abs=1e-6)
        assert found[1]["answer"]["choice"] == found[0]["answer"]["choice"]
        assert found[1]["answer"]["free"] is True
        dear = alice.post("/api/v1/choices", json=CHOICE | {"column": "income", "kind": "vote"})
    assert dear.status_code == 400
    assert "can be chosen among" in dear.text


def test_a_recommender_from_price_to_a_made_up_viewer(server):
    body = {"table": "films.ratings", "item": "film", "rating": "rating", "epsilon": "50"}
    with (
        server.client(server.token("analyst", "alice")) as alice,
        server.client(server.token("analyst", "bob")) as bob,
    ):
        priced = alice.post("/api/v1/recommenders/explain", json=body).json()
        assert (priced["items"], priced["cost"]["epsilon"]) == (6, 50)
        job = alice.post("/api/v1/recommenders", json=body).json()["job"]
        name = done(alice, job)["answer"]["recommender_id"]
        [listed] = alice.get("/api/v1/recommenders").json()["recommenders"]
        assert listed["id"] == name
        path = f"/api/v1/recommenders/{name}"
        best = alice.post(f"{path}/for", json={"ratings": {"1": 5, "2": 1}}).json()["recommended"]
        assert {each["item"] for each in best[:2]} == {
            "3",
            "5",
        }  # noise of 1e-2 beside 1,500 people
        shown = alice.get("/models").text
        assert name in shown
        for wrong, said in (({"1": 9}, "between 1 and 5"), ({"77": 3}, "no item")):
            refused = alice.post(f"{path}/for", json={"ratings": wrong})
            assert refused.status_code == 400
            assert said in refused.text
        assert bob.post(f"{path}/for", json={"ratings": {"1": 5}}).status_code == 404
        assert alice.get(f"{path}/recommender.zip").content[:2] == b"PK"
        assert alice.delete(path).status_code == 204
        assert alice.get("/api/v1/recommenders").json() == {"recommenders": []}


def test_the_client_has_recommenders_and_bounds(server):
    with discreet.connect(server.url, token=server.token("analyst", "alice")) as alice:
        found = alice.recommend("ratings", item="film", rating="rating", epsilon=20, delta="1e-6")
        assert float(found.cost.epsilon) == 20
        best = found.model.recommend({"1": 5, "2": 1})
        assert best
        assert {item for item, _ in best} <= {"3", "4", "5", "6"}
        price = alice.explain_bounds("ratings", epsilon=5)
        assert (price.cost.epsilon, price.free) == (5, False)
        trade = alice.bounds("ratings", epsilon=5, request_id="bounds-1")
        assert (trade.table, trade.now) == ("ratings", 20)
        assert trade.cost == price.cost
        assert trade.best in {each["max_rows"] for each in trade.to_json()["bounds"]}
        again = alice.bounds("ratings", epsilon=5, request_id="bounds-1")
        assert again.best == trade.best
        assert "max_rows of ratings" in repr(trade)
        assert repr(found).startswith("recommender  6 items")
