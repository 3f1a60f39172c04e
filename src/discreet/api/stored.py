"""What was asked for a stored answer."""

from __future__ import annotations

from typing import Any

from discreet.api.curator import Curator
from discreet.ledger.report import question_report


def question_of(curator: Curator, request_id: str, analyst: str | None) -> dict[str, Any] | None:
    """Return the words, price, time and asker of a request of this analyst; None if there is none."""
    return question_report(curator.ledger, request_id, analyst)
