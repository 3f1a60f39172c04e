"""Which links newer than the outside head are accepted after a crash.

Whoever can write the store can append links with right hashes. The head outside lags after a crash, so
a link beyond it may be an honest one or a forged one. A forged charge costs budget; a forged limit
or restore would give some back.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from discreet.errors import LedgerTampered
from discreet.ledger.chain.head import Head
from discreet.ledger.chain.links import Link
from discreet.ledger.entry import Entry
from discreet.ledger.policy import Limit

GUARDED = frozenset({"limit", "restore", "clear"})
"""The kinds of links that may leave more to spend, or to ask, than there was."""


def gives_back(item: Link) -> bool:
    """Return whether this link may leave more to spend, or to ask, than there was before it."""
    if item.kind not in GUARDED:
        return False
    return item.kind != "restore" or bool(Entry.of(item).data.get("totals", "unknown"))


def require_announced(
    later: Sequence[Link], head: Head, limits: Collection[Limit] | None = None
) -> None:
    """Raise LedgerTampered if a link beyond the head gives back what nobody announced.

    Links up to the one that the head announces are believed; so is a limit that the owner's own
    catalog, `limits`, puts in force (another machine with its own head may have entered it).

    Guarantee: whoever can write the store but not the head can add bills, and take none away.
    """
    hashes = [item.hash for item in later]
    start = hashes.index(head.announced) + 1 if head.announced in hashes else 0
    for item in later[start:]:
        if gives_back(item) and not _declared(item, limits):
            raise LedgerTampered(
                f"Entry {item.position} of the ledger, a '{item.kind}', lies beyond what its head "
                "file knows, and nobody announced it.",
                hint="Did another machine write it? Then copy its discreet.toml and head file. If "
                "not: discreet ledger restore PATH --reason TEXT.",
            )


def _declared(item: Link, limits: Collection[Limit] | None) -> bool:
    if item.kind != "limit" or limits is None:
        return False
    data = Entry.of(item).data
    budget, analyst, new = data["budget"], data["analyst"], data["new"]
    if new is None:
        return all((limit.budget, limit.analyst) != (budget, analyst) for limit in limits)
    return Limit.from_json(budget, analyst, new) in limits
