"""The folder of copies: whole or not at all, and no name becomes a path."""

import pytest

from discreet.errors import TooManyRequests, UnknownName
from discreet.server.features.synth.in_child import Copies, Copy

ID = "a" * 32


def copy(name=ID, **change):
    facts = {
        "id": name,
        "dataset": "town",
        "table": "people",
        "method": "tree",
        "epsilon": "1",
        "rows": 3,
        "columns": ("age",),
        "created": 5.0,
        "analyst": None,
        "notices": ("left out",),
        "target": "age",
    }
    return Copy(**(facts | change))


def fill(place):
    (place / "rows.csv").write_text("age\n1\n")


def test_what_is_kept_is_found_again(tmp_path):
    store = Copies(tmp_path)
    store.keep(copy(), fill)
    assert Copies(tmp_path).find(ID) == copy()
    assert store.file(copy(), "rows.csv").read_text() == "age\n1\n"


def test_a_failure_in_between_leaves_nothing(tmp_path):
    store = Copies(tmp_path)

    def broken(place):
        fill(place)
        raise OSError

    with pytest.raises(OSError):
        store.keep(copy(), broken)
    assert store.all() == []
    assert list((tmp_path / Copies.folder).iterdir()) == []


@pytest.mark.parametrize("name", ["..", "../x", "", "A" * 32, "a" * 31, "making-x"])
def test_other_names_do_not_exist(tmp_path, name):
    with pytest.raises(UnknownName):
        Copies(tmp_path).find(name)


@pytest.mark.parametrize("file", ["facts.json", "codes.npy", "../facts.json", "comparison.html"])
def test_other_files_do_not_exist(tmp_path, file):
    store = Copies(tmp_path)
    store.keep(copy(), fill)
    with pytest.raises(UnknownName):
        store.file(copy(), file)


def test_analysts_see_what_they_paid_for_and_owners_all_of_it(tmp_path):
    store = Copies(tmp_path)
    store.keep(copy("b" * 32, analyst="bob", created=7.0), fill)
    store.keep(copy(), fill)
    assert [each.id[0] for each in store.all()] == ["b", "a"]
    assert [each.id[0] for each in store.all("bob")] == ["b"]
    with pytest.raises(UnknownName):
        store.find(ID, "bob")


def test_a_comparison_is_remembered(tmp_path):
    store = Copies(tmp_path)
    kept = store.keep(copy(), fill)
    store.add(kept, "comparison.html", "<p>")
    assert store.find(ID).compared
    store.remove(kept)
    assert store.all() == []


def test_the_same_copy_again_takes_the_place_of_the_first(tmp_path):
    store = Copies(tmp_path)
    store.keep(copy(), fill)
    store.keep(copy(rows=9), fill)
    assert [each.rows for each in store.all()] == [9]


def test_there_is_an_end_to_it(tmp_path):
    store = Copies(tmp_path)
    store.most = 1
    store.room()
    store.keep(copy(), fill)
    with pytest.raises(TooManyRequests, match="Delete some"):
        store.room()


def test_one_analyst_cannot_take_all_places(tmp_path):
    store = Copies(tmp_path)
    store.most_each = 1
    store.keep(copy(analyst="bob"), fill)
    with pytest.raises(TooManyRequests, match="You have 1"):
        store.room("bob")
    store.room("alice")
    store.room()


def test_nor_the_disk(tmp_path):
    store = Copies(tmp_path)
    store.most_bytes = 5
    store.keep(copy(), fill)
    with pytest.raises(TooManyRequests, match="GB"):
        store.room()
