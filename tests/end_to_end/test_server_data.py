"""The Data API: from a file to the first private answer; nothing public before; budgets and shares."""

import json
import os
import re
import threading
import tomllib
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fastapi.routing import APIRoute

from discreet.data.catalog import writer
from discreet.errors import CatalogError
from discreet.server.access.auth import all_routes
from server_kit import running, write_world

API = "/api/v1"
UPLOADS = f"{API}/data/uploads"
CANARY = "Zyxland"


def csv(people=600, salt=0):
    rows = [
        f"p{i // 2},{20 + i % 50},{'FM'[i % 2]},{i % 97 / 4:.2f},2024-03-{1 + i % 28:02d},{CANARY if i == 7 else 'home'},{'' if i % 10 else 3}"
        for i in range(people)
    ]
    return f"person_id,age,sex,score,day,land,extra{salt}\n" + "\n".join(rows) + "\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    path = write_world(
        folder,
        analysts="\n# Alice counts.\n[analysts.alice]\ndatasets = { census = { epsilon = 5 } }  # hers\n",
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


def toml(server):
    return server.context.settings.config.read_text()


def uploaded(owner, content=None, name="Visits 2024.csv"):
    reply = owner.post(UPLOADS, files={"file": (name, content or csv())})
    assert reply.status_code == 201, reply.text
    return reply.json()["id"]


def review_of(owner, upload, **more):
    """Return the review of an owner who takes everything as it is proposed."""
    proposal = owner.get(f"{UPLOADS}/{upload}/proposal").json()["proposal"]
    columns = {c["name"]: c["settings"] | {"public": True} for c in proposal["columns"]}
    columns["person_id"] = {"type": "identifier", "public": True}
    review = {"unit": "person_id", "max_rows": 2, "epsilon": "10", "columns": columns}
    return review | {"dataset": "visits", "table": "visits"} | more


def test_the_whole_way(server, owner, alice):
    before, catalog = toml(server), alice.get(f"{API}/catalog").text
    upload = uploaded(owner)

    # The proposal: types, domains, missing rates and what each would reveal.
    reply = owner.get(f"{UPLOADS}/{upload}/proposal").json()
    assert reply["next"] == "unit"
    found = {c["name"]: c for c in reply["proposal"]["columns"]}
    kinds = {name: column["type"] for name, column in found.items()}
    assert kinds == {
        "person_id": "identifier", "age": "integer", "sex": "category", "score": "number",
        "day": "date", "land": "category", "extra0": "integer",
    }  # fmt: skip
    assert found["extra0"]["missing_rate"] == pytest.approx(0.9)
    assert found["age"]["missing_rate"] == 0
    assert CANARY in found["land"]["settings"]["values"]
    assert "one person alone" in found["land"]["reveals"]
    assert any("fewer than 5 rows" in words for words in found["land"]["seen"])
    assert reply["proposal"]["who"]["columns"] == ["person_id"]

    # Who is protected comes first: no epsilon is taken before that.
    for early in ({"epsilon": 1}, {"delta": 0}, {"analysts": {"alice": {"epsilon": 1}}}):
        for end in ("proposal", "confirm"):
            refused = owner.post(f"{UPLOADS}/{upload}/{end}", json=early)
            assert refused.status_code == 400
            assert refused.json()["detail"].startswith("Say first who is protected")
    drafted = owner.post(f"{UPLOADS}/{upload}/proposal", json={"unit": "person_id"}).json()
    assert drafted["next"] == "max_rows"
    assert drafted["proposal"]["suggested_max_rows"] == 2
    assert {c["name"] for c in drafted["proposal"]["columns"] if c["settings"].get("constant")} == {
        "extra0"
    }

    # Nothing is public yet, for anybody.
    assert toml(server) == before
    assert alice.get(f"{API}/catalog").text == catalog
    asked = alice.post(
        f"{API}/query", json={"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": 1}
    )
    assert asked.status_code == 404
    assert CANARY not in server.log.getvalue()

    # The owner replaces what is not public knowledge, and confirms.
    review = review_of(
        owner, upload, analysts={"alice": {"epsilon": "2.5"}, "carol": {"epsilon": 1}}
    )
    review["columns"]["land"]["values"] = ["home", "abroad"]
    review["columns"]["age"] |= {"lower": 0, "upper": 120}
    review["columns"]["extra0"] = {"type": "text", "hidden": True}
    ready = owner.post(f"{UPLOADS}/{upload}/proposal", json=review).json()
    assert (ready["next"], ready["open"]) == (None, [])
    done = owner.post(f"{UPLOADS}/{upload}/confirm", json=review)
    assert done.status_code == 200, done.text

    # Queries work at once; the file has all that it had.
    answer = alice.post(
        f"{API}/query",
        json={"sql": "SELECT land, COUNT(*) AS n FROM visits GROUP BY land", "epsilon": 2},
    )
    assert answer.status_code == 200, answer.text
    counts = dict(answer.json()["rows"])
    assert set(counts) <= {"home", "abroad", None}
    assert abs(counts["home"] - 599) < 60  # scale 1: misses with probability below 1e-20
    assert CANARY not in answer.text + alice.get(f"{API}/catalog").text + toml(server)
    after = toml(server)
    assert "# Alice counts." in after
    assert after.startswith(before[: before.index("# Alice counts.")])
    raw, old = (tomllib.loads(t, parse_float=Decimal) for t in (after, before))
    assert raw["analysts"] == {
        "alice": {"datasets": {"census": {"epsilon": 5}, "visits": {"epsilon": Decimal("2.5")}}},
        "carol": {"datasets": {"visits": {"epsilon": 1}}},
    }
    assert {k: raw["datasets"][k] for k in old["datasets"]} == old["datasets"]
    assert raw["datasets"]["visits"]["tables"]["visits"]["unit"] == "person_id"

    # It cannot be confirmed or deleted twice; the same people get no second budget.
    again = owner.post(
        f"{UPLOADS}/{upload}/confirm",
        json=review | {"dataset": "v2", "table": "v2", "analysts": {}},
    )
    assert (again.status_code, "already" in again.text) == (409, True)
    assert owner.delete(f"{UPLOADS}/{upload}").status_code == 409
    twin = uploaded(owner)
    second = owner.post(
        f"{UPLOADS}/{twin}/confirm", json=review | {"dataset": "v2", "table": "v2", "analysts": {}}
    )
    assert (second.status_code, "twice as much" in second.text) == (409, True)
    assert owner.delete(f"{UPLOADS}/{twin}").status_code == 200
    assert [u["dataset"] for u in owner.get(UPLOADS).json()["uploads"]] == ["visits"]
    assert toml(server) == after


WRONG = {
    "no unit": ({"unit": None, "epsilon": None}, "Who is protected"),
    "unknown unit": ({"unit": "nobody"}, "column of the file"),
    "no max_rows": ({"max_rows": None}, "max_rows"),
    "max_rows of rows": ({"unit": "row"}, "max_rows is 1"),
    "no epsilon": ({"epsilon": None}, "epsilon"),
    "negative epsilon": ({"epsilon": -1}, "psilon"),
    "epsilon that is no number": ({"epsilon": "NaN"}, "psilon"),
    "delta of one": ({"delta": 1}, "elta"),
    "unknown neighbours": ({"neighbours": "friends"}, "neighbours"),
    "no names": ({"dataset": None}, "Name the dataset"),
    "a name that is taken": ({"dataset": "Census"}, "choose another"),
    "a table that is taken": ({"table": "PEOPLE"}, "choose another"),
    "a name with a bracket": ({"dataset": "x]\n[analysts.evil"}, "dataset"),
    "a path as a name": ({"dataset": "../x"}, "dataset"),
    "an unknown setting": ({"accepted": True}, "accepted"),
    "an analyst without a name": ({"analysts": {" ": {"epsilon": 1}}}, "name"),
    "an analyst with a line end": ({"analysts": {"a\nb": {"epsilon": 1}}}, "name"),
    "a share of nothing": ({"analysts": {"eve": {"epsilon": 0}}}, "psilon"),
    "another column": ({"columns": {"ghost": {"type": "boolean", "public": True}}}, "no such column"),
}  # fmt: skip
WRONG_COLUMNS = {
    "not said to be public": {"public": False},
    "bounds the wrong way round": {"lower": 9, "upper": 1},
    "bounds that are text": {"lower": "low"},
    "bounds that are infinite": {"upper": "Infinity"},
    "bounds beyond all measure": {"upper": "1e4000"},
    "half a person": {"lower": 0.5},
    "no bounds": {"lower": None, "upper": None},
    "no such type": {"type": "numbr"},
    "a file of values": {"values_from": "/etc/passwd"},
    "values twice": {"type": "category", "lower": None, "upper": None, "values": ["a", "a"]},
    "a date that is none": {"type": "date", "lower": "2024-02-30", "upper": "2024-12-31"},
}


def test_a_review_that_is_wrong_changes_nothing(server, owner):
    upload = uploaded(owner, csv(salt=5))
    good = review_of(owner, upload, dataset="wrong", table="wrong")
    before, entries = toml(server), owner.get(f"{API}/history").text
    cases = {name: (good | change, word) for name, (change, word) in WRONG.items()}
    for name, change in WRONG_COLUMNS.items():
        columns = good["columns"] | {"age": good["columns"]["age"] | change}
        cases[name] = (good | {"columns": columns}, "")
    for name, (review, word) in cases.items():
        reply = owner.post(f"{UPLOADS}/{upload}/confirm", json=review)
        assert reply.status_code == 400, (name, reply.text)
        assert word in reply.json()["detail"], (name, reply.text)
    assert toml(server) == before
    assert owner.get(f"{API}/history").text == entries
    assert owner.delete(f"{UPLOADS}/{upload}").status_code == 200


def test_a_catalog_that_does_not_start_is_put_back(server, owner, monkeypatch):
    upload = uploaded(owner, csv(salt=6))
    review = review_of(owner, upload, dataset="broken", table="broken")
    before = toml(server)

    def fail():
        raise CatalogError("No engine today.")

    monkeypatch.setattr(server.context.workspace, "reload", fail)
    assert owner.post(f"{UPLOADS}/{upload}/confirm", json=review).status_code == 400
    monkeypatch.undo()
    assert toml(server) == before
    monkeypatch.setattr(writer, "write_over", lambda *_, **_more: fail())
    assert owner.post(f"{UPLOADS}/{upload}/confirm", json=review).status_code == 400
    monkeypatch.undo()
    assert toml(server) == before
    # The other side: without the failure it is taken.
    assert owner.post(f"{UPLOADS}/{upload}/confirm", json=review).status_code == 200


def test_confirmations_at_once_all_arrive(server, owner):
    names = [f"crowd{i}" for i in range(2)]
    uploads = [uploaded(owner, csv(people=410, salt=10 + i)) for i in range(len(names))]
    reviews = [
        review_of(owner, upload, dataset=name, table=name)
        for upload, name in zip(uploads, names, strict=True)
    ]
    replies = []

    def one(upload, review):
        with server.client(owner.headers["authorization"].split()[1]) as client:
            replies.append(client.post(f"{UPLOADS}/{upload}/confirm", json=review).status_code)

    threads = [
        threading.Thread(target=one, args=pair)
        for pair in [*zip(uploads, reviews, strict=True)] * 2
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(replies) == [200] * 2 + [400] * 2  # the second finds its name taken
    declared = tomllib.loads(toml(server))["datasets"]
    assert all(name in declared for name in names)


def test_odd_column_names_travel_through_the_file(server, owner):
    names = ['a"b', "c]d", "=1+1", "<b>", "é ü", "x.y", "'q'", "back\\slash", "# no comment"]
    table = pa.table({name: [1, 2, 3, 4] for name in names})
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    upload = uploaded(owner, sink.getvalue().to_pybytes(), "odd.parquet")
    columns = {n: {"type": "integer", "lower": 0, "upper": 9, "public": True} for n in names}
    review = {"dataset": "odd", "table": "odd", "unit": "row", "epsilon": 10, "columns": columns}
    review["analysts"] = {'o"ne ] # two': {"epsilon": 9}}
    reply = owner.post(f"{UPLOADS}/{upload}/confirm", json=review)
    assert reply.status_code == 200, reply.text
    raw = tomllib.loads(toml(server))
    assert list(raw["datasets"]["odd"]["tables"]["odd"]["columns"]) == names
    assert raw["analysts"]['o"ne ] # two'] == {"datasets": {"odd": {"epsilon": 9}}}


def limits(owner, budget):
    entries = owner.get(f"{API}/history").json()["entries"]
    return [
        (entry["analyst"], entry["new"] and entry["new"]["epsilon"])
        for entry in reversed(entries)
        if entry["kind"] == "limit" and entry["budget"] == budget
    ]


def test_budgets_and_shares_are_changed_and_recorded(server, owner):
    place = f"{API}/data/datasets/other"
    before = toml(server)
    assert limits(owner, "other") == [(None, "1")]
    raised = owner.put(f"{place}/budget", json={"epsilon": 3})
    assert (raised.status_code, "agreed" in raised.json()["hint"]) == (400, True)
    assert toml(server) == before
    assert owner.put(f"{place}/budget", json={"epsilon": "0.1"}).json()["epsilon"] == 0.1
    agreed = owner.put(f"{place}/budget", json={"epsilon": 3, "delta": 1e-9, "agreed": True})
    assert agreed.json() == {
        "budget": "other",
        "epsilon": 3.0,
        "delta": 1e-9,
        "before": {"epsilon": 0.1, "delta": 0.0},
    }
    assert owner.put(f"{place}/analysts/dave", json={"epsilon": "0.25"}).status_code == 200
    assert owner.put(f"{place}/analysts/dave", json={"epsilon": "0.5"}).status_code == 200
    assert owner.delete(f"{place}/analysts/dave").status_code == 200
    assert owner.delete(f"{place}/analysts/dave").status_code == 404
    recorded = [
        (None, "1"),
        (None, "1/10"),
        (None, "3"),
        ("dave", "1/4"),
        ("dave", "1/2"),
        ("dave", None),
    ]
    assert limits(owner, "other") == recorded
    for wrong in (
        {"epsilon": -1},
        {"epsilon": True},
        {"epsilon": None},
        {},
        {"epsilon": 1, "x": 1},
    ):
        assert owner.put(f"{place}/budget", json=wrong).status_code == 400
        assert owner.put(f"{place}/analysts/dave", json=wrong).status_code == 400
    assert owner.put(f"{API}/data/datasets/none/budget", json={"epsilon": 1}).status_code == 404
    assert limits(owner, "other") == recorded


def test_the_first_upload_makes_the_file(tmp_path):
    config = tmp_path / "new" / "discreet.toml"
    config.parent.mkdir()
    with running(config) as empty, empty.client(empty.token()) as owner:
        upload = uploaded(owner)
        review = review_of(owner, upload)
        assert owner.post(f"{UPLOADS}/{upload}/confirm", json=review).status_code == 200
        asked = {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": 1}
        assert owner.post(f"{API}/query", json=asked).status_code == 200
        assert set(tomllib.loads(config.read_text())) == {"engine", "ledger", "datasets"}


def data_routes(app):
    for route in all_routes(app.routes):
        if isinstance(route, APIRoute) and route.path.startswith(f"{API}/data"):
            for method in sorted(route.methods):
                yield method, re.sub(r"\{[a-z_]+\}", "0" * 32, route.path)


def test_only_the_owner_passes(server, owner):
    """The matrix of security test 21 for this part: every route x role x state of the token."""
    revoked = server.token()
    server.context.tokens.revoke(server.context.tokens.find(revoked).id)
    callers = {
        "nobody": (None, 401),
        "unknown": ("dsc_" + "A" * 43, 401),
        "expired": (server.token(expires_days=1e-12), 401),
        "revoked": (revoked, 401),
        "analyst": (server.token("analyst", "alice"), 403),
        "reviewer": (server.token("reviewer"), 403),
    }
    routes = list(data_routes(server.app))
    assert len(routes) == 18
    before = toml(server)
    for name, (token, status) in callers.items():
        with server.client(token) as client:
            for method, path in routes:
                reply = client.request(method, path, content=json.dumps({"epsilon": 1}))
                assert reply.status_code == status, (name, method, path)
    for method, path in routes:  # the other side: the owner passes the door
        if path != UPLOADS or method == "GET":
            assert owner.request(method, path, json={"x": 1}).status_code in (200, 400, 404)
    assert toml(server) == before


def test_uploads_that_nobody_confirms_expire(tmp_path):
    """At the next upload and at the next start; a review that comes too late declares nothing."""
    path = write_world(tmp_path)
    with running(path, upload_hours=1) as server, server.client(server.token()) as owner:
        late, forgotten, kept = (uploaded(owner, csv(people=400, salt=i)) for i in (1, 2, 3))
        review = review_of(owner, late)
        names = {"dataset": "kept", "table": "kept", "analysts": {"bob": {"epsilon": 2}}}
        confirmed = owner.post(f"{UPLOADS}/{kept}/confirm", json=review_of(owner, kept, **names))
        assert confirmed.status_code == 200, confirmed.text
        store = server.app.state.uploads
        for upload in (late, kept):
            _aged(store, upload)
        new = uploaded(owner, csv(people=400, salt=4))
        ids = {upload["id"] for upload in owner.get(UPLOADS).json()["uploads"]}
        assert ids == {forgotten, kept, new}
        told = [line for line in server.context.access.audit.last(20) if line.who == "server"]
        assert [(line.what, line.facts["upload"]) for line in told] == [("upload removed", late)]
        before = toml(server)
        assert owner.post(f"{UPLOADS}/{late}/confirm", json=review).status_code == 404
        assert toml(server) == before
        _aged(store, forgotten)
    with running(path, upload_hours=1) as server, server.client(server.token()) as owner:
        ids = {upload["id"] for upload in owner.get(UPLOADS).json()["uploads"]}
        assert ids == {kept, new}
        asked = {"sql": "SELECT COUNT(*) AS n FROM kept", "epsilon": 1, "analyst": "bob"}
        assert owner.post(f"{API}/query", json=asked).status_code == 200


def _aged(store, upload):
    facts = store.folder / upload / "facts.json"
    found = json.loads(facts.read_text())
    facts.write_text(json.dumps(found | {"created": found["created"] - 7200}))
    os.utime(facts, (found["created"] - 7200,) * 2)
