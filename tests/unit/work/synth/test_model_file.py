"""A saved model comes back as it was; whatever is wrong with a file is said in one sentence."""

import copy
import json

import numpy as np
import pytest

from copying import curator
from discreet.errors import InvalidInput
from discreet.work.synth.model_file import FORMAT, from_text, load_model, to_text, with_facts


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory):
    asked = curator(tmp_path_factory.mktemp("town"))
    return asked.synthesize("people", epsilon=2, rules=["age >= 16 if member"])


@pytest.fixture(scope="module")
def data(synthetic):
    return json.loads(to_text(synthetic.saved))


def test_it_comes_back_as_it_was(synthetic, tmp_path):
    synthetic.save_model(tmp_path / "m.json")
    found = load_model(tmp_path / "m.json")
    assert found.encoding == synthetic.encoding
    assert found.rules == ("age >= 16 if member",)
    assert found.facts["cost"] == {"epsilon": "2", "delta": "1/4000000"}
    assert np.allclose(found.model.marginal((0, 1)), synthetic.model.marginal((0, 1)))
    assert len(found.measured) == len(synthetic.measured) > 0
    for one, two in zip(found.measured, synthetic.measured, strict=True):
        assert (one.columns, one.law) == (two.columns, two.law)
        assert (one.values == two.values).all()
    assert to_text(found) == to_text(synthetic.saved)
    assert with_facts(found, private=False).facts["private"] is False


def broken(data, *path, value):
    found = copy.deepcopy(data)
    place = found
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return json.dumps(found)


CHANGES = [
    (("format",), "pickle"),
    (("version",), 2),
    (("columns",), {}),
    (("columns",), []),
    (("columns", 1, "name"), 7),
    (("columns", 1, "type"), "python"),
    (("columns", 1, "values"), ["Female"]),
    (("columns", 1, "values"), ["Female", 3]),
    (("columns", 1, "missing"), "yes"),
    (("columns", 2, "lower"), 1.5),
    (("columns", 2, "upper"), 10**40),
    (("columns", 2, "upper"), -5),
    (("columns", 3, "step"), "0"),
    (("columns", 3, "step"), "1/0"),
    (("columns", 3, "step"), "9" * 5000),
    (("columns", 3, "step"), "1e999999999"),
    (("columns", 3, "edges"), [0, 5, 5]),
    (("columns", 3, "edges"), [1, 5]),
    (("columns", 3, "edges"), []),
    (("columns", 3, "edges"), [0, 10**9]),
    (("columns", 3, "edges"), list(range(5000))),
    (("columns", 4, "lower"), "yesterday"),
    (("columns", 2, "name"), "sex"),
    (("model",), None),
    (("model",), {"kind": "exec"}),
    (("model", "kind"), ["network"]),
    (("model", "total"), -3.0),
    (("measured",), 5),
    (("measured", 0, "columns"), [99]),
    (("measured", 0, "values"), [1]),
    (("measured", 0, "values", 0), "1"),
    (("measured", 0, "parameter"), "-1"),
    (("measured", 0, "shape"), [10**9]),
    (("rules",), "age > 3"),
    (("rules",), [3]),
    (("facts",), 3),
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: ".".join(map(str, change[0])))
def test_a_hostile_file_is_refused_with_a_sentence(data, change):
    path, value = change
    with pytest.raises(InvalidInput, match="is not a model that can be sampled"):
        from_text(broken(data, *path, value=value))


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", "nonsense", "[" * 100_000, '{"format": NaN}', "null", "12"],
    ids=range(8),
)
def test_what_is_no_model_at_all(text):
    with pytest.raises(InvalidInput, match="is not a model that can be sampled"):
        from_text(text)


def test_numbers_that_are_none(data):
    text = json.dumps(data).replace(FORMAT, FORMAT, 1)
    assert from_text(text)
    with pytest.raises(InvalidInput):
        from_text(text.replace('"total":', '"total": NaN, "was":'))


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InvalidInput, match="cannot be read"):
        load_model(tmp_path / "nothing.json")
    (tmp_path / "m.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInput, match="cannot be read"):
        load_model(tmp_path / "m.json")
