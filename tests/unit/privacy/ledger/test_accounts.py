from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.base.event import FREE
from discreet.base.numbers import Delta, Epsilon
from discreet.base.proof import ROOT, canonical
from discreet.base.unit import Neighbours
from discreet.errors import LedgerTampered
from discreet.privacy.ledger.accounts import Accounts
from discreet.privacy.ledger.budget import Account, Limit
from discreet.privacy.ledger.entry import Link, checked, link
from ledger_kit import OWNER, quote
from patience import quickest, slowness
from sittings import FULL

CHARGES = 1_000_000 if FULL else 10_000


def account(epsilon="1") -> Account:
    made = Account()
    made.set_limit(Limit("b", None, Epsilon.of(epsilon), Delta.of(0), Neighbours.ADD_REMOVE))
    return made


def test_many_tenths_sum_exactly():
    """Security test 16: by single charges and in bulk, and floats would not."""
    tenth = quote("1/10")
    region, cost = canonical(tenth.region.to_json()), canonical(tenth.cost.to_json())
    single, bulk = account(str(CHARGES)), account(str(CHARGES))
    assert single.peak() == FREE  # so that each charge is entered one by one
    for _ in range(CHARGES):
        single.add(region, cost, bound={})
        bulk.add(region, cost, bound={})
    assert single.peak().epsilon == bulk.peak().epsilon == Fraction(CHARGES, 10)
    assert sum([0.1] * CHARGES) != CHARGES / 10


def test_an_unknown_kind_is_refused():
    made = link(0, "gift", {"time": "now"}, previous=ROOT)
    with pytest.raises(LedgerTampered, match="unknown kind, 'gift'"):
        Accounts().apply(made)


def history(count: int) -> list[Link]:
    previous, made = ROOT, []
    charge = quote("1/10")
    limit = {"epsilon": "1000000", "delta": "0", "neighbours": "add-remove"}
    balance = {"limit_epsilon": "1", "limit_delta": "0", "epsilon": "0", "delta": "0"}
    for position in range(count):
        data = {
            "time": "2026-01-01T00:00:00.000+00:00",
            "request_id": f"r{position}",
            "body": "f" * 64,
            "analyst": OWNER.analyst,
            "dataset": "census",
            "budget": "census",
            "cost": charge.cost.to_json(),
            "region": {f"axis{position % 7}": [[position % 5, position % 5]]},
            "event": repr(charge.event),
            "reserved": False,
            "question": "SELECT COUNT(*) FROM people WHERE age > 20",
            "note": "",
            "snapshot": "",
            "total": charge.cost.to_json(),
            "share": None,
            "before": balance,
            "after": balance,
        }
        kind = "charge"
        if position == 0:
            kind, data = "limit", {"time": "", "budget": "census", "analyst": None, "new": limit}
        made.append(link(position, kind, data, previous=previous))
        previous = made[-1].hash
    return made


def test_a_long_history_is_read_in_good_time():
    """5,000 entries well within 2 s of CPU on a slow core (0.2 s on a quiet one)."""
    links = history(5_000)

    def read(_turn):
        accounts = Accounts()
        for item in checked(links, position=0, previous=ROOT):
            accounts.apply(item)
        assert accounts.account("census").charges == 4_999

    assert quickest(read) < 2 * slowness()
