"""The furthest head that this process has seen of each ledger: what files rolled back together cannot know.

The head file tells an old copy of the store from the right one, but not if the head was rolled back
with it. A process that has seen the later entries remembers them for as long as it lives, across
reloads of the catalog, and its forks and jobs with it. (note 0115)
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.core.cost import Cost, larger
from discreet.errors import LedgerTampered


@dataclass(frozen=True, slots=True)
class KnownHead:
    """An entry that a process has seen, what everybody had paid by then (as JSON), and the last restore before."""

    ledger: str
    position: int
    hash: str
    paid: Mapping[tuple[str, str | None], Mapping[str, Any]]
    restored: int

    def covered_by(self, other: KnownHead) -> bool:
        """Return whether a restore that came later counts everybody as having paid at least as much."""
        if other.ledger != self.ledger or other.restored <= self.restored:
            return False
        if not self.paid.keys() <= other.paid.keys():
            return False
        pairs = [(_cost(paid), _cost(other.paid[key])) for key, paid in self.paid.items()]
        return all(larger([before, after]) == after for before, after in pairs)


def _cost(paid: Mapping[str, Any]) -> Cost:
    return Cost.from_json(dict(paid))


_guard = threading.Lock()
_known: dict[Path, KnownHead] = {}


def known_head(place: Path) -> KnownHead | None:
    """Return the furthest head seen of the ledger whose head file is `place`."""
    return _known.get(place)


def require_known(
    place: Path,
    *,
    position: int,
    hash_at: Callable[[int], str | None],
    now: Callable[[], KnownHead],
) -> None:
    """Refuse a history that ends before what was seen of it, or says something else there; then remember it.

    `hash_at` gives the hash of an entry of that history, and `now` its end, where either is asked for.
    """
    known = _known.get(place)
    if known is not None and position == known.position and hash_at(position) == known.hash:
        return
    found = now()
    if known is not None:
        goes_on = position > known.position and hash_at(known.position) == known.hash
        if not goes_on and not known.covered_by(found):
            raise LedgerTampered(
                f"The ledger was put back to an earlier state while this process was using it: it ends "
                f"at entry {position}, and entry {known.position} was here."
                if position < known.position
                else f"The ledger was replaced while this process was using it: entry {known.position} "
                "is another one now.",
                hint="Put the right files back. After a restore with a backup that is older than the "
                "last restore, or to begin a new ledger, start this process again.",
            )
    with _guard:
        _known[place] = found


def remember(place: Path, head: KnownHead) -> None:
    """Enter what this process has committed, or what the process that started it has seen."""
    with _guard:
        known = _known.get(place)
        if known is None or known.position <= head.position or known.covered_by(head):
            _known[place] = head


def _forked() -> None:
    """Begin with a new guard in a child: the parent's may have been held. What was seen stays."""
    global _guard  # noqa: PLW0603
    _guard = threading.Lock()


os.register_at_fork(after_in_child=_forked)
