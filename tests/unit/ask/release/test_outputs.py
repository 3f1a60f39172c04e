"""Error bars: exact for linear outputs, Fieller's for ratios."""

import math
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from asking import plan
from discreet.ask.plan import expr as e
from discreet.ask.plan.evaluate import evaluate
from discreet.ask.plan.expr import Operator
from discreet.ask.release.answer import finish
from discreet.ask.release.error_bars import bar_of, interval
from discreet.privacy.kernel.look import Noisy
from discreet.privacy.noise.laws import GaussianLaw, LaplaceLaw

LAWS = {"m0": LaplaceLaw(Fraction(1)), "m1": LaplaceLaw(Fraction(10))}
M0, M1 = e.ColumnRef("m0"), e.ColumnRef("m1")
QUOTIENT = e.Arithmetic(Operator.DIVIDE, M1, M0)


def test_a_count_at_epsilon_one_is_within_three():
    assert bar_of(M0, LAWS).half_width == 3


def test_a_multiple_scales_the_bar():
    assert bar_of(e.Arithmetic(Operator.MULTIPLY, M0, e.Literal(-4)), LAWS).half_width == 12


def test_a_difference_has_less_than_the_sum_of_both_bars():
    both = bar_of(e.Arithmetic(Operator.SUBTRACT, M0, M1), LAWS).half_width
    assert bar_of(M1, LAWS).half_width <= both < 3 + bar_of(M1, LAWS).half_width


def test_keys_have_no_bar():
    found = bar_of(e.ColumnRef("key0"), LAWS)
    assert not found.noisy
    assert interval(found, "x", {"key0": "x"}, LAWS) is None


def test_a_ratio_lies_between_its_ends():
    low, high = interval(bar_of(QUOTIENT, LAWS), 5, {"m0": 1000, "m1": 5000}, LAWS)
    assert low < 5 < high
    assert high - low < 0.2


def test_a_ratio_over_next_to_nothing_is_unbounded():
    ends = interval(bar_of(QUOTIENT, LAWS), 2.5, {"m0": 2, "m1": 5}, LAWS)
    assert ends == (-math.inf, math.inf)


def test_other_outputs_get_joint_bounds():
    squared = e.Arithmetic(Operator.MULTIPLY, M0, M0)
    low, high = interval(bar_of(squared, LAWS), 100, {"m0": 10}, LAWS)
    assert low < 100 < high


MEAN = "SELECT AVG(age) FROM people"
SPREAD = "SELECT VARIANCE(age), STDDEV(age) FROM people"


def ends_of(sql, centred, count, squares=0):
    found = plan(sql)
    values = {"centred": centred, "present": count, "squares": squares}
    measures = {n: [values[m.kind.value]] for n, m in found.question.measured.measures}
    return finish(Noisy(((),), measures, {}), found.question, found.mechanisms.laws)


def test_a_mean_always_has_an_interval_inside_its_range():
    for centred, count in ((-500, -3), (0, 0), (900, 1), (-900, 2), (-(10**6), 10**4)):
        ((ends,),) = ends_of(MEAN, centred, count).intervals
        assert 0 <= ends[0] < ends[1] <= 120
    # A noisy count of 0 says nothing: the whole range, and no value.
    table = ends_of(MEAN, 5, 0)
    assert (table.rows, table.error95, table.intervals) == (((None,),), ((None,),), (((0, 120),),))


def test_nothing_in_the_range_agrees_so_all_of_it_is_shown():
    # The noise would have to be far out; an error of 0 at the end of the range would be a lie.
    assert ends_of(MEAN, 10**7, 1000).intervals == (((0, 120),),)


def test_a_multiple_of_a_mean_has_a_multiple_of_its_interval():
    sql = "SELECT AVG(age) AS a, 3 - 2 * AVG(age) AS b FROM people"
    table = ends_of(sql, -20_000, 1000)
    ((low, high), other) = table.intervals[0]
    assert other == (3 - 2 * high, 3 - 2 * low)


def test_a_variance_is_between_nothing_and_that_of_two_heaps():
    for count in (-5, 0, 1, 10):
        (variance, deviation) = ends_of(SPREAD, 0, count, 10**5).intervals[0]
        assert 0 <= variance[0] < variance[1] <= 3600
        assert deviation == (math.sqrt(variance[0]), math.sqrt(variance[1]))
    (variance, _) = ends_of(SPREAD, -40 * 10**6, 10**6, 40**2 * 10**6 + 64 * 10**6).intervals[0]
    assert variance[0] < 16 < variance[1] < 16.1


NUMBERS = st.integers(-(10**40), 10**40) | st.sampled_from([0, 1, -1, 10**400])
PIECES = st.sampled_from([M0, M1, e.Literal(0), e.Literal(Fraction(1, 3)), e.Literal(10**300)])


def _grown(parts):
    return st.one_of(
        st.builds(e.Arithmetic, st.sampled_from(list(Operator)), parts, parts),
        st.builds(e.Negate, parts),
        st.builds(e.Extreme, st.booleans(), st.tuples(parts, parts)),
        st.builds(e.Call, st.sampled_from(["sqrt", "exp", "number", "round"]), parts),
        st.builds(
            e.Case,
            st.tuples(
                st.tuples(st.builds(e.Compare, st.just(e.Comparison.GREATER), parts, parts), parts)
            ),
            st.just(e.Literal(None)),
        ),
    )


@given(st.recursive(PIECES, _grown, max_leaves=10), NUMBERS, NUMBERS, st.booleans())
def test_no_noisy_value_breaks_an_error_bar(expr, first, second, gaussian):
    laws = {name: GaussianLaw(law.scale) if gaussian else law for name, law in LAWS.items()}
    row = {"m0": first, "m1": second}
    ends = interval(bar_of(expr, laws), evaluate(expr, row), row, laws)
    assert ends is None or ends[0] <= ends[1]
