"""The furthest entry of each ledger that this process has seen: what its files cannot know.

The head file tells an old copy of the store from the right one, but not where the head was put back with
it. A process that has seen the later entries remembers them for as long as it lives, also when it closes
and opens its ledger, and hands them to its forks and jobs. (note 0115)
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from discreet.core.cost import Cost, larger
from discreet.errors import LedgerTampered

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
