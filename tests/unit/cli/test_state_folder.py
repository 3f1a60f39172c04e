"""State goes where it can be written, and it is said where."""

import pytest

from discreet.cli.serve import state_folder


@pytest.fixture
def home(tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return home


def test_the_home_folder_comes_first_and_without_words(home):
    folder, note = state_folder("town")
    assert folder == home / ".local" / "share" / "discreet" / "town"
    assert folder.is_dir()
    assert note == ""


def test_without_a_home_the_working_folder_is_used_and_named(home, tmp_path, monkeypatch):
    (home / ".local").touch()  # a file in the way stops even root
    folder, note = state_folder("town")
    assert folder == tmp_path / "work" / ".discreet" / "town"
    assert str(folder) in note
    assert state_folder("town")[0] == folder, "the same one the next time"


def test_the_last_resort_is_a_folder_that_nobody_could_have_prepared(home, tmp_path, monkeypatch):
    (home / ".local").touch()
    (tmp_path / "work" / ".discreet").touch()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folder, note = state_folder("town")
    assert folder.parent == tmp_path
    assert folder.stat().st_mode & 0o777 == 0o700
    assert str(folder) in note
    assert state_folder("town")[0] != folder
