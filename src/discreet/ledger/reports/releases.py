"""Releases in the ledger's history: every change of state is a line of the chain."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from discreet.ledger.chain.links import Link
from discreet.ledger.entry import Entry, Receipt, checked_name, checked_text
from discreet.ledger.ledger import Ledger

KIND = "release"


def record_state(
    ledger: Ledger, *, dataset: str, release: str, state: str, who: str, digest: str, note: str = ""
) -> None:
    """Write down, durably, that a release is now in `state`; `digest` is that of its spec."""
    checked_name(release, name="release")
    checked_name(who, name="who")
    data = {
        "dataset": dataset,
        "release": release,
        "state": state,
        "who": who,
        "digest": digest,
        "note": checked_text(note, name="note"),
    }
    with ledger.session() as session:
        session.append(KIND, data)


def states_of(ledger: Ledger, release: str | None = None) -> list[Entry]:
    """Return every change of state of one release, or of all, oldest first."""
    return [
        entry
        for entry in ledger.history()
        if entry.kind == KIND and (release is None or entry.data["release"] == release)
    ]


def excerpt_of(ledger: Ledger, receipt: Receipt, release: str) -> dict[str, Any]:
    """Return the lines of the history about one release: its states and its charge, as stored."""
    links = [
        item
        for item in ledger.links(start=0)
        if item.position == receipt.position or _is_about(item, release)
    ]
    links = [item for item in links if item.position <= receipt.position]
    return {
        "charge": receipt.position,
        "head": links[-1].hash,
        "links": [asdict(item) for item in links],
    }


def _is_about(item: Link, release: str) -> bool:
    return item.kind == KIND and Entry.of(item).data["release"] == release
