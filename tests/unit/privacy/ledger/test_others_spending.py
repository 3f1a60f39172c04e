"""What one analyst can learn about another's spending: steps, and not too often."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from discreet.base.event import EVERYONE, Concentrated, Cost, Quote
from discreet.base.numbers import Delta, Epsilon
from discreet.errors import BudgetExceeded, DiscreetError, TooManyRequests
from discreet.privacy.ledger import Cap, Payer, charge
from discreet.privacy.ledger import refusal as beside
from discreet.privacy.ledger.budget import limits_of
from discreet.privacy.ledger.refusal import HOUR, MOST_REFUSALS, RefusalCounts
from discreet.privacy.ledger.reports import history_report
from discreet.privacy.ledger.worst.worst_hit import Worst
from ledger_kit import ADULTS, ALICE, MEN, OWNER, WOMEN, open_ledger, pay, quote
from sittings import FULL

EVE = Payer("eve", "census", "census")
SHARES = {name: {"census": Cap.of(1)} for name in ("alice", "eve")}
REGIONS = (EVERYONE, WOMEN, MEN, ADULTS)
ASKED = ("1", "0.97", "0.61", "0.6", "0.35", "0.05", "0.3", "0.02")


def opened(folder, delta=0, shares=SHARES):
    folder.mkdir()
    return open_ledger(folder, "1", delta, analysts=shares)


def transcript(ledger):
    """Return everything that Eve is told while she probes, adaptively, and spends."""
    told = []
    for turn, epsilon in enumerate(ASKED):
        for region in REGIONS:
            before, after = ledger.foreseen(EVE, quote(epsilon, region))
            told.append((before, after))
            try:
                receipt = pay(ledger, epsilon, f"{turn} {region}", region, payer=EVE)
                told.append((receipt.before, receipt.after, receipt.cost))
            except DiscreetError as error:
                told.append((error.kind, str(error), getattr(error, "left", "")))
    lines = history_report(ledger, last=50, analysts=("eve",))
    told += [{k: v for k, v in line.items() if k != "time"} for line in lines]
    return told


def told_after(folder, amounts, delta=0):
    """Return Eve's transcript after Alice has paid `amounts` for women."""
    ledger = opened(folder, delta)
    for place, amount in enumerate(amounts):
        pay(ledger, amount, f"alice {place}", WOMEN, payer=ALICE)
    found = transcript(ledger)
    ledger.close()
    return found


WITHIN = [("0.31", "0.4"), ("0.301", "0.399"), ("0.01", "0.1")]
SPLIT = [("0.35",), ("0.2", "0.15"), ("0.1",) * 3 + ("0.01",)]


@pytest.mark.parametrize(
    ("delta", "low", "high"),
    [(0, *pair) for pair in WITHIN]
    + [("1e-6", *pair) for pair in (WITHIN if FULL else WITHIN[:1])],
)
def test_histories_within_one_step_look_the_same(tmp_path, low, high, delta):
    first = told_after(tmp_path / "a", (low,), delta)
    assert any(line[0] == "BudgetExceeded" for line in first if isinstance(line, tuple))
    assert first == told_after(tmp_path / "b", (high,), delta)


def test_how_many_charges_others_made_is_not_told(tmp_path):
    found = [told_after(tmp_path / str(i), amounts) for i, amounts in enumerate(SPLIT)]
    assert found[0] == found[1] == found[2]


def test_histories_in_different_steps_may_look_different(tmp_path):
    assert told_after(tmp_path / "a", ("0.4",)) != told_after(tmp_path / "b", ("0.41",))


def test_the_twin_that_checks_the_exact_budget_is_caught(tmp_path, monkeypatch):
    monkeypatch.setattr(beside, "coarse", lambda cost, _limits: cost)
    assert told_after(tmp_path / "a", ("0.31",)) != told_after(tmp_path / "b", ("0.4",))


def test_the_twin_that_says_what_is_left_is_caught(tmp_path, monkeypatch):
    monkeypatch.setattr(charge, "require_room", lambda *_: None)
    monkeypatch.setattr(charge, "no_room", charge.refusal)
    assert told_after(tmp_path / "a", ("0.31",)) != told_after(tmp_path / "b", ("0.4",))


def test_the_budget_itself_holds_whatever_the_steps_say(tmp_path, monkeypatch):
    monkeypatch.setattr(charge, "require_room", lambda *_: None)
    ledger = opened(tmp_path / "a")
    pay(ledger, "0.75", "a", payer=ALICE)
    with pytest.raises(BudgetExceeded, match="Nothing fits here"):
        pay(ledger, "0.5", "b", payer=EVE)
    ledger.close()


def test_disjoint_people_are_still_asked_side_by_side(tmp_path):
    ledger = opened(tmp_path / "a")
    pay(ledger, "0.95", "a", WOMEN, payer=ALICE)
    pay(ledger, "1", "b", MEN, payer=EVE)
    with pytest.raises(BudgetExceeded) as caught:
        pay(ledger, "0.02", "c", WOMEN, payer=EVE)
    assert caught.value.left == "0"
    assert ledger.spent("census").epsilon == 1
    ledger.close()


def test_a_refusal_says_what_fits_and_that_fits(tmp_path):
    ledger = opened(tmp_path / "a")
    pay(ledger, "0.35", "a", payer=ALICE)
    pay(ledger, "0.05", "b", payer=EVE)
    with pytest.raises(BudgetExceeded, match=r"steps of 0\.1") as caught:
        pay(ledger, "0.8", "c", payer=EVE)
    assert caught.value.left == "0.55"  # 1 less 0.4 in steps, less her own 0.05 exactly
    assert pay(ledger, caught.value.left, "d", payer=EVE)
    ledger.close()


def test_shares_that_add_up_to_the_budget_never_meet(tmp_path):
    shares = {"alice": {"census": Cap.of("0.45")}, "eve": {"census": Cap.of("0.55")}}
    ledger = opened(tmp_path / "a", shares=shares)
    pay(ledger, "0.45", "a", payer=ALICE)
    pay(ledger, "0.55", "b", payer=EVE)
    assert ledger.spent("census").epsilon == 1
    ledger.close()


def test_charges_of_a_share_that_is_gone_count_in_steps(tmp_path):
    ledger = opened(tmp_path / "a")
    pay(ledger, "0.35", "a", payer=ALICE)
    ledger.close()
    ledger = open_ledger(tmp_path / "a", "1", analysts={"eve": SHARES["eve"]})
    with pytest.raises(BudgetExceeded) as caught:
        pay(ledger, "0.65", "b", payer=EVE)
    assert caught.value.left == "0.6"
    ledger.close()


LOWERED = ("0.45", "0.5")
"""Two amounts in one step of 0.1; the share is lowered to what lies between them."""


def told_after_lowering(folder, amount):
    """Return Eve's transcript after Alice has paid `amount`, and her share was lowered to 0.47."""
    opened_before = opened(folder)
    pay(opened_before, amount, "alice", WOMEN, payer=ALICE)
    opened_before.close()
    lowered = {"alice": {"census": Cap.of("0.47")}, "eve": SHARES["eve"]}
    ledger = open_ledger(folder, "1", analysts=lowered)
    found = transcript(ledger)
    ledger.close()
    return found


def test_a_lowered_share_shows_nothing_within_a_step(tmp_path):
    low, high = LOWERED
    told = [told_after_lowering(tmp_path / amount, amount) for amount in (low, high)]
    assert told[0] == told[1]


def test_the_twin_that_compares_with_what_was_paid_is_caught(tmp_path, monkeypatch):
    """As it was: the shares in force cap others' bill unless more than that was paid."""

    def capped(accounts, key, asked, limits):
        paid = beside.in_region(beside.others_of(accounts, key), asked)
        most = Fraction("0.47")
        told = beside.coarse(paid, limits)
        return told if paid.epsilon > most else replace(told, epsilon=min(told.epsilon, most))

    monkeypatch.setattr(beside, "_capped", capped)
    low, high = LOWERED
    told = [told_after_lowering(tmp_path / amount, amount) for amount in (low, high)]
    assert told[0] != told[1]


def test_what_the_owner_asked_counts_in_steps_beside_the_shares(tmp_path):
    shares = {"alice": {"census": Cap.of("0.3")}, "eve": SHARES["eve"]}
    told = []
    for amount in ("0.31", "0.39"):
        ledger = opened(tmp_path / amount, shares=shares)
        pay(ledger, amount, "owner")
        told.append(transcript(ledger))
        assert ledger.spent("census").epsilon <= 1
        ledger.close()
    assert told[0] == told[1]


def test_the_own_share_is_told_exactly_and_first(tmp_path):
    shares = SHARES | {"eve": {"census": Cap.of("0.5")}}
    ledger = opened(tmp_path / "a", shares=shares)
    pay(ledger, "0.95", "a", payer=ALICE)
    with pytest.raises(BudgetExceeded, match="analyst 'eve'") as caught:
        pay(ledger, "0.51", "b", payer=EVE)
    assert caught.value.left == "0.5"
    ledger.close()


def test_the_owner_sees_all(tmp_path):
    ledger = opened(tmp_path / "a")
    pay(ledger, "0.33", "a", payer=ALICE)
    with pytest.raises(BudgetExceeded) as caught:
        pay(ledger, "1", "b", payer=OWNER)
    assert caught.value.left == "0.67"
    assert ledger.spent("census").epsilon == Fraction(33, 100)
    ledger.close()


def test_after_some_refusals_in_an_hour_nothing_is_looked_up(tmp_path):
    now = [10.0 * HOUR]
    ledger = opened(tmp_path / "a")
    ledger.probes = RefusalCounts(lambda: now[0])
    pay(ledger, "0.5", "a", payer=ALICE)
    for turn in range(MOST_REFUSALS):
        with pytest.raises(BudgetExceeded):
            pay(ledger, "0.9", f"probe {turn}", payer=EVE)
    for epsilon in ("0.9", "0.1"):  # this one would fit, but not even that is told
        with pytest.raises(TooManyRequests, match="next hour"):
            pay(ledger, epsilon, f"later {epsilon}", payer=EVE)
    pay(ledger, "0.1", "b", payer=ALICE)  # nobody else is kept waiting
    now[0] += HOUR
    pay(ledger, "0.1", "c", payer=EVE)
    ledger.close()


def test_a_process_of_a_job_counts_on_and_what_it_tells_counts(tmp_path):
    """Each job has a process and a ledger of its own; the twenty of an hour are one count."""
    server = opened(tmp_path / "a")
    child = open_ledger(tmp_path / "a", "1", 0, analysts=SHARES)
    pay(server, "0.5", "a", payer=ALICE)
    with pytest.raises(BudgetExceeded):
        pay(server, "0.9", "probe", payer=EVE)
    told = server.probes.so_far()
    child.probes.go_on(told)
    for turn in range(MOST_REFUSALS - 1):
        with pytest.raises(BudgetExceeded):
            pay(child, "0.9", f"probe {turn}", payer=EVE)
    with pytest.raises(TooManyRequests):
        pay(child, "0.9", "once more", payer=EVE)
    server.probes.add(json.loads(json.dumps(child.probes.since(told))))
    with pytest.raises(TooManyRequests):
        pay(server, "0.9", "back again", payer=EVE)
    pay(server, "0.1", "b", payer=ALICE)
    server.close()
    child.close()


def counted_anew(monkeypatch) -> list[int]:
    """Return a list that grows whenever the bills of an account are counted from the beginning."""
    found: list[int] = []
    real = Worst.extend

    def extend(worst, charges):
        found.append(1)
        return real(worst, charges)

    monkeypatch.setattr(Worst, "extend", extend)
    return found


def others(ledger) -> tuple:
    """Return what Eve's account of the others says, and what one made anew does."""
    with ledger.session() as session:
        accounts = session.accounts
        known = beside.others_of(accounts, ("census", "eve"))
        bills = accounts.account("census").bills - accounts.account("census", "eve").bills
        fresh = replace(
            accounts.account("census"), bills=bills, _worst=None, _resolution=None, _tried=[]
        )
        told = [known.peak_with(region, quote("0.001").cost) for region in REGIONS]
        return (known.peak(), told), (
            fresh.peak(),
            [fresh.peak_with(r, quote("0.001").cost) for r in REGIONS],
        )


def test_what_others_add_is_entered_and_not_counted_anew(tmp_path, monkeypatch):
    ledger = opened(tmp_path / "ledger")
    pay(ledger, "0.1", "first", WOMEN, payer=ALICE)
    known, fresh = others(ledger)
    assert known == fresh
    for turn in range(12):
        payer = (ALICE, OWNER, EVE)[turn % 3]
        pay(ledger, "0.01", f"turn {turn}", REGIONS[turn % 4], payer=payer)
        known, fresh = others(ledger)
        assert known == fresh
    pay(ledger, "0.01", "last", ADULTS, payer=ALICE)
    anew = counted_anew(monkeypatch)
    with ledger.session() as session:
        beside.others_of(session.accounts, ("census", "eve")).peak()
    assert not anew
    monkeypatch.setattr(beside, "SINGLY", 0)
    pay(ledger, "0.01", "one more", ADULTS, payer=ALICE)
    with ledger.session() as session:
        beside.others_of(session.accounts, ("census", "eve")).peak()
    assert anew
    ledger.close()


def test_what_others_get_back_is_counted_anew(tmp_path):
    ledger = opened(tmp_path / "ledger")
    pay(ledger, "0.5", "a", WOMEN, payer=ALICE)
    known, fresh = others(ledger)
    assert known == fresh
    with ledger.session() as session:
        for who in (None, "alice"):
            session.accounts.account("census", who).flatten(quote("0.4").cost)
    pay(ledger, "0.01", "b", ADULTS, payer=ALICE)
    known, fresh = others(ledger)
    assert known == fresh
    ledger.close()


def test_the_twin_that_enters_nothing_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(beside, "_grown", lambda *_: True)
    ledger = opened(tmp_path / "ledger")
    pay(ledger, "0.1", "first", WOMEN, payer=ALICE)
    others(ledger)
    pay(ledger, "0.1", "second", WOMEN, payer=ALICE)
    known, fresh = others(ledger)
    assert known != fresh
    ledger.close()


def concentrated(rho):
    return Quote(Concentrated(rho), Cost(None, Fraction(0), rho, Fraction(0)), EVERYONE)


def least_refused(folder, paid):
    """Return how many probes Eve has, in rho from above, and the first that is granted, if any is."""
    shares = {"alice": {"census": Cap.of(1, "1e-6")}, "eve": {"census": Cap.of(2, "1e-6")}}
    ledger = open_ledger(folder, "2", "1e-6", analysts=shares)
    pay(ledger, paid, "alice", payer=ALICE)
    rho = limits_of(Epsilon.of(2), Delta.of("1e-6")).rho
    for place in range(100):
        asked = rho * (100 - place) / 100
        try:
            ledger.charge(EVE, concentrated(asked), request_id="eve", body="eve")
        except BudgetExceeded:
            continue
        except TooManyRequests:
            return place, None
        return place, asked
    return None


def test_who_holds_more_rho_than_a_share_allows_is_told_in_steps(tmp_path):
    """A share that fits by epsilon may hold more rho than its limit says: no cap on that, then."""
    told = []
    for paid in ("0.315", "0.32", "0.325"):  # within one step of rho
        (tmp_path / paid).mkdir()
        told.append(least_refused(tmp_path / paid, paid))
    assert len(set(told)) == 1
    assert told[0][1] is None, "she is told too seldom to find out"


def test_the_exact_bill_is_probed_no_more_often_than_steps_are(tmp_path, monkeypatch):
    """Should steps ever pass what the budget refuses: that is counted, too."""
    monkeypatch.setattr(charge, "require_room", lambda *_: None)
    ledger = opened(tmp_path / "ledger")
    pay(ledger, "0.9", "alice", payer=ALICE)
    for _ in range(MOST_REFUSALS):
        with pytest.raises(BudgetExceeded):
            pay(ledger, "0.5", "eve", payer=EVE)
    with pytest.raises(TooManyRequests):
        pay(ledger, "0.5", "eve", payer=EVE)


def test_a_bill_is_rounded_up_to_tenths_of_what_each_filter_allows():
    limits = limits_of(Epsilon.of(2), Delta.of("4e-6"))
    step = Cost(Fraction(1, 5), Fraction(2, 10**7), limits.rho / 10, Fraction(1, 10**7))
    hair = Fraction(1, 10**12)
    for times in range(4):
        whole = Cost(*(times * part for part in _parts(step)))
        assert beside.coarse(whole, limits) == whole
        more = Cost(*(part + hair for part in _parts(whole)))
        assert beside.coarse(more, limits) == whole + step
    unbounded = Cost(None, Fraction(0), None, Fraction(0))
    assert beside.coarse(unbounded, limits) == unbounded
    pure = limits_of(Epsilon.of(2), Delta.of(0))
    tiny = replace(whole, delta=hair, rho_delta=hair)
    assert beside.coarse(tiny, pure).delta == hair, "where there is no delta there are no steps"


def _parts(cost: Cost) -> tuple:
    return cost.epsilon, cost.delta, cost.rho, cost.rho_delta


def test_what_the_owner_asked_is_what_came_out_of_no_share(tmp_path):
    ledger = opened(tmp_path / "ledger")
    pay(ledger, "0.1", "alice", WOMEN, payer=ALICE)
    pay(ledger, "0.2", "eve", WOMEN, payer=EVE)
    pay(ledger, "0.2", "owner's women", WOMEN)
    pay(ledger, "0.3", "owner's men", MEN)
    with ledger.session() as session:
        owner = beside.owner_of(session.accounts, "census")
    told = [owner.peak_with(region, quote("0.4").cost).epsilon for region in (WOMEN, MEN)]
    assert owner.peak().epsilon == Fraction(3, 10)
    assert told == [Fraction(6, 10), Fraction(7, 10)]
    ledger.close()


@pytest.mark.parametrize("limits", [("1", "2"), ("2", "1"), ("2", "1", "2", "3")])
def test_what_others_paid_is_the_same_after_limits_have_changed(tmp_path, limits):
    (tmp_path / "ledger").mkdir()
    for turn, limit in enumerate(limits):
        ledger = open_ledger(tmp_path / "ledger", limit, analysts=SHARES)
        pay(ledger, "0.1", f"women {turn}", WOMEN, payer=ALICE)
        known, fresh = others(ledger)
        assert known == fresh
        other = open_ledger(tmp_path / "ledger", limits[turn - 1], analysts=SHARES)
        pay(other, "0.01", f"all {turn}", payer=ALICE)
        other.close()
        pay(ledger, "0.01", f"men {turn}", MEN, payer=ALICE)
        known, fresh = others(ledger)
        assert known == fresh
        ledger.close()


def refused():
    raise BudgetExceeded("It does not fit.")


def test_a_process_tells_what_it_has_told_since_and_no_more():
    key, hour = ("census", "eve"), [7.0 * HOUR]
    probes = RefusalCounts(lambda: hour[0])
    for _ in range(3):
        with pytest.raises(BudgetExceeded):
            probes.counted(key, refused)
        hour[0] += HOUR / 10  # the same hour still
    known = probes.so_far()
    assert known == (7, {key: 3})
    assert probes.since(known) == []
    with pytest.raises(BudgetExceeded):
        probes.counted(key, refused)
    assert probes.since(known) == [(7, "census", "eve", 1)]
    assert probes.since((6, {key: 9})) == [(7, "census", "eve", 4)], "that was another hour"
    hour[0] += HOUR
    with pytest.raises(BudgetExceeded):
        probes.counted(("census", "alice"), refused)
    assert probes.since(known) == [(8, "census", "alice", 1)]
    assert probes.counted(key, lambda: "it fits") == "it fits"


def test_what_is_told_elsewhere_counts_for_its_own_hour():
    probes = RefusalCounts(lambda: 7.0 * HOUR)
    with pytest.raises(BudgetExceeded):
        probes.counted(("census", "eve"), refused)
    probes.add([(7, "census", "eve", 2), (6, "census", "eve", 5), (7, "census", "bob", 1)])
    assert probes.so_far() == (7, {("census", "eve"): 3, ("census", "bob"): 1})
    probes.add([(8, "census", "eve", 2)])
    assert probes.so_far() == (8, {("census", "eve"): 2})


def test_the_cap_of_shares_holds_beside_the_owners_own_use(tmp_path):
    """Alice can never pay more than 0.25: so much, and the owner's 0.3, is all that is held against Eve."""
    shares = {"alice": {"census": Cap.of("0.25")}, "eve": SHARES["eve"]}
    ledger = opened(tmp_path / "ledger", shares=shares)
    pay(ledger, "0.21", "alice", payer=ALICE)
    pay(ledger, "0.31", "owner")
    with pytest.raises(BudgetExceeded) as caught:
        pay(ledger, "1", "eve", payer=EVE)
    assert caught.value.left == "0.4"  # together 0.52, in steps 0.6; the cap says 0.4 + 0.25
    ledger.close()
    ledger = opened(tmp_path / "other", shares=shares)
    pay(ledger, "0.24", "alice", payer=ALICE)
    with pytest.raises(BudgetExceeded) as caught:
        pay(ledger, "1", "eve", payer=EVE)
    assert caught.value.left == "0.75", "the cap is below the step"
    ledger.close()
