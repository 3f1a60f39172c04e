"""What a PostgreSQL error becomes: busy, foreign, damaged, or not reached; never the server's own text."""

import pytest

from discreet.errors import LedgerBusy, LedgerTampered, LedgerWriteFailed, NotALedger
from discreet.privacy.ledger.postgres import _words

STATES = {
    "55P03": LedgerBusy,  # lock_not_available
    "40001": LedgerBusy,  # serialization_failure
    "42P01": NotALedger,  # undefined_table
    "42703": NotALedger,  # undefined_column
    "XX001": LedgerTampered,  # data_corrupted
    "23505": LedgerTampered,  # unique_violation
    "08006": LedgerWriteFailed,  # connection_failure
    "53100": LedgerWriteFailed,  # disk_full
    None: LedgerWriteFailed,  # no answer at all
}


@pytest.mark.parametrize("state", STATES)
def test_each_state_has_its_own_kind_of_refusal(state):
    found = _words(state, "in PostgreSQL database 'x'")
    assert type(found) is STATES[state]
    assert "in PostgreSQL database 'x'" in found.message
