"""Short words for tests of the ledger: a policy, a payer, quotes, and a ledger in a folder."""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TextIO

from discreet.base.event import EVERYONE, Cost, Positions, Pure, Quote, Region
from discreet.privacy.ledger import BudgetPolicy, Ledger, Payer, Policy
from discreet.privacy.ledger.accounts import NewVersion
from discreet.privacy.ledger.head import known_heads
from lent import for_a_fork

OWNER = Payer(None, "census", "census")
ALICE = Payer("alice", "census", "census")

WOMEN = Region.of({"sex": Positions.points([0])})
MEN = Region.of({"sex": Positions.points([1])})
ADULTS = Region.of({"age": Positions.of([(21, 120)])})


def policy(epsilon="1", delta=0, **more) -> Policy:
    return Policy({"census": BudgetPolicy.of(epsilon, delta)}, **more)


def quote(epsilon, region: Region = EVERYONE) -> Quote:
    amount = Fraction(epsilon)
    return Quote(Pure(amount), Cost(amount, Fraction(0), amount**2 / 2, Fraction(0)), region)


def open_ledger(base: Path, epsilon="1", delta=0, url: str = "sqlite:ledger.db", **more) -> Ledger:
    return Ledger.open(url, policy(epsilon, delta, **more), base=base)


def pay(ledger: Ledger, epsilon, name: str, region: Region = EVERYONE, payer: Payer = OWNER):
    return ledger.charge(payer, quote(epsilon, region), request_id=name, body=f"body of {name}")


def as_a_new_process() -> None:
    """Forget what this process has seen of any ledger."""
    known_heads.__init__()


def begin(ledger: Ledger, table: str, print_: str = "print", why: str = "owner") -> int:
    """Begin a version of one table and return its number."""
    new = NewVersion(table, {table: print_}, {table: "declared"}, "", why)
    begun = ledger.begin_version(new, after=ledger.version(table))
    assert begun is not None
    return begun.number


@dataclass
class Child:
    """A forked process, and the lines that it says."""

    pid: int
    pipe: TextIO

    def lines(self) -> list[str]:
        """Return everything that it said, once it has ended."""
        with self.pipe as pipe:
            said = pipe.read().split("\n")
        self.status = os.waitpid(self.pid, 0)[1]
        return said[:-1]  # what follows the last newline was cut off by a kill

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)


def forked(job: Callable[[Callable[[object], None]], None]) -> Child:
    """Return a child process that runs `job(say)`; forking is 100 times faster than starting."""
    reading, writing = os.pipe()
    borrow = for_a_fork()
    pid = os.fork()
    if pid:
        os.close(writing)
        return Child(pid, os.fdopen(reading))
    status = 1
    try:
        os.close(reading)
        borrow()
        job(lambda line: os.write(writing, f"{line}\n".encode()) and None)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)
