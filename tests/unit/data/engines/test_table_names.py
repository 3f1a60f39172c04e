from __future__ import annotations

import pytest

from discreet.data.engines.dialects import canon, placed

PLACES = {"census.people": "KEPT", 'odd"`name': "ODD"}


@pytest.mark.parametrize("dialect", ["postgres", "spark"])
def test_names_are_replaced_and_nothing_else(dialect):
    name, odd = canon("census.people", dialect), canon('odd"`name', dialect)
    literal = name.replace("'", "''")
    sql = f"SELECT '{literal}', a.{name} FROM {name} AS a JOIN {odd} AS b"
    assert (
        placed(sql, dialect, PLACES) == f"SELECT '{literal}', a.{name} FROM KEPT AS a JOIN ODD AS b"
    )


def test_a_name_inside_a_quoted_name_or_an_escaped_literal_stays():
    quoted = '"a canon.""census.people"" b"'
    assert placed(f"SELECT {quoted}", "postgres", PLACES) == f"SELECT {quoted}"
    hidden = r"'it\'s canon.`census.people`'"
    assert placed(f"SELECT {hidden}", "spark", PLACES) == f"SELECT {hidden}"


def test_an_unknown_name_stays():
    assert placed('FROM canon."other"', "postgres", PLACES) == 'FROM canon."other"'
