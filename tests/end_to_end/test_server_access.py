"""Security test 21: every route, for every role and every state of a token, does what it should.

The matrix is made from the application's own routes: a new route that is not in the table fails.
"""

import re
import time
from datetime import UTC, datetime

import pytest
from fastapi.routing import APIRoute
from starlette.routing import Mount

from discreet.errors import InternalError
from discreet.server.access.auth import add_routes, all_routes, allow, api_router, roles_of
from discreet.server.access.tokens import Role
from discreet.server.feature import Feature
from discreet.server.settings import Settings
from discreet.server.start import create_app
from patience import eventually
from server_kit import COUNT, running, write_world
from sittings import FULL

EVERYBODY = "everybody"
ASKERS = {"owner", "analyst"}
ALL = {"owner", "analyst", "reviewer"}
OWNER = {"owner"}
API = "/api/v1"

EXPECTED = {
    ("POST", "/query"): ASKERS,
    ("POST", "/explain"): ASKERS,
    ("POST", "/rehearse"): ASKERS,
    ("POST", "/jobs"): ASKERS,
    ("GET", "/jobs"): ASKERS,
    ("GET", "/jobs/{job_id}"): ASKERS,
    ("DELETE", "/jobs/{job_id}"): ASKERS,
    ("GET", "/jobs/{job_id}/events"): ASKERS,
    ("GET", "/catalog"): ALL,
    ("GET", "/budget"): ALL,
    ("GET", "/history"): ALL,
    ("GET", "/answers"): ASKERS,
    ("GET", "/answers/{request_id}"): ASKERS,
    ("GET", "/tokens"): OWNER,
    ("POST", "/tokens"): OWNER,
    ("DELETE", "/tokens/{token_id}"): OWNER,
    ("GET", "/classes"): OWNER,
    ("POST", "/classes"): OWNER,
    ("DELETE", "/classes/{name}"): OWNER,
    ("POST", "/session"): EVERYBODY,
    ("GET", "/session"): ALL,
    ("DELETE", "/session"): ALL,
    ("GET", "/audit"): OWNER,
    ("GET", "/models"): ASKERS,
    ("POST", "/models"): ASKERS,
    ("POST", "/models/explain"): ASKERS,
    ("GET", "/models/{model_id}"): ASKERS,
    ("DELETE", "/models/{model_id}"): ASKERS,
    ("GET", "/models/{model_id}/model.zip"): ASKERS,
    ("POST", "/bounds"): ASKERS,
    ("POST", "/bounds/explain"): ASKERS,
    ("POST", "/choices"): ASKERS,
    ("POST", "/choices/explain"): ASKERS,
    ("GET", "/recommenders"): ASKERS,
    ("POST", "/recommenders"): ASKERS,
    ("POST", "/recommenders/explain"): ASKERS,
    ("POST", "/recommenders/{recommender_id}/for"): ASKERS,
    ("GET", "/recommenders/{recommender_id}/recommender.zip"): ASKERS,
    ("DELETE", "/recommenders/{recommender_id}"): ASKERS,
    ("GET", "/synth"): ASKERS,
    ("POST", "/synth"): ASKERS,
    ("POST", "/synth/explain"): ASKERS,
    ("GET", "/synth/{copy_id}"): ASKERS,
    ("DELETE", "/synth/{copy_id}"): ASKERS,
    ("GET", "/synth/{copy_id}/{file}"): ASKERS,
    ("POST", "/synth/{copy_id}/compare"): OWNER,
    ("GET", "/anonymize"): OWNER,
    ("POST", "/anonymize"): OWNER,
    ("POST", "/anonymize/measure"): OWNER,
    ("GET", "/anonymize/{copy_id}"): OWNER,
    ("DELETE", "/anonymize/{copy_id}"): OWNER,
    ("GET", "/anonymize/{copy_id}/{file}"): OWNER,
    ("GET", "/publish"): {"owner", "reviewer"},
    ("POST", "/publish"): OWNER,
    ("POST", "/publish/rehearse"): OWNER,
    ("GET", "/publish/{name}"): {"owner", "reviewer"},
    ("POST", "/publish/{name}/approve"): {"owner", "reviewer"},
    ("POST", "/publish/{name}/release"): OWNER,
    ("POST", "/publish/{name}/withdraw"): OWNER,
    ("GET", "/releases/{name}/package.zip"): EVERYBODY,
    ("GET", "/releases/{name}/files/{file:path}"): EVERYBODY,
    ("GET", "/lab"): ASKERS,
    ("POST", "/lab/{name}"): ASKERS,
    ("POST", "/lab/{name}/own"): OWNER,
    ("GET", "/answers/{request_id}/answer.{ending}"): ASKERS,
    ("GET", "/notebooks"): ASKERS,
    ("POST", "/notebooks"): ASKERS,
    ("GET", "/notebooks/{notebook_id}"): ASKERS,
    ("PUT", "/notebooks/{notebook_id}"): ASKERS,
    ("DELETE", "/notebooks/{notebook_id}"): ASKERS,
    ("POST", "/notebooks/{notebook_id}/cells"): ASKERS,
    ("GET", "/notebooks/{notebook_id}/notebook.ipynb"): ASKERS,
    ("GET", "/lab/results/{result}"): ASKERS,
    ("GET", "/surveys"): ASKERS,
    ("POST", "/surveys"): OWNER,
    ("POST", "/surveys/plan"): OWNER,
    ("GET", "/surveys/{name}"): ASKERS,
    ("POST", "/surveys/{name}/estimate"): ASKERS,
    ("POST", "/surveys/{name}/close"): OWNER,
    ("POST", "/surveys/{name}/wave"): OWNER,
    ("GET", "/surveys/{name}/document"): EVERYBODY,
    ("POST", "/surveys/{name}/reports"): EVERYBODY,
    ("POST", "/surveys/{name}/reports/batch"): EVERYBODY,
    ("GET", "/course"): EVERYBODY,
    ("GET", "/course/{name}/{file}"): EVERYBODY,
    ("POST", "/course/{name}/grade"): EVERYBODY,
    ("GET", "/health"): EVERYBODY,
    ("GET", "/metrics"): {"owner", "reviewer"},
}
"""Who may call each route of the API that this file answers for."""

OTHER_OWNERS = ("/data",)
"""Parts of the API whose own tests hold their matrix: tests/end_to_end/test_server_data*.py."""

SPEC = f"""
[release]
name = "census-2026"
dataset = "census"
epsilon = 0.1
[tables.nation]
sql = "{COUNT}"
"""
SURVEY = 'title = "Smoking"\nepsilon = 1\n[questions.smokes]\nkind = "yes-no"\n'
RATED = {"table": "census.people", "item": "sex", "rating": "age", "epsilon": "0.01"}
PERSON_UNITS = {"/bounds", "/bounds/explain", "/recommenders", "/recommenders/explain"}
"""Whoever may call these is told that here each row is a person of its own."""
REFUSED_HERE = {"/rehearse", "/classes"}  # no rows are public; a name that no class can have
BODIES = {
    "/bounds": {"table": "census.people", "epsilon": "0.01"},
    "/bounds/explain": {"table": "census.people", "epsilon": "0.01"},
    "/query": {"sql": COUNT, "epsilon": 0.01},
    "/explain": {"sql": COUNT, "epsilon": 0.01},
    "/jobs": {"sql": COUNT, "epsilon": 0.01},
    "/synth": {"table": "census.people", "epsilon": "0.01", "method": "random", "rows": 5},
    "/models": {"table": "census.people", "target": "sex", "epsilon": "0.01"},
    "/models/explain": {"table": "census.people", "target": "sex", "epsilon": "0.01"},
    "/choices": {"table": "census.people", "column": "sex", "epsilon": "0.01"},
    "/choices/explain": {"table": "census.people", "column": "sex", "epsilon": "0.01"},
    "/recommenders": RATED,
    "/recommenders/explain": RATED,
    "/recommenders/{recommender_id}/for": {"ratings": {"1": 5}},
    "/synth/explain": {"table": "census.people", "epsilon": "0.01"},
    "/lab/{name}": {"settings": {}},
    "/notebooks": {"title": "Mine"},
    "/notebooks/{notebook_id}": {"title": "Mine"},
    "/notebooks/{notebook_id}/cells": {"kind": "text", "text": "a line"},
    "/anonymize": {"table": "census.people", "quasi": ["sex"], "k": 2},
    "/anonymize/measure": {"table": "census.people", "quasi": ["sex"], "k": 2},
    "/publish": {"spec": SPEC},
    "/publish/rehearse": {"spec": SPEC},
    "/publish/{name}/approve": {"digest": "0" * 64},
    "/publish/{name}/withdraw": {"reason": "a test"},
    "/surveys": {"name": "smoking", "toml": SURVEY},
    "/surveys/plan": {"name": "smoking", "toml": SURVEY},
    "/surveys/{name}/estimate": {},
    "/course/{name}/grade": {"question": "alone", "answer": "1"},
    "/tokens": {"role": "reviewer"},
    "/rehearse": {"sql": COUNT, "epsilon": 0.01, "seed": 1},
    "/classes": {"name": "a b", "size": 1, "epsilon": 0.01},
    "/session": {"token": "dsc_wrong"},
}
STATES = ("valid", "none", "unknown", "malformed", "expired", "revoked")
NOBODYS = {"none", "unknown", "malformed"}
"""With these the server finds no token, so there is no role that it could go by."""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running(write_world(tmp_path_factory.mktemp("world"))) as found:
        yield found


def api_routes(app):
    for route in all_routes(app.routes):
        path = getattr(route, "path", "")
        if isinstance(route, APIRoute) and path.startswith(API + "/"):
            for method in sorted(route.methods):
                yield method, path.removeprefix(API), route


def test_the_table_lists_exactly_the_routes(server):
    found = {(m, p) for m, p, _ in api_routes(server.app) if not p.startswith(OTHER_OWNERS)}
    assert found == set(EXPECTED), "say in this table who may call the new route"


def test_every_route_is_guarded_and_says_what_the_table_says(server):
    for method, path, route in api_routes(server.app):
        roles = roles_of(route.endpoint)
        if (method, path) in EXPECTED:
            wanted = EXPECTED[method, path]
            said = EVERYBODY if roles is None else {role.value for role in roles}
            assert said == wanted, (method, path)


def credentials(server, role, state):
    """Return the Authorization header of one cell of the matrix."""
    analyst = "bob" if role == "analyst" else None
    text = server.token(role, analyst)
    token_id = server.context.tokens.find(text).id
    match state:
        case "none":
            return {}
        case "unknown":
            other = "B" if text[-1] == "A" else "A"
            return {"Authorization": f"Bearer {text[:-1]}{other}"}
        case "malformed":
            return {"Authorization": f"Basic {text}"}
        case "expired":
            with server.context.access.writing() as connection:
                connection.execute(
                    "UPDATE tokens SET expires = ? WHERE id = ?", (time.time() - 1, token_id)
                )
        case "revoked":
            server.context.tokens.revoke(token_id)
    return {"Authorization": f"Bearer {text}"}


CELLS = [
    (role, state)
    for role in sorted(ALL)
    for state in STATES
    if FULL or role == "owner" or state not in NOBODYS
]


@pytest.mark.parametrize(("role", "state"), CELLS)
def test_the_matrix(server, role, state, record_property):
    headers = credentials(server, role, state)
    with server.client() as client:
        for (method, path), allowed in EXPECTED.items():
            address = API + re.sub(r"\{[^}]+\}", "none", path)
            body = BODIES.get(path) if method in {"POST", "PUT"} else None
            if body is not None and "epsilon" in body and role == "owner":
                body = {**body, "analyst": "bob"}
            response = client.request(method, address, json=body, headers=headers)
            status, cell = response.status_code, (method, path, role, state)
            if allowed == EVERYBODY:
                found = 404 if "{" in path else 200
                assert status == (401 if path == "/session" else found), cell
            elif state != "valid":
                assert status == 401, cell
                assert response.headers["www-authenticate"].startswith("Bearer"), cell
            elif role not in allowed:
                assert status == 403, cell
            elif path in PERSON_UNITS | REFUSED_HERE and method == "POST":
                assert status == 400, cell
            else:
                assert status in ({404} if "{" in path else {200, 201, 202}), cell
    record_property("cells of route x role x state, all right", len(EXPECTED))


@pytest.mark.parametrize("role", sorted(ALL))
def test_pages_lead_strangers_to_the_door_and_refuse_other_roles(server, role):
    pages = [
        (route.path, roles_of(route.endpoint))
        for route in all_routes(server.app.routes)
        if isinstance(route, APIRoute) and not route.path.startswith(API) and "GET" in route.methods
    ]
    with server.client() as nobody, server.client(credentials_text(server, role)) as client:
        for path, roles in pages:
            if "{" in path or roles is None:
                continue
            stranger = nobody.get(path)
            assert (stranger.status_code, stranger.headers["location"]) == (303, "/"), path
            if role not in {item.value for item in roles}:
                assert client.get(path).status_code == 403, path


def credentials_text(server, role):
    return server.token(role, "bob" if role == "analyst" else None)


def test_a_refused_caller_is_refused_before_the_body_is_read(server):
    with server.client() as nobody:
        junk = {"Content-Type": "application/json"}
        assert nobody.post(f"{API}/query", content=b"{", headers=junk).status_code == 401


def test_revocation_holds_at_once_for_tokens_and_sessions(server):
    text = server.token()
    with server.client() as browser, server.client(text) as client:
        assert browser.post(f"{API}/session", json={"token": text}).status_code == 200
        assert browser.get(f"{API}/budget").status_code == 200
        assert client.get(f"{API}/budget").status_code == 200
        server.context.tokens.revoke(server.context.tokens.find(text).id)
        assert browser.get(f"{API}/budget").status_code == 401
        assert client.get(f"{API}/budget").status_code == 401


def test_a_wrong_header_does_not_fall_back_to_the_cookie(server):
    with server.client() as browser:
        browser.post(f"{API}/session", json={"token": server.token()})
        wrong = {"Authorization": "Bearer dsc_wrong"}
        assert browser.get(f"{API}/budget", headers=wrong).status_code == 401


def test_a_route_that_does_not_say_who_may_call_cannot_be_made(tmp_path):
    router = api_router("broken")
    with pytest.raises(InternalError, match="does not say who may call"):
        router.get("/open")(lambda: None)


def test_an_application_with_an_unguarded_route_does_not_start(tmp_path, monkeypatch):
    def add_open_door(app):
        app.add_route("/open", lambda _: None)

    door = Feature((), set_up=add_open_door)
    monkeypatch.setattr("discreet.server.start.features", lambda: (door,))
    with pytest.raises(InternalError, match="is not guarded"):
        create_app(Settings(config=write_world(tmp_path)))


def test_mounted_folders_hold_assets_only(server):
    mounted = {route.path for route in all_routes(server.app.routes) if isinstance(route, Mount)}
    assert mounted <= {"/static"}


def test_rate_limits_answer_429_and_recover(tmp_path):
    with running(write_world(tmp_path), rate=0.001, burst=3) as server:
        first, second = server.token(), server.token()
        with server.client(first) as client:
            found = [client.get(f"{API}/session").status_code for _ in range(5)]
            assert found == [200, 200, 200, 429, 429]
            assert client.get(f"{API}/session").headers["retry-after"] == "1"
        with server.client(second) as client:
            assert client.get(f"{API}/session").status_code == 200
        with server.client() as nobody:
            assert nobody.get(f"{API}/health").status_code == 200


def test_one_address_is_limited_too_and_wrong_tokens_cost_more(tmp_path):
    with running(write_world(tmp_path), address_rate=0.001, address_burst=12) as server:
        with server.client("dsc_wrong") as client:
            found = [client.get(f"{API}/session").status_code for _ in range(4)]
        assert found == [401, 401, 429, 429]


def test_the_log_of_a_call_names_the_token_by_its_id_only(server):
    text, began = server.token("analyst", "bob"), datetime.now(UTC)
    with server.client(text) as client:
        client.get(f"{API}/budget")
    token = server.context.tokens.find(text).id
    eventually(lambda: token in server.log.getvalue(), "the line comes after the answer, or never")
    written = server.log.getvalue()
    assert text not in written
    days = {moment.date().isoformat() for moment in (began, datetime.now(UTC))}  # past midnight
    assert any(day in written for day in days)


def test_allow_names_roles():
    endpoint = allow(Role.OWNER)(lambda: None)
    assert roles_of(endpoint) == {Role.OWNER}
    assert add_routes
