import pytest

from discreet.errors import TooManyRequests, UnknownName
from discreet.server.features.anonymize.in_child import Releases, StoredRelease
from discreet.server.shelf import FRAGMENT


def filled(place):
    (place / "rows.csv").write_text("a\n")
    (place / FRAGMENT).write_text("<p>report</p>")


@pytest.fixture
def releases(tmp_path):
    return Releases(tmp_path)


def test_a_copy_is_kept_whole(releases):
    kept = releases.keep(StoredRelease.new("town", "people", {"k": 5}), filled)
    assert releases.find(kept.id) == kept
    assert releases.all() == [kept]
    assert releases.file(kept, "rows.csv").read_text() == "a\n"
    assert releases.part(kept) == "<p>report</p>"
    assert kept.to_json()["facts"] == {"k": 5}


def test_or_not_at_all(releases, tmp_path):
    def broken(place):
        (place / "rows.csv").write_text("a\n")
        raise OSError

    with pytest.raises(OSError):
        releases.keep(StoredRelease.new("town", "people", {}), broken)
    assert releases.all() == []
    assert list((tmp_path / Releases.folder).iterdir()) == []


@pytest.mark.parametrize("name", ["..", "../../etc", "x" * 32, "", "making-1"])
def test_no_foreign_name_becomes_a_path(releases, name):
    releases.keep(StoredRelease.new("town", "people", {}), filled)
    with pytest.raises(UnknownName):
        releases.find(name)


@pytest.mark.parametrize("name", ["facts.json", "report.part", "../rows.csv", "report.html"])
def test_only_listed_files_that_exist(releases, name):
    kept = releases.keep(StoredRelease.new("town", "people", {}), filled)
    with pytest.raises(UnknownName):
        releases.file(kept, name)


def test_there_is_an_end_to_it_and_deleting_makes_room(tmp_path):
    releases = Releases(tmp_path)
    releases.most = 1
    releases.room()
    kept = releases.keep(StoredRelease.new("town", "people", {}), filled)
    with pytest.raises(TooManyRequests):
        releases.room()
    releases.remove(kept)
    releases.room()
    assert releases.part(kept) == ""
