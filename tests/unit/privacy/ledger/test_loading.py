"""Which addresses are opened, and which histories are refused because their head says otherwise."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from discreet.base.unit import Neighbours
from discreet.errors import CatalogError, InternalError, InvalidInput, LedgerTampered
from discreet.privacy.ledger import BudgetPolicy, Cap, Policy
from discreet.privacy.ledger.accounts import Accounts
from discreet.privacy.ledger.entry import link
from discreet.privacy.ledger.head import HeadFile
from discreet.privacy.ledger.history import (
    limit_changes,
    load,
    open_store,
    require_head,
    sqlite_path,
)
from ledger_kit import as_a_new_process, open_ledger, pay, policy


@pytest.mark.parametrize(
    "url", ["", "ledger.db", "sqlite:", "sqlite:/", "sqlite:///", "mysql:ledger.db", "file:x.db"]
)
def test_an_address_that_we_do_not_know_makes_no_file(tmp_path, url):
    with pytest.raises(InvalidInput, match="is not one that we know"):
        open_store(url, base=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_relative_address_lies_under_the_base(tmp_path):
    base = tmp_path.resolve()
    assert sqlite_path("ledger.db", base=base) == base / "ledger.db"
    assert sqlite_path("a/../b.db", base=base) == base / "b.db"
    for absolute in ("/x/ledger.db", "///x/ledger.db"):
        assert str(sqlite_path(absolute, base=base)) == "/x/ledger.db"


def test_a_ledger_that_is_gone_is_not_begun_anew(tmp_path):
    open_ledger(tmp_path).close()
    (tmp_path / "ledger.db").unlink()
    with pytest.raises(LedgerTampered, match="is missing, but its head file"):
        open_ledger(tmp_path)
    assert not (tmp_path / "ledger.db").exists()
    (tmp_path / "ledger.db.head").unlink()
    with pytest.raises(LedgerTampered, match="removed or replaced while this process"):
        open_ledger(tmp_path)
    as_a_new_process()
    open_ledger(tmp_path).close()


@pytest.fixture
def ledger(tmp_path):
    made = open_ledger(tmp_path, "10")
    for turn in range(5):
        pay(made, "1", f"r{turn}")
    yield made
    made.close()


def head_of(ledger) -> HeadFile:
    return HeadFile(ledger._store.head_path)


def test_without_its_head_a_charged_ledger_is_refused_however_it_is_used(ledger, tmp_path):
    head_of(ledger).path.unlink()
    with pytest.raises(LedgerTampered, match=r"head file .* is missing"):
        pay(ledger, "1", "more")
    ledger.close()
    with pytest.raises(LedgerTampered, match=r"head file .* is missing"):
        open_ledger(tmp_path, "10")


def test_without_its_head_a_ledger_that_never_charged_goes_on(tmp_path):
    made = open_ledger(tmp_path, "10")
    head_of(made).path.unlink()
    require_head(made._store, load(made._store))
    pay(made, "1", "first")
    made.close()
    assert open_ledger(tmp_path, "10").verify() == 3


def test_a_head_further_on_is_an_old_copy_and_another_hash_another_history(ledger):
    found = head_of(ledger).read()
    accounts = load(ledger._store)
    for changes, words in (
        ({"position": 9}, "old copy"),
        ({"hash": "1" * 64}, "not the one"),
        ({"position": 4}, "not the one"),
    ):
        with head_of(ledger).locked():
            head_of(ledger).write(replace(found, **changes))
        for refused in (lambda: load(ledger._store), lambda: require_head(ledger._store, accounts)):
            with pytest.raises(LedgerTampered, match=words):
                refused()
    with head_of(ledger).locked():
        head_of(ledger).write(replace(found, position=4, hash=ledger._store.find(4).hash))
    require_head(ledger._store, accounts)
    assert load(ledger._store).position == 6, "a head that lags behind is no harm"


def test_recorded_bounds_never_fall_below_what_the_head_had(ledger):
    found = head_of(ledger).read()
    (key,) = found.totals
    more = replace(found.totals[key], epsilon=found.totals[key].epsilon + 2)
    with head_of(ledger).locked():
        head_of(ledger).write(replace(found, totals={key: more}))
    assert load(ledger._store).account(*key).top == more


def test_an_entry_that_the_store_has_lost_is_our_own_bug():
    empty = SimpleNamespace(find=lambda position: None)
    accounts = Accounts()
    assert accounts.link(empty, 5) is None
    with pytest.raises(InternalError, match="entry 5 vanished"):
        accounts.stored(empty, 5)


def test_a_history_that_begins_elsewhere_is_no_history(ledger):
    first = link(1, "genesis", {"time": "now"}, previous="0" * 64)
    accounts = Accounts()
    assert accounts.position == -1
    accounts.apply(first)
    assert accounts.genesis != first.hash, "only the first entry names a ledger"


def changes(accounts, **budgets) -> list[tuple]:
    made = Policy({name: BudgetPolicy.of(*each) for name, each in budgets.items()})
    return [
        (each["budget"], each["old"] and 1, each["new"] and 1)
        for each in limit_changes(accounts, made)
    ]


def test_only_limits_that_differ_are_changed(ledger):
    accounts = load(ledger._store)
    assert changes(accounts, census=("10",)) == []
    assert changes(accounts, census=("11",)) == [("census", 1, 1)]
    assert changes(accounts, census=("10",), visits=("1",)) == [("visits", None, 1)]
    assert changes(accounts) == [("census", 1, None)]


def test_neighbours_change_only_while_nothing_was_charged(ledger, tmp_path):
    pairs = Policy({"census": BudgetPolicy.of("10", 0, Neighbours.REPLACE_ONE)})
    with pytest.raises(CatalogError, match="neighbours of 'census' cannot change"):
        limit_changes(load(ledger._store), pairs)
    (tmp_path / "other").mkdir()
    fresh = open_ledger(tmp_path / "other", "10")
    assert len(limit_changes(load(fresh._store), pairs)) == 1
    fresh.close()


def test_a_share_is_a_limit_of_its_own(ledger):
    made = policy("10", analysts={"alice": {"census": Cap.of("1")}})
    (change,) = limit_changes(load(ledger._store), made)
    assert (change["budget"], change["analyst"], change["old"]) == ("census", "alice", None)
    assert change["new"]["epsilon"] == "1"
