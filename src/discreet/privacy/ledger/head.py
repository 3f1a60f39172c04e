"""The head of the hash chain, kept outside the store: what an old copy of the store cannot know.

The head file tells an old copy of the store from the right one, but not where the head was put back with
it. A process that has seen the later entries remembers them (`KnownHeads`) for as long as it lives, also when
it closes and opens its ledger, and hands them to its forks and jobs. (note 0115)
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from discreet.base import files
from discreet.base.event import Cost, larger
from discreet.base.proof import canonical
from discreet.errors import LedgerTampered, LedgerWriteFailed

SLOT = 4096
"""The least size of a slot; it doubles when there are many accounts."""


@dataclass(frozen=True, slots=True)
class Head:
    """The last link that was committed, and what every account had paid by then.

    `ledger` is the hash of the first link: it tells one ledger from another. `announced` is the hash
    of a link that is about to be committed and may leave more to spend ("" if there is none).
    `checkpoint` is the position and the digest of the one checkpoint that is believed, if any.
    """

    ledger: str
    position: int
    hash: str
    totals: Mapping[tuple[str, str | None], Cost]
    announced: str = ""
    checkpoint: tuple[int, str] | None = None

    def to_bytes(self) -> bytes:
        """Return one line of JSON with its own checksum."""
        data: dict[str, Any] = {
            "ledger": self.ledger,
            "position": self.position,
            "hash": self.hash,
            "totals": [
                [budget, analyst, cost.to_json()]
                for (budget, analyst), cost in sorted(
                    self.totals.items(), key=lambda item: (item[0][0], item[0][1] or "")
                )
            ],
        }
        if self.announced:
            data["announced"] = self.announced
        if self.checkpoint:
            data["checkpoint"] = list(self.checkpoint)
        return canonical(data | {"check": _check(data)}).encode("ascii") + b"\n"

    def naming(self, position: int, digest: str) -> Head:
        """Return this head with the checkpoint that has this digest."""
        return replace(self, checkpoint=(position, digest))

    @classmethod
    def from_bytes(cls, content: bytes) -> Head | None:
        """Return the head that `to_bytes` wrote, padded or not; None for anything else."""
        found = _seen.get(content)
        if found is None:
            found = _parsed(content)
            if found is not None:
                _remember(content, found)
        return found


Slots: TypeAlias = tuple[Head | None, Head | None]
_seen: dict[bytes, Head] = {}
"""Heads by their bytes: each is read several times for every charge, most often by who wrote it."""
_MOST_SEEN = 64


def _remember(content: bytes, head: Head) -> None:
    if len(_seen) >= _MOST_SEEN:
        _seen.clear()
    _seen[content] = head


def _parsed(content: bytes) -> Head | None:
    try:
        data = json.loads(content)
    except ValueError:
        return None
    check = data.pop("check", None) if isinstance(data, dict) else None
    if check is None or check != _check(data):
        return None
    announced, checkpoint = data.get("announced", ""), None
    match data.get("checkpoint"):
        case [int(position), str(digest)]:  # any other form is a newer version's: not believed
            checkpoint = position, digest
    try:
        totals = {(budget, name): Cost.from_json(cost) for budget, name, cost in data["totals"]}
        return Head(data["ledger"], data["position"], data["hash"], totals, announced, checkpoint)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return None  # somebody wrote it who knows how to make a checksum


class HeadFile:
    """One small file beside the ledger: two slots of equal size, written in turn.

    Guarantee: a slot is written and synced after the commit that it describes, so the head may lag
    behind the store after a crash but never leads it. A torn write spoils one slot, whose checksum
    tells, and leaves the other. Of several processes the furthest one wins. A checkpoint that was
    named stays named while the head goes on; `write`, which a restore uses, names none.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> Head | None:
        """Return the head, or None if there is no file."""
        try:
            _, slots = self._content()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unreadable() from error
        return _furthest(slots)

    def announce(self, head: Head) -> None:
        """Write what is about to be committed, before it is; the caller excludes all writers.

        If this is torn, or the commit fails, the other slot or the same position without it counts.
        """
        with self.locked():
            content, slots = self._content()
            spoken = [at for at, slot in enumerate(slots) if slot and slot.announced]
            # An announcement that came to nothing is replaced, so that only the latest one is left.
            self._put(_kept(head, slots), content, spoken[0] if spoken else _behind(slots))

    def advance(self, head: Head) -> None:
        """Write `head` unless another process has written a later one."""
        with self.locked():
            if not self.path.exists():
                self.write(head)
                return
            content, slots = self._content()
            if _furthest(slots).position < head.position:
                self._put(_kept(head, slots), content, _behind(slots))

    def name_checkpoint(self, head: Head) -> bool:
        """Return whether the checkpoint of `head` is now the one that is believed.

        The caller has compared `head` with the store, and nobody can be restoring it. The head itself
        goes on to `head` if that is further. While something is announced nothing is named, so that
        no announcement is ever in both slots.
        """
        with self.locked():
            content, slots = self._content()
            best = _furthest(slots)
            if best.ledger != head.ledger:
                return False
            if best.position >= head.position:
                if best.announced:
                    return False
                head = replace(best, checkpoint=head.checkpoint)
            at = slots.index(best)
            self._put(head, content, 1 - at)
            if _reach(head) <= _reach(
                best
            ):  # as far as the one that cannot be used: so in its place, too
                self._put(head, self.path.read_bytes(), at)
            return True

    def slots(self) -> list[Head]:
        """Return the one or two heads that the file holds."""
        return [slot for slot in _slots(self.path.read_bytes()) if slot]

    def _content(self) -> tuple[bytes, Slots]:
        """Return the file's bytes and its slots, of which at least one is whole."""
        with self.path.open("rb") as file:
            if os.fstat(file.fileno()).st_nlink > 1:
                raise second_name(self.path.name)
            content = file.read()
        slots = _slots(content)
        if not any(slots):
            raise self._unreadable()
        return content, slots

    def _put(self, head: Head, content: bytes, slot: int) -> None:
        size = len(content) // 2
        text = head.to_bytes()
        if len(text) > size:
            self.write(head)
            return
        # One sync of data in place: a temporary file and a rename would take three.
        self._attempt(lambda: _overwrite(self.path, text.ljust(size), slot * size))
        _remember(text.ljust(size), head)

    def write(self, head: Head) -> None:
        """Replace the whole file, whatever it says; the caller holds the lock."""
        text = head.to_bytes()
        size = SLOT
        while size < len(text):
            size *= 2
        temporary = self.path.with_name(self.path.name + ".new")

        def replace() -> None:
            files.write_synced(temporary, text.ljust(size) * 2)
            temporary.replace(self.path)
            # This also makes the names of the ledger's own new files durable.
            files.sync_folder(self.path.parent)

        self._attempt(replace)

    def _attempt(self, write: Callable[[], None]) -> None:
        try:
            write()
        except OSError as error:
            raise self._unwritten() from error

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the right to change the head, among all processes of this machine."""
        path = self.path.with_name(self.path.name + ".lock")
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise self._unwritten() from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            # Said aloud: a child that was forked meanwhile has the descriptor, too, and keeps it.
            fcntl.flock(descriptor, fcntl.LOCK_UN)
            os.close(descriptor)

    def remove_lock(self) -> None:
        """Remove the lock file of a copy that nobody else can know of."""
        self.path.with_name(self.path.name + ".lock").unlink(missing_ok=True)

    def _unreadable(self) -> LedgerTampered:
        return LedgerTampered(
            f"The ledger's head file '{self.path.name}' is damaged.",
            hint="Put it back from a copy, or restore a backup of the ledger.",
        )

    def _unwritten(self) -> LedgerWriteFailed:
        return LedgerWriteFailed(
            f"The ledger's head file '{self.path.name}' could not be written, so nothing is "
            "answered; a charge that was made stands.",
            hint="Is the disk full, or the folder read-only?",
        )


def second_name(name: str) -> LedgerTampered:
    """Return the refusal of a file of a ledger that has two names, so that two could grant it."""
    return LedgerTampered(
        f"The ledger's file '{name}' has a second name (a hard link), so what is left could be spent "
        "twice.",
        hint="Remove the other name; `find / -samefile FILE` shows it. A copy is made by: discreet "
        "ledger backup PATH.",
    )


def _check(data: dict[str, Any]) -> str:
    return hashlib.sha256(canonical(data).encode()).hexdigest()


def _reach(head: Head) -> tuple[int, bool, int]:
    return head.position, bool(head.announced), head.checkpoint[0] if head.checkpoint else -1


def _furthest(slots: Slots) -> Head:
    return max((slot for slot in slots if slot), key=_reach)


def _behind(slots: Slots) -> int:
    positions = [slot.position if slot else -1 for slot in slots]
    return positions.index(min(positions))


def _kept(head: Head, slots: Slots) -> Head:
    """Return `head` with the checkpoint that was named before."""
    return replace(head, checkpoint=_furthest(slots).checkpoint)


def _slots(content: bytes) -> Slots:
    size = len(content) // 2
    return Head.from_bytes(content[:size]), Head.from_bytes(content[size:])


def _overwrite(path: Path, content: bytes, offset: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        if os.pwrite(descriptor, content, offset) != len(content):
            raise OSError("short write")
        os.fdatasync(descriptor)
    finally:
        os.close(descriptor)


Paid: TypeAlias = Mapping[tuple[str, str | None], Mapping[str, Any]]
"""What the worst-hit person of each account has paid, as JSON."""


@dataclass(frozen=True, slots=True)
class KnownHead:
    """An entry that a process has seen, what everybody had paid by then, and the last restore before.

    `ledger` is the hash of the first entry: it tells one ledger from another, wherever it lies.
    """

    ledger: str
    position: int
    hash: str
    paid: Paid
    restored: int = -1

    def totals(self) -> dict[tuple[str, str | None], Cost]:
        """Return what everybody had paid."""
        return {key: Cost.from_json(dict(paid)) for key, paid in self.paid.items()}

    def is_covered(self, restores: Iterable[tuple[int, Mapping[Any, Cost]]]) -> bool:
        """Return whether one of these restores came later and bills to everyone what was paid.

        A restore is its position, and what everyone counts as having paid from then on.
        """
        paid = self.totals()
        return any(
            position > self.restored
            and all(
                key in totals and larger([cost, totals[key]]) == totals[key]
                for key, cost in paid.items()
            )
            for position, totals in restores
        )


class KnownHeads:
    """What one process has seen, of any number of ledgers; safe to share among threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._by_ledger: dict[str, KnownHead] = {}
        self._at: dict[Path, str] = {}

    def at(self, place: Path) -> KnownHead | None:
        """Return what was seen of the ledger whose head file is `place`."""
        return self._by_ledger.get(self._at.get(place, ""))

    def of(self, ledger: str) -> KnownHead | None:
        """Return what was seen of the ledger with this first hash."""
        return self._by_ledger.get(ledger)

    def require(
        self,
        place: Path,
        found: KnownHead | None,
        *,
        hash_at: Callable[[int], str | None],
        restores: Callable[[], Iterable[tuple[int, Mapping[Any, Cost]]]],
    ) -> None:
        """Refuse a history that lacks the furthest entry seen of it; else remember its end, `found`.

        `found` is None for one without entries. `hash_at` gives the hash of an entry of that history
        and `restores` its restores, where either is asked for.

        Guarantee: what passes holds every entry that this process has ever seen of this ledger, at
            whatever place it lies, or a later restore that bills to everyone at least what the worst-hit
            person had paid. At a place where a ledger was seen, no other one passes.
        """
        before = self.at(place)
        if before is not None and (found is None or found.ledger != before.ledger):
            raise LedgerTampered(
                "The ledger was removed or replaced while this process was using it.",
                hint="Put the right files back. To begin a new ledger, start this process again.",
            )
        if found is None:
            return
        known = self.of(found.ledger)
        if known is not None and (known.position, known.hash) != (found.position, found.hash):
            holds = hash_at(known.position) == known.hash
            if not holds and not known.is_covered(restores()):
                raise LedgerTampered(
                    f"The ledger was put back to an earlier state, or is a copy: entry {known.position}, "
                    "which this process has seen, is not in it.",
                    hint="Put the right files back. After a restore of a backup that is older than the "
                    "last restore, start this process again.",
                )
            if holds and known.position > found.position:
                found = known  # another thread has entered more since this was read
        self._set(place, found, known)

    def remember(self, place: Path, head: KnownHead | None) -> None:
        """Enter what this process has committed, or what the one that started it has seen."""
        if head is not None:
            self._set(place, head, None)

    def put_back(self, place: Path, head: KnownHead | None) -> None:
        """Enter the end of a history that this process has restored, counting all that it had seen."""
        if head is not None:
            self._set(place, head, self.of(head.ledger))

    def _set(self, place: Path, head: KnownHead, before: KnownHead | None) -> None:
        with self._guard:
            self._at[place] = head.ledger
            known = self._by_ledger.get(head.ledger)
            # Another thread may have gone further; a restore may have gone back.
            if known is None or known == before or known.position <= head.position:
                self._by_ledger[head.ledger] = head

    def forget(self, place: Path) -> None:
        """Forget a ledger that was made to be thrown away."""
        with self._guard:
            self._by_ledger.pop(self._at.pop(place, ""), None)

    def unlock(self) -> None:
        """Begin with a new guard in a child: the parent's may have been held. What was seen stays."""
        self._guard = threading.Lock()


known_heads = KnownHeads()
os.register_at_fork(after_in_child=known_heads.unlock)
