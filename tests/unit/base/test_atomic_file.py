"""Files that are there whole or not at all: also when writing fails, and when two are first."""

import os
import threading
from pathlib import Path

import pytest

from discreet.base import files
from discreet.base.files import write_first, write_synced, write_whole
from patience import eventually


def mode(path):
    return path.stat().st_mode & 0o777


@pytest.mark.parametrize("durable", [True, False])
def test_the_new_content_replaces_the_old(tmp_path, durable):
    path = tmp_path / "a.json"
    write_whole(path, "é", durable=durable)
    assert path.read_bytes() == "é".encode()
    write_whole(path, b"\x00\r\n", durable=durable)
    assert path.read_bytes() == b"\x00\r\n"
    assert mode(path) == 0o600
    write_whole(path, "", mode=0o644, durable=durable)
    assert (path.read_bytes(), mode(path)) == (b"", 0o644)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("step", ["fsync", "replace", "chmod"])
def test_what_fails_leaves_the_old_content_and_nothing_beside(tmp_path, monkeypatch, step):
    path = tmp_path / "a"
    write_whole(path, "old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os if step == "fsync" else Path, step, full)
    with pytest.raises(OSError, match="No space"):
        write_whole(path, "new", mode=0o644, durable=True)
    monkeypatch.undo()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_reader_never_finds_half(tmp_path):
    """One thread replaces, one reads: each reading is one of the two contents. The twin is caught."""
    path, texts = tmp_path / "a", [letter * 200_000 for letter in "ab"]
    ended = [0]  # readings

    def readings(write):
        path.write_text(texts[0])
        done = threading.Event()

        def replaced():
            try:
                for i in range(60):
                    write(path, texts[i % 2])
            finally:
                done.set()

        thread = threading.Thread(target=replaced)
        thread.start()
        found = set()
        while not done.is_set():
            found.add(path.read_text())
            ended[0] += 1
        thread.join()
        return found

    def in_place(path, text):
        with path.open("w") as file:
            file.write(text[:1000])
            file.flush()
            # Of two readings that end now the second has begun now.
            until = ended[0] + 2
            eventually(lambda: ended[0] >= until, "somebody reads")
            file.write(text[1000:])

    assert readings(write_whole) <= set(texts)
    assert not readings(in_place) <= set(texts)


def test_a_durable_one_is_synced_before_it_has_its_name(tmp_path, monkeypatch):
    steps, sync, replace = [], os.fsync, Path.replace
    monkeypatch.setattr(os, "fsync", lambda handle: (steps.append("sync"), sync(handle))[1])
    monkeypatch.setattr(Path, "replace", lambda a, b: (steps.append("name"), replace(a, b))[1])
    write_whole(tmp_path / "a", "x", durable=True)
    assert steps == ["sync", "name", "sync"]
    steps.clear()
    write_whole(tmp_path / "a", "x")
    assert steps == ["name"]


def test_who_is_first_counts(tmp_path):
    path = tmp_path / "key"
    assert write_first(path, b"mine") == b"mine"
    assert write_first(path, b"yours") == b"mine"
    assert mode(path) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_keys_of_many_threads_are_one(tmp_path):
    found = []
    start = threading.Barrier(8)

    def draw():
        start.wait()
        found.append(write_first(tmp_path / "key", os.urandom(32)))

    threads = [threading.Thread(target=draw) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1


def test_in_its_place_it_is_shortened_and_the_owners(tmp_path):
    path = tmp_path / "head"
    write_synced(path, b"longer")
    write_synced(path, b"short")
    assert (path.read_bytes(), mode(path)) == (b"short", 0o600)


def test_nobody_else_writes_files_by_moving_them():
    """Each idea once: what is replaced at once is replaced here, or streamed into its place."""
    root = Path(files.__file__).parents[1]
    made = [path for path in root.rglob("*.py") if "mkstemp(" in path.read_text(encoding="utf-8")]
    assert made == [Path(files.__file__)]
