"""Features are found by their folders, and each role sees its own places."""

from fastapi import FastAPI

from discreet.server import feature
from discreet.server.access.tokens import Role


def names(role):
    return [place.name for place in feature.places(role)]


def test_each_role_sees_the_places_that_exist_for_it():
    owner = names(Role.OWNER)
    assert {"Ask", "Synthesize", "Teach & attack", "Data", "Budget", "Course"} <= set(owner)
    assert owner[0] == "Ask"
    assert set(owner) - set(names(Role.ANALYST)) >= {"Data"}
    assert names(Role.REVIEWER) == ["Publish", "Course", "Budget"]
    assert names(None) == ["Course"]


def test_a_new_folder_is_a_new_feature(tmp_path, monkeypatch):
    """The recipe: one folder, and no line anywhere else."""
    toy = tmp_path / "toy"
    toy.mkdir()
    (toy / "__init__.py").write_text('"""A toy."""', encoding="utf-8")
    (toy / "pages.py").write_text(
        "from fastapi import APIRouter\n"
        "from discreet.server.access.auth import GuardedRoute, everybody\n"
        "from discreet.server.feature import EVERYBODY, Feature, Place\n"
        "router = APIRouter(route_class=GuardedRoute)\n"
        "@router.get('/toy')\n"
        "@everybody\n"
        "def toy():\n"
        "    return 'a toy'\n"
        "FEATURE = Feature((router,), (Place('Toy', '/toy', 999, EVERYBODY),))\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(feature.folder, "__path__", [*feature.folder.__path__, str(tmp_path)])
    feature.features.cache_clear()
    try:
        assert names(None)[-1] == "Toy"
        app = FastAPI()
        feature.features()[-1].add_to(app)
        assert any(getattr(route, "path", "") == "/toy" for route in app.routes)
    finally:
        feature.features.cache_clear()


def test_every_place_leads_to_a_route():
    for each in feature.features():
        paths = {route.path for router in each.routers for route in router.routes}
        assert {place.path for place in each.places} <= paths
