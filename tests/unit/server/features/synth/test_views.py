"""The words of the Synthesize pages."""

from discreet.server.features.synth.in_child import Copy
from discreet.server.features.synth.pages import choice_view, copy_view, methods_view
from discreet.server.views import copied_tables_view

COPY = Copy("a" * 32, "town", "people", "tree", "1", 1234, ("a", "b"), 0.0, None, ())


def test_every_method_has_a_sentence():
    found = methods_view()
    assert found[0]["name"] == "auto"
    assert all(each["words"].endswith(".") for each in found)


def test_a_copy_in_words():
    found = copy_view(COPY)
    assert found["rows"] == "1,234"
    assert found["when"] == "1970-01-01 00:00"
    assert found["who"] == "owner"
    assert found["downloads"][0] == {"name": "CSV", "path": f"/api/v1/synth/{'a' * 32}/rows.csv"}


def test_public_tables_need_no_copy():
    tables = [
        {"name": "people", "public": False, "columns": []},
        {"name": "zips", "public": True, "columns": []},
    ]
    found = copied_tables_view([{"name": "town", "tables": tables}])
    assert [each["value"] for each in found] == ["town.people"]


def test_a_choice_is_among_quick_methods_that_read_data():
    found = choice_view()
    assert {"tree", "independent"} <= set(found)
    assert "random" not in found
    assert "adaptive" not in found
