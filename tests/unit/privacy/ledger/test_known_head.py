"""A process remembers how far a ledger went: histories that are put back, replaced or copied beside it."""

from __future__ import annotations

import shutil
import tempfile
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import BudgetExceeded, DiscreetError, LedgerTampered
from discreet.privacy.ledger import Ledger
from discreet.privacy.ledger.head import KnownHead, KnownHeads
from ledger_kit import MEN, WOMEN, as_a_new_process, forked, open_ledger, pay, policy
from sittings import examples

PLACE, OTHER = Path("/a/ledger.db.head"), Path("/b/ledger.db.head")
TENTH = "1/10"


def bill(epsilon: str) -> dict:
    amount = Fraction(epsilon)
    return {"epsilon": str(amount), "delta": "0", "rho": str(amount**2 / 2), "rho_delta": "0"}


def head(position: int, hash_: str, epsilon: str = "1", restored: int = -1, ledger: str = "one"):
    return KnownHead(ledger, position, hash_, {("census", None): bill(epsilon)}, restored)


def require(heads, found, history=(), restores=(), place=PLACE):
    held = dict(enumerate(history))
    totals = [(at, head(0, "", epsilon).totals()) for at, epsilon in restores]
    heads.require(place, found, hash_at=held.get, restores=lambda: totals)


@pytest.fixture
def heads():
    made = KnownHeads()
    require(made, head(2, "c"), "abc")
    return made


def test_what_goes_on_or_stays_passes(heads):
    require(heads, head(2, "c"), "abc")
    require(heads, head(4, "e"), "abcde")
    require(heads, head(3, "d"), "abcde")  # another thread has entered more since this was read
    assert heads.at(PLACE).position == 4
    require(heads, head(5, "f"), "abcdef", place=OTHER)  # moved


@pytest.mark.parametrize("history", ["ab", "abx", "abxyz", "a"])
@pytest.mark.parametrize("place", [PLACE, OTHER], ids=["in place", "a copy elsewhere"])
def test_what_lacks_the_furthest_entry_is_refused(heads, history, place):
    with pytest.raises(LedgerTampered, match="entry 2"):
        require(heads, head(len(history) - 1, history[-1]), history, place=place)
    assert heads.at(PLACE).hash == "c"


@pytest.mark.parametrize(("restored", "epsilon"), [(1, "1"), (3, "1"), (1, "2")])
def test_a_later_restore_that_bills_as_much_passes(heads, restored, epsilon):
    require(heads, head(3, "z", epsilon, restored), "axyz", [(restored, epsilon)])
    assert heads.at(PLACE).hash == "z"


def test_a_restore_that_bills_less_or_was_there_before_does_not(heads):
    for restores in ([(1, "0.99")], [(-1, "1")]):
        with pytest.raises(LedgerTampered):
            require(heads, head(3, "z", "1", 1), "axyz", restores)


def test_another_ledger_at_its_place_or_none_is_refused(heads):
    for found in (None, head(9, "j", ledger="two")):
        with pytest.raises(LedgerTampered, match="removed or replaced"):
            require(heads, found, "abcdefghij")
    require(heads, head(0, "x", ledger="two"), "x", place=OTHER)
    heads.forget(PLACE)
    require(heads, None)


def put_back(saved: Path, base: Path) -> None:
    """Write what `saved` holds over what is there: the same files, other bytes."""
    for path in list(base.iterdir()):
        if not (saved / path.name).exists():
            path.unlink()
    for path in saved.iterdir():
        (base / path.name).write_bytes(path.read_bytes())


ACTIONS = st.lists(
    st.sampled_from(
        ["pay", "pay", "save", "put back", "forward", "reload", "close", "backup", "restore"]
    ),
    max_size=14,
)


def lived(actions: list[str], folder: Path) -> tuple[int, int]:
    """Return how many tenths one process granted the men, and how often it refused what was put back."""
    base, saved, latest = folder / "live", folder / "saved", folder / "latest"
    base.mkdir()
    ledgers, granted, refused = [open_ledger(base)], 0, 0
    pay(ledgers[0], TENTH, "first", MEN)
    granted += 1
    shutil.copytree(base, saved)
    back = False
    for turn, action in enumerate(actions):
        try:
            match action:
                case "pay":
                    pay(ledgers[-1], "3/10", f"r{turn}", MEN)
                    granted += 3
                case "save" if not back:
                    shutil.rmtree(saved)
                    shutil.copytree(base, saved)
                case "put back":
                    if not back:
                        shutil.rmtree(latest, ignore_errors=True)
                        shutil.copytree(base, latest)
                    put_back(saved, base)
                    back = True
                case "forward" if back:
                    put_back(latest, base)
                    back = False
                case "reload":
                    ledgers.append(open_ledger(base))
                case "close":
                    for each in ledgers:
                        each.close()
                case "backup":
                    (folder / "copy.db").unlink(missing_ok=True)
                    ledgers[-1].backup(folder / "copy.db")
                case "restore" if (folder / "copy.db").exists():
                    for each in ledgers:
                        each.close()
                    Ledger.restore(
                        "sqlite:ledger.db",
                        policy("1"),
                        folder / "copy.db",
                        base=base,
                        reason="test",
                    ).close()
        except BudgetExceeded:
            pass
        except DiscreetError:
            refused += 1
    for each in ledgers:
        each.close()
    return granted, refused


@settings(max_examples=examples(40))
@given(actions=ACTIONS)
def test_however_files_are_put_back_one_process_grants_the_limit(actions):
    as_a_new_process()
    with tempfile.TemporaryDirectory(
        dir="/dev/shm" if Path("/dev/shm").is_dir() else None
    ) as folder:
        assert lived(actions, Path(folder))[0] <= 10, actions


ONCE_MORE = ["pay", "pay", "close", "put back", "pay", "pay", "pay"]


def test_the_twin_that_forgets_grants_it_twice(tmp_path, monkeypatch):
    granted, refused = lived(ONCE_MORE, tmp_path)
    assert (granted, refused) == (7, 3)
    as_a_new_process()
    monkeypatch.setattr(KnownHeads, "require", lambda *_, **__: None)
    (tmp_path / "twin").mkdir()
    assert lived(ONCE_MORE, tmp_path / "twin") == (16, 0)


def test_a_fork_remembers_and_a_new_process_does_not(tmp_path):
    """What nobody remembers cannot be told: the files are a history like any other."""
    base, saved = tmp_path / "live", tmp_path / "saved"
    base.mkdir()
    ledger = open_ledger(base)
    pay(ledger, TENTH, "first")
    ledger.close()
    shutil.copytree(base, saved)
    pay(ledger, TENTH, "second")
    ledger.close()
    put_back(saved, base)

    def look(say) -> None:
        try:
            open_ledger(base).close()
            say("believed")
        except LedgerTampered:
            say("refused")

    def look_anew(say) -> None:
        as_a_new_process()
        look(say)

    assert forked(look).lines() == ["refused"]
    assert forked(look_anew).lines() == ["believed"]


def test_a_copy_that_was_continued_elsewhere_is_refused(tmp_path):
    """discreet.toml may be changed to name a copy: it is the same ledger, put back."""
    base, copy = tmp_path / "live", tmp_path / "copy"
    base.mkdir()
    ledger = open_ledger(base)
    pay(ledger, TENTH, "first", WOMEN)
    ledger.close()
    shutil.copytree(base, copy)
    open_ledger(copy).close()  # nothing has happened since
    pay(ledger, TENTH, "second", WOMEN)
    with pytest.raises(LedgerTampered, match="or is a copy"):
        open_ledger(copy)
    ledger.close()


def test_a_process_that_is_told_refuses_what_it_has_not_seen_itself(tmp_path):
    """Jobs are processes of their own: their orders say what the server has seen."""
    base, saved = tmp_path / "live", tmp_path / "saved"
    base.mkdir()
    ledger = open_ledger(base)
    shutil.copytree(base, saved)
    pay(ledger, TENTH, "first")
    known = ledger.known()
    ledger.close()
    put_back(saved, base)
    as_a_new_process()
    with pytest.raises(LedgerTampered, match="earlier state"):
        Ledger.open("sqlite:ledger.db", policy("1"), base=base, adopts=False, known=known)
    as_a_new_process()
    Ledger.open("sqlite:ledger.db", policy("1"), base=base, adopts=False).close()


def test_a_ledger_that_is_discarded_is_remembered_no_longer(tmp_path):
    ledger = open_ledger(tmp_path)
    pay(ledger, TENTH, "first")
    ledger.discard()
    for path in tmp_path.iterdir():
        path.unlink()
    open_ledger(tmp_path).close()
