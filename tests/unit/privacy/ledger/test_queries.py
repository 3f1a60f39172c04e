"""What is asked of a ledger besides charging: histories and their ends, places, budgets, the worst-hit."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.base.event import EVERYONE, NOTHING, Cost, Quote
from discreet.privacy.ledger import BudgetPolicy, Cap, Ledger, Payer, Policy
from ledger_kit import ALICE, MEN, OWNER, WOMEN, begin, open_ledger, pay

VISITS = Payer(None, "visits", "visits")
TWO = Policy(
    {"census": BudgetPolicy.of("100"), "visits": BudgetPolicy.of("100")},
    {"alice": {"census": Cap.of("50")}},
)


@pytest.fixture
def ledger(tmp_path):
    """A ledger of two budgets, with charges in turn and an answer to each."""
    made = Ledger.open("sqlite:ledger.db", TWO, base=tmp_path)
    for turn in range(12):
        payer = (OWNER, ALICE, VISITS)[turn % 3]
        made.store_answer(pay(made, "1", f"r{turn}", payer=payer), b"told")
    yield made
    made.close()


def names(entries) -> list[str]:
    return [entry.data["request_id"] for entry in entries if entry.kind == "charge"]


def test_the_history_of_a_budget_holds_its_charges_and_what_is_about_all(ledger):
    ledger.record_look("census", reason="a test")
    assert names(ledger.history("visits")) == ["r2", "r5", "r8", "r11"]
    assert names(ledger.history("census")) == [f"r{turn}" for turn in range(12) if turn % 3 != 2]
    assert names(ledger.history()) == [f"r{turn}" for turn in range(12)]
    for budget in ("census", "visits", None):
        kinds = [entry.kind for entry in ledger.history(budget)]
        assert kinds[0] == "genesis"
        assert kinds[-1] == "look"
    assert sum(entry.kind == "limit" for entry in ledger.history("visits")) == 1


@pytest.mark.parametrize("budget", [None, "census", "visits"])
def test_the_last_entries_are_the_end_of_the_whole_history(ledger, budget):
    whole = ledger.history(budget)
    for last in range(len(whole) + 3):
        assert ledger.history(budget, last=last) == (whole[-last:] if last else [])


@pytest.mark.parametrize("who", [(None,), ("alice",), (None, "alice"), ("eve",), ()])
def test_the_last_charges_of_somebody_are_the_end_of_all_of_theirs(ledger, who):
    whole = [
        entry
        for entry in ledger.history()
        if entry.kind == "charge" and entry.data["analyst"] in who
    ]
    assert ledger.count(who) == len(whole)
    for last in (0, 1, 2, 3, 100):
        assert ledger.charges(who, last=last) == (whole[-last:] if last else [])
    assert ledger.charges(who, last=-1) == []


def test_links_begin_with_the_first_unless_told(ledger):
    whole = ledger.links()
    assert [link.position for link in whole] == list(range(len(whole)))
    assert whole[0].kind == "genesis"
    assert ledger.links(start=5) == whole[5:]
    assert ledger.identity == whole[0].hash


def test_exposures_are_of_one_dataset_with_each_column_once(ledger):
    ledger.record_exposure("census", reason="one", columns=["age", "sex"])
    ledger.record_exposure("visits", reason="two")
    ledger.record_exposure("census", reason="three", columns=["sex", "pay"])
    assert [entry.data["reason"] for entry in ledger.exposures("census")] == ["one", "three"]
    assert ledger.exposed("census") == ("age", "sex", "pay")
    assert ledger.exposed("visits") == ()
    assert ledger.exposed("else") is None


def test_versions_of_a_table_are_counted_from_1_and_never_come_back(ledger):
    assert [begin(ledger, "t", each) for each in ("a", "b", "a", "c")] == [1, 2, 3, 4]
    assert begin(ledger, "other", "b") == 1
    ledger.close()
    assert ledger.version("t").prints == {"t": "c"}
    assert ledger.history()[-1].data["group"] == "other"


def test_budgets_in_force_are_named_and_shares_are_not(ledger):
    assert ledger.budgets == ("census", "visits")


def test_answers_about_one_version_are_told_in_order_up_to_the_last_ones(ledger):
    for turn in range(4):
        receipt = ledger.charge(
            OWNER,
            Quote(NOTHING, Cost(Fraction(1), Fraction(0), None, Fraction(0))),
            request_id=f"q{turn}",
            body="b",
            question=f"question {turn % 2}",
            snapshot="2",
        )
        ledger.store_answer(receipt, b"%d" % turn)
    found = ledger.answers(None, "census", "2")
    assert found == [(f"q{n}", f"question {n % 2}", b"%d" % n) for n in range(4)]
    assert ledger.answers(None, "census", "2", last=2) == found[-2:]
    assert ledger.answers("alice", "census", "2") == []
    assert ledger.find_answer(None, "census", "question 1", "2") == ("q3", b"3")
    assert ledger.find_answer(None, "census", "question 1", "3") is None


def test_the_worst_hit_are_named_by_rho_where_epsilon_has_no_bound(tmp_path):
    made = open_ledger(tmp_path, "5", "1e-6")

    def paid(name, epsilon, rho, region):
        cost = Cost(epsilon, Fraction(0), rho, Fraction(0))
        made.charge(OWNER, Quote(NOTHING, cost, region), request_id=name, body="")

    assert made.spent("census").worst == EVERYONE
    paid("a", Fraction(1), Fraction(1, 1000), MEN)
    assert made.spent("census").worst == MEN
    paid("b", None, Fraction(1, 100), WOMEN)
    found = made.spent("census")
    assert found.worst == WOMEN
    assert found.charges == 2
    paid("c", Fraction(1), Fraction(1, 50), MEN)
    assert made.spent("census").worst == MEN
    assert made.balance("census").epsilon == made.spent("census").epsilon
    made.close()


def test_a_place_in_a_transaction_is_where_the_next_link_will_stand(ledger):
    with ledger.session() as session:
        for _ in range(3):
            expected = session.next_position
            assert session.writer.find(expected) is None
            facts = {"dataset": "census", "reason": "a test", "columns": []}
            assert session.append("look", facts).position == expected
        assert session.writer.find(0).kind == "genesis"
    assert [link.kind for link in ledger.links()[-3:]] == ["look"] * 3
    assert ledger.verify() == expected + 1
