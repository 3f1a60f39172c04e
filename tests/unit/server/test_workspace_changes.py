"""Whatever happens while a change is being tried: nothing is lent but what the file says.

One thread, a clock that is told the time, and attempts that run when the test says so: what others do
while an attempt waits (for the engine, for the ledger) is done inside of it.
"""

from __future__ import annotations

import contextlib
import random
import threading
from types import SimpleNamespace

import pytest

from discreet.errors import CatalogError, LedgerBusy, NotInForce, ServerFailed
from discreet.server import workspace as module
from discreet.server.workspace import CatalogState, Workspace
from sittings import examples

TEXTS = [b"", b"a", b"b", b"c", b"wrong", None]
LAST = b"last"
"""Never tried before, so no failure of before may delay it."""


class Hasty(Workspace):
    """The broken twin: what was noticed during another attempt is not noticed again."""

    def _look(self, now):
        seen, state = self._seen, self.state
        super()._look(now)
        if self._seen == seen and state is CatalogState.IN_FORCE is not self.state:
            self.state = state

    def _exchange(self, new):
        seen = self._seen
        ended = super()._exchange(new)
        self._seen = seen
        self._enter(CatalogState.IN_FORCE, None)
        return ended

    def _try(self):
        super()._try()
        self._seen = self._world.tried


class FakeCurator:
    """A curator whose engine and ledger take as long as the world lets them."""

    def __init__(self, world, text):
        if text == b"wrong":
            raise CatalogError("No catalog.")
        self.world, self.text, self.closed = world, text, False
        self.catalog = SimpleNamespace(analysts={text})

    @property
    def engine(self):
        self.world.meanwhile()
        return self.world.perhaps_fail(ServerFailed("No engine."))

    @property
    def ledger(self):
        self.world.meanwhile()
        return self.world.perhaps_fail(LedgerBusy("Not now."))

    def close(self):
        self.closed = True


class World:
    """A file, a clock and a workspace; `since` are the texts of the file since the last look."""

    def __init__(self, config, monkeypatch, *, kind=Workspace, dice=None, start=b"a"):
        self.config, self.dice, self.now = config, dice, 1000.0
        self.attempt, self.steps, self.fails, self.tried = None, [], False, None
        self.since = []
        config.unlink(missing_ok=True)
        self.write(start)
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: self.now))
        monkeypatch.setattr(module, "threading", self)
        monkeypatch.setattr(module, "FIRST_WAIT", -1.0)
        monkeypatch.setattr(module, "curator_of", lambda _, text: FakeCurator(self, text))
        kind._world = self
        self.workspace = kind(config)

    Condition, Lock = staticmethod(threading.Condition), staticmethod(threading.Lock)

    def Thread(self, *, target, **_):  # noqa: N802  # stands for the module `threading`
        def keep():
            assert self.attempt is None, "one attempt at a time"
            self.attempt, self.tried = target, self.workspace._seen

        return SimpleNamespace(start=keep, join=lambda _: None)

    def write(self, text):
        self.since.append(text)
        if text is None:
            self.config.unlink(missing_ok=True)
        else:
            self.config.write_bytes(text)

    def text(self):
        return self.config.read_bytes() if self.config.exists() else None

    def look(self):
        """Look at the file, as each call does, and check what is lent."""
        self.since = [self.text()]
        self.workspace.refresh(at_once=True)
        self.check()

    def check(self):
        """Nobody is answered but under a text that the file has had since the last look."""
        for text in [*TEXTS, LAST]:
            try:
                allowed = self.workspace.lists(text)
            except NotInForce:
                return
            assert not allowed or text in self.since, f"{text!r} is answered, {self.since} said"
        assert self.workspace.problem is None
        assert not self.workspace._shelf.curator.closed

    def run_attempt(self, *steps, fails=False):
        """Let the attempt run that was begun; `steps` happen while it waits for the ledger."""
        target, self.attempt, self.steps, self.fails = self.attempt, None, list(steps), fails
        target()
        self.check()

    def meanwhile(self):
        if self.dice is None:
            if self.steps:
                self.steps.pop(0)()
        else:
            for _ in range(self.dice.choice([0, 0, 1, 2, 4])):
                self.random_step()

    def perhaps_fail(self, error):
        if self.fails or (self.dice is not None and self.dice.random() < 0.15):
            raise error

    def random_step(self):
        dice = self.dice
        step = dice.randrange(4)
        if step == 0:
            self.write(dice.choice(TEXTS))
        elif step == 1:
            self.now += dice.choice([0.1, 1.0, 40.0])
        else:
            self.look()
        self.check()


def history(world, steps):
    """Do random steps; then the file holds still, and is in force without a wait."""
    for _ in range(steps):
        if world.attempt is not None and world.dice.random() < 0.5:
            world.run_attempt()
        elif world.dice.random() < 0.1 and world.attempt is None:
            with contextlib.suppress(CatalogError, LedgerBusy, ServerFailed):
                world.workspace.reload()
            world.check()
        else:
            world.random_step()
    world.dice = None
    world.write(LAST)
    if world.attempt is not None:
        world.run_attempt()
    for _ in range(2):
        world.look()
        if world.attempt is not None:
            world.run_attempt()
    assert world.workspace.lists(LAST)


@pytest.fixture
def config(tmp_path):
    return tmp_path / "discreet.toml"


def histories(config, monkeypatch, kind):
    for seed in range(examples(120)):
        dice = random.Random(seed)
        start = [None, b"", b"a"][seed % 3]
        world = World(config, monkeypatch, kind=kind, start=start)
        world.dice = dice
        history(world, 40)


def test_nothing_is_lent_but_what_the_file_says(config, monkeypatch):
    histories(config, monkeypatch, Workspace)


def test_the_model_sees_a_change_that_is_not_noticed_again(config, monkeypatch):
    with pytest.raises(AssertionError, match="is answered"):
        histories(config, monkeypatch, Hasty)


@pytest.mark.parametrize("later", [b"b", b"wrong", b"", None])
@pytest.mark.parametrize("waited", [0.1, 40.0])
def test_what_is_noticed_during_an_attempt_stays_closed_and_is_tried_at_once(
    config, monkeypatch, later, waited
):
    world = World(config, monkeypatch)
    world.write(b"c")
    world.look()

    def change_again():
        world.now += waited

    def noticed():
        world.write(later)
        world.look()

    world.run_attempt(change_again, noticed)
    with pytest.raises(NotInForce):
        world.workspace.require_in_force()
    world.look()
    if later == b"b":
        world.run_attempt()
        assert world.workspace.lists(b"b")
    else:
        with pytest.raises(NotInForce):
            world.workspace.require_in_force()


def test_a_first_file_that_cannot_be_put_in_force_and_is_taken_away_leaves_the_server_open(
    config, monkeypatch
):
    world = World(config, monkeypatch, start=None)
    world.write(b"a")
    monkeypatch.setattr(FakeCurator, "engine", None)
    world.fails = True
    with pytest.raises(LedgerBusy):
        world.workspace.reload()
    world.fails = False
    world.write(None)
    world.look()
    world.run_attempt()
    assert world.workspace.lists(None)
