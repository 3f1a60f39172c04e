"""One checked SELECT, or a refusal that says where."""

import pytest

from discreet.ask.sql.parse import LONGEST, parse
from discreet.errors import QueryRefused


def construct(sql):
    with pytest.raises(QueryRefused) as caught:
        parse(sql)
    return caught.value.construct


def test_a_select_is_parsed():
    assert parse("SELECT COUNT(*) FROM t;").sql() == "SELECT COUNT(*) FROM t"
    assert parse("-- a comment\nSELECT 1 /* another */ FROM t").sql()


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("", "not a select"),
        ("INSERT INTO t VALUES (1)", "not a select"),
        ("SET threads = 1", "not a select"),
        ("PRAGMA database_list", "not a select"),
        ("COPY t TO 'x.csv'", "not a select"),
        ("ATTACH 'x.db'", "not a select"),
        ("SELECT 1 FROM t; DROP TABLE t", "several statements"),
        ("SELECT (", "syntax"),
        ("SELECT 1 FROM t UNION SELECT 2 FROM t", "set operation"),
        ("SELECT DISTINCT a FROM t", "distinct"),
        ("SELECT a FROM t WINDOW w AS (ORDER BY a)", "clause"),
        ("SELECT COUNT(*) FROM t WHERE a LIKE '%\0%'", "clause"),
        ("SELECT COUNT(*) FROM t WHERE a = '\ud800'", "clause"),
        ('SELECT COUNT(*) AS "\0" FROM t', "clause"),
    ],
)
def test_everything_else_is_refused(sql, expected):
    assert construct(sql) == expected


def test_long_and_deep_text_is_refused_quickly():
    assert construct("SELECT " + "1," * LONGEST) == "clause"
    assert construct(f"SELECT {'(' * 300}1{')' * 300} FROM t") in {"clause", "syntax"}
    assert construct(f"SELECT {'NOT ' * 300}a FROM t") in {"clause", "syntax"}
