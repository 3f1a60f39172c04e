import pytest

from discreet.anonymize.groups import group_table
from discreet.anonymize.run import AnonymizeRequest, groups_of
from discreet.anonymize.source import narrowed
from discreet.data.engines.base import open_exact
from discreet.data.engines.connect import connect
from discreet.errors import InvalidInput

TEXT = "zip;n;age;ill\n02139;1;30;flu\n02139;1;30;flu\n02139;2;30;cold\n;2;;flu\n"


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    (folder / "rows.csv").write_text(TEXT)
    found = connect("duckdb:", {"rows": "rows.csv"}, base=folder)
    yield found
    found.close()


def _groups(engine, quasi, *, sensitive=None, where=None):
    request = AnonymizeRequest.of(k=1, quasi=quasi, sensitive=sensitive)
    return groups_of(narrowed(engine, "rows", "rows", where=where), request)


def test_the_engine_counts_what_arrays_count(engine):
    """Also where a column is called like our count."""
    found = _groups(engine, ["zip", "n", "age"], sensitive="ill")
    rows = open_exact(engine.owner_reader().run(f"SELECT * FROM {engine.relation('rows')}"))
    direct = group_table(rows, ["zip", "n", "age"], sensitive="ill")
    assert found.values == direct.values == (("02139", None), (1, 2), (30, None))
    assert found.rows.tolist() == direct.rows.tolist()
    assert found.codes.tolist() == direct.codes.tolist()
    assert found.sensitive.rows.tolist() == direct.sensitive.rows.tolist()


def test_a_condition_leaves_rows_out(engine):
    assert _groups(engine, ["zip"], where="n = 1").total == 2


@pytest.mark.parametrize(
    ("quasi", "sensitive", "said"),
    [
        (["street"], None, "no column 'street'"),
        (["zip"], "salary", "no column 'salary'"),
        ([], None, "which columns others may know"),
        (["zip"], "zip", "a quasi-identifier and sensitive"),
        (["zip", "zip"], None, "twice"),
    ],
)
def test_columns_that_make_no_sense(engine, quasi, sensitive, said):
    with pytest.raises(InvalidInput, match=said):
        _groups(engine, quasi, sensitive=sensitive)


def test_no_rows(engine):
    with pytest.raises(InvalidInput, match="no rows"):
        _groups(engine, ["zip"], where="n > 7")
