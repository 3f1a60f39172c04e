"""The audit log: every line is durable, in a chain, and no byte of it changes unseen."""

import json
import random
import subprocess
import sys
import threading
from dataclasses import asdict

import pytest

from discreet.base.proof import ROOT
from discreet.errors import AuditTampered, LedgerWriteFailed
from discreet.server.access.audit_log import (
    BURST,
    COMMAND_LINE,
    HEAD,
    KEPT,
    LOG,
    LONGEST_LINE,
    LONGEST_TEXT,
    MOST_READ,
    PAUSE,
    STRANGER,
    Actor,
    AuditAction,
    AuditHead,
    AuditLog,
    RateLimitedLog,
    read_head,
    write_head,
)
from patience import LONG

ALICE = Actor("alice", "0123456789abcdef")
FLIPS = 1000
OTHER_PROCESS = """
import sys
from pathlib import Path
from discreet.server.access.audit_log import COMMAND_LINE, AuditLog, AuditAction
for _ in range(10):
    AuditLog(Path(sys.argv[1])).record(COMMAND_LINE, AuditAction.SIGNED_IN)
"""


@pytest.fixture
def log(tmp_path):
    return AuditLog(tmp_path)


@pytest.fixture
def filled(log):
    for turn in range(20):
        log.record(ALICE, AuditAction.BUDGET_CHANGED, dataset=f"é{turn}", epsilon_after=turn / 10)
    return log


def test_lines_come_back_latest_first(filled):
    lines = filled.last(3)
    assert [line.position for line in lines] == [19, 18, 17]
    assert asdict(lines[0]) | {"time": ""} == {
        "position": 19,
        "time": "",
        "who": "alice",
        "token": "0123456789abcdef",
        "what": "budget changed",
        "facts": {"dataset": "é19", "epsilon_after": "1.9"},
    }
    assert [line.position for line in filled.last(10**9)] == list(range(19, -1, -1))
    assert filled.last(0) == []
    assert filled.last(-5) == []
    assert filled.verify() == 20


def test_an_empty_folder_has_an_empty_log(log):
    assert log.verify() == 0
    assert log.last(5) == []


def test_a_thousand_flipped_bytes_are_all_found(filled, tmp_path):
    rng = random.Random(7)
    for name, times in ((LOG, FLIPS - 100), (HEAD, 100)):
        path = tmp_path / name
        right = path.read_bytes()
        for _ in range(times):
            place = rng.randrange(len(right))
            wrong = bytearray(right)
            wrong[place] ^= 1 << rng.randrange(8)
            path.write_bytes(wrong)
            with pytest.raises(AuditTampered):
                filled.verify()
        path.write_bytes(right)
    assert filled.verify() == 20, "the untouched one passes"


@pytest.mark.parametrize("change", ["drop", "double", "swap", "shorten", "cut", "empty", "append"])
def test_whole_lines_that_change_are_found(filled, tmp_path, change):
    path = tmp_path / LOG
    lines = path.read_bytes().splitlines(keepends=True)
    match change:
        case "drop":
            del lines[4]
        case "double":
            lines.insert(4, lines[4])
        case "swap":
            lines[4], lines[5] = lines[5], lines[4]
        case "shorten":
            del lines[-1]
        case "cut":
            lines[-1] = lines[-1][:-10]
        case "empty":
            lines = []
        case "append":
            lines.append(lines[-1])
    path.write_bytes(b"".join(lines))
    with pytest.raises(AuditTampered):
        filled.verify()


def test_an_old_copy_and_a_missing_file_are_found(filled, tmp_path):
    old = (tmp_path / LOG).read_bytes()
    filled.record(ALICE, AuditAction.SIGNED_OUT)
    new = (tmp_path / LOG).read_bytes()
    (tmp_path / LOG).write_bytes(old)
    with pytest.raises(AuditTampered, match="head names a line that is not there"):
        filled.verify()
    with pytest.raises(AuditTampered, match="shorter than its head says"):
        filled.record(ALICE, AuditAction.SIGNED_OUT)
    (tmp_path / LOG).unlink()
    with pytest.raises(AuditTampered, match="it is missing"):
        filled.verify()
    (tmp_path / LOG).write_bytes(new)
    (tmp_path / HEAD).unlink()
    for attempt in (filled.verify, lambda: filled.record(ALICE, AuditAction.SIGNED_OUT)):
        with pytest.raises(AuditTampered, match="head"):
            attempt()


def test_a_crash_before_the_head_is_written_loses_nothing(filled, monkeypatch):
    def crash(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("discreet.server.access.audit_log.write_head", crash)
    with pytest.raises(KeyboardInterrupt):
        filled.record(ALICE, AuditAction.SIGNED_OUT)
    monkeypatch.undo()
    assert filled.verify() == 21
    filled.record(ALICE, AuditAction.SIGNED_IN)
    assert filled.verify() == 22
    assert [line.what for line in filled.last(2)] == ["signed in", "signed out"]


@pytest.mark.parametrize("kept", [1, 30, 70])
def test_a_line_torn_by_a_crash_was_never_told_and_goes(filled, tmp_path, kept):
    whole = (tmp_path / LOG).read_bytes()
    head = (tmp_path / HEAD).read_bytes()
    filled.record(ALICE, AuditAction.SIGNED_OUT)
    torn = (tmp_path / LOG).read_bytes()[: len(whole) + kept]
    (tmp_path / LOG).write_bytes(torn)
    (tmp_path / HEAD).write_bytes(head)
    assert filled.verify() == 20
    assert filled.last(1)[0].position == 19
    filled.record(ALICE, AuditAction.SIGNED_IN)
    assert filled.verify() == 21


def test_a_birth_that_crashed_begins_again(log, tmp_path):
    write_head(tmp_path / HEAD, AuditHead(-1, 0, ROOT))
    (tmp_path / LOG).touch()
    assert log.verify() == 0
    log.record(ALICE, AuditAction.SIGNED_IN)
    assert log.verify() == 1


def _write(folder, times):
    for _ in range(times):
        AuditLog(folder).record(ALICE, AuditAction.SIGNED_IN)


def test_threads_and_processes_share_one_chain(log, tmp_path):
    threads = [threading.Thread(target=_write, args=(tmp_path, 10)) for _ in range(4)]
    process = subprocess.Popen([sys.executable, "-c", OTHER_PROCESS, str(tmp_path)])
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert process.wait(LONG) == 0
    assert log.verify() == 50
    assert [line.position for line in log.last(50)] == list(range(49, -1, -1))


def test_long_and_odd_words_stay_one_bounded_line(log, tmp_path):
    odd = "\U0001f600\n\r\x00\u2028" * 1000
    log.record(Actor(odd), AuditAction.TOKEN_MADE, **{f"fact{i}": odd for i in range(6)})
    assert log.verify() == 1
    assert (tmp_path / LOG).stat().st_size < LONGEST_LINE
    [line] = log.last(1)
    assert line.facts["fact1"] == odd[:LONGEST_TEXT]


def test_reading_is_bounded_whatever_the_length(log, tmp_path):
    log.record_all(ALICE, AuditAction.TOKEN_MADE, [{"id": str(i)} for i in range(3000)])
    assert len(log.last(10**6)) == MOST_READ
    assert log.last(1)[0].facts == {"id": "2999"}
    (tmp_path / LOG).write_bytes(b"x" * (20 * LONGEST_LINE) + b"\n")
    with pytest.raises(AuditTampered, match="longer than any"):
        log.last(1)
    (tmp_path / LOG).write_bytes(b"x {}\n")
    with pytest.raises(AuditTampered, match="cannot be read"):
        log.last(1)


def test_only_its_owner_can_read_the_files(filled, tmp_path):
    for name in (LOG, HEAD):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600


def test_a_full_disk_is_told(filled, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("discreet.server.access.audit_log.os.write", full)
    with pytest.raises(LedgerWriteFailed, match="nothing was done"):
        filled.record(ALICE, AuditAction.SIGNED_IN)
    monkeypatch.undo()
    assert filled.verify() == 20


def test_failures_are_written_seldom_and_counted(tmp_path):
    log = AuditLog(tmp_path)
    for _ in range(500):
        log.record_limited(STRANGER, AuditAction.SIGN_IN_FAILED, way="page")
    log.record_limited(ALICE, AuditAction.REFUSED, route="GET /x")
    assert log.verify() == BURST + 1, "one crowd does not hide another"


def test_seldom_counts_what_it_leaves_out():
    now = [0.0]
    limited = RateLimitedLog(clock=lambda: now[0])
    assert [limited.may_write("a") for _ in range(BURST)] == [0] * BURST
    assert [limited.may_write("a") for _ in range(7)] == [None] * 7
    assert limited.may_write("b") == 0
    now[0] += PAUSE
    assert limited.may_write("a") == 7
    assert limited.may_write("a") is None
    for i in range(2 * KEPT):
        limited.may_write(str(i))
    assert len(limited._kinds) == KEPT


def test_the_head_reads_back_and_nothing_else_does(tmp_path):
    head = AuditHead(3, 400, "ab" * 32)
    write_head(tmp_path / HEAD, head)
    assert read_head(tmp_path / HEAD) == head
    for wrong in (b"", b"3 400", b"x y z w\n", head.to_bytes() + b" ", b"\xff" * 40):
        (tmp_path / HEAD).write_bytes(wrong)
        with pytest.raises(AuditTampered):
            read_head(tmp_path / HEAD)


def test_lines_are_plain_text_that_others_can_check(filled, tmp_path):
    first = (tmp_path / LOG).read_text(encoding="ascii").splitlines()[0]
    assert json.loads(first.partition(" ")[2])["what"] == "budget changed"
    assert COMMAND_LINE.token == ""
