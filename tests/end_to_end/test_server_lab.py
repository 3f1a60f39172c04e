"""The attack lab over HTTP: what there is, one run, its outcome, and what it refuses."""

import json
import math

import pytest

from discreet.lab.attacks.attacks import MODULES
from server_kit import running, write_world

API = "/api/v1/lab"
SMALL = {"people": 10_000, "places": 5, "pairs": 5}


@pytest.fixture(scope="module")
def owner(tmp_path_factory):
    with (
        running(write_world(tmp_path_factory.mktemp("world"))) as server,
        server.client(server.token()) as client,
    ):
        client.server, client.state = server, server.context.settings.state_folder
        yield client


def attack(client, name, settings):
    job = client.post(f"{API}/{name}", json={"settings": settings}).json()["job"]
    with client.stream("GET", f"/api/v1/jobs/{job}/events") as stream:
        stream.read()
    return client.get(f"/api/v1/jobs/{job}").json()


def test_every_attack_is_listed_with_settings_and_no_file_among_them(owner):
    found = owner.get(API).json()["attacks"]
    assert [each["name"] for each in found] == list(MODULES)
    for each in found:
        assert each["words"]
        for knob in each["settings"]:
            assert knob["choices"] or not isinstance(knob["default"], str)


def test_an_attack_runs_once_and_its_outcome_is_kept(owner):
    before = owner.get("/api/v1/budget").json()
    ended = attack(owner, "differencing", SMALL)
    assert ended["state"] == "done"
    result = ended["answer"]["result"]
    outcome = owner.get(f"{API}/results/{result}").json()
    assert outcome["attack"] == "differencing"
    assert outcome["success"] == 1.0
    # The strongest attacker is right as often as the ceiling says, 73 times in 100: 6.2 deviations
    # off once in 1e9. With noise of half the scale it would be 88 times.
    ceiling, targets = outcome["details"]["ceiling"], outcome["details"]["targets"]
    deviation = math.sqrt(ceiling * (1 - ceiling) / targets)
    assert abs(outcome["private"]["success"] - ceiling) < 6.2 * deviation < 0.1
    assert outcome["words"].startswith("Right 100 times in 100")
    assert attack(owner, "differencing", SMALL)["answer"]["result"] == result
    assert owner.get("/api/v1/budget").json() == before, "the town of the lab is nobody's data"


@pytest.mark.parametrize(
    ("name", "settings", "status", "said"),
    [
        ("nothing", {}, 404, "There is no attack"),
        ("differencing", {"people": 10**9}, 400, "must be from"),
        ("differencing", {"people": "many"}, 400, "whole number"),
        ("differencing", {"colour": 1}, 400, "no setting"),
        ("linkage", {"released": "/etc/passwd"}, 400, "no setting"),
        ("netflix", {"released": "/etc/passwd"}, 400, "no setting"),
        ("timing", {"server": "http://127.0.0.1:1"}, 400, "no setting"),
        ("exhaustion", {"server": "http://127.0.0.1:1"}, 400, "no setting"),
    ],
)
def test_what_is_refused_is_refused_at_once(owner, name, settings, status, said):
    answer = owner.post(f"{API}/{name}", json={"settings": settings})
    assert answer.status_code == status
    assert said in answer.text


def test_an_outcome_that_is_not_kept_is_404(owner):
    assert owner.get(f"{API}/results/{'0' * 32}").status_code == 404
    # The page of the attack opens all the same.
    assert owner.get("/lab/differencing?result=" + "0" * 32).status_code == 200


def test_an_owner_attacks_her_own_files_which_are_deleted(owner, tmp_path_factory):
    released = b"zip,birth_date,sex,illness,who\n" + b"".join(
        b"0213%d,1980-01-%02d,F,flu,p%d\n" % (i % 10, i % 28 + 1, i) for i in range(60)
    )
    roll = b"name,zip,birth_date,sex,who\n" + b"".join(
        b"N%d,0213%d,1980-01-%02d,F,p%d\n" % (i, i % 10, i % 28 + 1, i) for i in range(60)
    )
    files = {"released": ("a.csv", released), "auxiliary": ("../../b.csv", roll)}
    words = {"columns": "zip,birth_date,sex", "key": "who"}
    sent = owner.post(f"{API}/linkage/own", files=files, data={"settings": json.dumps(words)})
    assert sent.status_code == 202, sent.text
    job = sent.json()["job"]
    with owner.stream("GET", f"/api/v1/jobs/{job}/events") as stream:
        stream.read()
    ended = owner.get(f"/api/v1/jobs/{job}").json()
    assert ended["state"] == "done", ended
    result = ended["answer"]["result"]
    assert owner.get(f"{API}/results/{result}").json()["attack"] == "linkage"
    assert list(owner.state.glob("lab-files/*")) == [], "nothing of them is kept"
    with owner.server.client(owner.server.token("analyst", "alice")) as alice:
        assert alice.get(f"{API}/results/{result}").status_code == 404
        assert alice.post(f"{API}/linkage/own", files=files).status_code == 403
        assert "What was released" not in alice.get(f"/lab/linkage?result={result}").text
    named = {"settings": json.dumps({"released": "/etc/passwd"})}
    assert owner.post(f"{API}/linkage/own", files=files, data=named).status_code == 400
    assert owner.post(f"{API}/linkage/own", data=named).status_code == 400
    elsewhere = {"settings": json.dumps({"server": "http://127.0.0.1:1", "secret": "sex"})}
    own = {"original": ("a.csv", roll)}
    assert owner.post(f"{API}/timing/own", files=own, data=elsewhere).status_code == 400
    assert owner.post(f"{API}/linkage/own", files={"other": ("a.csv", roll)}).status_code == 400
