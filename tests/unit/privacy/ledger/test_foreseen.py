"""What a charge would lead to, without making it."""

from fractions import Fraction

import pytest

from discreet.errors import UnknownName
from discreet.privacy.ledger import Cap
from ledger_kit import ADULTS, ALICE, MEN, OWNER, WOMEN, open_ledger, pay, quote

HALF, FIFTH, QUARTER = "1/2", "1/5", "1/4"


def test_what_is_foreseen_is_what_the_charge_then_records(tmp_path):
    ledger = open_ledger(tmp_path, "1.2")
    asked = [("all", HALF, None), ("men", FIFTH, MEN), ("women", QUARTER, WOMEN)]
    for name, epsilon, region in [*asked, ("adults", QUARTER, ADULTS)]:
        where = () if region is None else (region,)
        before, after = ledger.foreseen(OWNER, quote(epsilon, *where))
        receipt = pay(ledger, epsilon, name, *where)
        assert (before, after) == (receipt.before, receipt.after)
    # The worked example: sequential 1.2, the worst-hit person 1.0.
    assert ledger.foreseen(OWNER, quote("1/10", MEN))[0].epsilon == 1
    assert ledger.foreseen(OWNER, quote("1/20", MEN))[1].epsilon == 1, "men have paid 0.95"
    ledger.close()


def test_nothing_is_charged_and_nothing_is_refused(tmp_path):
    ledger = open_ledger(tmp_path, "1")
    before, after = ledger.foreseen(OWNER, quote("3"))
    assert (before.epsilon, after.epsilon) == (0, 3)
    huge = Fraction(10) ** 30
    assert ledger.foreseen(OWNER, quote(huge))[1].epsilon >= huge, "beyond all counting"
    assert ledger.spent("census").charges == 0
    assert len(ledger.history()) == 2, "the beginning and the limit"
    ledger.close()


def test_analysts_foresee_their_own_share_only(tmp_path):
    shares = {"alice": {"census": Cap.of("1/2")}, "bob": {"census": Cap.of(1)}}
    ledger = open_ledger(tmp_path, "1", analysts=shares)
    bob = type(ALICE)("bob", "census", "census")
    pay(ledger, "4/5", "bob", payer=bob)
    before, after = ledger.foreseen(ALICE, quote(QUARTER))
    assert (before.epsilon, after.epsilon, after.limit_epsilon) == (
        0,
        Fraction(1, 4),
        Fraction(1, 2),
    )
    with pytest.raises(UnknownName):
        ledger.foreseen(type(ALICE)("eve", "census", "census"), quote(QUARTER))
    ledger.close()


def test_with_delta_the_smaller_reading_is_foreseen(tmp_path):
    ledger = open_ledger(tmp_path, "1", "1/1000000")
    for turn in range(20):
        foreseen = ledger.foreseen(OWNER, quote("1/10"))
        receipt = pay(ledger, "1/10", f"r{turn}")
        assert foreseen == (receipt.before, receipt.after)
        if receipt.after.left < Fraction(1, 10):
            break
    assert ledger.foreseen(OWNER, quote("100"))[1].epsilon > 1
    ledger.close()
