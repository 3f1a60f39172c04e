from __future__ import annotations

from discreet.data.engines.copies import Canonical, Remembered, copy_name, state_key

WANTED = Canonical("SELECT 1", owner="ledger")


def test_the_key_of_a_state_folder_stays_and_is_its_own(tmp_path):
    first = state_key(tmp_path / "a")
    assert state_key(tmp_path / "a") == first
    assert state_key(tmp_path / "b") != first
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["key"]
    assert (tmp_path / "a" / "key").stat().st_mode & 0o077 == 0


def test_a_copy_is_named_by_everything_that_its_rows_depend_on():
    names = {
        copy_name(key, source, content, wanted).whole
        for key in (b"1", b"2")
        for source in ("s.t", "s.u")
        for content in ("x", "y")
        for wanted in (
            WANTED,
            Canonical("SELECT 2", owner="ledger"),
            Canonical("SELECT 1", owner="another"),
        )
    }
    assert len(names) == 24
    assert all(len(name) < 63 for name in names), "PostgreSQL cuts longer names"


def test_rows_whose_types_follow_from_files_are_named_by_what_is_declared():
    names = {
        copy_name(b"k", "s.t", "c", Canonical(select, declared, owner="ledger")).whole
        for select in ("SELECT 1", "SELECT 2")
        for declared in ("a", "b")
    }
    assert len(names) == 2


def test_parts_of_a_name_do_not_run_into_each_other():
    one = copy_name(b"k", "ab", "c", WANTED)
    two = copy_name(b"k", "a", "bc", WANTED)
    assert one.whole[-40:] != two.whole[-40:]


def test_copies_of_one_source_under_one_ledger_are_a_family():
    one, two = (copy_name(b"k", "s.t", content, WANTED) for content in "xy")
    assert one.family == two.family
    assert one.whole.startswith(one.family)
    other = Canonical("SELECT 1", owner="another")
    assert copy_name(b"k", "s.t", "x", other).family != one.family


def test_what_cannot_be_kept_is_known_to_this_process_and_found_anew_by_the_next(tmp_path):
    """The folder is gone or full: what is found is no answer yet, and needs no file."""
    file = tmp_path / "state" / "known.json"
    memory = Remembered(file)
    memory.remember("a", "then", "found")
    assert memory.at("a", "then") == "found"
    assert Remembered(file).at("a", "then") is None
    file.parent.mkdir()
    memory.remember("b", "then", "found too")
    assert Remembered(file).at("a", "then") == "found"
