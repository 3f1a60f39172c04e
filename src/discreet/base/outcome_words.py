"""What people are told of a request whose answer did not reach them: what the ledger knows of it then."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from discreet.errors import LedgerError

UNKNOWN = "unknown"
"""The standing of a charge while the ledger cannot be read."""
LOOKS = (0.0, 0.05, 0.2, 0.5, 1.0)
"""Seconds before each look at a charge whose process is gone: a database may notice that later."""


@dataclass(frozen=True, slots=True)
class OutcomeWords:
    """What became of a request: one sentence and what to do now. `over`: it will never have an answer."""

    text: str
    hint: str
    over: bool = False


_AGAIN = "Ask again under the same request id: nothing is charged twice."
_OVER = OutcomeWords(
    "The charge stands, and there is no answer.",
    "Asking again, under a new request id, is charged again.",
    over=True,
)
_WORDS = {
    None: OutcomeWords("Nothing was charged.", "It may be started again."),
    "paid": OutcomeWords("The charge stands, and no row has been read.", _AGAIN),
    "answered": OutcomeWords(
        "The charge stands, and the answer is kept.",
        "Ask again under the same request id: it costs nothing more.",
    ),
    "failed": _OVER,
    "lost": _OVER,
    "running": OutcomeWords("The charge stands; whether there will be an answer is open.", _AGAIN),
    UNKNOWN: OutcomeWords(
        "Whether it was charged is not known, because the ledger could not be read.",
        "The history says it. Asked again under the same request id, nothing is charged twice.",
    ),
}
PARTLY = OutcomeWords("What was already charged stands.", "The history says what was charged.")
"""Of a request whose own id stands for no charge, but which had charged something under another."""
UNTOLD = OutcomeWords(
    "Whether it was charged was not confirmed.", "The history says what was charged."
)
"""Of a request that was being charged when it ended, and had no id to look for."""


def outcome_words(standing: str | None) -> OutcomeWords:
    """Return what is said of a request by its standing in the ledger; None: no charge has its id."""
    return _WORDS[standing]


def settled_standing(look: Callable[[], str | None]) -> str | None:
    """Return the standing of a request whose process is gone, looked up until it is not in work."""
    found: str | None = UNKNOWN
    try:
        for pause in LOOKS:
            time.sleep(pause)
            found = look()
            if found != "running":
                break
    except LedgerError:
        return UNKNOWN
    return found
