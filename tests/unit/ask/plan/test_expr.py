"""Trees of expressions: their parts, their columns, and replacing columns."""

from discreet.ask.plan import expr as e
from discreet.ask.plan.evaluate import evaluate
from discreet.ask.plan.expr import Comparison, Operator
from discreet.ask.plan.kinds import SCALARS

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
