"""Synthetic copies over HTTP: priced, made as a job, kept, downloaded, compared, deleted."""

import csv
import io
import json
import sys

import pyarrow.parquet as pq
import pytest

import discreet
from discreet import errors
from discreet.server.jobs.queue import Job
from server_kit import CANARY, ROWS, logged, running, write_world

API = "/api/v1/synth"
NOISY = {"estimated_rows", "seconds", "agreement", "notices"}
WISH = {"table": "census.people", "epsilon": "1"}
QUICK = WISH | {"method": "independent"}
DEEP = 40


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    world = write_world(
        tmp_path_factory.mktemp("world"), epsilon="50", analysts="", limits="delta = 1e-6"
    )
    with running(world) as found:
        found.context.planner._limits["seconds"] = 0.5  # what hangs a parser would hang it longer
        yield found


@pytest.fixture(scope="module")
def owner(server):
    with server.client(server.token()) as client:
        yield client


@pytest.fixture(scope="module")
def made(owner):
    """A copy by the tree method, and the job that made it."""
    return make(owner, WISH | {"request_id": "made"})


def make(client, request):
    started = client.post(API, json=request)
    assert started.status_code == 202, started.text
    return follow(client, started.json()["job"])


def follow(client, job):
    with client.stream("GET", f"/api/v1/jobs/{job}/events") as stream:
        text = stream.read().decode()
    found = client.get(f"/api/v1/jobs/{job}").json()
    return found | {"events": text}


def test_the_price_and_the_treatment_come_before_anything_is_spent(owner):
    before = owner.get("/api/v1/budget").json()
    found = owner.post(f"{API}/explain", json=WISH).json()
    assert found["cost"] == {"epsilon": 1.0, "delta": 2.5e-07}
    assert found["columns"] == [
        {"name": "age", "treated": "121 values"},
        {"name": "sex", "treated": "2 values"},
        {"name": "income", "treated": "96 bins"},
    ]
    assert found["notices"] == []
    assert found["words"].startswith("Compared with you not taking part")
    assert owner.get("/api/v1/budget").json() == before


def test_a_copy_is_made_in_public_steps_and_charged_once(owner, made):
    assert made["state"] == "done"
    assert made["answer"]["method"] in {"adaptive", "independent"}
    assert 4000 < made["answer"]["rows"] < 4700
    events = [line for line in made["events"].splitlines() if line.startswith("data: ")]
    steps = [json.loads(line[6:]) for line in events]
    told = [step["done"] for step in steps if "done" in step]
    assert told == sorted(told)
    assert told[-1] == 100
    assert str(ROWS) not in made["events"]
    again = make(owner, WISH | {"request_id": "made"})
    assert again["answer"]["free"] is True
    assert again["answer"]["copy"] == made["answer"]["copy"]


def test_the_same_id_for_another_wish_is_a_conflict(owner, made):
    assert made["state"] == "done"
    found = make(owner, WISH | {"request_id": "made", "epsilon": "2"})
    assert found["state"] == "failed"
    assert found["problem"]["status"] == 409


def test_all_files_can_be_downloaded_and_hold_no_canary(owner, made):
    copy = made["answer"]["copy"]
    files = owner.get(f"{API}/{copy}").json()["files"]
    assert files[:5] == ["rows.csv", "rows.parquet", "model.json", "report.html", "report.json"]
    found = {}
    for name in files[:5]:
        response = owner.get(f"{API}/{copy}/{name}")
        assert response.status_code == 200
        assert response.headers["content-disposition"].startswith("attachment")
        assert CANARY.encode() not in response.content
        found[name] = response.content
    rows = list(csv.DictReader(io.StringIO(found["rows.csv"].decode())))
    assert len(rows) == made["answer"]["rows"]
    assert {row["sex"] for row in rows} <= {"Female", "Male"}
    assert pq.read_table(io.BytesIO(found["rows.parquet"])).num_rows == len(rows)
    assert json.loads(found["report.json"])["warning"] is None
    assert b"Do not publish" not in found["report.html"]


def test_the_comparison_is_a_recorded_look_and_marked(owner, made):
    copy = made["answer"]["copy"]
    assert owner.get(f"{API}/{copy}/comparison.html").status_code == 404
    before = owner.get("/api/v1/budget").json()
    job = owner.post(f"{API}/{copy}/compare").json()["job"]
    assert follow(owner, job)["state"] == "done"
    spent = [
        b["datasets"]["census"]["epsilon"] for b in (before, owner.get("/api/v1/budget").json())
    ]
    assert spent[0] == spent[1]
    page = owner.get(f"{API}/{copy}/comparison.html").text
    assert page.count("Do not publish") > 5
    latest = owner.get("/api/v1/history").json()["entries"][0]
    assert latest["kind"] == "look"
    assert "compared" in latest["reason"]
    assert owner.get(f"{API}/{copy}").json()["files"][-1] == "comparison.html"


def test_a_copy_is_no_answer_to_a_question(owner, made):
    assert made["state"] == "done"
    assert owner.get("/api/v1/answers/made").status_code == 404


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"table": "census.nobody"}, 404),
        ({"method": "magic"}, 400),
        ({"epsilon": "-1"}, 400),
        ({"epsilon": "0.0000000001"}, 400),
        ({"rows": -1}, 400),
        ({"rows": 10**9}, 400),
        ({"where": "nothing = 5"}, 404),
        # Each level takes the parser twice as long: with forty of them for ever.
        ({"where": "DATE(" * DEEP + "1" + ")" * DEEP + " = 1"}, 400),
        ({"rules": ["age = " + "INT(" * DEEP + "1" + ")" * DEEP]}, 400),
        ({"choose": ["tree", "tree"]}, 400),
        ({"bins": "odd"}, 400),
        ({"target": "nothing"}, 400),
        ({"extra": 1}, 400),
    ],
)
def test_what_makes_no_sense_is_refused_before_it_is_queued(owner, change, status):
    response = owner.post(API, json=WISH | change)
    assert response.status_code == status, response.text
    assert response.json()["detail"]


def test_too_much_is_refused_and_costs_nothing(owner):
    before = owner.get("/api/v1/budget").json()
    found = make(owner, WISH | {"epsilon": "70"})
    assert found["state"] == "failed"
    assert found["problem"]["kind"] == "BudgetExceeded"
    assert owner.get("/api/v1/budget").json() == before


def test_names_of_copies_and_files_are_no_paths(owner, made):
    copy = made["answer"]["copy"]
    for name in ("..%2f..%2fdiscreet.toml", "x" * 32, "0" * 32):
        assert owner.get(f"{API}/{name}").status_code == 404
    for file in ("facts.json", "codes.npy", "..%2ffacts.json", "report.part"):
        assert owner.get(f"{API}/{copy}/{file}").status_code == 404


def test_random_rows_are_free_and_cannot_be_compared_with_what_was_not_read(owner):
    found = make(owner, WISH | {"method": "random", "rows": 10})
    assert found["answer"]["cost"]["epsilon"] == 0
    assert owner.get(f"{API}/{found['answer']['copy']}/rows.csv").text.count("\n") == 11


def test_three_rows_of_one_column_get_a_copy_and_a_warning_and_deleting_gives_nothing_back(owner):
    found = make(owner, {"table": "other.things", "epsilon": "0.5"})
    assert found["state"] == "done", found
    assert any("too few for this epsilon" in notice for notice in found["answer"]["notices"])
    before = owner.get("/api/v1/budget").json()
    assert before["datasets"]["other"]["epsilon"]["spent"] == 0.5
    copy = found["answer"]["copy"]
    assert owner.delete(f"{API}/{copy}").status_code == 204
    assert owner.get(f"{API}/{copy}").status_code == 404
    assert owner.get("/api/v1/budget").json() == before


def test_methods_are_chosen_among_with_budget(owner):
    found = make(owner, WISH | {"choose": ["tree", "independent"], "epsilon": "5"})
    assert found["state"] == "done", found
    assert found["answer"]["method"] in {"tree", "independent"}
    assert any("paid selection" in notice for notice in found["answer"]["notices"])


def test_pages_show_the_form_the_copies_and_the_report(owner, made):
    copy = made["answer"]["copy"]
    form = owner.get("/synthesize").text
    assert 'value="census.people"' in form
    assert f"/synthesize/{copy}" in form
    page = owner.get(f"/synthesize/{copy}").text
    assert "Error of tables" in page  # the default method is too slow to be rehearsed unasked
    assert "<svg" in page
    assert " style=" not in page  # the policy of the pages forbids it
    assert owner.get("/synthesize/" + "0" * 32).status_code == 404


def test_an_analyst_pays_from_the_own_share_and_sees_the_own_copies(tmp_path):
    with running(write_world(tmp_path, epsilon="50")) as server:
        with server.client(server.token("analyst", "bob")) as bob:
            copy = make(bob, QUICK)["answer"]["copy"]
            assert [c["id"] for c in bob.get(API).json()["copies"]] == [copy]
            assert bob.post(f"{API}/{copy}/compare").status_code == 403
            assert bob.get(f"{API}/{copy}/comparison.html").status_code == 403
            refused = bob.post(API, json=WISH | {"analyst": "alice"})
            assert refused.status_code == 403
        with server.client(server.token("analyst", "alice")) as alice:
            assert alice.get(API).json()["copies"] == []
            assert alice.get(f"{API}/{copy}").status_code == 404
            assert alice.get(f"/synthesize/{copy}").status_code == 404
            over = make(alice, WISH)
            assert over["problem"]["kind"] == "BudgetExceeded"
            assert (
                alice.post(
                    f"{API}/explain", json={"table": "other.things", "epsilon": "1"}
                ).status_code
                == 404
            )
        with server.client(server.token()) as owner:
            assert [c["analyst"] for c in owner.get(API).json()["copies"]] == ["bob"]
            own = owner.post(f"{API}/explain", json=WISH)
            assert own.status_code == 200, "the owner asks in her own name, from the whole budget"


def test_the_client_has_the_curators_method(server, tmp_path):
    steps = []
    with discreet.connect(server.url, token=server.token()) as client:
        copy = client.synthesize(
            "people",
            epsilon="0.5",
            method="independent",
            rows=200,
            progress=lambda *step: steps.append(step),
        )
        assert copy.to_arrow().num_rows == 200
        assert copy.cost.epsilon == 0.5
        for path in ("rows.csv", "rows.parquet"):
            copy.write(tmp_path / path)
        copy.save_model(tmp_path / "model.json")
        copy.write_report(tmp_path / "report.html")
        assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")
        assert copy.to_pandas().shape == (200, 3)
        assert "200 rows x 3 columns" in repr(copy)
        with pytest.raises(errors.InvalidInput, match=r"\.csv or \.parquet"):
            copy.write(tmp_path / "rows.xls")
        with pytest.raises(errors.BudgetExceeded):
            client.synthesize("people", epsilon="1000")
        with pytest.raises(errors.UnknownName):
            client.synthesize("nobody", epsilon="1")
    assert steps[-1][:2] == (100, 100)


def test_a_method_without_its_package_is_not_offered_and_costs_nothing(owner, monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    before = owner.get("/api/v1/budget").json()
    assert "rap" not in {method["name"] for method in owner.get(API).json()["methods"]}
    response = owner.post(API, json=WISH | {"method": "rap"})
    assert response.status_code == 501
    assert "discreet[rap]" in response.json()["hint"]
    assert owner.get("/api/v1/budget").json() == before


def test_one_person_more_or_less_changes_no_price_no_step_and_no_header(tmp_path, monkeypatch):
    """Outside the noisy files, everything that the server says is a function of public facts."""
    said, told = [], []
    # Watchers may miss steps that pass quickly, so every step is caught where it is told.
    monkeypatch.setattr(Job, "advance", lambda _job, *step: told.append(step))
    for name, without in (("all", None), ("one less", 17)):
        world = write_world(
            tmp_path / name, epsilon="50", analysts="", limits="delta = 1e-6", without=without
        )
        with running(world) as server, server.client(server.token()) as client:
            priced = client.post(f"{API}/explain", json=WISH)
            found = make(client, WISH | {"rows": 100, "request_id": "same"})
            copy = found["answer"]["copy"]
            files = client.get(f"{API}/{copy}").json()
            headers = client.get(f"{API}/{copy}/rows.csv").headers
            answer = {k: v for k, v in found["answer"].items() if k not in NOISY}
            said.append(
                (
                    priced.json(),
                    [*told],
                    answer,
                    files["files"],
                    headers["content-disposition"],
                )
            )
            assert len(told) > 5
            told.clear()
            assert CANARY not in server.log.getvalue()
            assert str(ROWS) not in logged(server.log.getvalue())
    one, other = (answer for _, _, answer, _, _ in said)
    assert {key for key in one if one[key] != other[key]} == set()
    assert said[0] == said[1]
