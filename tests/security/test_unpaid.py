"""No private row is read without a permit of the ledger, also where assertions are off."""

import copy
import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import discreet.base.proof as permits
import unpaid_ways
from discreet.base.proof import Permit
from discreet.data.engines import base
from discreet.errors import InternalError
from discreet.measure import learned_domains, sealing
from discreet.privacy.kernel import look
from discreet.privacy.ledger import Ledger
from discreet.work.learn import private_rows
from discreet.work.publish import measure
from ledger_kit import pay, policy
from permits import paid
from unpaid_ways import FORGED, Rows, closed, opened

TESTS = Path(unpaid_ways.__file__).parent


def test_every_unpaid_way_ends_before_a_row():
    assert opened() == []
    assert closed() == []


def test_also_without_assertions():
    said = subprocess.run(
        [sys.executable, "-O", str(TESTS / "unpaid_ways.py")],
        check=True,
        capture_output=True,
        text=True,
    )
    assert json.loads(said.stdout) == {"opened": [], "closed": []}


@pytest.mark.parametrize("name", [name for name in FORGED if name != "of another dataset"])
def test_a_forged_permit_raises(name):
    with pytest.raises(TypeError, match=r"permit|Permit"):
        Rows().paid(FORGED[name]())


def test_another_datasets_permit_raises():
    with pytest.raises(InternalError, match="one dataset"):
        Rows().paid(FORGED["of another dataset"]())
    with pytest.raises(InternalError, match="public"):
        Rows().public_reader("town.people")


# Broken twins: without any one of the checks, some way reads.


def test_a_held_state_that_asks_for_no_permit_is_caught(monkeypatch):
    monkeypatch.setattr(base, "require_permit", lambda permit: permit)
    assert {"paid: a twin", "kept: a twin", "reader: a twin"} <= set(opened())


def test_a_permit_that_anybody_constructs_is_caught(monkeypatch):
    monkeypatch.setattr(permits, "_MINT", None)  # what a constructor without a mint is given
    assert "paid: constructed" in opened()


def test_a_permit_that_is_copied_or_sent_is_caught(monkeypatch):
    for name in ("__reduce_ex__", "__getstate__", "__copy__", "__deepcopy__"):
        monkeypatch.delattr(Permit, name)
    monkeypatch.setattr(Permit, "__copy__", lambda permit: permit, raising=False)
    monkeypatch.setattr(Permit, "__reduce_ex__", _made_anew, raising=False)
    assert {"paid: a copy", "paid: a deep copy", "paid: sent"} <= set(opened())


def _made_anew(permit, _protocol):
    return permits.permit_for, (permit.dataset, permit.entry)


def test_a_reader_for_any_dataset_is_caught(monkeypatch):
    monkeypatch.setattr(Rows, "paid", lambda rows, permit: _reader(permit, rows))
    assert opened() == ["paid: of another dataset", "kept: of another dataset"]


def _reader(permit, rows):
    return base.PaidReader(permit, run=rows._run, keep=rows._keep, private={})


@pytest.mark.parametrize(
    ("module", "ways"),
    [
        (look, {"kernel look", "kernel exact"}),
        (measure, {"publish cells"}),
        (sealing, {"synth stored", "synth straight", "synth counter"}),
        (learned_domains, {"synth words"}),
        (private_rows, {"learn rows", "learn unit rows", "learn ratings"}),
    ],
    ids=lambda given: "" if isinstance(given, set) else given.__name__.rpartition(".")[2],
)
def test_a_step_that_takes_any_reader_is_caught(module, ways, monkeypatch):
    monkeypatch.setattr(module, "require_paid", lambda reader: reader)
    assert {f"{way}: duck" for way in ways} <= set(opened())
    assert {f"{way}: unpaid" for way in ways - {"synth stored"}} <= set(opened())


def test_a_reader_is_made_with_a_permit_and_stays_what_it_is():
    with pytest.raises(TypeError, match="permit"):
        base.require_paid(object.__new__(base.PaidReader))
    reader = paid(Rows())
    assert base.require_paid(reader) is reader
    for another in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="copied"):
            another(reader)


# Where permits come from.


@pytest.fixture
def ledger(tmp_path):
    with_one = Ledger.open("sqlite:ledger.db", policy(), base=tmp_path)
    yield with_one
    with_one.close()


def test_the_ledger_gives_one_permit_for_a_charge(ledger):
    receipt = pay(ledger, "1/10", "a")
    with pytest.raises(TypeError, match="charge"):
        Rows().paid(receipt)
    permit = ledger.outcomes.take(receipt)
    assert isinstance(permit, Permit)
    assert (permit.dataset, permit.entry) == (receipt.payer.dataset, receipt.link)
    assert ledger.history()[-1].kind == "charge"
    assert not isinstance(ledger.outcomes.take(pay(ledger, "1/10", "a")), Permit)


@pytest.mark.parametrize("record", ["record_look", "record_exposure"])
def test_the_permit_of_a_look_or_an_exposure_is_in_the_ledger(ledger, record):
    permit = getattr(ledger, record)("town", reason="a test")
    rows = Rows()
    rows.paid(permit).run("SELECT 1")
    assert rows.read
    assert ledger.history()[-1].data["reason"] == "a test"
    assert permit.dataset == "town"
