from __future__ import annotations

import sqlite3
from fractions import Fraction

import pytest

from discreet.base.event import (
    EVERYONE,
    FREE,
    NOTHING,
    Approximate,
    Cost,
    Gaussian,
    Positions,
    Quote,
    Region,
)
from discreet.base.unit import Neighbours
from discreet.errors import (
    AnswerLost,
    BudgetExceeded,
    CatalogError,
    InvalidInput,
    RequestConflict,
    UnknownName,
)
from discreet.privacy.ledger import BudgetPolicy, Cap, Ledger, Payer, Policy
from ledger_kit import ADULTS, ALICE, MEN, OWNER, WOMEN, open_ledger, pay, policy, quote


@pytest.fixture
def ledger(tmp_path):
    ledger = open_ledger(tmp_path)
    yield ledger
    ledger.close()


def charges(ledger) -> int:
    return ledger.spent("census").charges


def test_the_missions_four_queries_cost_one(ledger):
    """All 0.5, Male 0.2, Female 0.25, age > 20 0.25: the worst person pays 1.0, not 1.2."""
    pay(ledger, "0.5", "all")
    pay(ledger, "0.2", "men", MEN)
    pay(ledger, "0.25", "women", WOMEN)
    last = pay(ledger, "0.25", "adults", ADULTS)
    assert last.before.epsilon == Fraction(3, 4)
    assert last.after.epsilon == 1
    spent = ledger.spent("census")
    assert (spent.epsilon, spent.limit_epsilon, spent.charges) == (1, 1, 4)
    assert spent.worst == Region.of(
        {"sex": Positions.points([0]), "age": Positions.of([(21, 120)])}
    )


def test_what_does_not_fit_is_refused_with_what_would(ledger):
    pay(ledger, "0.7", "a")
    with pytest.raises(BudgetExceeded) as caught:
        pay(ledger, "0.5", "b")
    assert (caught.value.asked, caught.value.left, caught.value.limit) == ("0.5", "0.3", "1")
    assert "Lower epsilon to 0.3" in caught.value.hint
    assert charges(ledger) == 1
    pay(ledger, "0.3", "c")
    with pytest.raises(BudgetExceeded, match="nothing is left") as caught:
        pay(ledger, "0.0001", "d")
    assert caught.value.left == "0"


def test_what_is_left_counts_for_the_people_asked_about(ledger):
    pay(ledger, "0.9", "women", WOMEN)
    with pytest.raises(BudgetExceeded) as caught:
        pay(ledger, "0.5", "more women", WOMEN)
    assert caught.value.left == "0.1"
    pay(ledger, "0.5", "men", MEN)


def test_the_hint_of_the_rho_filter_fits_when_taken(tmp_path):
    """Many small charges: the sum of epsilon is long gone, the sum of rho has room for a little."""
    ledger = open_ledger(tmp_path, "1", "1e-6")
    count = 0
    while True:
        try:
            pay(ledger, "0.01", f"small {count}")
        except BudgetExceeded:
            break
        count += 1
        if count == 120:
            break
    assert count == 120
    with pytest.raises(BudgetExceeded) as caught:
        pay(ledger, "0.5", "large")
    assert 0 < float(caught.value.left) < 0.5
    pay(ledger, caught.value.left, "as told")
    ledger.close()


def test_delta_counts(tmp_path):
    ledger = open_ledger(tmp_path, "1", "1e-6")
    failing = Cost(Fraction(1, 10), Fraction(1, 10**6), None, Fraction(0))
    event = Approximate(Fraction(1, 10), Fraction(1, 10**6))
    with pytest.raises(BudgetExceeded):
        ledger.charge(OWNER, Quote(event, failing), request_id="a", body="")
    assert charges(ledger) == 0
    ledger.close()


def test_a_pure_budget_refuses_any_delta(ledger):
    cost = Cost(Fraction(1, 10), Fraction(1, 10**30), Fraction(0), Fraction(0))
    with pytest.raises(BudgetExceeded):
        ledger.charge(OWNER, Quote(NOTHING, cost), request_id="a", body="")


def test_a_budget_that_lacks_delta_and_epsilon_says_what_is_left_of_each(ledger):
    def asked(epsilon):
        cost = Cost(Fraction(epsilon), Fraction(1, 10**9), None, Fraction(0))
        with pytest.raises(BudgetExceeded) as caught:
            ledger.charge(OWNER, Quote(NOTHING, cost), request_id="a", body="")
        return str(caught.value)

    pay(ledger, "0.6", "most of it")
    assert "has no delta" in asked("0.4")
    assert "is left" not in asked("0.4")
    assert "has no delta" in asked("0.5")
    assert "epsilon 0.4 is left" in asked("0.5")
    pay(ledger, "0.4", "the rest")
    assert "nothing is left" in asked("0.5")


def test_a_cost_without_rho_closes_that_way_for_its_region_only(tmp_path):
    ledger = open_ledger(tmp_path, "1", "1e-6")
    cost = Cost(Fraction(1, 2), Fraction(0), None, Fraction(0))
    ledger.charge(OWNER, Quote(NOTHING, cost, MEN), request_id="a", body="")
    gauss = Cost(None, Fraction(0), Fraction(1, 10**4), Fraction(0))
    event = Gaussian(Fraction(5000), Fraction(1))
    with pytest.raises(BudgetExceeded):
        ledger.charge(OWNER, Quote(event, gauss, MEN), request_id="b", body="")
    ledger.close()


def test_a_cost_that_no_currency_expresses_never_fits(tmp_path):
    ledger = open_ledger(tmp_path, "1000000", "1e-3")
    cost = Cost(None, Fraction(0), None, Fraction(0))
    with pytest.raises(BudgetExceeded):
        ledger.charge(OWNER, Quote(NOTHING, cost), request_id="a", body="")
    ledger.close()


def test_free_and_empty_charges_are_recorded_and_cost_nothing(ledger):
    pay(ledger, "1", "all of it")
    nobody = Region.of({"sex": Positions(())})
    assert pay(ledger, "5", "nobody", nobody).after.epsilon == 1
    ledger.charge(OWNER, Quote(NOTHING, FREE), request_id="free", body="")
    assert charges(ledger) == 3
    ledger.close()
    assert charges(ledger) == 3


def test_the_same_request_is_the_same_receipt(ledger):
    first = pay(ledger, "0.5", "a")
    again = pay(ledger, "0.5", "a")
    assert not first.repeated
    assert again.repeated
    assert (again.position, again.before, again.after, again.time, again.cost) == (
        first.position,
        first.before,
        first.after,
        first.time,
        first.cost,
    )
    assert charges(ledger) == 1


def test_an_id_belongs_to_its_body_and_lives_among_the_ids_of_its_payer(tmp_path):
    caps = {"alice": {"census": Cap.of(1)}, "bob": {"census": Cap.of(1)}}
    ledger = open_ledger(tmp_path, analysts=caps)
    bob = Payer("bob", "census", "census")
    mine = ledger.charge(ALICE, quote("0.1"), request_id="x", body="q")
    ledger.store_answer(mine, b"alice's")
    with pytest.raises(RequestConflict):
        ledger.charge(ALICE, quote("0.1"), request_id="x", body="another")
    for payer, answer in ((bob, b"bob's"), (OWNER, b"owner's")):
        assert ledger.stored_answer("x", payer.analyst) is None
        receipt = ledger.charge(payer, quote("0.1"), request_id="x", body="q")
        assert not receipt.repeated
        assert ledger.store_answer(receipt, answer) == answer
    assert charges(ledger) == 3
    kept = {name: ledger.stored_answer("x", name) for name in ("alice", "bob", None)}
    assert kept == {"alice": b"alice's", "bob": b"bob's", None: b"owner's"}
    assert ledger.answers("bob", "census", "") == [("x", "", b"bob's")]
    ledger.verify()
    ledger.close()


def test_an_analysts_cap_comes_on_top_of_the_total(tmp_path):
    caps = {"alice": {"census": Cap.of("0.5")}, "bob": {"census": Cap.of("0.9")}}
    ledger = open_ledger(tmp_path, analysts=caps)
    bob = Payer("bob", "census", "census")
    receipt = pay(ledger, "0.4", "a", payer=ALICE)
    assert (receipt.after.limit_epsilon, receipt.after.epsilon) == (Fraction(1, 2), Fraction(2, 5))
    with pytest.raises(BudgetExceeded, match="analyst 'alice' in 'census'"):
        pay(ledger, "0.2", "b", payer=ALICE)
    pay(ledger, "0.5", "c", payer=bob)
    with pytest.raises(BudgetExceeded, match="budget of 'census'"):
        pay(ledger, "0.4", "d", payer=bob)
    # Disjoint groups compose in parallel within a cap, too.
    assert ledger.spent("census", "alice").epsilon == Fraction(2, 5)
    pay(ledger, "0.1", "men", MEN, payer=ALICE)
    pay(ledger, "0.1", "women", WOMEN, payer=ALICE)
    assert ledger.spent("census", "alice").epsilon == Fraction(1, 2)
    assert ledger.spent("census").epsilon == 1
    ledger.close()


def test_datasets_of_the_same_people_share_a_budget(tmp_path):
    ledger = open_ledger(tmp_path)
    other = Payer(None, "visits", "census")
    women = Region.of({"visits.sex": Positions.points([0])})
    pay(ledger, "0.5", "a", WOMEN)
    pay(ledger, "0.4", "b", women, payer=other)
    assert ledger.spent("census").epsilon == Fraction(9, 10)
    with pytest.raises(BudgetExceeded):
        pay(ledger, "0.2", "c", women, payer=other)
    ledger.close()


def test_a_dataset_cannot_leave_its_spending_behind(tmp_path):
    budgets = {"census": BudgetPolicy.of(1), "fresh": BudgetPolicy.of(1)}
    ledger = Ledger.open("sqlite:ledger.db", Policy(budgets), base=tmp_path)
    pay(ledger, "1", "a")
    with pytest.raises(InvalidInput, match="paid from the budget 'census'"):
        pay(ledger, "1", "b", payer=Payer(None, "census", "fresh"))
    ledger.close()


@pytest.mark.parametrize(
    ("payer", "words"),
    [
        (Payer(None, "census", "nowhere"), "no budget 'nowhere'"),
        (Payer("mallory", "census", "census"), "'mallory' has no share"),
    ],
)
def test_unknown_names_are_refused(ledger, payer, words):
    with pytest.raises(UnknownName, match=words):
        pay(ledger, "0.1", "a", payer=payer)
    assert charges(ledger) == 0
    with pytest.raises(UnknownName):
        ledger.spent(payer.budget, payer.analyst)


@pytest.mark.parametrize("name", ["", "a\nb", "x" * 201, "nul\x00"])
def test_odd_names_are_refused(ledger, name):
    with pytest.raises(InvalidInput):
        pay(ledger, "0.1", name)
    with pytest.raises(InvalidInput):
        Payer(None, name, "census")
    assert charges(ledger) == 0


@pytest.mark.parametrize("text", ["nul\x00", "lone \ud800"])
def test_text_that_cannot_be_kept_is_refused_before_the_charge(ledger, text):
    with pytest.raises(InvalidInput):
        ledger.charge(OWNER, quote("0.1"), request_id="a", body="", question=text)
    assert charges(ledger) == 0


def test_answers_are_stored_once_and_found_by_question(ledger):
    facts = {"question": "SELECT 1", "snapshot": "s1"}
    first = ledger.charge(OWNER, quote("0.1"), request_id="a", body="", **facts)
    assert ledger.stored_answer("a") is None
    assert ledger.store_answer(first, b"one") == b"one"
    assert ledger.store_answer(first, b"two") == b"one"
    assert ledger.stored_answer("a") == b"one"
    assert ledger.find_answer(None, "census", "SELECT 1", "s1") == ("a", b"one")
    assert ledger.find_answer(None, "census", "SELECT 1", "s2") is None
    assert ledger.find_answer("alice", "census", "SELECT 1", "s1") is None
    assert ledger.answers(None, "census", "s1") == [("a", "SELECT 1", b"one")]
    second = ledger.charge(OWNER, quote("0.1"), request_id="b", body="", **facts)
    ledger.store_answer(second, b"newer")
    assert ledger.find_answer(None, "census", "SELECT 1", "s1") == ("b", b"newer")


def test_an_answer_needs_a_receipt_of_this_ledger(ledger, tmp_path):
    (tmp_path / "other").mkdir()
    other = open_ledger(tmp_path / "other")
    foreign = pay(other, "0.1", "a")
    with pytest.raises(AnswerLost, match="does not hold"):
        ledger.store_answer(foreign, b"x")
    pay(ledger, "0.1", "b")
    with pytest.raises(AnswerLost, match="does not hold"):
        ledger.store_answer(foreign, b"x")
    other.close()


def test_exposures_and_looks_are_written_down(ledger):
    ledger.record_exposure("census", reason="k-anonymous file", columns=["zip", "sex"], note="k=5")
    ledger.record_look("census", reason="init")
    ledger.record_exposure("visits", reason="other")
    (entry,) = ledger.exposures("census")
    assert (entry.data["reason"], entry.data["columns"]) == ("k-anonymous file", ["zip", "sex"])
    assert [item.kind for item in ledger.history(last=3)] == ["exposure", "look", "exposure"]


def test_limits_change_on_the_record(tmp_path):
    pay(first := open_ledger(tmp_path, "1"), "1", "a")
    first.close()
    second = Ledger.open("sqlite:ledger.db", policy("2.5"), base=tmp_path, who="ann")
    change = second.history(last=1)[0].data
    assert (change["old"]["epsilon"], change["new"]["epsilon"], change["who"]) == (
        "1",
        "5/2",
        "ann",
    )
    assert pay(second, "1.5", "b").after.epsilon == Fraction(5, 2)
    second.close()
    third = open_ledger(tmp_path, "0.5")
    spent = third.spent("census")
    assert (spent.epsilon, spent.limit_epsilon) == (Fraction(5, 2), Fraction(1, 2))
    with pytest.raises(BudgetExceeded):
        pay(third, "0.01", "c")
    entries = third.verify()
    third.close()
    fourth = open_ledger(tmp_path, "0.5")
    assert fourth.verify() == entries, "an unchanged policy writes nothing"
    fourth.close()


@pytest.mark.parametrize("twin", [False, True])
def test_a_child_that_was_told_an_older_limit_does_not_bring_it_back(tmp_path, twin):
    open_ledger(tmp_path, "10").close()
    owner = open_ledger(tmp_path, "1")
    child = Ledger.open("sqlite:ledger.db", policy("10"), base=tmp_path, adopts=twin)
    assert (owner.spent("census").limit_epsilon == 10) is twin
    if not twin:
        pay(child, "1", "a")
        with pytest.raises(BudgetExceeded):
            pay(child, "0.1", "b")
        found = owner.charge_of(None, "a")
        assert found is not None
        assert found.data["request_id"] == "a"
        assert owner.charge_of(None, "b") is None
    for each in (owner, child):
        each.close()


def test_a_running_process_obeys_a_limit_that_another_lowered(tmp_path):
    running = open_ledger(tmp_path, "1")
    open_ledger(tmp_path, "0.3").close()
    with pytest.raises(BudgetExceeded):
        pay(running, "0.5", "a")
    pay(running, "0.3", "b")
    running.close()


def test_a_budget_that_is_taken_away_and_comes_back_remembers(tmp_path):
    ledger = open_ledger(tmp_path)
    pay(ledger, "0.8", "a")
    ledger.close()
    other = Ledger.open("sqlite:ledger.db", Policy({"x": BudgetPolicy.of(1)}), base=tmp_path)
    with pytest.raises(UnknownName):
        pay(other, "0.1", "b")
    assert other.budgets == ("x",)
    other.close()
    again = open_ledger(tmp_path)
    assert again.spent("census").epsilon == Fraction(4, 5)
    again.close()


def test_neighbours_cannot_change_once_something_was_charged(tmp_path):
    replace_one = Policy({"census": BudgetPolicy.of(1, 0, Neighbours.REPLACE_ONE)})
    open_ledger(tmp_path).close()
    changed = Ledger.open("sqlite:ledger.db", replace_one, base=tmp_path)
    pay(changed, "0.1", "a")
    changed.close()
    with pytest.raises(CatalogError, match="neighbours of 'census' cannot change"):
        open_ledger(tmp_path)


def test_replace_one_neighbours_pay_for_both_groups(tmp_path):
    replace_one = Policy({"census": BudgetPolicy.of(1, 0, Neighbours.REPLACE_ONE)})
    ledger = Ledger.open("sqlite:ledger.db", replace_one, base=tmp_path)
    pay(ledger, "0.3", "men", MEN)
    assert pay(ledger, "0.4", "women", WOMEN).after.epsilon == Fraction(7, 10)
    ledger.close()


def test_reopening_gives_the_same_state(tmp_path):
    ledger = open_ledger(tmp_path, "1", "1e-9")
    for number, region in enumerate((EVERYONE, MEN, WOMEN, ADULTS)):
        pay(ledger, Fraction(1 + number, 70), f"r{number}", region)
    before = ledger.spent("census")
    ledger.close()
    again = open_ledger(tmp_path, "1", "1e-9")
    assert again.spent("census") == before
    again.close()


def test_history_is_oldest_first_and_can_be_cut(ledger):
    for number in range(4):
        pay(ledger, "0.1", f"r{number}")
    assert [entry.data["request_id"] for entry in ledger.history("census", last=2)] == ["r2", "r3"]
    assert ledger.history(last=0) == []
    assert ledger.history()[0].kind == "genesis"


def test_the_files_are_readable_by_their_owner_only(ledger, tmp_path):
    pay(ledger, "0.1", "a")
    for path in tmp_path.iterdir():
        assert path.stat().st_mode & 0o077 == 0, path.name


def test_exact_sums_where_floats_drift(tmp_path):
    ledger = open_ledger(tmp_path, "1")
    for number in range(10):
        receipt = pay(ledger, "0.1", f"r{number}")
    assert receipt.after.epsilon == 1
    with pytest.raises(BudgetExceeded):
        pay(ledger, Fraction(1, 10**20), "one more")
    assert sum([0.1] * 10) != 1.0
    ledger.close()


def test_the_store_is_synced_at_every_commit(ledger):
    assert ledger._store._file.connection.execute("PRAGMA synchronous").fetchone() == (2,)
    assert ledger._store._file.connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert isinstance(ledger._store._file.connection, sqlite3.Connection)
