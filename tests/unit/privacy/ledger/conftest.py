from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import pytest

from discreet.privacy.ledger.refusal import HOUR, RefusalCounts

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))


@pytest.fixture(autouse=True)
def one_hour(monkeypatch):
    """What an analyst is told is counted by hours of the clock: none ends in the midst of a test."""
    monkeypatch.setattr(
        "discreet.privacy.ledger.ledger.RefusalCounts", partial(RefusalCounts, lambda: 7.5 * HOUR)
    )
