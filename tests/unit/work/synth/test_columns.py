"""How values become codes: bins, sizes, refusals."""

import datetime as dt
import itertools
from fractions import Fraction

import pytest

from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    DateDomain,
    IntegerDomain,
    NumberDomain,
    TimestampDomain,
)
from discreet.errors import InvalidInput
from discreet.measure.columns import (
    BINS,
    MOST_CODES,
    MOST_SINGLE,
    Coded,
    Encoding,
    MadeUpIdentifier,
    binned,
)

MANY = [
    IntegerDomain(0, 500_000),
    IntegerDomain(-17, 983),
    NumberDomain(Fraction(-3), Fraction(1000), Fraction(1, 100)),
    DateDomain(dt.date(1900, 1, 1), dt.date(2020, 12, 31)),
    TimestampDomain(dt.datetime(2000, 1, 1), dt.datetime(2024, 6, 1, 12)),
]


@pytest.mark.parametrize("domain", MANY, ids=str)
@pytest.mark.parametrize("missing", [False, True])
def test_bins_cover_every_position_once(domain, missing):
    column = binned(Coded("x", domain, missing=missing))
    spans = [column.span(code) for code in range(column.values)]
    assert spans[0][0] == 0
    assert spans[-1][1] == column.positions
    assert all(one[1] == two[0] for one, two in itertools.pairwise(spans))
    assert all(low < high for low, high in spans)
    assert len(spans) <= BINS + 1
    assert column.size == column.values + missing


def test_bins_of_numbers_begin_at_round_values():
    column = binned(Coded("x", IntegerDomain(-17, 983)))
    edges = [column.domain.value(edge) for edge in column.edges]
    assert edges[0] == -17
    assert all(edge % 50 == 0 for edge in edges[1:])


def test_few_values_stay_single():
    for domain in (
        IntegerDomain(1, MOST_SINGLE),
        NumberDomain(Fraction(0), Fraction(1), Fraction(1, 100)),
        BooleanDomain(),
        CategoryDomain(tuple(map(str, range(1000)))),
    ):
        assert binned(Coded("x", domain)).edges is None
    assert binned(Coded("x", IntegerDomain(1, MOST_SINGLE + 1))).edges is not None


def test_too_many_categories_are_refused_with_a_sentence():
    domain = CategoryDomain(tuple(map(str, range(MOST_CODES + 1))))
    with pytest.raises(InvalidInput, match=r"Column 'job' has 4,097 declared values"):
        binned(Coded("job", domain))
    with pytest.raises(InvalidInput):  # the code for NULL counts as well
        binned(Coded("job", CategoryDomain(domain.values[:-1]), missing=True))


def test_an_encoding_names_its_columns():
    found = Encoding("t", (MadeUpIdentifier("id", whole=True), Coded("Age", IntegerDomain(0, 9))))
    assert found.shape.names == ("Age",)
    assert found.shape.sizes == (10,)
    assert found.index("age") == 0
    with pytest.raises(InvalidInput, match="no column 'id'"):
        found.index("id")
