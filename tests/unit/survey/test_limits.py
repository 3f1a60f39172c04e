"""What one survey takes at most: reports and bytes, from however many at once; and closing on a full disk."""

import errno
import os
import secrets
import sqlite3
import subprocess
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import CollectorClosed
from discreet.survey import store
from discreet.survey.command import close_survey
from discreet.survey.device import encoded
from discreet.survey.donation_checks import Refusal
from discreet.survey.specification import survey_of
from discreet.survey.store import SurveyStore

SMALL = '[questions.a]\nkind = "yes-no"\n'
SKETCHES = "".join(
    f'[questions.q{i}]\nkind = "open"\nrows = 16\nbuckets = 16384\n' for i in range(3)
)


def made(base, *, limits="most_reports = 5\n", questions=SMALL):
    base.mkdir(parents=True, exist_ok=True)
    toml = base / "s.toml"
    toml.write_text(f'title = "t"\nepsilon = 2\n{limits}{questions}', encoding="utf-8")
    return SurveyStore.create(toml, base)


def forged(held, count):
    """Return donations as anybody can make them: random ids, possible reports."""
    reports = []
    for choice in held.plan.choices:
        shape = choice.randomizer.shape
        reports.append(0 if shape.cells else bytes(shape.length))
    return [encoded([1, held.plan.id, secrets.token_bytes(16), reports]) for _ in range(count)]


def file_of(held):
    """Return the size of the file of reports once its journal is written into it."""
    with sqlite3.connect(held.folder / "reports.db") as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return (held.folder / "reports.db").stat().st_size


def test_a_survey_takes_as_many_reports_as_its_owner_says(tmp_path):
    held = made(tmp_path)
    sent = forged(held, 10)
    taken = held.take_cbor(sent)
    assert (taken.accepted, taken.refused) == (5, {Refusal.FULL: 5})
    assert held.take_cbor(sent[:1]).refused == {Refusal.REPLAYED: 1}, "a device may send again"
    assert held.take_cbor(forged(held, 1)).refused == {Refusal.FULL: 1}
    assert held.reports() == 5
    assert held.refused() == {"survey full": 6, "seen before": 1}


@pytest.mark.parametrize(
    ("questions", "at_once", "times"),
    [(SMALL, 1, 30), (SMALL, 4_000, 15), (SKETCHES, 1, 180), (SKETCHES, 60, 5)],
    ids=["number", "numbers", "sketch", "sketches"],
)
def test_its_file_never_grows_beyond_its_bytes(tmp_path, questions, at_once, times):
    held = made(tmp_path, limits="most_mb = 1\n", questions=questions)
    accepted = 0
    for _ in range(times):
        accepted += held.take_cbor(forged(held, at_once)).accepted
        assert file_of(held) <= 1 << 20
    assert held.reports() == accepted > 0
    if at_once * times > 30:
        assert held.refused()["survey full"] == times * at_once - accepted
        assert file_of(held) > 0.9 * (1 << 20), "it takes what it may"


def test_many_at_once_take_no_more_than_one(tmp_path):
    held = made(tmp_path, limits="most_reports = 100\n")
    batches = [[forged(held, 1 + i % 7) for _ in range(12)] for i in range(8)]
    accepted = []

    def send(mine):
        accepted.extend(held.take_cbor(batch).accepted for batch in mine)

    threads = [threading.Thread(target=send, args=(mine,)) for mine in batches]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(accepted) == held.reports() == 100


deeds = st.lists(
    st.tuples(st.sampled_from(["new", "again", "mixed"]), st.integers(0, 9)), max_size=12
)


def kept_to(base, most, history):
    """Play a history; return whether what is held is exactly what was new, up to the limit."""
    held, sent, accepted = made(base, limits=f"most_reports = {most}\n"), [], 0
    for deed, count in history:
        fresh = forged(held, count) if deed != "again" else []
        batch = [*fresh, *(sent[-count:] if deed != "new" and count else [])]
        accepted += held.take_cbor(batch).accepted
        sent += fresh
    return held.reports() == accepted == min(most, len(sent))


@settings(max_examples=40)
@given(most=st.integers(1, 20), history=deeds)
def test_every_history_keeps_to_the_limit(tmp_path_factory, most, history):
    assert kept_to(tmp_path_factory.mktemp("survey"), most, history)


def test_a_store_that_does_not_look_would_be_caught(tmp_path, monkeypatch):
    monkeypatch.setattr(store._Room, "holds", lambda *_: True)
    assert not kept_to(tmp_path, 5, [("new", 9)])


def test_a_store_of_an_earlier_version_is_counted(tmp_path):
    held = made(tmp_path)
    held.take_cbor(forged(held, 4))
    with sqlite3.connect(held.folder / "reports.db") as connection:
        connection.execute("DROP TABLE taken")
    connection.close()
    assert store.size_of(held.folder)[0] == 4
    assert held.take_cbor(forged(held, 4)).accepted == 1


def test_an_owner_who_expects_more_is_not_cut_short():
    stated = {"title": "t", "epsilon": 1, "questions": {"a": {"kind": "yes-no"}}}
    assert survey_of(stated, name="s").most_reports == 200_000
    assert survey_of(stated, name="s").most_mb == 256
    assert survey_of(stated | {"respondents": 10**6}, name="s").most_reports == 10**6
    assert survey_of(stated | {"most_reports": 7}, name="s").most_reports == 7


def full(*_arguments, **_settings):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_closing_needs_no_room(tmp_path, monkeypatch):
    held = made(tmp_path)
    held.take_cbor(forged(held, 3))
    monkeypatch.setattr(store, "write_whole", full)
    monkeypatch.setattr(store, "write_columns", full)
    found = close_survey("s", tmp_path)
    assert found["closed"]
    assert found["columns"] is None
    assert held.closed
    assert held.take_cbor(forged(held, 1)).refused == {Refusal.CLOSED: 1}
    monkeypatch.undo()
    again = close_survey("s", tmp_path)
    assert again["reports"] == 3
    assert Path(again["columns"]).exists()


@contextmanager
def small_disk(place, megabytes):
    """Lend a file system of its own; only root may make one."""
    place.mkdir()
    asked = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(place)]
    if os.geteuid() or subprocess.run(asked, check=False, capture_output=True).returncode:
        pytest.skip("only root can make a small disk")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def fill(place):
    """Leave not one byte."""
    with (place / "others").open("wb", buffering=0) as file:
        for size in (1 << 16, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                pass


def test_a_survey_is_closed_on_a_disk_without_a_byte(tmp_path):
    with small_disk(tmp_path / "disk", 8) as disk:
        held = made(disk, limits="")
        held.take_cbor(forged(held, 50))
        fill(disk)
        with pytest.raises(CollectorClosed):
            held.take_cbor(forged(held, 5_000))
        found = close_survey("s", disk)
        assert found["closed"]
        assert held.closed
        (disk / "others").unlink()
        assert held.take_cbor(forged(held, 1)).refused == {Refusal.CLOSED: 1}
        assert close_survey("s", disk)["reports"] == 50
