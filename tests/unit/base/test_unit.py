"""Who is protected."""

from discreet.base.unit import Neighbours, PrivacyUnit


def test_a_replacement_is_two_moves():
    assert Neighbours.ADD_REMOVE.moves == 1
    assert Neighbours.REPLACE_ONE.moves == 2


def test_units_in_words():
    assert str(PrivacyUnit()) == "each row"
    assert str(PrivacyUnit("person")) == "each person in person"
    assert PrivacyUnit().is_row
    assert not PrivacyUnit("person").is_row
