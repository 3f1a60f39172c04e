"""Whatever the table: a copy is k-anonymous, keeps its other columns, and costs what it says."""

from collections import Counter

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.anonymize.groups import group_table
from discreet.anonymize.recoding import recoded
from discreet.anonymize.risk import ClassSizes, risk_of
from discreet.anonymize.search import AnonymizeMethod, anonymize
from discreet.errors import InvalidInput
from sittings import examples

ROW = st.tuples(
    st.sampled_from(["a", "b", "c", "", None]),
    st.one_of(st.none(), st.integers(0, 30)),
    st.sampled_from(["x", "y", "z"]),
)


@settings(max_examples=examples(60), deadline=None)
@given(
    rows=st.lists(ROW, min_size=1, max_size=60),
    k=st.integers(1, 6),
    suppress=st.sampled_from([0.0, 0.1, 0.5]),
    method=st.sampled_from(list(AnonymizeMethod)),
)
def test_a_copy_is_what_it_claims(rows, k, suppress, method):
    names = ("zip", "age", "ill")
    kinds = (pa.string(), pa.int64(), pa.string())
    table = pa.table(
        [
            pa.array(column, kind)
            for column, kind in zip(zip(*rows, strict=True), kinds, strict=True)
        ],
        names=list(names),
    )
    groups = group_table(table, ["zip", "age"], sensitive="ill")
    try:
        result = anonymize(groups, {}, k=k, suppress=suppress, method=method)
    except InvalidInput:
        # Only because there are too few rows: every built hierarchy ends in one label.
        assert len(rows) < k
        return
    copy = recoded(table, groups, result.recoding)
    assert copy.num_rows == len(rows) - result.suppressed
    assert result.suppressed <= suppress * len(rows)
    sizes = Counter(zip(*(copy.column(n).to_pylist() for n in ("zip", "age")), strict=True))
    assert min(sizes.values()) >= k
    whole = Counter(table.column("ill").to_pylist())
    kept = Counter(copy.column("ill").to_pylist())
    assert kept <= whole
    assert sum((whole - kept).values()) == result.suppressed


@given(st.lists(st.integers(1, 40), min_size=1, max_size=80), st.integers(1, 10**6))
def test_risks_are_probabilities_in_their_order(sizes, people):
    found = risk_of(ClassSizes.of(sizes), people)
    for each in (found.prosecutor, found.journalist):
        assert 0 <= each.average <= each.highest <= 1
        assert 0 <= each.rows_above <= 1
    assert found.journalist.average <= found.prosecutor.average + 1e-9
    assert found.journalist.highest <= found.prosecutor.highest + 1e-9
    for estimate in found.population_uniques:
        assert estimate.share is None or 0 <= estimate.share <= found.share_unique
