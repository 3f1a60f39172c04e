"""Statements on which the database failed after the charge: refused until the owner clears them.

Work for each unit is public, the total is not: that a database runs out of time or memory may depend
on the rows, which no budget accounts for. So a statement shows that once, not as often as it is asked;
and since a statement can be put in other words, whoever has MOST_OPEN of them open asks nothing new of
that dataset until the owner has looked at one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.errors import EngineFailed, UnknownName
from discreet.ledger.accounts import Accounts
from discreet.ledger.entry import Payer, checked_text
from discreet.ledger.idempotency.states import Incident
from discreet.ledger.session import CachedAccounts

MOST_OPEN = 3
"""Open incidents of one analyst in one dataset, after which nothing more is charged to them there."""


def require_clear(accounts: Accounts, payer: Payer, texts: Mapping[str, Any]) -> None:
    """Refuse, before the charge, a statement on which the database failed before.

    Guarantee: for one analyst and dataset the database fails on at most MOST_OPEN paid statements
        between two clearings by the owner, however they are worded; each was charged for.
    """
    dataset = payer.dataset
    mine = [each for each in accounts.incidents.values() if _of(each) == (payer.analyst, dataset)]
    if len(mine) >= MOST_OPEN and payer.analyst is not None:
        raise EngineFailed(
            f"The database failed on {len(mine)} of your questions about '{dataset}', so nothing "
            "more is asked of it until the data owner clears one. Nothing was charged.",
            hint="Ask the data owner: discreet ledger clear.",
        )
    if (dataset, texts["question"] or texts["note"]) in accounts.incidents:
        raise EngineFailed(
            "The database failed on this very question before, so it stays refused until the data "
            "owner clears it. Nothing was charged.",
            hint="Ask something smaller, or ask the data owner: discreet ledger clear.",
        )


def _of(incident: Incident) -> tuple[str | None, str]:
    return incident.analyst, incident.dataset


@dataclass(frozen=True, slots=True)
class Incidents:
    """The open incidents, and how the owner ends one."""

    kept: CachedAccounts

    def open(self) -> list[Incident]:
        """Return what is refused now, oldest first. For the owner: it tells what others asked."""
        with self.kept.current() as accounts:
            return sorted(accounts.incidents.values(), key=lambda found: found.position)

    def clear(self, request_id: str, *, reason: str, who: str = "owner") -> int:
        """Return how many incidents of this request id are cleared now; it becomes an entry."""
        checked_text(reason, name="reason")
        with self.kept.session() as session:
            found = [
                incident
                for incident in session.accounts.incidents.values()
                if incident.request_id == request_id
            ]
            if not found:
                raise UnknownName(
                    f"No question is refused because of request '{request_id}'.",
                    hint="`discreet ledger clear` without a name lists what is refused.",
                )
            for incident in found:
                session.append(
                    "clear",
                    {"charge": incident.position, "reason": reason, "who": who},
                )
            return len(found)
