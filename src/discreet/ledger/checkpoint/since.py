"""A dict of what entries since the checkpoint say; of other keys, what those before it said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from discreet.ledger.chain.links import Link
from discreet.ledger.once.states import ChargeOutcome, Reservation

K = TypeVar("K")
V = TypeVar("V")


class Since(dict[K, V]):
    """Looks up in the entries since the checkpoint first, then in what lies before it.

    Guarantee: `[]`, `get` and `in` tell of the whole history. Going through it, counting and clearing
        are about what came since; that is the whole where `earlier` was never set.
    """

    earlier: Callable[[K], V | None] | None = None
    remembers = False

    def __missing__(self, key: K) -> V:
        """Return what came before; with `remembers` it is kept, to be changed in place."""
        found = self._before(key)
        if found is None:
            raise KeyError(key)
        return found

    def _before(self, key: K) -> V | None:
        found = None if self.earlier is None else self.earlier(key)
        if found is not None and self.remembers:
            self[key] = found
        return found

    def get(self, key: K, default: V | None = None) -> V | None:  # type: ignore[override]
        """Return what is known of `key`, else `default`."""
        if super().__contains__(key):
            return super().__getitem__(key)
        found = self._before(key)
        return default if found is None else found

    def __contains__(self, key: object) -> bool:
        """Return whether anything is known of `key`."""
        return super().__contains__(key) or self.get(key) is not None  # type: ignore[arg-type]


class Earlier(Protocol):
    """What lies before a checkpoint, each fact looked up and checked when it is needed."""

    @property
    def position(self) -> int:
        """Return the last position that the checkpoint covers."""
        ...

    def request(self, key: tuple[str | None, str]) -> int | None:
        """Return where an analyst's request id was entered."""
        ...

    def outcome(self, position: int) -> ChargeOutcome | None:
        """Return what had become of the charge at `position`."""
        ...

    def seal(self, position: int) -> str | None:
        """Return the hash of what was answered to the charge at `position`."""
        ...

    def reservation(self, position: int) -> Reservation | None:
        """Return a reservation as it stood, a new object each time."""
        ...

    def charged(self, analyst: str | None, last: int) -> list[int]:
        """Return where the `last` charges of an analyst stand, oldest first."""
        ...

    def count(self, analyst: str | None) -> int:
        """Return how many charges an analyst had made."""
        ...

    def link(self, position: int) -> Link:
        """Return the link at `position`, checked against the chain."""
        ...

    def links(self, *, start: int) -> list[Link]:
        """Return the history from `start` on, what the checkpoint covers checked against it."""
        ...

    def close(self) -> None:
        """Let go of what it is looked up in."""
        ...
