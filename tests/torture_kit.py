"""Servers, commands, reloads, restores and kills against each other on one ledger."""

from __future__ import annotations

import itertools
import json
import random
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

from discreet.errors import LedgerBusy
from discreet.privacy.ledger import Ledger
from ledger_kit import Child, forked, open_ledger, pay, policy

LIMITS = ("1000000", "2000000")
Say = Callable[[object], None]


@dataclass
class Count:
    """What was done so far, and what went wrong."""

    cycles: int = 0
    kills: int = 0
    acknowledged: int = 0
    reloads: int = 0
    commands: int = 0
    restores: int = 0
    wrong: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path) -> Count:
        return cls(**json.loads(path.read_text())) if path.exists() else cls()

    def write(self, path: Path) -> None:
        temporary = path.with_name(path.name + ".new")
        temporary.write_text(json.dumps(asdict(self)))
        temporary.replace(path)


def serve(base: Path, url: str, name: str, careless: bool, say: Say) -> None:
    """Charge, answer and reload until killed; say what was acknowledged."""
    rng = random.Random(name)
    ledger = open_ledger(base, LIMITS[0], url=url)
    say("open")
    for turn in itertools.count():
        begun, request = time.monotonic(), f"{name}-{turn}"
        receipt = pay(ledger, "1", request)
        say(f"paid {request}")
        if turn % 2:
            ledger.store_answer(receipt, request.encode())
            say(f"told {request}")
        if rng.random() < 0.3:
            new = open_ledger(base, rng.choice(LIMITS), url=url)
            ledger.close()
            ledger = new
            say("reloaded")
        if careless:  # the twin: one look at the file by hand, as the store once did
            with (base / "ledger.db").open("rb"):
                pass
        if url.startswith("postgres"):  # half at work: each opening reads all that was written
            time.sleep(time.monotonic() - begun)


def command(base: Path, url: str, name: str, say: Say) -> None:
    """What one short command does beside the servers."""
    ledger = open_ledger(base, LIMITS[0], url=url)
    pay(ledger, "1", name)
    say(f"paid {name}")
    if int(name[1:]) % 4 == 2:
        ledger.verify()
        ledger.backup(base / f"{name}.backup")
    ledger.close()


def check(base: Path, url: str, paid: set[str], told: set[str], say: Say) -> None:
    """Say what of the acknowledged is missing."""
    ledger = open_ledger(base, LIMITS[0], url=url)
    charges = {e.data["request_id"] for e in ledger.history() if e.kind == "charge"}
    for lost in paid - charges:
        say(f"the charge '{lost}' is lost")
    for request in told:
        if ledger.stored_answer(request) != request.encode():
            say(f"the answer '{request}' is lost")
    ledger.verify()
    ledger.close()
    say("checked")


def restore(base: Path, url: str, copy: Path, say: Say) -> None:
    """Bring `copy` back; say what is spent then, or that it was refused."""
    try:
        ledger = Ledger.restore(url, policy(LIMITS[0]), copy, base=base, reason="torture")
    except LedgerBusy:
        say("refused")
        return
    say(int(ledger.spent("census").epsilon))
    ledger.close()


class Ground:
    """One folder with one ledger, and the servers on it."""

    def __init__(
        self, base: Path, count: Count, rng: random.Random, url: str, *, careless: bool = False
    ) -> None:
        self.base, self.count, self.rng, self.url = base, count, rng, url
        self.careless = careless
        self.paid: set[str] = set()
        self.told: set[str] = set()
        self.servers: list[Child | None] = [None, None]
        self.names = itertools.count()

    def cycle(self) -> None:
        """Start what is down, run commands, kill somebody, look whether anything is missing."""
        for place, server in enumerate(self.servers):
            if server is None:
                job = partial(serve, self.base, self.url, f"s{next(self.names)}", self.careless)
                self.servers[place] = started = forked(job)
                if started.pipe.readline() != "open\n":
                    self.count.wrong.append("a server does not start")
                self.work_begins(started)
        for _ in range(self.rng.randrange(3)):
            self.run(partial(command, self.base, self.url, f"c{next(self.names)}"))
            self.count.commands += 1
        time.sleep(self.rng.random() * 0.15)
        self.try_a_restore()
        for place in self.rng.sample((0, 1), self.rng.randrange(1, 3)):
            self.kill(place)
        self.look()
        self.count.cycles += 1

    def work_begins(self, server: Child) -> None:
        """Hear a server until it has paid, reloaded and paid again, however slow the machine is."""
        line = "open"
        while line and not line.startswith("reloaded"):
            line = server.pipe.readline()
            self.hear([line.rstrip("\n")])
        self.hear([server.pipe.readline().rstrip("\n")])

    def run(self, job: Callable[[Say], None]) -> list[str]:
        said = forked(job).lines()
        self.hear(said)
        return said

    def hear(self, said: list[str]) -> None:
        for line in said:
            word, _, name = line.partition(" ")
            if word == "paid":
                self.paid.add(name)
                self.count.acknowledged += 1
            elif word == "told":
                self.told.add(name)
            elif word == "reloaded":
                self.count.reloads += 1

    def kill(self, place: int) -> None:
        server, self.servers[place] = self.servers[place], None
        if server is not None:
            server.kill()
            said = server.lines()
            self.hear(said)
            self.count.kills += 1
            if server.status != 9:
                self.count.wrong.append(f"a server ended by itself: {server.status}")

    def look(self) -> None:
        said = self.run(partial(check, self.base, self.url, set(self.paid), set(self.told)))
        if said != ["checked"]:
            self.count.wrong.extend(said or ["the ledger cannot be opened"])

    def try_a_restore(self) -> None:
        """Beside running servers, a restore must refuse."""
        copies = sorted(self.base.glob("*.backup"))
        if copies:
            said = self.run(partial(restore, self.base, self.url, copies[0]))
            if said != ["refused"]:
                self.count.wrong.append(f"a restore under running servers: {said}")

    def end(self) -> None:
        """Stop all, and restore the oldest backup: nothing acknowledged may count as unspent."""
        for place in (0, 1):
            self.kill(place)
        self.look()
        copies = sorted(self.base.glob("*.backup"))
        if copies:
            said = self.run(partial(restore, self.base, self.url, copies[0]))
            self.count.restores += 1
            if len(said) != 1 or not said[0].isdigit() or int(said[0]) < len(self.paid):
                self.count.wrong.append(f"after a restore {said} of {len(self.paid)} are spent")
