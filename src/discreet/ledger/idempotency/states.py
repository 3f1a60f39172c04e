"""How far a paid request has come, and what the accounts remember of one that is not at its end."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any


class AccountState(Enum):
    """How far a paid request has come. One that was paid and not begun has no state yet."""

    BEGUN = "begun"
    ANSWERED = "answered"
    FAILED = "failed"
    LOST = "lost"


MARKS = frozenset(state.value for state in AccountState)
"""The kinds of entries that say how far a request has come, one for each state."""
ENDINGS = MARKS - {AccountState.BEGUN.value}
"""Those that end one. The head need not know them: cut off, a begun request is lost, for ever."""
FREE_ANSWER = "free"
"""The kind of entries that tie a request id to an answer that cost nothing."""


@dataclass(frozen=True, slots=True)
class ChargeOutcome:
    """What has become of a request; `error` is what a failed one says, in words."""

    state: AccountState
    error: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Incident:
    """A statement on which the database failed after its charge, and who had asked it."""

    position: int
    dataset: str
    statement: str
    analyst: str | None
    request_id: str
    note: str
