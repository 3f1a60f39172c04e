"""Security tests 2 and 19 (portable part): kill -9 at random points, and a disk that is full."""

from __future__ import annotations

import os
import random
import resource
import signal
import time

import pytest

from discreet.errors import DiscreetError, LedgerWriteFailed
from ledger_kit import forked, open_ledger, pay
from sittings import sittings

LIMIT = "1000000"
LONGEST = 0.015  # seconds: about as long as one charge and one answer take


def answering(base, name):
    """Return a job that charges, stores and sends without end, saying each step once it is done."""

    def job(say) -> None:
        ledger, turn = open_ledger(base, LIMIT), 0
        while True:
            receipt = pay(ledger, "1/10", f"{name}-{turn}")
            say(f"charged {receipt.request_id}")
            say(ledger.store_answer(receipt, f"told {receipt.request_id}".encode()).decode())
            turn += 1

    return job


def answering_first(base, name):
    """The broken twin: it sends the answer and then records the charge, like several systems."""

    def job(say) -> None:
        ledger = open_ledger(base, LIMIT)
        say(f"told {name}-0")
        signal.pause()  # the kill comes here, at the worst moment
        pay(ledger, "1/10", f"{name}-0")

    return job


def broken_promises(base, said: list[str]) -> list[str]:
    """Return each thing that was said and that the ledger does not know after the crash."""
    ledger = open_ledger(base, LIMIT)  # also checks the chain and the head
    charged = {entry.data["request_id"] for entry in ledger.history() if entry.kind == "charge"}
    broken = []
    for line in said:
        word, name = line.split(" ")
        if name not in charged:
            broken.append(f"{line}: no durable charge")
        if word == "told" and ledger.stored_answer(name) != line.encode():
            broken.append(f"{line}: no durable answer")
    spent = ledger.spent("census")
    if spent.charges != len(charged) or spent.epsilon * 10 != len(charged):
        broken.append("the sum is off")
    ledger.close()
    return broken


def kills(tmp_path, cycles):
    """Kill once for each of these cycles, at a random point."""
    rng = random.Random(os.urandom(8))
    for cycle in cycles:
        base = tmp_path / str(cycle // 50)  # a long history would only slow the check
        base.mkdir(exist_ok=True)
        child = forked(answering(base, f"c{cycle}"))
        # The random point: some steps into the work (none: while it opens), and then a moment.
        said = [child.pipe.readline().rstrip("\n") for _ in range(rng.randrange(8))]
        time.sleep(rng.uniform(0, LONGEST))
        child.kill()
        said += child.lines()
        assert broken_promises(base, said) == []


def test_nothing_acknowledged_is_lost_by_kill_9(tmp_path, record_property):
    kills(tmp_path, range(30))
    record_property("kills at random points, 0 promises broken", 30)


@pytest.mark.slow
@pytest.mark.timeout(6 * 3600)
def test_nothing_acknowledged_is_lost_by_kill_9_in_full(tmp_path):
    kills(tmp_path, sittings("ledger-kills", 10_000))


def test_the_check_catches_a_twin_that_charges_last(tmp_path):
    open_ledger(tmp_path, LIMIT).close()
    child = forked(answering_first(tmp_path, "twin"))
    assert child.pipe.readline() == "told twin-0\n"
    child.kill()
    child.lines()
    assert broken_promises(tmp_path, ["told twin-0"]) == [
        "told twin-0: no durable charge",
        "told twin-0: no durable answer",
    ]


@pytest.mark.parametrize("room", [8_192, 20_000, 45_000, 100_000])
def test_a_full_disk_answers_nothing_uncharged(tmp_path, room):
    """The child's files may not grow beyond `room` bytes: the write that crosses it fails."""
    ledger = open_ledger(tmp_path, LIMIT)
    pay(ledger, "1/10", "before")
    ledger.close()

    def job(say) -> None:
        mine = open_ledger(tmp_path, LIMIT)
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
        for turn in range(10_000):
            try:
                receipt = pay(mine, "1/10", f"t{turn}")
                say(f"charged {receipt.request_id}")
                say(mine.store_answer(receipt, f"told t{turn}".encode()).decode())
            except LedgerWriteFailed:
                say("refused")
                return
            except DiscreetError as error:
                say(f"unexpected {error.kind}")
                return

    said = forked(job).lines()
    assert said[-1] == "refused"
    assert broken_promises(tmp_path, said[:-1]) == []
    after = open_ledger(tmp_path, LIMIT)
    pay(after, "1/10", "room again")
    after.close()
