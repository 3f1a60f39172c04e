"""The hash chain: each link names the hash of the one before it, so no line can change unseen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from discreet.core.hash_chain import canonical, link_hash
from discreet.errors import LedgerTampered


@dataclass(frozen=True, slots=True)
class Link:
    """One line of the history exactly as it is stored; `body` is canonical JSON."""

    position: int
    kind: str
    body: str
    previous: str
    hash: str


def digest(position: int, kind: str, previous: str, body: str) -> str:
    """Return the hash of a link; the separators cannot occur in `kind` or `previous`."""
    return link_hash(f"{position}\n{kind}\n{previous}", body.encode())


def link(position: int, kind: str, data: dict[str, Any], *, previous: str) -> Link:
    """Return the next link of a chain whose last hash is `previous`."""
    body = canonical(data)
    return Link(position, kind, body, previous, digest(position, kind, previous, body))


def is_whole(item: Link) -> bool:
    """Return whether a link says what its hash was made of."""
    return item.hash == digest(item.position, item.kind, item.previous, item.body)


def checked(links: Iterable[Link], *, position: int, previous: str) -> Iterator[Link]:
    """Yield `links`, each after checking that it continues the chain.

    Guarantee: if the hash of the last link is known to be right, every byte of every link is what
    was written (SHA-256 has no known collisions). A flipped, missing, doubled or moved line raises
    LedgerTampered before the line is used.
    """
    for item in links:
        if item.position != position or item.previous != previous or not is_whole(item):
            raise LedgerTampered(
                f"The ledger's history is damaged at entry {position}: it does not match its own "
                "hash.",
                hint="Restore a backup: discreet ledger restore PATH --reason TEXT.",
            )
        yield item
        position, previous = item.position + 1, item.hash


SHORTEST_RUN = 2
"""Charges that were made together are at least so many; one alone is no run."""


def run_after(run: tuple[int, int] | None, position: int, together: Any) -> tuple[int, int] | None:
    """Return the run of charges that goes on after the entry at `position`, None if none does.

    Charges that were made together stand side by side in the chain; half of such a run is no history. A run is where it begins and how many they are: `run` the one that was open before the entry,
    `together` what the entry says of its own, None for every entry that is no part of one.

    Guarantee: raises ValueError unless every run is whole, unbroken and as long as all of it say.
    """
    if together is None:
        if run is not None:
            raise ValueError("a run of charges is broken off")
        return None
    first, many = together
    end = first + many
    started = position == first if run is None else run == (first, many)
    if not started or many < SHORTEST_RUN or position >= end:
        raise ValueError("a charge is not where its run says")
    return (first, many) if position + 1 < end else None
