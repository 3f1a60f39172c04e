"""Features are found by their folders, and each role sees its own places."""

import re
from importlib.util import find_spec
from pathlib import Path

from fastapi import FastAPI

from discreet.server import feature
from discreet.server.access.tokens import Role
from discreet.server.settings import Settings


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
        "FEATURE = Feature((router,), (Place('Toy', '/toy', 999, EVERYBODY),), "
        "larger=lambda _: {'/toy': 5}, warm=('toy.work',))\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(feature.folder, "__path__", [*feature.folder.__path__, str(tmp_path)])
    feature.features.cache_clear()
    try:
        assert names(None)[-1] == "Toy"
        assert feature.larger_bodies(Settings(tmp_path / "discreet.toml"))["/toy"] == 5
        assert feature.warm_modules()[-1] == "toy.work"
        app = FastAPI()
        feature.features()[-1].add_to(app)
        assert any(getattr(route, "path", "") == "/toy" for route in app.routes)
    finally:
        feature.features.cache_clear()


def test_every_place_leads_to_a_route():
    for each in feature.features():
        paths = {route.path for router in each.routers for route in router.routes}
        assert {place.path for place in each.places} <= paths


def leaning(folder):
    """Return the imports of one feature's modules from a feature that is not theirs, pages of the catalog aside."""
    found = set()
    for path in folder.rglob("*.py"):
        own = path.relative_to(folder).parts[0]
        for name in re.findall(
            r"from discreet\.server\.features\.([\w.]+) import", path.read_text()
        ):
            if not name.startswith(own):
                found.add((own, name))
    return found


def test_what_all_features_ask_with_lies_above_them(tmp_path):
    folder = Path(feature.folder.__path__[0])
    assert not [pair for pair in leaning(folder) if pair[1].startswith("query.")]
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "a.py").write_text(
        "from discreet.server.features.query.pages import submit\n"
    )
    assert leaning(tmp_path) == {("toy", "query.pages")}
    above = Path(feature.folder.__path__[0]).parent / "asking"
    assert not [path for path in above.glob("*.py") if "server.features" in path.read_text()]


def test_what_waits_for_a_job_can_import_what_it_is_told_to():
    assert {"discreet.work.synth.run", "discreet.work.learn.training"} <= set(
        feature.warm_modules()
    )
    assert all(find_spec(name) for name in feature.warm_modules())
