"""The words of the Anonymize pages."""

from discreet.server.features.anonymize.in_child import StoredRelease
from discreet.server.features.anonymize.pages import release_view


def test_a_copy_in_words():
    risk = {"prosecutor": {"average": 0.0123, "highest": 0.2}}
    facts = {"k": 5, "rows": 30162, "suppressed": 105, "classes": 356, "risk": risk}
    shown = release_view(StoredRelease("a" * 32, "town", "people", 0.0, facts))
    assert (shown["rows"], shown["left_out"], shown["classes"]) == ("30,057", "105", "356")
    assert (shown["risk"], shown["worst"]) == ("1.23%", "20.0%")
    assert shown["when"] == "1970-01-01 00:00"
    assert shown["downloads"][0] == {
        "name": "CSV",
        "path": f"/api/v1/anonymize/{'a' * 32}/rows.csv",
    }
