"""Trees of expressions: their parts, their columns, and replacing columns."""

import itertools
import os

from discreet.plan import expr as e
from discreet.plan.evaluate import evaluate
from discreet.plan.expr import Comparison, Operator
from discreet.plan.functions.registry import SCALARS

A, B = e.ColumnRef("t.a"), e.ColumnRef("t.b")
ONE = e.Literal(1)
POSITIVE = e.Compare(Comparison.GREATER, A, e.Literal(0))


def test_every_kind_of_node_shows_its_operands():
    nodes = {
        e.Arithmetic(Operator.ADD, A, B): (A, B),
        POSITIVE: (A, e.Literal(0)),
        e.And((A, B)): (A, B),
        e.Or((A, B)): (A, B),
        e.Coalesce((A, B)): (A, B),
        e.Extreme(greatest=True, operands=(A, B)): (A, B),
        e.Case(((POSITIVE, A),), B): (POSITIVE, A, B),
        e.Not(A): (A,),
        e.Negate(A): (A,),
        e.IsNull(A): (A,),
        e.In(A, (1, 2)): (A,),
        e.Like(A, "x%"): (A,),
        e.Call("abs", A): (A,),
        e.DatePart(e.Part.YEAR, A): (A,),
        A: (),
        ONE: (),
    }
    assert {node: e.children(node) for node in nodes} == nodes


def test_columns_are_found_at_any_depth():
    deep = e.Case(((POSITIVE, e.Negate(B)),), e.Literal(None))
    assert e.columns_of(deep) == {"t.a", "t.b"}
    assert e.columns_of(ONE) == frozenset()


EVERY = 7 if os.environ.get("DISCREET_FULL") == "1" else 61


def numbers(depth: int, every: int = 1) -> list[e.Expr]:
    """Return every kind of expression of two numbers, one inside another, for one of so many pairs."""
    if not depth:
        return [A, B, ONE, e.Literal(None)]
    below = numbers(depth - 1)
    pairs = itertools.islice(itertools.product(below, repeat=2), 0, None, every)
    found: list[e.Expr] = [e.Negate(one) for one in below]
    found += [e.Call(name, one) for name in ("abs", "floor", "sign") for one in below]
    for one, two in pairs:
        found += [e.Arithmetic(operator, one, two) for operator in Operator]
        found += [e.Extreme(greatest=greatest, operands=(one, two)) for greatest in (False, True)]
        found += [e.Coalesce((one, two)), e.Case(((e.IsNull(one), two),), one)]
        found += [e.Case(((e.IsNull(one), two),), e.Literal(None))]
    return found


def test_without_a_column_that_it_needs_an_expression_is_nothing():
    values = (None, -2, 0, 3)
    needing = 0
    for expr in numbers(1) + numbers(2, EVERY):
        needed = e.needed_by(expr)
        needing += bool(needed)
        assert needed <= e.columns_of(expr)
        for a, b in itertools.product(values, repeat=2):
            row = {"t.a": a, "t.b": b}
            if any(row[name] is None for name in needed):
                assert evaluate(expr, row) is None
    assert needing > 500


def test_no_function_makes_a_value_of_nothing():
    assert all(evaluate(e.Call(name, A), {"t.a": None}) is None for name in SCALARS)


def test_conjuncts_are_flat_and_all_of_is_their_inverse():
    whole = e.And((POSITIVE, e.And((e.IsNull(B), A))))
    assert e.conjuncts(whole) == (POSITIVE, e.IsNull(B), A)
    assert e.all_of((POSITIVE, e.TRUE)) == POSITIVE
    assert e.all_of(()) == e.TRUE
    assert e.all_of((A, B)) == e.And((A, B))


def test_substitution_reaches_tuples_and_keeps_the_rest():
    before = e.Case(((POSITIVE, A),), e.Extreme(greatest=False, operands=(A, B)))
    after = e.substitute(before, {"t.a": ONE})
    assert e.columns_of(after) == {"t.b"}
    assert e.substitute(before, {}) == before
