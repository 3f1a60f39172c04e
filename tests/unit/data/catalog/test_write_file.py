import stat

import pytest

from discreet.data.catalog.writer import write_file
from discreet.errors import InvalidInput


def test_nothing_is_overwritten_unasked(tmp_path):
    path = tmp_path / "discreet.toml"
    write_file(path, "one")
    with pytest.raises(InvalidInput, match="exists already"):
        write_file(path, "two")
    assert path.read_text() == "one"
    write_file(path, "two", force=True)
    assert path.read_text() == "two"


def test_only_the_owner_reads_it(tmp_path):
    path = tmp_path / "discreet.toml"
    write_file(path, "one")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert sorted(tmp_path.iterdir()) == [tmp_path / ".discreet.toml.lock", path]


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(InvalidInput, match="cannot be written"):
        write_file(tmp_path / "none" / "discreet.toml", "one")
