"""Whatever stands in a request, no route answers 500; HEAD is GET; two lengths of one body close a connection."""

from __future__ import annotations

import json
import random
import socket
from http import HTTPMethod

import httpx
import pytest
from starlette.routing import Mount

from discreet.server.access.auth import GuardedRoute, all_routes
from patience import LONG
from server_kit import running, write_world
from sittings import examples

HALF, NUL = "a\ud800b", "a\0b"
TEXTS = (
    HALF,
    "\udfff",
    NUL,
    "\0",
    "",
    "\u202e",
    "a" * 5000,
    "../../etc/passwd",
    "é\n\r\t",
    "1e999",
    "-0",
)
NUMBERS = (0, -1, 10**30, -(10**400), 10**4000, 1e308, -0.0, 2**63, 2**64, 1e-320)
OTHERS = (None, True, [], {}, [[]], {"a": {}}, [HALF], {HALF: 1})
DEEP = b'{"sql":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
RAW = (
    b'{"sql": "\xed\xa0\x80"}',
    b'{"sql": "\\ud800"}',
    DEEP,
    b"\xff",
    b"",
    b"[1",
    b"NaN",
    b'"\\u0000"',
    b"9" * 5000,
)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running(write_world(tmp_path_factory.mktemp("odd"), rows=50)) as found:
        yield found


@pytest.fixture(scope="module")
def owner(server):
    with server.client(server.token()) as client:
        yield client


@pytest.fixture(scope="module")
def schema(owner):
    return owner.get("/api/v1/openapi.json").json()


def resolved(schema, shape):
    while "$ref" in shape:
        shape = schema["components"]["schemas"][shape["$ref"].rpartition("/")[2]]
    return shape


def plausible(schema, shape, rng, depth=0):
    """Return a value of this shape; odd ones take its place by chance."""
    if rng.random() < 0.15:
        return rng.choice((*TEXTS, *NUMBERS, *OTHERS))
    shape = resolved(schema, shape)
    if "anyOf" in shape:
        return plausible(schema, rng.choice(shape["anyOf"]), rng, depth)
    if "enum" in shape or "const" in shape:
        return rng.choice([*shape.get("enum", [shape.get("const")]), HALF])
    match shape.get("type"):
        case "object" | None if depth < 5:
            known = shape.get("properties", {})
            found = {
                name: plausible(schema, each, rng, depth + 1)
                for name, each in known.items()
                if name in shape.get("required", ()) or rng.random() < 0.5
            }
            more = shape.get("additionalProperties")
            if isinstance(more, dict):
                found |= {
                    rng.choice(("census", "age", HALF, NUL)): plausible(
                        schema, more, rng, depth + 1
                    )
                }
            return found
        case "array" if depth < 5:
            return [
                plausible(schema, shape.get("items", {}), rng, depth + 1)
                for _ in range(rng.randint(0, 3))
            ]
        case "integer":
            return rng.choice((1, 2, *NUMBERS))
        case "number":
            return rng.choice((0.1, 1, *NUMBERS))
        case "boolean":
            return rng.random() < 0.5
        case "null":
            return None
    known = ("people", "census", "SELECT COUNT(*) FROM people", "age", "0.1", "alice")
    return rng.choice((*known, *known, *TEXTS))


def calls(schema):
    """Yield (method, path, shape of the body or None) of every route that is documented."""
    for path, methods in sorted(schema["paths"].items()):
        for method, operation in sorted(methods.items()):
            content = operation.get("requestBody", {}).get("content", {})
            yield method.upper(), path, content.get("application/json", {}).get("schema")


IN_PATHS = (
    "people",
    "census",
    "nothing",
    "%00",
    "%ED%A0%80",
    "..",
    "%2e%2e%2f",
    "a" * 300,
    "%",
    "é",
)


def addressed(path, rng):
    parts = [rng.choice(IN_PATHS) if part.startswith("{") else part for part in path.split("/")]
    query = rng.choice(
        (
            "",
            "",
            "?last=99999999999999999999999",
            "?last=%00&dataset=%ED%A0%80",
            "?x=%FF&epsilon=1e999",
        )
    )
    return "/".join(parts) + query


def bad(response):
    """A refusal is below 500; what this server lacks, or cannot do now, is 501 to 503."""
    return response.status_code == 500 or response.status_code > 503


def test_no_text_or_number_of_a_body_makes_a_route_fail(owner, schema, record_property):
    rng, sent = random.Random(18), 0
    for method, path, shape in calls(schema):
        for turn in range(examples(12)):
            body = json.dumps(plausible(schema, shape, rng)).encode() if shape else b""
            if shape and turn % 6 == 5:
                body = rng.choice(RAW)
            headers = {
                "content-type": "application/json",
                "idempotency-key": rng.choice(("a", "x y", "é", "0" * 999)),
            }
            headers["idempotency-key"] = headers["idempotency-key"].encode("utf-8")
            response = owner.request(method, addressed(path, rng), content=body, headers=headers)
            sent += 1
            assert not bad(response), (method, path, body[:300], response.text)
    record_property("odd calls of the owner, 0 of status 500", sent)


@pytest.mark.parametrize("odd", [HALF, NUL])
def test_one_odd_letter_in_each_place_of_each_body(owner, schema, odd):
    """Everything else is as it should be, so it goes as far as it can."""
    for method, path, shape in calls(schema):
        if not shape:
            continue
        known = resolved(schema, shape).get("properties", {})
        usual = {
            "sql": "SELECT COUNT(*) FROM people",
            "table": "people",
            "epsilon": "0.1",
            "dataset": "census",
        }
        body = {name: value for name, value in usual.items() if name in known}
        for name in known:
            for value in (odd, [odd], {odd: odd}, {"a": odd}):
                sent = json.dumps(body | {name: value}).encode()
                address = path.replace("{", "").replace("}", "")
                response = owner.request(
                    method, address, content=sent, headers={"content-type": "application/json"}
                )
                assert not bad(response), (method, path, sent, response.text)
                if odd == HALF and response.status_code == 200:
                    raise AssertionError((method, path, sent))


def test_what_is_sent_twice_is_refused(owner):
    asked = b'{"sql": "SELECT COUNT(*) FROM people", "epsilon": 1}'
    for content, said in (
        (asked.replace(b": 1", b': 1, "epsilon": 2'), "a name twice"),
        (asked.replace(b": 1", b': 1, "epsilon": 1'), "a name twice"),
        (asked.replace(b"{", b'{"x": {"a": 1, "a": 1}, '), "a name twice"),
    ):
        response = owner.post(
            "/api/v1/query", content=content, headers={"content-type": "application/json"}
        )
        assert response.status_code == 400, response.text
        assert said in response.json()["detail"]
    token = owner.headers["authorization"]
    for name, values in (("Authorization", [token, token]), ("Idempotency-Key", ["a", "b"])):
        headers = [("content-type", "application/json"), *((name, value) for value in values)]
        with httpx.Client(base_url=owner.base_url) as plain:
            if name != "Authorization":
                headers.append(("Authorization", token))
            response = plain.post("/api/v1/query", content=asked, headers=headers)
        assert response.status_code == 400, response.text
        assert f"The header {name} is sent twice" in response.json()["detail"]


def test_half_a_character_is_refused_with_a_sentence(owner):
    for content in (
        b'{"sql": "\\ud800", "epsilon": 1}',
        b'{"sql": "\xed\xa0\x80", "epsilon": 1}',
        b'{"\\udc00": 1}',
    ):
        response = owner.post(
            "/api/v1/query", content=content, headers={"content-type": "application/json"}
        )
        assert (response.status_code, response.json()["kind"]) == (400, "InvalidInput")
        assert "half a character" in response.json()["detail"]
    whole = {"sql": "SELECT COUNT(*) FROM people WHERE sex = '\U0001f600'", "epsilon": 1}
    response = owner.post(
        "/api/v1/query",
        content=json.dumps(whole).encode(),
        headers={"content-type": "application/json"},
    )
    assert "half a character" not in response.text


def test_head_works_wherever_get_does(server, owner):
    """With the status and the headers of GET, and nothing else; also where an answer goes on for ever."""
    seen = 0
    for route in all_routes(server.app.routes):
        if isinstance(route, Mount) or "GET" not in (route.methods or ()):
            continue
        path = route.path.replace("{file:path}", "a").replace("{", "").replace("}", "")
        for client in (owner, None):
            ask = server.client() if client is None else client
            with ask.stream("GET", path) as got:
                expected = got.status_code, got.headers.get("content-type")
            head = ask.request(HTTPMethod.HEAD, path)
            if client is None:
                ask.close()
            assert (head.status_code, head.headers.get("content-type")) == expected, path
            assert head.content == b""
            seen += 1
    assert seen > 50
    assert owner.head("/").status_code == owner.get("/").status_code == 200
    refused = owner.head("/api/v1/query")
    assert refused.status_code == 405


def test_the_routes_that_are_ours_are_guarded(server):
    guarded = [route for route in all_routes(server.app.routes) if isinstance(route, GuardedRoute)]
    assert len(guarded) > 50


def sent_to(server, content):
    """Return all that the server answers before it closes, and whether it did."""
    host, _, port = server.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=LONG) as wire:
        wire.sendall(content)
        wire.shutdown(socket.SHUT_WR) if content.endswith(b"END") else None
        found = b""
        while True:
            more = wire.recv(65536)
            if not more:
                return found
            found += more


SMUGGLED = b"0\r\n\r\nGET /api/v1/health HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.parametrize(
    "heads",
    [
        b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        b"Content-Length: 5\r\nContent-Length: 60\r\n",
        b"Content-Length: 5\r\nContent-Length: 5\r\n",
        b"X: a\r\n Content-Length: 5\r\n",
        b"X: a\nContent-Length: 5\r\n",
    ],
)
def test_a_body_of_two_lengths_is_refused_and_the_connection_closed(server, heads):
    """What follows is never taken for another request of this connection."""
    start = b"POST /api/v1/query HTTP/1.1\r\nHost: x\r\n"
    answer = sent_to(server, start + heads + b"\r\n" + SMUGGLED)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"connection: close" in answer.lower()
    assert answer.count(b"HTTP/1.1") == 1
