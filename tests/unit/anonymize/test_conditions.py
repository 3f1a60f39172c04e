import pytest

from discreet.anonymize.source import condition_sql
from discreet.errors import InvalidInput

COLUMNS = ("age", "Sex", "marital-status")


@pytest.mark.parametrize(
    ("written", "sql"),
    [
        ("AGE >= 18 and sex in ('a', 'b')", "\"age\" >= 18 AND \"Sex\" IN ('a', 'b')"),
        ("not (age is null)", 'NOT ("age" IS NULL)'),
        ("\"marital-status\" = 'it''s'", "\"marital-status\" = 'it''s'"),
        ("age > 3 -- quiet", '"age" > 3'),
    ],
)
def test_comparisons_are_written_anew(written, sql):
    assert condition_sql(written, COLUMNS, dialect="duckdb") == sql


@pytest.mark.parametrize(
    "written",
    [
        "sleep(3)",
        "age > (SELECT 1)",
        "age > 1; DROP TABLE x",
        "age",
        "",
        "age::int > 3",
        "a.age > 1",
        "age IN (SELECT 1)",
        "getenv('HOME') = 'x'",
        "age > 1 UNION SELECT 2",
    ],
)
def test_everything_else_is_refused(written):
    with pytest.raises(InvalidInput):
        condition_sql(written, COLUMNS, dialect="duckdb")


def test_an_unknown_column_is_named():
    with pytest.raises(InvalidInput, match="'height', which is no column"):
        condition_sql("height > 3", COLUMNS, dialect="duckdb")
