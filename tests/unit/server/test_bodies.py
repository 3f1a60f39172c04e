"""Only the routes that take files or batches take more than others, whatever a name in an address is."""

import pytest
from starlette.routing import Match

from discreet.server import start as server_app
from discreet.server.access.auth import all_routes
from discreet.server.feature import larger_bodies
from discreet.server.settings import Settings

ODD = ("own", "reports", "batch", "uploads", "results", "data")


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    config = tmp_path_factory.mktemp("none") / "discreet.toml"
    found = server_app.create_app(Settings(config))
    yield found
    found.state.context.close()


def limit_of(app, path):
    [layer] = [each for each in app.user_middleware if "limit_of" in each.kwargs]
    return layer.kwargs["limit_of"](path)


def route_of(app, path, method="POST"):
    scope = {"type": "http", "path": path, "method": method, "headers": []}
    for route in all_routes(app.routes):
        if route.matches(scope)[0] is Match.FULL:
            return route.path
    return None


def test_a_larger_body_goes_to_the_route_that_takes_it(app):
    usual = limit_of(app, "/api/v1/query")
    meant = {route.split("{")[0] for route in larger_bodies(app.state.context.settings)}
    seen = 0
    for route in all_routes(app.routes):
        parts = getattr(route, "path", "").split("/")
        for name in ODD:
            path = "/".join(name if part.startswith("{") else part for part in parts)
            if limit_of(app, path) > usual:
                seen += 1
                found = route_of(app, path) or route_of(app, path, "PUT") or path
                assert any(found.startswith(each) for each in meant), (path, found)
                assert found != "/api/v1/lab/{name}"
    assert seen > 10


def test_an_attack_by_the_name_of_own_takes_a_usual_body(app):
    """It once took an owner's 512 MB: the address ends as that of another route does."""
    assert route_of(app, "/api/v1/lab/own") == "/api/v1/lab/{name}"
    assert limit_of(app, "/api/v1/lab/own") == limit_of(app, "/api/v1/query")
    assert limit_of(app, "/api/v1/lab/x/own") > limit_of(app, "/api/v1/query")
    assert limit_of(app, "/api/v1/lab/x/y/own") == limit_of(app, "/api/v1/query")
    assert limit_of(app, "/api/v1/surveys/reports") == limit_of(app, "/api/v1/query")
    assert limit_of(app, "/api/v1/data/uploadsx") == limit_of(app, "/api/v1/query")
