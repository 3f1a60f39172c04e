"""Versions of the data: numbers that say nothing about it."""

from asking import curator, question
from discreet.ask.release.snapshots import hold, label, snapshots_of


def test_each_table_has_a_number(tmp_path):
    sql = "SELECT COUNT(*) FROM visits JOIN wards ON visits.ward = wards.ward"
    source = question(sql).statement.source
    with (
        curator(tmp_path) as asked,
        hold(source, asked) as held,
    ):
        assert set(held.fingerprints) == {"clinic.visits", "clinic.wards"}
        assert snapshots_of(source, held) == {"visits": "1", "wards": "1"}
        assert snapshots_of(source, held) == {"visits": "1", "wards": "1"}


def test_label():
    assert label({"visits": "2", "people": "1"}) == "people:1,visits:2"
