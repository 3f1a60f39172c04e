import datetime as dt

import pyarrow as pa
import pytest

from discreet.data.catalog import loads
from discreet.data.catalog.sources import check_table, type_warnings
from discreet.errors import CatalogError

TEXT = """
[datasets.d]
epsilon = 1
[datasets.d.tables.t]
source = "t.csv"
unit = "who"
[datasets.d.tables.t.columns]
age = { type = "integer", lower = 0, upper = 9 }
note = { type = "text", hidden = true }
"""


@pytest.fixture
def engine(owner_engine):
    return owner_engine(**{"d.t": pa.table({"who": [1], "age": [2], "unused": [3]})})


def check(text, folder, engine):
    catalog = loads(text, base=folder)
    check_table(catalog.datasets["d"], catalog.table("t"), engine)


def test_what_is_declared_is_there(engine, tmp_path):
    check(TEXT, tmp_path, engine)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("age =", "agee =", "no column 'agee'. Did you mean 'age'"),
        ("age =", "AGE =", "no column 'AGE'. Did you mean 'age'"),
        ('"who"', '"zzzzz"', "no column 'zzzzz'. Compare discreet.toml"),
    ],
)
def test_a_misspelt_column_is_found_before_anything_is_paid(engine, tmp_path, old, new, words):
    with pytest.raises(CatalogError, match=f"table 't' of dataset 'd'.*{words}"):
        check(TEXT.replace(old, new), tmp_path, engine)


def test_a_hidden_column_may_be_absent_but_not_spelled_differently(owner_engine, tmp_path):
    engine = owner_engine(**{"d.t": pa.table({"who": [1], "age": [2], "Note": ["secret"]})})
    with pytest.raises(CatalogError, match=r"no column 'note'. Did you mean 'Note'"):
        check(TEXT, tmp_path, engine)


def test_a_type_that_the_source_cannot_hold_is_told(owner_engine, tmp_path):
    engine = owner_engine(**{"d.t": pa.table({"who": [1], "age": [dt.date(2020, 1, 1)]})})
    (told,) = type_warnings(loads(TEXT, base=tmp_path), engine)
    assert "table 't' of dataset 'd': the source keeps 'age' as DATE" in told
    assert "never holds an integer" in told


def test_a_type_that_the_source_may_hold_is_not(engine, tmp_path):
    assert type_warnings(loads(TEXT, base=tmp_path), engine) == ()
