"""Charge, begun mark, paid reader, stored outcome: in that order, once, and never without a charge."""

import pytest

from discreet.ask.release.paid import paid, paid_together
from discreet.base.proof import Permit
from discreet.data.engines.base import PaidReader
from discreet.errors import AnswerLost, BudgetExceeded, InvalidInput
from discreet.privacy.ledger import Charge
from ledger_kit import OWNER, open_ledger, quote
from unpaid_ways import Rows


class Census(Rows):
    """A held state of the dataset that the ledger's policy knows."""

    def __init__(self):
        super().__init__()
        self.private = {"census.people": "census"}


@pytest.fixture
def ledger(tmp_path):
    opened = open_ledger(tmp_path)
    yield opened
    opened.close()


def bill(name="a", epsilon="1/10"):
    return Charge(quote(epsilon), name, f"body of {name}")


def kinds(ledger):
    return [link.kind for link in ledger._store.links(start=0)]


def test_the_order_is_charge_begun_look_outcome(ledger):
    held, seen = Census(), []

    def compute(reader, receipt):
        assert type(reader) is PaidReader
        assert type(reader.permit) is Permit
        assert reader.permit.entry == receipt.link
        seen.append((kinds(ledger)[-2:], held.read))
        reader.run("SELECT 1")
        return b"told"

    receipt, stored = paid(OWNER, bill(), compute, held=held, ledger=ledger)
    again, same = paid(OWNER, bill(), compute, held=held, ledger=ledger)
    assert seen == [(["charge", "begun"], False)]
    assert held.read
    assert stored == same == b"told"
    assert (receipt.repeated, again.repeated) == (False, True)
    assert kinds(ledger)[-1] == "answered"


def test_all_are_charged_before_any_is_computed_or_none_is(ledger):
    held, seen = Census(), []

    def compute(reader, receipt):
        reader.run("SELECT 1")
        seen.append(kinds(ledger).count("charge"))
        return receipt.request_id.encode()

    works = [(bill(name), compute) for name in "ab"]
    found = paid_together(OWNER, works, held=held, ledger=ledger)
    assert [stored for _, stored in found] == [b"a", b"b"]
    assert seen == [2, 2]
    held = Census()
    too_much = [(bill("c"), compute), (bill("d", "2"), compute)]
    with pytest.raises(BudgetExceeded):
        paid_together(OWNER, too_much, held=held, ledger=ledger)
    assert not held.read
    assert seen == [2, 2]
    assert paid_together(OWNER, [], held=held, ledger=ledger) == []


def test_a_failure_is_final(ledger):
    held = Census()

    def refuse(_reader, _receipt):
        raise InvalidInput("The budget was too small.")

    for _ in range(2):
        with pytest.raises(InvalidInput, match="too small"):
            paid(OWNER, bill(), refuse, held=held, ledger=ledger)
    with pytest.raises(InvalidInput, match="too small"):
        paid(OWNER, bill(), lambda *_: b"told", held=held, ledger=ledger)


def test_rows_of_another_dataset_are_not_read_for_it(ledger):
    held = Rows()  # the town's, while the census pays
    with pytest.raises(Exception, match="one dataset"):
        paid(OWNER, bill(), lambda reader, _: reader.run("SELECT 1"), held=held, ledger=ledger)
    assert not held.read
    with pytest.raises(AnswerLost):
        paid(OWNER, bill(), lambda *_: b"told", held=Census(), ledger=ledger)
