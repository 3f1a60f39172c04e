"""Records of a checkpoint: files of sorted records with digests, and what lies before a checkpoint, looked up in them.

A part is a file that is written once and has one table for each of WIDTHS. Records have a fixed size and are sorted
by key; a page holds ROWS of them. Behind the pages comes the directory: first key and SHA-256 of every page. Whoever
knows the digest of the directory can look up a key, or learn that it is not there, from one page. What no part
has is read from the history and checked there.
"""

from __future__ import annotations

import hashlib
import heapq
import os
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

from discreet.base.proof import canonical
from discreet.errors import LedgerTampered
from discreet.privacy.ledger.entry import AccountState, ChargeOutcome, Entry, Link, checked
from discreet.privacy.ledger.store import ChainLinks

ROWS = 64
"""Records of one page."""
DIGEST = 32
NUMBER = 8

Records: TypeAlias = dict[bytes, bytes]


class Width(NamedTuple):
    """How many bytes the keys and the values of one table have."""

    key: int
    value: int


WIDTHS = {
    "requests": Width(24, NUMBER),
    "outcomes": Width(NUMBER, 1 + NUMBER + DIGEST),
    "charged": Width(24 + NUMBER, 0),
    "milestones": Width(NUMBER, DIGEST),
}
"""The tables of a part, in the order of the file."""


def number(value: int) -> bytes:
    """Return a position as a key: sorted as bytes as it is as a number."""
    return value.to_bytes(NUMBER, "big")


class PartFile:
    """The open file of a part. It stays readable until it is closed, also if its name is removed.

    It is closed at the latest when nothing refers to it any more; tables refer to it, and not it to them.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("rb", buffering=0)

    @property
    def size(self) -> int:
        """Return how many bytes it has."""
        return os.fstat(self._file.fileno()).st_size

    def read(self, offset: int, size: int) -> bytes:
        """Return bytes of the file; by place, so that forks and threads may share it."""
        content = os.pread(self._file.fileno(), size, offset)
        if len(content) != size:
            raise damaged(self.path)
        return content

    def close(self) -> None:
        """Let go of the file; nothing can be read any more."""
        self._file.close()

    def __del__(self) -> None:
        file = getattr(self, "_file", None)
        if file is not None:
            file.close()


class RecordTable:
    """One table of a part, read page by page.

    Guarantee: nothing is returned that was not in a page with the digest that the directory has.
    """

    def __init__(self, file: PartFile, width: Width, offset: int, count: int, pages: bytes) -> None:
        self._file = file
        self._width = width
        self._offset = offset
        self._count = count
        self._pages = pages
        self._last: tuple[int, bytes] = (-1, b"")

    def __len__(self) -> int:
        return self._count

    def find(self, key: bytes) -> bytes | None:
        """Return the value of `key`; None: it is not in this table."""
        page = self._page_of(key)
        if page < 0:
            return None
        content, wide, size = self._content(page), self._width.key, sum(self._width)
        rows = range(0, len(content), size)
        at = rows[bisect_right(rows, key, key=lambda row: content[row : row + wide]) - 1]
        return content[at + wide : at + size] if content[at : at + wide] == key else None

    def first_from(self, key: bytes) -> tuple[bytes, bytes] | None:
        """Return the first record whose key is `key` or comes after it."""
        for page in range(max(0, self._page_of(key)), self._many):
            for found, value in self._read(page):
                if found >= key:
                    return found, value
        return None

    def last_of(self, prefix: bytes, last: int) -> list[bytes]:
        """Return the `last` keys that begin with `prefix`, in order."""
        keys: list[bytes] = []
        page = self._page_of(prefix.ljust(self._width.key, b"\xff"))
        while page >= 0 and len(keys) < last:
            mine = [key for key, _ in self._read(page) if key.startswith(prefix)]
            keys = mine + keys
            if not mine or self._key(page) < prefix:
                break
            page -= 1
        return keys[-last:] if last > 0 else []

    def records(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield all records, sorted."""
        for page in range(self._many):
            yield from self._read(page)

    @property
    def _many(self) -> int:
        return -(-self._count // ROWS)

    def _key(self, page: int) -> bytes:
        at = page * (self._width.key + DIGEST)
        return self._pages[at : at + self._width.key]

    def _page_of(self, key: bytes) -> int:
        """Return the page that holds `key` if any does; -1: it would come before all."""
        return bisect_right(range(self._many), key, key=self._key) - 1

    def _read(self, page: int) -> list[tuple[bytes, bytes]]:
        content, key, size = self._content(page), self._width.key, sum(self._width)
        return [
            (content[at : at + key], content[at + key : at + size])
            for at in range(0, len(content), size)
        ]

    def _content(self, page: int) -> bytes:
        if self._last[0] != page:
            size = sum(self._width)
            rows = min(ROWS, self._count - page * ROWS)
            content = self._file.read(self._offset + page * ROWS * size, rows * size)
            at = page * (self._width.key + DIGEST) + self._width.key
            if hashlib.sha256(content).digest() != self._pages[at : at + DIGEST]:
                raise damaged(self._file.path)
            self._last = (page, content)
        return self._last[1]


@dataclass(frozen=True, slots=True)
class PartFacts:
    """What a checkpoint knows of a part: the digest of its directory, where that is, how many records."""

    digest: str
    directory: int
    size: int
    records: int

    def to_json(self) -> list[Any]:
        """Return the form that the checkpoint keeps."""
        return [self.digest, self.directory, self.size, self.records]


class CheckpointPart:
    """An open part, with its tables."""

    def __init__(self, path: Path, facts: PartFacts) -> None:
        self.path = path
        self.facts = facts
        self._file = PartFile(path)
        if self._file.size != facts.size:
            raise damaged(path)
        content = self._file.read(facts.directory, facts.size - facts.directory)
        if hashlib.sha256(content).hexdigest() != facts.digest:
            raise damaged(path)
        self.tables: dict[str, RecordTable] = {}
        at, offset = 0, 0
        for name, width in WIDTHS.items():
            count = int.from_bytes(content[at : at + NUMBER], "big")
            end = at + NUMBER + -(-count // ROWS) * (width.key + DIGEST)
            pages = content[at + NUMBER : end]
            self.tables[name] = RecordTable(self._file, width, offset, count, pages)
            at, offset = end, offset + count * sum(width)

    def close(self) -> None:
        """Let go of the file; nothing can be looked up any more."""
        self._file.close()


def encoded(tables: Mapping[str, Records]) -> tuple[bytes, PartFacts]:
    """Return the content of a new part with these records, and what to know of it."""
    pages: list[bytes] = []
    directory: list[bytes] = []
    for name, width in WIDTHS.items():
        rows = sorted(tables[name].items())
        directory.append(number(len(rows)))
        for start in range(0, len(rows), ROWS):
            some = rows[start : start + ROWS]
            page = b"".join(key + value for key, value in some)
            assert len(page) == len(some) * sum(width)
            pages.append(page)
            directory += [some[0][0], hashlib.sha256(page).digest()]
    body, index = b"".join(pages), b"".join(directory)
    digest = hashlib.sha256(index).hexdigest()
    many = sum(len(tables[name]) for name in WIDTHS)
    return body + index, PartFacts(digest, len(body), len(body) + len(index), many)


def merged(older: CheckpointPart, newer: Mapping[str, Records]) -> dict[str, Records]:
    """Return the records of both; where both have a key, the newer one counts."""
    return {name: dict(older.tables[name].records()) | newer[name] for name in WIDTHS}


def found_in(parts: Sequence[CheckpointPart], table: str, key: bytes) -> bytes | None:
    """Return the latest value of `key` in any of `parts`, which are in order of age."""
    for part in reversed(parts):
        value = part.tables[table].find(key)
        if value is not None:
            return value
    return None


def latest(parts: Sequence[CheckpointPart], table: str) -> Iterator[tuple[bytes, bytes]]:
    """Yield the latest record of every key, sorted; `parts` are in order of age."""
    last = None
    aged = [_aged(part, table, age) for age, part in enumerate(reversed(parts))]
    for key, _, value in heapq.merge(*aged):
        if key != last:
            yield key, value
        last = key


def _aged(part: CheckpointPart, table: str, age: int) -> Iterator[tuple[bytes, int, bytes]]:
    return ((key, age, value) for key, value in part.tables[table].records())


def damaged(path: Path) -> LedgerTampered:
    """Return the refusal of a checkpoint that is not what was written."""
    return LedgerTampered(
        f"'{path.name}', a part of the ledger's checkpoint, is damaged.",
        hint="Remove that file: the ledger is then opened from its whole history.",
    )


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
