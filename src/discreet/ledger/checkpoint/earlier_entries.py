"""What lies before a checkpoint: looked up in its parts, or read from the history and checked there."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeVar

from discreet.core.hash_chain import canonical
from discreet.errors import LedgerTampered
from discreet.ledger.chain.links import Link, checked
from discreet.ledger.checkpoint.parts import DIGEST, NUMBER, CheckpointPart, found_in, number
from discreet.ledger.entry import Entry
from discreet.ledger.idempotency.states import AccountState, ChargeOutcome
from discreet.ledger.store.base import ChainLinks

_STATES = tuple(AccountState)
K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class EarlierEntries:
    """Everything up to `position` that is too much to hold in memory.

    Guarantee: what is returned is what the whole history says, as surely as the digests of the parts
        are right: a record, or that there is none, is in a page whose digest is known; a link is read
        together with those up to the next hash that is known, and all of them are checked.
    """

    store: ChainLinks
    position: int
    hash: str
    parts: tuple[CheckpointPart, ...]
    counts: Mapping[str | None, int]

    def request(self, key: tuple[str | None, str]) -> int | None:
        """Return where an analyst's request id was entered."""
        found = found_in(self.parts, "requests", request_key(*key))
        return None if found is None else int.from_bytes(found, "big")

    def outcome(self, position: int) -> ChargeOutcome | None:
        """Return what had become of the charge at `position`; how one failed is read from its entry."""
        found = found_in(self.parts, "outcomes", number(position))
        if found is None:
            return None
        state = _STATES[found[0]]
        if state is not AccountState.FAILED:
            return ChargeOutcome(state)
        where = int.from_bytes(found[1 : 1 + NUMBER], "big")
        return ChargeOutcome(state, Entry.of(self.link(where)).data["error"])

    def seal(self, position: int) -> str | None:
        """Return the hash of what was answered to the charge at `position`."""
        found = found_in(self.parts, "outcomes", number(position))
        digest = b"" if found is None else found[-DIGEST:]
        return digest.hex() if any(digest) else None

    def charged(self, analyst: str | None, last: int) -> list[int]:
        """Return where the `last` charges of an analyst stand, oldest first."""
        found: list[int] = []
        for part in reversed(self.parts):
            if len(found) >= last:
                break
            keys = part.tables["charged"].last_of(analyst_key(analyst), last - len(found))
            found = [int.from_bytes(key[-NUMBER:], "big") for key in keys] + found
        return found

    def count(self, analyst: str | None) -> int:
        """Return how many charges an analyst had made."""
        return self.counts.get(analyst, 0)

    def link(self, position: int) -> Link:
        """Return the link at `position`, checked against the chain."""
        known = [part.tables["milestones"].first_from(number(position)) for part in self.parts]
        marks = [(int.from_bytes(key, "big"), value.hex()) for key, value in filter(None, known)]
        end, expected = min([*marks, (self.position, self.hash)])
        links = self.store.links(start=position, stop=end + 1)
        return self._chained(links, position, end, expected)[0]

    def links(self, *, start: int) -> list[Link]:
        """Return the history from `start` on, what the checkpoint covers checked against it."""
        return self._chained(self.store.links(start=start), start, self.position, self.hash)

    def close(self) -> None:
        """Let go of the parts' files; nothing can be looked up in them any more."""
        for part in self.parts:
            part.close()

    def _chained(self, links: Iterator[Link], start: int, end: int, expected: str) -> list[Link]:
        first = next(links, None)
        if first is not None:
            whole = checked(chain([first], links), position=start, previous=first.previous)
            found = list(whole)
            if len(found) > end - start and found[end - start].hash == expected:
                return found
        raise LedgerTampered(
            f"The ledger's history is damaged at or before entry {end}: it does not match its "
            "checkpoint.",
            hint="See: discreet ledger verify.",
        )


class RecentThenPast(dict[K, V]):
    """Looks up in the entries since the checkpoint first, then in what lies before it.

    Guarantee: `[]`, `get` and `in` tell of the whole history. Going through it, counting and clearing
        are about what came since; that is the whole where `earlier` was never set.
    """

    earlier: Callable[[K], V | None] | None = None

    def __missing__(self, key: K) -> V:
        """Return what came before."""
        found = self._before(key)
        if found is None:
            raise KeyError(key)
        return found

    def _before(self, key: K) -> V | None:
        return None if self.earlier is None else self.earlier(key)

    def get(self, key: K, default: V | None = None) -> V | None:  # type: ignore[override]
        """Return what is known of `key`, else `default`."""
        if super().__contains__(key):
            return super().__getitem__(key)
        found = self._before(key)
        return default if found is None else found

    def __contains__(self, key: object) -> bool:
        """Return whether anything is known of `key`."""
        return super().__contains__(key) or self.get(key) is not None  # type: ignore[arg-type]


def request_key(analyst: str | None, request_id: str) -> bytes:
    """Return the key of a request: 192 bits of a hash, which no two requests share."""
    return _hashed([analyst, request_id])


def analyst_key(analyst: str | None) -> bytes:
    """Return what the keys of an analyst's charges begin with."""
    return _hashed([analyst])


def _hashed(names: Sequence[Any]) -> bytes:
    return hashlib.sha256(canonical({"of": list(names)}).encode()).digest()[:24]


def outcome_value(outcome: ChargeOutcome, entered: int, digest: str | None) -> bytes:
    """Return the record of what has become of a charge; `entered` is where a failure was entered."""
    state = bytes([_STATES.index(outcome.state)])
    return state + number(entered) + (bytes.fromhex(digest) if digest else bytes(DIGEST))
