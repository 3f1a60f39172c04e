"""Conditions, implications and dependencies, as people write them."""

import numpy as np
import pytest

from copying import encoding
from discreet.errors import DiscreetError, InvalidInput
from discreet.measure.decoding import NULL
from discreet.work.synth.rules import allowed_codes, holds, read_condition, read_rules


def rows(**columns):
    """Return positions of rows in which only some columns matter."""
    names = encoding().shape.names
    size = len(next(iter(columns.values())))
    found = np.zeros((size, len(names)), dtype=np.int64)
    for name, places in columns.items():
        found[:, names.index(name)] = places
    return found


def verdict(rule, **columns):
    (condition,) = read_rules([rule], encoding()).conditions
    return holds(condition, rows(**columns), encoding()).tolist()


def test_a_condition():
    assert verdict("age >= 16", age=[15, 16, NULL]) == [False, True, None]
    assert verdict("sex = 'Male' AND age < 50", sex=[0, 1, 1], age=[1, 1, 60]) == [
        False,
        True,
        False,
    ]


def test_if_is_an_implication():
    found = verdict("age >= 16 IF member", age=[15, 16, 15, 15], member=[1, 1, 0, NULL])
    assert found == [False, True, True, None]


def test_if_in_a_text_or_in_brackets_is_none():
    assert verdict("sex IN ('if', 'Male')", sex=[0, 1]) == [False, True]
    with pytest.raises(InvalidInput):
        read_rules(["sex = 'Male' if"], encoding())


def test_dates_and_numbers_are_values_not_positions():
    assert verdict("born >= '1950-01-01'", born=[0, 365 * 60]) == [False, True]
    assert verdict("income < 10", income=[999, 1000]) == [True, False]


def test_a_dependency():
    (rule,) = read_rules(["sex, age -> member"], encoding()).dependencies
    assert (rule.given, rule.then) == ((0, 1), 5)


BROKEN = {
    "": "A rule is a condition",
    "age >=": "cannot be used",
    "wage > 3": "no column 'wage'",
    "id = 7": "cannot be used",
    "COUNT(*) > 3": "cannot be used",
    "age > 3) GROUP BY (sex": "not a condition",
    "age > 3) UNION SELECT (1": "cannot be used",
    "age > (SELECT MAX(age) FROM rows)": "cannot be used",
    "sex -> income": "kept in bins",
    "sex, age, member -> born": "not understood",
    "sex -> wage": "no column 'wage'",
    "'": "",
    "age > 3; DROP TABLE people": "cannot be used",
}


@pytest.mark.parametrize("text", BROKEN)
def test_what_is_no_rule_is_refused_with_a_sentence(text):
    with pytest.raises(DiscreetError) as refused:
        read_rules([text], encoding())
    assert BROKEN[text] in str(refused.value)


def test_a_comment_ends_with_its_line():
    assert read_condition("age > 3 -- and so on", encoding()).expr


def test_allowed_codes_are_those_that_can_satisfy():
    found = allowed_codes(read_condition("sex = 'Male' AND age < 3", encoding()), encoding())
    assert found[0].tolist() == [False, True]
    assert np.flatnonzero(found[1]).tolist() == [0, 1, 2]
    null = allowed_codes(read_condition("age IS NULL", encoding()), encoding())
    assert np.flatnonzero(null[1]).tolist() == [121]
    part = allowed_codes(read_condition("income >= 45 AND income < 90", encoding()), encoding())
    column = encoding().coded[2]
    spans = [column.span(code) for code in np.flatnonzero(part[2])]
    assert spans[0][0] <= 4500
    assert spans[-1][1] >= 9000
    assert all(high > 4500 and low < 9000 for low, high in spans)


def test_too_many_rules():
    with pytest.raises(InvalidInput, match="more than 200"):
        read_rules(["age > 1"] * 201, encoding())
