"""Anonymized copies over HTTP: measured, made, marked in the ledger, downloaded, deleted."""

import csv
import io

import pytest

from server_kit import CANARY, running, write_world

API = "/api/v1/anonymize"
ASKED = {"table": "census.people", "quasi": ["age", "sex"], "k": 5, "keep": ["income"]}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    world = write_world(tmp_path_factory.mktemp("world"), epsilon="50", analysts="")
    with running(world) as found:
        yield found


@pytest.fixture(scope="module")
def owner(server):
    with server.client(server.token()) as client:
        yield client


def follow(client, started):
    assert started.status_code == 202, started.text
    job = started.json()["job"]
    with client.stream("GET", f"/api/v1/jobs/{job}/events") as stream:
        stream.read()
    return client.get(f"/api/v1/jobs/{job}").json()


@pytest.fixture(scope="module")
def made(owner):
    found = follow(owner, owner.post(API, json=ASKED))
    assert found["state"] == "done", found
    return found["answer"]


def test_several_k_are_measured_and_the_look_is_recorded(owner):
    found = follow(owner, owner.post(f"{API}/measure", json=ASKED))["answer"]
    points = {point["k"]: point for point in found["points"]}
    assert points[50]["risk"]["prosecutor"]["average"] < points[2]["risk"]["prosecutor"]["average"]
    assert points[50]["loss"] >= points[2]["loss"]
    worst = found["before"]["prosecutor"]["highest"]
    assert points[50]["risk"]["prosecutor"]["highest"] <= 1 / 50 < worst
    entries = owner.get("/api/v1/history").json()["entries"]
    assert any(e["kind"] == "look" and "people.age" in e["columns"] for e in entries)


def test_a_copy_is_k_anonymous_and_hides_what_is_hidden(owner, made):
    text = owner.get(f"{API}/{made['release']}/rows.csv").text
    rows = list(csv.DictReader(io.StringIO(text)))
    assert list(rows[0]) == ["age", "sex", "income"], "the hidden column is left out"
    assert CANARY not in text
    sizes: dict[tuple[str, str], int] = {}
    for row in rows:
        sizes[row["age"], row["sex"]] = sizes.get((row["age"], row["sex"]), 0) + 1
    assert min(sizes.values()) >= 5
    assert len(rows) == made["rows"] - made["suppressed"]
    assert made["left_out"] == {"note": "hidden in discreet.toml"}


def test_what_is_not_named_is_left_out(owner):
    asked = {name: value for name, value in ASKED.items() if name != "keep"}
    found = follow(owner, owner.post(API, json=asked))["answer"]
    assert found["left_out"] == {"income": "not named", "note": "hidden in discreet.toml"}
    text = owner.get(f"{API}/{found['release']}/rows.csv").text
    assert text.splitlines()[0] == '"age","sex"'
    page = owner.get(f"/anonymize/{found['release']}", headers={"accept": "text/html"}).text
    assert "income (not named)" in page


def test_the_exposure_is_named_wherever_the_data_set_is_shown(owner, made):
    assert made["release"]
    budget = owner.get("/api/v1/budget").json()["datasets"]["census"]
    assert budget["exposures"] >= 1
    assert "people.income" in budget["exposed"]
    answer = owner.post(
        "/api/v1/query", json={"sql": "SELECT COUNT(*) AS n FROM people", "epsilon": "0.1"}
    ).json()
    assert any("Outside the budget" in note for note in answer["provenance"]["notes"])
    assert any("people.age" in note for note in answer["provenance"]["notes"])


def test_report_and_list(owner, made):
    report = owner.get(f"{API}/{made['release']}/report.html")
    assert "Not a guarantee" in report.text
    assert report.headers["content-disposition"].startswith("attachment")
    listed = owner.get(API).json()["copies"]
    assert made["release"] in [copy["id"] for copy in listed]
    assert owner.get(f"{API}/{made['release']}").json()["table"] == "people"
    assert owner.get(f"{API}/{made['release']}/../facts.json").status_code == 404
    assert owner.get(f"{API}/{made['release']}/facts.json").status_code == 404


@pytest.mark.parametrize(
    ("changes", "status", "said"),
    [
        ({"quasi": ["height"]}, 400, "no column 'height'"),
        ({"quasi": []}, 400, "quasi"),
        ({"table": "census.nobody"}, 404, "no table"),
        ({"method": "magic"}, 400, "cannot be 'magic'"),
        ({"where": "sleep(9) > 1"}, 400, "--where"),
        ({"hierarchies": {"age": "1;a\n1;b\n"}}, 400, "two different lines"),
        ({"suppress": 2}, 400, "suppress"),
        ({"keep": ["note"]}, 400, "'note' is hidden in discreet.toml"),
        ({"sensitive": "note"}, 400, "'note' is hidden in discreet.toml"),
        ({"keep": ["age"]}, 400, "quasi-identifier and kept"),
    ],
)
def test_what_makes_no_sense_is_refused_at_once(owner, changes, status, said):
    answer = owner.post(API, json=ASKED | changes)
    assert answer.status_code == status, answer.text
    assert said in answer.text


def test_what_only_the_rows_can_tell_fails_in_the_job_and_marks_nothing(owner):
    before = owner.get("/api/v1/budget").json()["datasets"]["census"]["exposures"]
    found = follow(owner, owner.post(API, json=ASKED | {"k": 999_999}))
    assert found["state"] == "failed"
    assert "needs 999999 rows" in str(found["problem"])
    after = owner.get("/api/v1/budget").json()["datasets"]["census"]["exposures"]
    assert after == before


def test_deleting_leaves_the_mark(owner):
    found = follow(owner, owner.post(API, json=ASKED | {"k": 7}))["answer"]
    assert "earlier release" in found["notices"][-1]
    assert owner.delete(f"{API}/{found['release']}").status_code == 204
    assert owner.get(f"{API}/{found['release']}").status_code == 404
    assert owner.get("/api/v1/budget").json()["datasets"]["census"]["exposures"] >= 2


def test_pages_show_it_to_owners(owner, made):
    page = owner.get("/anonymize", headers={"accept": "text/html"})
    assert page.status_code == 200
    assert "no guarantee" in page.text
    one = owner.get(f"/anonymize/{made['release']}", headers={"accept": "text/html"})
    assert "What remains, and what breaks it" in one.text
