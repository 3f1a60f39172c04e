"""Names and texts that the ledger keeps, and the arithmetic of a balance."""

from fractions import Fraction

import pytest

from discreet.errors import InvalidInput, LedgerTampered
from discreet.privacy.ledger.entry import (
    Balance,
    BudgetAlert,
    Entry,
    Link,
    Payer,
    alert_of,
    checked_name,
    checked_text,
    part_used,
)


def test_a_name_has_1_to_200_printable_characters():
    for name in ("a", "ä b-c_d/e", "x" * 200):
        assert checked_name(name, name="name") == name
    for name in ("", "x" * 201, "a\nb", "a\x00", "\u202e"):
        with pytest.raises(InvalidInput, match="1 to 200 printable"):
            checked_name(name, name="name")


def test_every_name_of_a_payer_is_checked():
    Payer(None, "d", "b")
    for names in (("", "d", "b"), ("a", "", "b"), ("a", "d", ""), (None, "d", "b\n")):
        with pytest.raises(InvalidInput):
            Payer(*names)


def test_text_that_not_every_store_can_keep_is_refused():
    assert checked_text("any\nthing ä", name="note") == "any\nthing ä"
    for text in ("\x00", "\ud800", "a\udfffb"):
        with pytest.raises(InvalidInput):
            checked_text(text, name="note")


@pytest.mark.parametrize("body", ["", "7", "[]", "{}", '"time"'])
def test_a_line_that_says_nothing_is_malformed(body):
    with pytest.raises(LedgerTampered, match="Entry 3"):
        Entry.of(Link(3, "look", body, "", ""))


def balance(epsilon, delta="0", limit_delta="0") -> Balance:
    return Balance(Fraction(2), Fraction(limit_delta), Fraction(epsilon), Fraction(delta))


def test_what_is_left_is_never_below_nothing():
    assert balance("0.5").left == Fraction(3, 2)
    assert balance("3").left == 0
    assert Balance.from_json(balance("1/3", "1e-9", "1e-6").to_json()) == balance(
        "1/3", "1e-9", "1e-6"
    )


def test_an_owner_is_told_from_the_mark_on_and_at_the_end():
    mark = Fraction(8, 10)
    told = [alert_of(balance(each), mark) for each in ("0", "1.59", "1.6", "1.99", "2", "5")]
    nearly, spent = BudgetAlert.NEARLY_SPENT, BudgetAlert.SPENT
    assert told == [None, None, nearly, nearly, spent, spent]


def test_whichever_of_epsilon_and_delta_ends_first_counts():
    assert part_used(balance("1", "0", "1e-6")) == Fraction(1, 2)
    assert part_used(balance("1", "9e-7", "1e-6")) == Fraction(9, 10)
    assert part_used(balance("1", "9", "1e-6")) == 1
    assert part_used(balance("1", "9", "0")) == Fraction(1, 2), "no delta was promised"
