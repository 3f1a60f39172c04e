import pytest

from discreet.anonymize.groups import group_table
from discreet.anonymize.read_groups import read_groups
from discreet.engine.base import open_exact
from discreet.engine.connect import connect
from discreet.errors import InvalidInput

TEXT = "zip;n;age;ill\n02139;1;30;flu\n02139;1;30;flu\n02139;2;30;cold\n;2;;flu\n"


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    (folder / "rows.csv").write_text(TEXT)
    found = connect("duckdb:", {"rows": "rows.csv"}, base=folder)
    yield found
    found.close()


def test_the_engine_counts_what_arrays_count(engine):
    """Also where a column is called like our count."""
    found = read_groups(engine, "rows", ["zip", "n", "age"], sensitive="ill")
    rows = open_exact(engine.run(f"SELECT * FROM {engine.relation('rows')}"))
    direct = group_table(rows, ["zip", "n", "age"], sensitive="ill")
    assert found.values == direct.values == (("02139", None), (1, 2), (30, None))
    assert found.rows.tolist() == direct.rows.tolist()
    assert found.codes.tolist() == direct.codes.tolist()
    assert found.sensitive.rows.tolist() == direct.sensitive.rows.tolist()


def test_a_condition_leaves_rows_out(engine):
    assert read_groups(engine, "rows", ["zip"], condition="n = 1").total == 2


@pytest.mark.parametrize(
    ("quasi", "sensitive", "said"),
    [
        (["street"], None, "no column 'street'"),
        (["zip"], "salary", "no column 'salary'"),
        ([], None, "No quasi-identifier"),
        (["zip"], "zip", "both a quasi-identifier"),
        (["zip", "zip"], None, "twice"),
    ],
)
def test_columns_that_make_no_sense(engine, quasi, sensitive, said):
    with pytest.raises(InvalidInput, match=said):
        read_groups(engine, "rows", quasi, sensitive=sensitive)


def test_no_rows(engine):
    with pytest.raises(InvalidInput, match="no rows"):
        read_groups(engine, "rows", ["zip"], condition="n > 7")
