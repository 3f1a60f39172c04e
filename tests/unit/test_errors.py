"""One tree of exceptions, each a sentence."""

import inspect
import json

import pytest

from discreet import errors
from discreet.errors import DiscreetError, InternalError, MissingExtra, QueryRefused, from_facts


def test_every_error_is_in_the_drawing_and_of_the_tree():
    kinds = [
        c for _, c in inspect.getmembers(errors, inspect.isclass) if c.__module__ == errors.__name__
    ]
    assert len(kinds) > 10
    for kind in kinds:
        assert kind.__name__ in errors.__doc__
        assert issubclass(kind, DiscreetError) or kind is InternalError


def test_message_and_hint():
    found = QueryRefused("No.", hint="Do this.", construct="x")
    assert str(found) == "No. Do this."
    assert found.to_json() == {
        "error": {"kind": "QueryRefused", "message": "No.", "hint": "Do this.", "construct": "x"}
    }
    assert str(QueryRefused("No.")) == "No."


def test_a_missing_package_says_how_to_get_it():
    assert "pip install 'discreet[plot]'" in str(MissingExtra("vl-convert-python", extra="plot"))


def kinds():
    """Return one error of each kind, with all that it can say."""
    made = [
        kind("What.", hint="Do.", **dict.fromkeys(kind.MORE, "1"))
        for kind in vars(errors).values()
        if inspect.isclass(kind) and issubclass(kind, DiscreetError) and kind is not MissingExtra
    ]
    return [*made, MissingExtra("jax", extra="rap")]


@pytest.mark.parametrize("error", kinds(), ids=lambda error: error.kind)
def test_an_error_is_what_its_facts_say(error):
    found = from_facts(json.loads(json.dumps(error.facts())))
    assert type(found) is type(error)
    assert vars(found) == vars(error)
    assert str(found) == str(error)


def test_what_an_earlier_version_kept_reads_as_it_was():
    found = from_facts({"kind": "BudgetExceeded", "message": "No.", "hint": ""})
    assert (type(found), found.message, found.left) == (errors.BudgetExceeded, "No.", "")
    for unknown in ("Any", "InternalError", "annotations", ""):
        said = {"kind": unknown, "message": "No.", "hint": ""}
        assert type(from_facts(said)) is DiscreetError
        assert type(from_facts(said, otherwise=errors.ServerFailed)) is errors.ServerFailed
