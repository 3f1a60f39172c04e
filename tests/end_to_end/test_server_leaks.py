"""Security tests 15, 23 and 25 at the level of HTTP, in their short form."""

import itertools
import json
import random
import re
from collections import Counter

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, seed, settings

from discreet.testing import SeededRng
from server_kit import CANARY, COUNT, ROWS, logged, running, write_world
from sittings import FULL

QUESTIONS = [
    {"sql": COUNT, "epsilon": 0.1},
    {"sql": "SELECT AVG(income) AS m FROM people WHERE age > 30", "epsilon": 0.2},
    {"sql": "SELECT SUM(income) AS s FROM people", "epsilon": 1},
    {"sql": "SELECT MEDIAN(age) AS m FROM people", "epsilon": 1},
    {"sql": "SELECT note FROM people", "epsilon": 1},
    {"sql": "SELECT COUNT(*) FROM people WHERE CAST(note AS INTEGER) > 5", "epsilon": 1},
    {"sql": "SELECT COUNT(*) AS n FROM people WHERE 1 / (income - 5) > 0", "epsilon": 1},
    {"sql": "SELECT COUNT(*) AS n FROM people WHERE age > 500", "epsilon": 1},
    {"sql": "SELECT COUNT(*) AS n FROM people", "epsilon": 10**9},
    {"sql": "nonsense", "epsilon": 1},
]
FREE_OF_NOISE = {"rows", "error95", "intervals", "request_id"}
"""Fields of an answer that may differ between D and D'; AVG and MEDIAN bars depend on noisy values."""


def skeleton(response):
    """Return everything of a response that is not a noisy value."""
    headers = [(k, v) for k, v in response.headers.items() if k not in {"date", "content-length"}]
    found = response.json()
    kept = {name: value for name, value in found.items() if name not in FREE_OF_NOISE}
    shape = [len(row) for row in found.get("rows", [])]
    nulls = [[cell is None for cell in row] for row in found.get("rows", [])]
    return response.status_code, sorted(headers), kept, shape, nulls


def asked(config):
    with running(config) as server, server.client(server.token("analyst", "bob")) as client:
        answers, explained = [], []
        for question in QUESTIONS:
            body = {**question, "fresh": True}
            explained.append(client.post("/api/v1/explain", json=body))
            answers.append(client.post("/api/v1/query", json=body))
        seen = [client.get(f"/api/v1/{name}") for name in ("catalog", "budget", "jobs")]
        return explained, answers, seen, server.log.getvalue()


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """Return what servers of D and of D', which lacks one person, have said."""
    folder = tmp_path_factory.mktemp("pair")
    return asked(write_world(folder / "a")), asked(write_world(folder / "b", without=77))


def test_metadata_is_the_same_on_neighbouring_data(both):
    for first, second in zip(both[0][1], both[1][1], strict=True):
        assert skeleton(first) == skeleton(second)
    for first, second in zip(both[0][0], both[1][0], strict=True):
        assert first.content == second.content  # nothing of an explanation is noisy
    for first, second in zip(both[0][2], both[1][2], strict=True):
        assert first.content == second.content


def test_this_comparison_sees_a_difference(both):
    """The broken twin: with the noise taken away, the comparison of whole bodies must fail."""
    told = [[answer.json()["rows"] for answer in answers[:4]] for _, answers, *_ in both]
    # Two counts, a mean, a sum and a median, all with noise: alike with a chance below 1e-10.
    assert told[0] != told[1]
    first = both[0][1][2]
    tampered = httpx.Response(200, json={**first.json(), "count": ROWS})
    assert skeleton(tampered) != skeleton(first)


def test_no_canary_in_replies_or_logs(both):
    for explained, answers, seen, log in both:
        said = "".join(r.text for r in [*explained, *answers, *seen])
        assert CANARY not in log
        for text in (said, logged(log)):
            assert CANARY not in text
            assert not re.search(rf"\b{ROWS}\b|\b{ROWS - 1}\b", text)


def test_logs_hold_no_sql_no_token_and_are_json(both):
    for *_, log in both:
        lines = [json.loads(line) for line in log.splitlines()]
        requests = [line for line in lines if line["event"] == "request"]
        assert len(requests) >= 2 * len(QUESTIONS)
        assert {"time", "level", "method", "route", "status", "ms", "token"} <= set(requests[0])
        for word in ("SELECT", "income", "people", "dsc_", "Bearer"):
            assert word not in log


def test_an_unexpected_failure_tells_nobody_its_message(tmp_path, monkeypatch):
    with running(write_world(tmp_path)) as server:

        def broken(*_, **__):
            raise ValueError(f"cell {CANARY}")

        monkeypatch.setattr("discreet.curator.curator.release", broken)
        monkeypatch.setattr("discreet.server.views.caller", broken)
        with server.client(server.token("analyst", "bob")) as client:
            asked_now = client.post("/api/v1/query", json=QUESTIONS[0])
            looked = client.get("/api/v1/catalog")
        for response in (asked_now, looked):
            assert response.status_code == 500
            assert response.json()["kind"] == "ServerFailed"
            assert CANARY not in response.text
        assert CANARY not in server.log.getvalue()
        assert '"error": "ValueError"' in server.log.getvalue()


def test_a_seeded_generator_marks_its_answers(tmp_path):
    with running(write_world(tmp_path)) as server:
        with server.context.workspace.curator() as curator:
            curator.rng = SeededRng(1)
        with server.client(server.token("analyst", "bob")) as client:
            found = client.post("/api/v1/query", json=QUESTIONS[0]).json()
        assert found["provenance"]["private"] is False


UPLOADING = ("post", "/api/v1/data/uploads")
EXAMPLES = 6 if FULL else 2
"""Requests made for each operation, which three callers send; or the owner and the others by turns."""


def fuzz(server, examples, round_, *, part=1):
    """Send requests made from the schema, good and bad, with and without a token; return statuses.

    To every operation, or to one of `part` drawn by the round.
    """
    statuses = []
    owner, analyst = server.client(server.token()), server.client(server.token("analyst", "bob"))
    nobody = server.client()
    # Read by a caller: to let the library read it would start the application a second time.
    schema = schemathesis.openapi.from_dict(nobody.get("/api/v1/openapi.json").json())
    turns = itertools.cycle([(owner, analyst), (owner, nobody)])
    operations = list(schema.get_all_operations())
    for operation in random.Random(round_).sample(operations, len(operations) // part):
        made = operation.ok()
        # A stream that ends when its job does; and files, which tests/security/test_uploads.py sends.
        if made.path.endswith("/events") or (made.method, made.path) == UPLOADING:
            continue

        @seed(round_)
        @settings(
            max_examples=examples,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=made.as_strategy())
        def send(case):
            for client in (owner, analyst, nobody) if FULL else next(turns):
                kwargs = case.as_transport_kwargs(base_url=server.url)
                kwargs.pop("cookies", None)
                kwargs["headers"] = {
                    k: v
                    for k, v in (kwargs.get("headers") or {}).items()
                    if k.lower() not in {"authorization", "x-schemathesis-testcaseid"}
                }
                try:
                    response = client.request(**kwargs)
                except (httpx.InvalidURL, UnicodeEncodeError, httpx.LocalProtocolError):
                    continue
                statuses.append(response.status_code)
                assert response.status_code < 500, (case.method, case.path, kwargs, response.text)

        send()
    for client in (owner, analyst, nobody):
        client.close()
    return statuses


def test_fuzzed_requests_never_break_the_server(server_for_fuzzing, record_property):
    """Other requests each time; one that breaks it is shown."""
    round_ = random.SystemRandom().randrange(10**9)
    statuses = fuzz(server_for_fuzzing, EXAMPLES, round_, part=1 if FULL else 2)
    assert len(statuses) > (200 if FULL else 100)
    assert {200, 400, 401} <= set(statuses)
    record_property("fuzzed requests, 0 of status 5xx", len(statuses))


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_twenty_thousand_fuzzed_requests(server_for_fuzzing):
    """Rounds with seeds of their own: an operation without parameters has only few requests."""
    statuses, round_ = [], 0
    while len(statuses) < 20_000:
        round_ += 1
        statuses += fuzz(server_for_fuzzing, 300, round_)
    print(f"{len(statuses)} requests in {round_} rounds: {sorted(Counter(statuses).items())}")


@pytest.fixture
def server_for_fuzzing(tmp_path):
    with running(write_world(tmp_path)) as found:
        yield found
