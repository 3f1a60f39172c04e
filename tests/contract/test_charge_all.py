"""Several charges of one statement, on every store: all of them or none, whatever happens between."""

from __future__ import annotations

import os
import random
import signal
from fractions import Fraction

import pytest

from discreet.ask.release.outcome import once
from discreet.base.event import EVERYONE
from discreet.errors import (
    AnswerLost,
    BudgetExceeded,
    InternalError,
    LedgerTampered,
    RequestConflict,
)
from discreet.privacy.ledger import Cap, Charge, Ledger, Payer
from discreet.privacy.ledger.accounts import Accounts
from discreet.privacy.ledger.entry import Entry, link
from discreet.privacy.ledger.history import open_store
from ledger_kit import ADULTS, ALICE, MEN, OWNER, WOMEN, forked, open_ledger, pay, policy, quote

STORES = [pytest.param("sqlite"), pytest.param("postgres", marks=pytest.mark.postgres)]
SHARE = {"alice": {"census": Cap.of("0.8")}, "bob": {"census": Cap.of("0.8")}}
BOB = Payer("bob", "census", "census")


@pytest.fixture(params=STORES)
def url(request):
    if request.param == "postgres":
        return request.getfixturevalue("postgres_url")
    return "sqlite:ledger.db"


@pytest.fixture
def ledger(url, tmp_path):
    found = open_ledger(tmp_path, "1", url=url, analysts=SHARE)
    yield found
    found.close()


def bill(name, epsilon, region=EVERYONE):
    return Charge(quote(epsilon, region), name, f"body of {name}")


def one_by_one(ledger, payer, bills):
    """The broken twin: what was done before this was one transaction."""
    return [pay(ledger, each.quote.cost.epsilon, each.request_id, payer=payer) for each in bills]


def spent(ledger, analyst=None):
    return ledger.spent("census", analyst).epsilon


def charges(ledger):
    return [entry for entry in ledger.history() if entry.kind == "charge"]


def test_all_of_them_are_charged_as_each_would_be(ledger):
    bills = [bill("q.1", "1/4"), bill("q.2", "1/8", WOMEN), bill("q.3", "1/8", MEN)]
    receipts = ledger.charge_all(ALICE, bills)
    assert [receipt.request_id for receipt in receipts] == ["q.1", "q.2", "q.3"]
    assert [receipt.after.epsilon for receipt in receipts] == [
        Fraction(1, 4),
        Fraction(3, 8),
        Fraction(3, 8),  # other people pay the third
    ]
    assert [r.before for r in receipts[1:]] == [r.after for r in receipts[:-1]]
    assert spent(ledger) == spent(ledger, "alice") == Fraction(3, 8)
    assert [entry.data["together"] for entry in charges(ledger)] == [
        [receipts[0].position, 3],
    ] * 3
    assert ledger.verify() == receipts[-1].position + 1
    # The same again is paid already.
    again = ledger.charge_all(ALICE, bills)
    assert [r.repeated for r in again] == [True] * 3
    assert [r.position for r in again] == [r.position for r in receipts]


@pytest.mark.parametrize("charge", [Ledger.charge_all, one_by_one])
@pytest.mark.parametrize("payer", [OWNER, ALICE])
def test_a_budget_for_one_of_two_charges_nothing(ledger, payer, charge):
    bills = [bill("q.1", "3/5"), bill("q.2", "3/5")]
    with pytest.raises(BudgetExceeded, match="Nothing was charged"):
        charge(ledger, payer, bills)
    if charge is one_by_one:
        assert charges(ledger)  # the twin is caught: the first stays paid
        return
    assert not charges(ledger)
    assert spent(ledger) == 0
    assert ledger.receipt(payer, request_id="q.1", body="body of q.1") is None
    # Neither the books in memory nor those of another process have heard of it.
    assert ledger.charge_all(payer, [bill("q.1", "3/5")])[0].after.epsilon == Fraction(3, 5)


def test_what_was_tried_and_refused_is_forgotten(ledger):
    """Each region fits by itself; who is in both does not, and that shows while trying."""
    bills = [bill("adults", "3/5", ADULTS), bill("women", "3/5", WOMEN)]
    with pytest.raises(BudgetExceeded):
        ledger.charge_all(OWNER, bills)
    assert spent(ledger) == 0
    assert ledger.charge_all(OWNER, [bill("men", "1", MEN)])[0].before.epsilon == 0
    assert ledger.charge_all(OWNER, [bill("women", "1", WOMEN)])[0].before.epsilon == 1
    assert ledger.verify()


def test_the_twin_that_does_not_forget_is_caught(ledger, monkeypatch):
    monkeypatch.setattr(Accounts, "forget_tried", lambda _accounts: None)
    with pytest.raises(BudgetExceeded):
        ledger.charge_all(OWNER, [bill("adults", "3/5", ADULTS), bill("women", "3/5", WOMEN)])
    with pytest.raises(BudgetExceeded):
        ledger.charge_all(OWNER, [bill("all", "1")])


def test_a_failed_commit_is_forgotten_too(ledger):
    append = ledger._store.append

    def failing(item):
        append(item)
        if Entry.of(item).data.get("request_id") == "q.2":
            raise ZeroDivisionError

    ledger._store.append = failing
    with pytest.raises(ZeroDivisionError):
        ledger.charge_all(OWNER, [bill("q.1", "1/2"), bill("q.2", "1/2", WOMEN)])
    ledger._store.append = append
    assert spent(ledger) == 0
    receipts = ledger.charge_all(OWNER, [bill("q.1", "1/2"), bill("q.2", "1/2", WOMEN)])
    assert [receipt.repeated for receipt in receipts] == [False, False]


@pytest.mark.parametrize("payer", [OWNER, ALICE])
def test_together_leads_where_one_by_one_leads(tmp_path, payer):
    """The same charges in two ledgers: the same bounds in every entry, and the same refusals."""
    draw, refused = random.Random(3), 0
    ways = [open_ledger(tmp_path, "1", url=f"sqlite:{i}.db", analysts=SHARE) for i in range(2)]
    for turn in range(40):
        regions = [draw.choice((EVERYONE, WOMEN, MEN, ADULTS)) for _ in range(draw.randint(2, 4))]
        amounts = [Fraction(draw.randint(1, 6), 100) for _ in regions]
        bills = [
            bill(f"{turn}.{i}", a, r) for i, (a, r) in enumerate(zip(amounts, regions, strict=True))
        ]
        try:
            ways[0].charge_all(payer, bills)
        except BudgetExceeded:
            refused += 1
            continue
        for each in bills:
            ways[1].charge_all(payer, [each])
        facts = [[_bounds(entry) for entry in charges(ledger)] for ledger in ways]
        assert facts[0] == facts[1]
    assert 0 < refused < 40
    for ledger in ways:
        ledger.close()


def _bounds(entry):
    return {name: entry.data[name] for name in ("total", "share", "before", "after", "request_id")}


def test_others_room_is_told_once_and_of_no_single_question(ledger):
    pay(ledger, "3/5", "bob", WOMEN, payer=BOB)
    bills = [bill("women", "1/2", WOMEN), bill("men", "0.29", MEN)]
    said = set()
    for order in (bills, bills[::-1]):
        with pytest.raises(BudgetExceeded) as refused:
            ledger.charge_all(ALICE, order)
        said.add((refused.value.message, refused.value.hint, refused.value.left))
    ((message, _, left),) = said  # not which of them, nor how much would fit
    assert "2 private questions of this statement together beside what others" in message
    assert not left
    assert ledger.probes._told == {("census", "alice"): 2}
    assert len(charges(ledger)) == 1
    ledger.charge_all(ALICE, [bill("men", "0.29", MEN), bill("all", "0.1")])


def test_paid_ones_and_new_ones_may_be_mixed(ledger):
    first = pay(ledger, "1/4", "q.1")
    receipts = ledger.charge_all(OWNER, [bill("q.1", "1/4"), bill("q.2", "1/4")])
    assert receipts[0].position == first.position
    assert [receipt.repeated for receipt in receipts] == [True, False]
    assert "together" not in charges(ledger)[-1].data
    with pytest.raises(RequestConflict):
        ledger.charge_all(OWNER, [bill("q.3", "1/4"), Charge(quote("1/4"), "q.2", "another")])
    assert len(charges(ledger)) == 2
    with pytest.raises(InternalError):
        ledger.charge_all(OWNER, [bill("q.4", "1/4"), bill("q.4", "1/4")])


@pytest.mark.parametrize("moment", ["between", "before the head"])
def test_a_kill_leaves_all_or_nothing(url, tmp_path, moment):
    open_ledger(tmp_path, "1", url=url).close()

    def ask(say):
        own = open_ledger(tmp_path, "1", url=url)
        append, many = own._store.append, []

        def dying(item):
            append(item)
            many.append(item)
            if len(many) == 2:
                os.kill(os.getpid(), signal.SIGKILL)

        if moment == "between":
            own._store.append = dying
        else:
            own._kept._head.advance = lambda head: os.kill(os.getpid(), signal.SIGKILL)
        own.charge_all(OWNER, [bill(f"q.{i}", "1/4") for i in range(3)])
        say("charged")

    assert forked(ask).lines() == []
    ledger = open_ledger(tmp_path, "1", url=url)
    left = 0 if moment == "between" else 3
    assert len(charges(ledger)) == left
    assert spent(ledger) == Fraction(left, 4)
    ledger.verify()
    receipts = ledger.charge_all(OWNER, [bill(f"q.{i}", "1/4") for i in range(3)])
    assert spent(ledger) == Fraction(3, 4)
    assert once(ledger, receipts[1], lambda _: b"told") == b"told"  # nobody had begun it
    ledger.close()


@pytest.mark.parametrize("kills", [4, pytest.param(500, marks=pytest.mark.slow)])
def test_kills_at_any_append_of_many_processes(url, tmp_path, kills):
    """Wherever a process dies, whole statements are in the chain and the limit holds."""
    open_ledger(tmp_path, "1000", url=url).close()
    draw = random.Random(2)
    for turn in range(kills):
        fatal = draw.randrange(1, 6)

        def ask(say, turn=turn, fatal=fatal):
            own = open_ledger(tmp_path, "1000", url=url)
            append, many = own._store.append, []

            def dying(item):
                many.append(append(item))
                if len(many) == fatal:
                    os.kill(os.getpid(), signal.SIGKILL)

            own._store.append = dying
            for part in range(3):
                bills = [bill(f"{turn}.{part}.{i}", "1/4") for i in range(2)]
                own.charge_all(OWNER, bills)
                say(part)

        told = len(forked(ask).lines())
        ledger = open_ledger(tmp_path, "1000", url=url)
        mine = [e for e in charges(ledger) if e.data["request_id"].startswith(f"{turn}.")]
        assert len(mine) in (2 * told, 2 * told + 2)
        assert len(mine) == 2 * ((fatal - 1) // 2)
        ledger.verify()
        ledger.close()


def rewritten(url, base, links):
    store = open_store(url, base=base)
    with store.exclusive() as writer:
        writer.erase()
        for item in links:
            writer.append(item)
    store.close()


def chained(items):
    """Return these (kind, facts) as a chain of right hashes, as a forger would."""
    made, previous = [], None
    for position, (kind, data) in enumerate(items):
        made.append(link(position, kind, data, previous=previous or "0" * 64))
        previous = made[-1].hash
    return made


def test_half_of_them_is_no_history(url, tmp_path):
    """A chain with right hashes that holds a part of a statement is refused, as is a backup of one."""
    ledger = open_ledger(tmp_path, "1", url=url)
    ledger.charge_all(OWNER, [bill("q.1", "1/4"), bill("q.2", "1/4")])
    whole, head = ledger.links(), ledger._store.head_path
    ledger.close()
    facts = [(item.kind, dict(Entry.of(item).data)) for item in whole]
    assert chained(facts) == whole
    two = len(facts) - 2
    forged = {
        "cut": facts[:-1],
        "without its first": [*facts[:two], facts[-1]],
        "another between": [*facts[:-1], ("look", facts[0][1]), facts[-1]],
        "said to be longer": [
            *facts[:two],
            *((k, d | {"together": [two, 3]}) for k, d in facts[two:]),
        ],
        "one alone": [*facts[:two], ("charge", facts[two][1] | {"together": [two, 1]})],
    }
    for items in forged.values():
        rewritten(url, tmp_path, chained(items))
        head.unlink(missing_ok=True)
        with pytest.raises(LedgerTampered, match=r"malformed|amid charges"):
            open_ledger(tmp_path, "1", url=url)
    rewritten(url, tmp_path, whole)


def test_backup_and_restore_keep_them_together(url, tmp_path):
    ledger = open_ledger(tmp_path, "1", url=url)
    first = ledger.charge_all(OWNER, [bill("q.1", "1/4"), bill("q.2", "1/4")])
    once(ledger, first[0], lambda _: b"told")
    ledger.backup(tmp_path / "copy.db")
    pay(ledger, "1/8", "later")
    ledger.close()
    restored = Ledger.restore(
        url, policy("1"), tmp_path / "copy.db", base=tmp_path, reason="a test"
    )
    assert spent(restored) == Fraction(5, 8)  # what came later stays spent
    restored.verify()
    again = restored.charge_all(OWNER, [bill("q.1", "1/4"), bill("q.2", "1/4")])
    assert once(restored, again[0], lambda _: b"anew") == b"told"
    with pytest.raises(AnswerLost):  # it may have been begun after the backup
        once(restored, again[1], lambda _: b"anew")
    restored.close()
