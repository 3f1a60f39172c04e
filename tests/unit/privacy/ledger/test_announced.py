"""Which links may give something back, and which of them are believed beyond the head."""

from __future__ import annotations

import pytest

from discreet.base.proof import ROOT
from discreet.errors import LedgerTampered
from discreet.privacy.ledger import BudgetPolicy, Cap, Policy
from discreet.privacy.ledger.entry import Link, link
from discreet.privacy.ledger.head import Head
from discreet.privacy.ledger.history import gives_back, require_announced

FREE = {"epsilon": "0", "delta": "0", "rho": "0", "rho_delta": "0"}
TEN = {"epsilon": "10", "delta": "0", "neighbours": "add-remove"}
GIVING = {
    "limit": {"budget": "census", "analyst": None, "new": TEN},
    "a share taken away": {"kind": "limit", "budget": "census", "analyst": "eve", "new": None},
    "clear": {"charge": 3},
    "restore": {"totals": [["census", None, FREE]]},
    "a restore that says nothing": {"kind": "restore"},
}
TAKING = {
    "charge": {"cost": FREE},
    "draw": {"cost": FREE},
    "look": {},
    "begun": {"charge": 3},
    "answered": {"charge": 3},
    "settle": {"kept": FREE},
    "restore": {"totals": []},
}


def chain(*items) -> list[Link]:
    """Return links of these kinds and facts, one after another from position 5 on."""
    made, previous = [], ROOT
    for place, (kind, data) in enumerate(items):
        facts = {"time": "now"} | {name: each for name, each in data.items() if name != "kind"}
        made.append(link(5 + place, data.get("kind", kind), facts, previous=previous))
        previous = made[-1].hash
    return made


def head(announced: str = "") -> Head:
    return Head("a" * 64, 4, ROOT, {}, announced)


@pytest.mark.parametrize("kind", GIVING)
def test_what_may_leave_more_to_spend_must_be_announced(kind):
    later = chain(("look", {}), (kind, GIVING[kind]), ("look", {}))
    assert [gives_back(item) for item in later] == [False, True, False]
    with pytest.raises(LedgerTampered, match=r"Entry 6 .* nobody announced"):
        require_announced(later, head())
    with pytest.raises(LedgerTampered):
        require_announced(later, head(announced="f" * 64))
    with pytest.raises(LedgerTampered):
        require_announced(later, head(announced=later[0].hash))
    require_announced(later, head(announced=later[1].hash))
    require_announced(later, head(announced=later[2].hash))


@pytest.mark.parametrize("kind", TAKING)
def test_what_only_adds_bills_is_believed(kind):
    later = chain((kind, TAKING[kind]))
    assert not gives_back(later[0])
    require_announced(later, head())


def test_only_what_was_announced_is_believed_and_not_what_follows():
    later = chain(*[("limit", GIVING["limit"])] * 3)
    require_announced(later, head(announced=later[2].hash))
    for at in (0, 1):
        with pytest.raises(LedgerTampered, match=f"Entry {6 + at} "):
            require_announced(later, head(announced=later[at].hash))


def test_a_limit_of_the_owners_own_catalog_needs_no_announcement():
    budgets = {"census": BudgetPolicy.of("10")}
    mine = list(Policy(budgets, {"alice": {"census": Cap.of("1")}}).limits())
    share = TEN | {"epsilon": "1"}
    for data, declared in (
        ({"budget": "census", "analyst": None, "new": TEN}, True),
        ({"budget": "census", "analyst": None, "new": TEN | {"epsilon": "11"}}, False),
        ({"budget": "census", "analyst": None, "new": TEN | {"delta": "1/2"}}, False),
        ({"budget": "census", "analyst": "alice", "new": share}, True),
        ({"budget": "census", "analyst": "eve", "new": share}, False),
        ({"budget": "visits", "analyst": None, "new": TEN}, False),
        ({"budget": "census", "analyst": "eve", "new": None}, True),
        ({"budget": "census", "analyst": "alice", "new": None}, False),
    ):
        later = chain(("limit", data))
        with pytest.raises(LedgerTampered):
            require_announced(later, head())
        if declared:
            require_announced(later, head(), mine)
        else:
            with pytest.raises(LedgerTampered):
                require_announced(later, head(), mine)
    with pytest.raises(LedgerTampered):
        require_announced(chain(("clear", {"charge": 3})), head(), mine)
