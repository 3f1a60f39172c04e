"""What stops in the middle until a test lets it go on: an engine that reads, and the child of a long job."""

import threading

from discreet.errors import EngineFailed
from patience import LONG, eventually


class GatedEngine:
    """An engine that reads only once the gate is open; cancelling breaks the wait."""

    def __init__(self, inner):
        self._inner = inner
        self.reading = threading.Event()
        self.gate = threading.Event()
        self.stopped = False

    def __getattr__(self, name):
        return getattr(self._inner, name)

    def hold(self, tables, **how):
        return GatedHeld(self, self._inner.hold(tables, **how))

    def wait(self):
        self.reading.set()
        assert self.gate.wait(LONG), "nobody opened the gate"
        if self.stopped:
            raise EngineFailed("stopped")

    def cancel(self, **_named):
        self.stopped = True
        self.gate.set()


class GatedHeld:
    """A held state behind its engine's gate."""

    def __init__(self, engine, inner):
        self._engine = engine
        self._inner = inner

    def __getattr__(self, name):
        return getattr(self._inner, name)

    def paid(self, permit):
        return self._inner.paid(permit).through(self._gated, self._gated)

    def _gated(self, read):
        def gated(*arguments, **named):
            self._engine.wait()
            return read(*arguments, **named)

        return gated

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._inner.close()


class HeldJob:
    """The next long job of a server: its child stops while it reads, until it is let go."""

    def __init__(self, file):
        self._file = file

    def wait(self):
        eventually(self._file.exists, "the child did not get there")

    def go(self):
        self._file.with_name(f"{self._file.name}.go").touch()
