"""One tree of exceptions, each a sentence."""

import inspect

from discreet import errors
from discreet.errors import DiscreetError, InternalError, MissingExtra, QueryRefused


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
        "error": {"kind": "QueryRefused", "message": "No.", "hint": "Do this."}
    }
    assert str(QueryRefused("No.")) == "No."


def test_a_missing_package_says_how_to_get_it():
    assert "pip install 'discreet[plot]'" in str(MissingExtra("vl-convert-python", extra="plot"))
