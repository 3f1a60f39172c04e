"""The collector over HTTP: reports and batches, replays, hostile bodies, and who may see what."""

import json
import secrets
import threading

import httpx
import pytest

from discreet.survey.device import Device, encoded
from discreet.survey.store import SurveyStore
from server_kit import running, write_world

API = "/api/v1/surveys"
CBOR = {"Content-Type": "application/cbor"}
TOML = """
title = "Smoking at our school"
epsilon = 2.0
[questions.smokes]
kind = "yes-no"
text = "Do you smoke?"
[questions.hours]
kind = "number"
lower = 0
upper = 12
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    with running(write_world(folder, rows=10)) as server:
        server.folder = folder
        yield server


@pytest.fixture(scope="module")
def owner(world):
    with world.client(world.token()) as client:
        yield client


@pytest.fixture
def survey(world, owner):
    """A new survey, its plan and a client of somebody without any token."""
    name = f"smoking-{secrets.token_hex(4)}"
    begun = owner.post(API, json={"name": name, "toml": TOML})
    assert begun.status_code == 201, begun.text
    with world.client() as stranger:
        stranger.name = name
        stranger.plan = SurveyStore.open(name, world.folder).plan
        yield stranger


def donation(plan, **answers):
    return Device().donate(plan, answers or {"smokes": "yes", "hours": "7"})


def send(survey, body, *, headers=CBOR, batch=False):
    path = f"{API}/{survey.name}/reports" + ("/batch" if batch else "")
    return survey.post(path, content=body, headers=headers)


def test_a_report_is_taken_once_in_either_form(survey, owner):
    one, two = donation(survey.plan), donation(survey.plan)
    assert send(survey, one.to_cbor()).json() == {"accepted": 1, "refused": {}}
    assert send(survey, one.to_cbor()).json() == {"accepted": 0, "refused": {"seen before": 1}}
    twin = json.dumps(two.to_json())
    as_json = {"Content-Type": "application/json"}
    assert send(survey, twin, headers=as_json).json()["accepted"] == 1
    assert send(survey, two.to_cbor()).json()["refused"] == {"seen before": 1}
    found = owner.get(f"{API}/{survey.name}").json()
    assert found["reports"] == 2
    assert found["refused"] == {"seen before": 2}


def test_a_bad_report_in_a_batch_spoils_no_other(survey, owner):
    good = [donation(survey.plan).to_cbor() for _ in range(20)]
    bad = [
        b"",
        b"\xff" * 30,
        good[0],
        encoded([2, survey.plan.id, bytes(16), [0, 0]]),
        encoded([1, bytes(16), bytes(16), [0, 0]]),
        encoded([1, survey.plan.id, secrets.token_bytes(16), [7, None]]),
        encoded([1, survey.plan.id, secrets.token_bytes(16), [1]]),
        encoded([1, survey.plan.id, secrets.token_bytes(16), [None, None]]),
        bytes(10_000_000),
    ]
    found = send(survey, encoded([*good, *bad]), batch=True)
    assert found.status_code == 200, found.text
    assert found.json() == {
        "accepted": 20,
        "refused": {
            "malformed": 2,
            "seen before": 1,
            "another version": 1,
            "another survey": 1,
            "impossible report": 2,
            "nothing answered": 1,
            "too large": 1,
        },
    }
    assert owner.get(f"{API}/{survey.name}").json()["refused"] == found.json()["refused"]


HOSTILE = {
    "malformed": (b"\xa1\x01\x02", 400),
    "too large": (b"\x00" * 10_000_000, 413),
    "another version": (encoded([9, bytes(16), bytes(16), [0]]), 400),
    "another survey": (encoded([1, bytes(16), bytes(16), [0, 0]]), 400),
}


@pytest.mark.parametrize("reason", HOSTILE)
def test_a_single_hostile_report_is_refused_and_counted(survey, owner, reason):
    body, status = HOSTILE[reason]
    found = send(survey, body)
    assert found.status_code == status
    assert found.headers["content-type"] == "application/problem+json"
    assert owner.get(f"{API}/{survey.name}").json()["refused"] == {reason: 1}


def test_a_stream_without_a_length_is_cut_off(survey, owner):
    def endless():
        for _ in range(4_000):
            yield bytes(16_384)

    try:
        found = send(survey, endless())
        assert found.status_code == 413
    except httpx.TransportError:
        pass  # the server hung up while we were still talking
    assert owner.get(f"{API}/{survey.name}").json()["refused"] == {"too large": 1}


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("text/plain", b"x"),
        ("application/x-www-form-urlencoded", b"a=b"),
        ("application/json", b"[" * 50_000),
        ("application/json", b"{}"),
        ("application/json", b'{"version": 1, "survey": 1, "id": [], "reports": "x"}'),
    ],
)
def test_other_bodies_are_refused_with_a_sentence(survey, owner, kind, body):
    for batch in (False, True):
        found = send(survey, body, headers={"Content-Type": kind}, batch=batch)
        assert found.status_code == 400, found.text
        assert found.json()["detail"].endswith(".")
    assert owner.get(f"{API}/{survey.name}").json()["refused"] == {"malformed": 2}


def test_a_closed_survey_takes_nothing_and_keeps_what_it_has(survey, owner):
    send(survey, donation(survey.plan).to_cbor())
    assert owner.post(f"{API}/{survey.name}/close").json()["reports"] == 1
    late = send(survey, donation(survey.plan).to_cbor())
    assert late.status_code == 409
    found = owner.get(f"{API}/{survey.name}").json()
    assert (found["reports"], found["closed"], found["refused"]) == (1, True, {"survey closed": 1})


def test_the_same_report_from_many_at_once_is_counted_once(survey, world, owner):
    body = donation(survey.plan).to_cbor()
    taken = []

    def send_it():
        with world.client() as client:
            client.name = survey.name
            taken.append(send(client, body).json()["accepted"])

    threads = [threading.Thread(target=send_it) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == [0] * 11 + [1]
    assert owner.get(f"{API}/{survey.name}").json()["reports"] == 1


def test_the_document_is_the_one_whose_hash_is_the_id(survey):
    found = survey.get(f"{API}/{survey.name}/document")
    assert found.content == survey.plan.document


def test_the_worker_of_the_page_is_a_script_that_may_answer_for_surveys_only(survey):
    found = survey.get("/s/worker.js")
    assert found.status_code == 200
    assert found.headers["content-type"].startswith("text/javascript")
    assert not {"service-worker-allowed", "set-cookie"} & set(found.headers)
    assert found.headers["cache-control"] == "no-store"


def test_a_bad_survey_costs_nothing_and_gets_one_sentence(world, owner):
    before = owner.get(API).json()
    for toml in ("title =", TOML.replace("2.0", "-1"), TOML.replace("yes-no", "perhaps"), ""):
        for path in (API, f"{API}/plan"):
            found = owner.post(path, json={"name": "bad", "toml": toml})
            assert found.status_code == 400, found.text
            assert "/tmp" not in found.json()["detail"]
    assert owner.get(API).json() == before
    assert owner.post(API, json={"name": "../up", "toml": TOML}).status_code == 400
    planned = owner.post(f"{API}/plan", json={"name": "fine", "toml": TOML}).json()
    assert planned["questions"]["smokes"]["respondents_needed"] == 1458
    assert owner.get(API).json() == before


def test_a_survey_that_is_sent_reads_no_file_of_the_server(world, owner):
    secret = world.folder / "secret.csv"
    secret.write_text("canary\n", encoding="utf-8")
    toml = f'title = "t"\nepsilon = 8\n[questions.a]\nkind = "open"\ncandidates = "{secret}"\n'
    for path in (API, f"{API}/plan"):
        found = owner.post(path, json={"name": "sly", "toml": toml})
        assert found.status_code == 400
        assert "candidates" in found.json()["detail"]
    assert not (world.folder / "surveys" / "sly").exists()


def test_names_that_lead_elsewhere_are_unknown(world):
    with world.client() as stranger:
        for name in ("nothing", "..%2f..", "a%00b", ".hidden", "x" * 64):
            for path in (f"{API}/{name}/document", f"/s/{name}"):
                found = stranger.get(path)
                assert found.status_code == 404
                assert "smoking" not in found.text, "a stranger learns no other survey's name"
            refused = stranger.post(f"{API}/{name}/reports", content=b"x", headers=CBOR)
            assert refused.status_code == 404


def test_a_survey_whose_file_was_changed_takes_nothing_and_tells_no_path(survey, world):
    toml = world.folder / "surveys" / survey.name / "survey.toml"
    toml.write_text(TOML.replace("12", "13"), encoding="utf-8")
    found = send(survey, donation(survey.plan).to_cbor())
    assert found.status_code == 400
    assert str(world.folder) not in found.text


def test_who_may_do_what(survey, world):
    name, analyst = survey.name, world.token("analyst", "alice")
    reviewer = world.token("reviewer")
    looks = [API, f"{API}/{name}", f"/surveys/{name}", "/surveys", f"/surveys/{name}/projector"]
    deeds = {API: {"name": "x", "toml": TOML}, f"{API}/{name}/close": None, f"{API}/plan": None}
    with world.client(analyst) as client:
        assert {client.get(path).status_code for path in looks} == {200}
        assert {client.post(path, json=body).status_code for path, body in deeds.items()} == {403}
    with world.client(reviewer) as client:
        assert {client.get(path).status_code for path in looks} == {403}
    for path in looks:
        assert survey.get(path).status_code in (303, 401)
    assert {survey.post(path, json=body).status_code for path, body in deeds.items()} == {401}
    page = survey.get(f"/s/{name}")
    assert page.status_code == 200
    assert "set-cookie" not in page.headers


def test_words_of_open_questions_are_looked_for(world, owner):
    name = f"emoji-{secrets.token_hex(4)}"
    toml = 'title = "t"\nepsilon = 8\n[questions.emoji]\nkind = "open"\nrows = 64\nbuckets = 64\n'
    owner.post(API, json={"name": name, "toml": toml})
    store = SurveyStore.open(name, world.folder)
    store.take_cbor([donation(store.plan, emoji="tea").to_cbor() for _ in range(300)])
    wishes = {"candidates": {"emoji": ["tea", " tea ", "coffee"]}}
    found = owner.post(f"{API}/{name}/estimate", json=wishes).json()["questions"]["emoji"]
    assert set(found["estimates"]) == {"tea", "coffee"}
    assert found["estimates"]["tea"]["low"] > found["estimates"]["coffee"]["high"]
    surer = owner.post(f"{API}/{name}/estimate", json={**wishes, "confidence": 0.999}).json()
    assert surer["questions"]["emoji"]["estimates"]["tea"]["low"] < found["estimates"]["tea"]["low"]
    for wrong in (0, 1, 2, "0.9"):
        refused = owner.post(f"{API}/{name}/estimate", json={**wishes, "confidence": wrong})
        assert refused.status_code in (400, 422)
    assert (
        owner.post(f"{API}/{name}/estimate", json={"candidates": {"emoji": [""]}}).status_code
        == 400
    )


def test_deeds_are_told_and_reports_are_not(survey, world, owner):
    body = donation(survey.plan).to_cbor()
    send(survey, body)
    told = owner.get("/api/v1/audit?last=3").json()["lines"]
    assert told[0]["what"] == "survey begun"
    assert told[0]["facts"] == {"survey": survey.name}
    assert body.hex() not in world.log.getvalue()
    assert (
        "127.0.0.1"
        not in [line for line in world.log.getvalue().splitlines() if "/reports" in line][-1]
    )
