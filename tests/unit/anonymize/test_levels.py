import csv
import io
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.anonymize.hierarchy import Hierarchy, read_hierarchies, read_hierarchy
from discreet.errors import InvalidInput
from sittings import examples


def test_a_file_is_read(tmp_path):
    path = tmp_path / "sex.csv"
    path.write_text("Male;any;*\nFemale;any;*\n\n;any;*\n", encoding="utf-8")
    found = read_hierarchy(path, "sex")
    assert found.levels == 3
    assert found.path("Male") == ("Male", "any", "*")
    assert found.path(None) == ("", "any", "*"), "a line of its own for missing values"


def quoted(hierarchy):
    """Return the text of a file that holds this hierarchy, every cell between quotes."""
    sink = io.StringIO(newline="")
    writer = csv.writer(sink, delimiter=";", lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerows(hierarchy.paths.values())
    return sink.getvalue()


CELLS = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=5)


@given(st.dictionaries(CELLS, CELLS, min_size=1), st.integers(0, 1))
@settings(max_examples=examples(100), deadline=None)
def test_any_hierarchy_is_read_from_its_file(parents, star):
    odd = Hierarchy("x", {v: (v, p, *("*",) * star) for v, p in parents.items()})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.csv"
        path.write_bytes(quoted(odd).encode())
        assert read_hierarchy(path, "x") == odd


@given(st.binary(max_size=200))
@settings(max_examples=examples(200), deadline=None)
def test_any_bytes_are_a_hierarchy_or_refused(content):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.csv"
        path.write_bytes(content)
        with suppress(InvalidInput):
            assert read_hierarchy(path, "x").levels >= 1


def test_missing_without_a_line_stays_missing_until_all_are_one():
    to_star = Hierarchy("x", {"a": ("a", "1", "*"), "b": ("b", "1", "*")})
    assert to_star.path(None) == ("", "", "*")
    to_two = Hierarchy("x", {"a": ("a", "1"), "b": ("b", "2")})
    assert to_two.path(None) == ("", "")
    assert to_star.path("z") is None


def test_whole_floats_find_the_lines_of_integers():
    found = Hierarchy("x", {"3": ("3", "*"), "4": ("4", "*")})
    assert found.path(3.0) == ("3.0", "*")
    assert found.path(3.5) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a;1;*\nb;*\n", "different lengths"),
        ("a;1;x\nb;1;y\n", "not inside level 2"),
        ("a;1\na;2\n", "two different lines"),
        ("", "is empty"),
    ],
)
def test_files_that_make_no_sense(tmp_path, text, said):
    path = tmp_path / "c.csv"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=said):
        read_hierarchy(path, "c")


def test_spaces_belong_to_values(tmp_path):
    path = tmp_path / "c.csv"
    path.write_text(" Private;*\n")
    assert read_hierarchy(path, "c").path(" Private") == (" Private", "*")


def test_files_that_cannot_be_read(tmp_path):
    path = tmp_path / "c.csv"
    path.write_bytes(b"\xff\xfe\x00a")
    with pytest.raises(InvalidInput, match="could not be read"):
        read_hierarchy(path, "c")
    with pytest.raises(InvalidInput, match="could not be read"):
        read_hierarchy(tmp_path / "d.csv", "d")
    path.write_text("a" * 200_000 + ";*\n")  # longer than a cell of CSV may be
    with pytest.raises(InvalidInput, match="could not be read"):
        read_hierarchy(path, "c")
    with path.open("wb") as file:
        file.truncate((64 << 20) + 1)
    with pytest.raises(InvalidInput, match="larger than 64 MiB"):
        read_hierarchy(path, "c")
    with pytest.raises(InvalidInput, match="no folder"):
        read_hierarchies(tmp_path / "nowhere", ["c"])


def test_a_folder_gives_what_it_has_and_nothing_from_outside(tmp_path):
    folder = tmp_path / "trees"
    folder.mkdir()
    (folder / "a.csv").write_text("x;*\n")
    (tmp_path / "b.csv").write_text("x;*\n")
    assert list(read_hierarchies(folder, ["a", "b", "../b"])) == ["a"]
