"""The neutral tree: everything in it is found, and GROUP BY by number means that output."""

from __future__ import annotations

from itertools import product

import pytest

from discreet.privacy.kernel.nodes import (
    Apply,
    Constant,
    Derived,
    Fold,
    Joined,
    Name,
    SelectNode,
    StoredScan,
    Term,
    Unfit,
    Window,
    by_place,
    conjuncts,
    folds,
    parts,
    terms,
    walk,
)
from trees_kit import ONE, A, B, C, R, U, apply


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        (A, ()),
        (ONE, ()),
        (apply("+", A, ONE), (A, ONE)),
        (Fold("count", None), ()),
        (Fold("sum", A), (A,)),
        (Window("row_number", None, (U,), (R,)), (U, R)),
        (Window("sum", A, (U, B), (R, C)), (A, U, B, R, C)),
    ],
)
def test_a_term_is_made_of_its_operands(term: Term, expected: tuple[Term, ...]) -> None:
    assert parts(term) == expected


def test_nothing_in_a_term_is_passed_over() -> None:
    inner = Window("sum", apply("-", A), (U,), (R,))
    outer = apply("+", Fold("sum", inner), ONE)
    assert set(walk(outer)) == {outer, Fold("sum", inner), inner, apply("-", A), A, U, R, ONE}


def test_an_aggregate_takes_every_row_unless_it_says_distinct() -> None:
    assert parts(Fold("count", A)) == parts(Fold("count", A, distinct=False))
    assert Fold("count", A) == Fold("count", A, distinct=False)


def block(name: str, **changes: Term) -> SelectNode:
    written = {
        part: Fold("sum", Name(name, part)) for part in ("output", "where", "group")
    } | changes
    return SelectNode(
        (("x", written["output"]),),
        StoredScan((name,), name),
        written["where"],
        (written["group"],),
    )


def test_every_term_of_every_block_is_found() -> None:
    on = Fold("sum", Name("join", "on"))
    inner = Joined(
        Derived(block("first"), "f"),
        Joined(StoredScan(("s",), "s"), Derived(block("second"), "g"), on, left=True),
        ONE,
        left=False,
    )
    outer = SelectNode((("x", Fold("sum", A)), ("y", Fold("count", None))), inner, None, ())
    named = {fold.operand for fold in folds(outer)}
    every = {
        Name(block, part) for block in ("first", "second") for part in ("output", "where", "group")
    }
    assert named == {*every, Name("join", "on"), A, None}
    assert set(terms(outer)) == {*folds(outer), *every, Name("join", "on"), A, ONE}


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        (None, ()),
        (A, (A,)),
        (ONE, (ONE,)),
        (apply("and", A, B), (A, B)),
        (apply("and", A, apply("and", B, apply("or", A, C))), (A, B, apply("or", A, C))),
        (apply("or", A, B), (apply("or", A, B),)),
        (apply("or", apply("and", A, B), C), (apply("or", apply("and", A, B), C),)),
        (apply("not", apply("and", A, B)), (apply("not", apply("and", A, B)),)),
    ],
)
def test_conditions_that_must_all_hold_are_those_of_and(
    term: Term | None, expected: tuple[Term, ...]
) -> None:
    assert conjuncts(term) == expected


OUTPUTS: tuple[tuple[str, Term], ...] = (("k", A), ("l", apply("+", B, ONE)), ("n", C))


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        ((), ()),
        ((Constant(1),), (A,)),
        ((Constant(3), Constant(1)), (C, A)),
        ((Constant(2),), (apply("+", B, ONE),)),
        ((B,), (B,)),
        # These are values, not places.
        ((Constant("1"),), (Constant("1"),)),
        ((Constant(True),), (Constant(True),)),
        ((Constant(None),), (Constant(None),)),
        ((Constant("1", "number"),), (Constant("1", "number"),)),
        ((Constant(1, "number"),), (Constant(1, "number"),)),
        ((Apply("cast bigint", (ONE,)),), (Apply("cast bigint", (ONE,)),)),
    ],
)
def test_a_number_in_group_by_is_the_place_of_an_output(
    group: tuple[Term, ...], expected: tuple[Term, ...]
) -> None:
    assert by_place(group, OUTPUTS) == expected


@pytest.mark.parametrize("place", [-1, 0, 4])
def test_a_place_without_an_output_is_refused(place: int) -> None:
    with pytest.raises(Unfit, match="a column that is not there"):
        by_place((ONE, Constant(place)), OUTPUTS)


# Equal trees mean equal SQL.

LITERALS = [
    *(Constant(1), Constant(value=True), Constant(0), Constant(value=False), Constant(None)),
    *(
        Constant("1"),
        Constant("1", "number"),
        Constant("2000-01-01"),
        Constant("2000-01-01", "date"),
    ),
    *(Constant(""), Constant(2), Constant("true")),
]


def test_different_literals_are_different() -> None:
    for (i, one), (j, two) in product(enumerate(LITERALS), repeat=2):
        assert (one == two) is (i == j)
        assert (Apply("+", (Name("t", "c"), one)) == Apply("+", (Name("t", "c"), two))) is (i == j)
    assert len(set(LITERALS)) == len(LITERALS)


@pytest.mark.parametrize("literal", LITERALS)
def test_a_literal_is_equal_to_itself_and_to_nothing_of_another_kind(literal: Constant) -> None:
    again = Constant(literal.value, literal.kind)
    assert (again, hash(again)) == (literal, hash(literal))
    assert literal != literal.value
    assert literal != Name("t", "c")
