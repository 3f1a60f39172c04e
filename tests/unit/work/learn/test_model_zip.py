"""A model as a file: what was changed, is old or is something else is refused with one sentence."""

import json
import zipfile

import pytest

from discreet.errors import InvalidInput
from discreet.work.learn.model_files import from_text, read_model, to_text, write_model
from learning import curator


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    asked = curator(tmp_path_factory.mktemp("town"))
    return asked.learn("people", target="rich", epsilon=4, features=["age", "sex"]).model


def changed(source, target, name, change):
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for each in old.namelist():
            part = old.read(each)
            new.writestr(each, change(part) if each == name else part)
    return target


def test_a_model_survives_its_file(model, tmp_path):
    write_model(model, tmp_path / "m.zip")
    assert to_text(read_model(tmp_path / "m.zip")) == to_text(model)


@pytest.mark.parametrize(
    ("part", "change", "why"),
    [
        ("model.json", lambda b: b.replace(b"0.", b"1.", 1), "changed after"),
        ("card.html", lambda b: b.replace(b"epsilon", b"epsilom", 1), "changed after"),
        ("manifest.json", lambda b: b.replace(b'"version": 1', b'"version": 9'), "another version"),
        ("manifest.json", lambda b: b'{"format": "x"}', "another kind"),
        ("manifest.json", lambda b: b"[", "damaged"),
    ],
)
def test_a_changed_file_is_refused(model, tmp_path, part, change, why):
    write_model(model, tmp_path / "m.zip")
    bad = changed(tmp_path / "m.zip", tmp_path / "bad.zip", part, change)
    with pytest.raises(InvalidInput, match=why):
        read_model(bad)


def test_what_is_no_model_at_all(tmp_path):
    (tmp_path / "x.zip").write_bytes(b"PK nothing")
    with pytest.raises(InvalidInput, match="damaged"):
        read_model(tmp_path / "x.zip")
    with pytest.raises(InvalidInput, match="no file"):
        read_model(tmp_path / "none.zip")


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.pop("columns"),
        lambda d: d["model"].update(intercept=["x"]),
        lambda d: d["model"]["terms"][0].update(columns=[99]),
        lambda d: d["model"]["terms"][0].update(groups=[[0, 1]]),
        lambda d: d["model"]["terms"][0].update(weights=[[1e999]]),
        lambda d: d["model"].update(intercept=[1e300]),
        lambda d: d["columns"][-1].update(values=d["columns"][-1]["values"][:1]),
        lambda d: d.update(version=0),
    ],
)
def test_text_that_makes_no_sense_is_refused(model, change):
    data = json.loads(to_text(model))
    change(data)
    with pytest.raises(InvalidInput, match="not a model that can be used"):
        from_text(json.dumps(data))
