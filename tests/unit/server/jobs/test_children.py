"""Child processes of long jobs: what they say, what limits them, and that nothing of them stays."""

import io
import json
import logging
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from child_tasks import FOLDER, lives, on_path
from discreet.errors import BudgetExceeded, Cancelled, InvalidInput, MissingExtra
from discreet.server.jobs import children as module
from discreet.server.jobs.children import (
    MODULE,
    ChildEnded,
    ChildLimits,
    Children,
    sweep,
    workplace,
)
from discreet.server.jobs.queue import Job, JobState, Runner
from discreet.server.logs import JsonLines
from patience import LONG, eventually


@pytest.fixture(autouse=True)
def path(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", on_path())


def children(state, *, memory_mb=0, seconds=LONG, **more):
    return Children(state, ChildLimits(memory_mb, seconds), **more)


def job():
    return Job("a", lambda _: None, "request-7")


def numbers(where):
    eventually(where.exists, "the child did not start")
    return [int(number) for number in where.read_text().split()]


def test_an_answer_comes_from_another_process_and_leaves_nothing(tmp_path):
    mine = job()
    found = children(tmp_path).run(mine, "child_tasks:echo", {"word": "x", "path": str(tmp_path)})
    assert found["asked"] == {"word": "x", "path": str(tmp_path)}
    assert found["process"] != os.getpid()
    assert not lives(found["process"])
    assert mine.progress == (1, 2, "half way")
    assert list((tmp_path / "jobs").iterdir()) == []


def test_errors_that_were_foreseen_travel_whole_and_others_without_their_words(tmp_path):
    found = children(tmp_path)
    with pytest.raises(BudgetExceeded, match="Too much") as budget:
        found.run(job(), "child_tasks:refuse", {"kind": "budget"})
    said = budget.value
    assert (said.hint, said.asked, said.left, said.limit) == ("Less.", "2", "1", "3")
    with pytest.raises(InvalidInput, match="No"):
        found.run(job(), "child_tasks:refuse", {"kind": "input"})
    with pytest.raises(MissingExtra) as extra:
        found.run(job(), "child_tasks:refuse", {"kind": "extra"})
    assert vars(extra.value) == vars(MissingExtra("jax", extra="rap"))
    with pytest.raises(ChildEnded) as other:
        found.run(job(), "child_tasks:refuse", {"kind": "other"})
    assert "cell" not in str(other.value)


def test_its_log_lines_have_the_request_and_no_word_of_an_exception(tmp_path, monkeypatch):
    monkeypatch.setenv("THE_SECRET", "x")
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    handler.setFormatter(JsonLines())
    ours = logging.getLogger("discreet.server")
    ours.addHandler(handler)
    ours.setLevel("INFO")
    try:
        mine = job()
        found = children(tmp_path, hidden=["THE_SECRET"]).run(mine, "child_tasks:talk", {})
    finally:
        ours.removeHandler(handler)
    assert "THE_SECRET" not in found
    assert "PYTHONPATH" in found
    first, last = (json.loads(line) for line in log.getvalue().splitlines())
    assert (first["event"], first["level"], first["public"]) == ("something", "error", 7)
    assert (last["event"], last["ended"], last["task"]) == ("job", "done", "child_tasks:talk")
    for line in (first, last):
        assert (line["job"], line["request"]) == (mine.id, "request-7")
    assert "cell" not in log.getvalue()


@pytest.mark.parametrize("set_by_owner", ["", "4"])
def test_it_computes_with_one_thread_unless_the_owner_says_otherwise(
    tmp_path, monkeypatch, set_by_owner
):
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    if set_by_owner:
        monkeypatch.setenv("OPENBLAS_NUM_THREADS", set_by_owner)
    found = children(tmp_path).run(job(), "child_tasks:threads", {})
    assert found == (set_by_owner or "1")


def test_memory_is_limited_and_a_twin_without_the_limit_is_not(tmp_path):
    with pytest.raises(ChildEnded, match="more memory than the 300 MB"):
        children(tmp_path, memory_mb=300).run(job(), "child_tasks:grow", {"megabytes": 1000})
    twin = children(tmp_path).run(job(), "child_tasks:grow", {"megabytes": 1000})
    assert twin == 1000 << 20


def test_time_is_limited(tmp_path):
    with pytest.raises(ChildEnded, match="longer than the"):
        children(tmp_path, seconds=0.2).run(
            job(), "child_tasks:hang", {"where": str(tmp_path / "never")}
        )
    assert list((tmp_path / "jobs").iterdir()) == []


@pytest.mark.parametrize(
    ("how", "said"),
    [("exit", "before it had an answer"), ("SIGKILL", "killed"), ("SIGABRT", "SIGABRT")],
)
def test_a_death_is_noticed_and_said(tmp_path, how, said):
    with pytest.raises(ChildEnded, match=said):
        children(tmp_path).run(job(), "child_tasks:end", {"how": how})


def cancelled(tmp_path):
    """Cancel a job that hangs; return the numbers of its process and of the one that it started."""
    where = tmp_path / "numbers"
    runner = Runner(workers=1, in_work_each=1, reading_each=1, waiting_each=1)
    mine = runner.submit(
        "a", lambda job: children(tmp_path).run(job, "child_tasks:hang", {"where": str(where)})
    )
    found = numbers(where)
    runner.cancel(mine)
    with pytest.raises(Cancelled, match="Nothing was charged"):
        mine.future.result(LONG)
    eventually(lambda: mine.state is JobState.CANCELLED, "the job did not end")
    runner.close()
    return found


def test_cancelling_kills_the_whole_group(tmp_path):
    leader, other = cancelled(tmp_path)
    assert not lives(leader)
    eventually(lambda: not lives(other), "what the child had started lives on")
    assert list((tmp_path / "jobs").iterdir()) == []


def test_a_twin_that_kills_the_leader_alone_is_caught(tmp_path, monkeypatch):
    monkeypatch.setattr(module.os, "killpg", os.kill)
    leader, other = cancelled(tmp_path)
    assert not lives(leader)
    assert lives(other)
    os.kill(other, signal.SIGKILL)


def test_what_is_cancelled_before_it_begins_is_never_told_what_to_do(tmp_path):
    mine = job()
    mine.cancel()
    with pytest.raises(Cancelled):
        children(tmp_path).run(mine, "child_tasks:hang", {"where": str(tmp_path / "never")})
    assert not (tmp_path / "never").exists()


def test_no_child_outlives_its_server_and_a_twin_without_the_check_is_caught(tmp_path):
    kinds = {MODULE: tmp_path / "honest", "child_orphan": tmp_path / "twin"}
    words = [word for kind, where in kinds.items() for word in (kind, str(where))]
    program = [sys.executable, str(Path(FOLDER) / "child_server.py"), str(tmp_path), *words]
    server = subprocess.Popen(program)
    try:
        honest, twin = (numbers(where) for where in kinds.values())
    finally:
        server.kill()
        server.wait()
    eventually(lambda: not any(map(lives, honest)), "a child outlived its server")
    assert all(map(lives, twin))
    os.killpg(twin[0], signal.SIGKILL)
    left = list((tmp_path / "jobs").iterdir())
    assert len(left) == 2
    with workplace(tmp_path, "of a living server") as mine:
        sweep(tmp_path)
        assert list((tmp_path / "jobs").iterdir()) == [mine]


def test_a_spare_process_does_the_next_job_and_ends_with_the_server(tmp_path):
    found = children(tmp_path, spare=True, warm=("a.room",), module="child_unready")
    found.warm()
    first = found._spare
    assert first._process.args[-2:] == ["spare", "a.room"], (
        "what features want is imported meanwhile"
    )
    found.warm()
    assert found._spare is first
    answer = found.run(job(), "child_tasks:echo", {})
    assert answer["process"] == first.number
    second = found._spare
    assert second.number != first.number
    os.kill(second.number, signal.SIGKILL)
    eventually(lambda: not lives(second.number), "it lives on")
    assert found.run(job(), "child_tasks:echo", {})["process"] != second.number
    third = found._spare
    found.close()
    assert not lives(third.number)
    found.warm()
    assert found._spare is None
