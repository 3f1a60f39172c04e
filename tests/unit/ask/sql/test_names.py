"""Names: found without regard to case, and explained when they are not."""

import pytest

from asking import catalog
from discreet.ask.sql.bind import bind
from discreet.errors import UnknownName


def error(sql):
    with pytest.raises(UnknownName) as caught:
        bind(sql, catalog())
    return str(caught.value)


def test_case_does_not_matter():
    assert bind("select count(*) from PEOPLE p where P.AGE > 5", catalog())
    assert bind('SELECT COUNT(*) FROM people WHERE "age" > 5', catalog())
    assert bind("SELECT COUNT(*) FROM census.people", catalog())


def test_unknown_names_say_what_there_is():
    assert "There are: age, sex" in error("SELECT COUNT(*) FROM people WHERE hight > 5")
    assert "Did you mean 'people'" in error("SELECT COUNT(*) FROM peple")
    assert "no table or alias 'q'" in error("SELECT COUNT(*) FROM people WHERE q.age > 5")


def test_a_column_of_two_tables_needs_its_table():
    sql = "SELECT COUNT(*) FROM visits v JOIN wards w ON v.ward = w.ward WHERE ward = 'A'"
    assert "Write v.ward or w.ward" in error(sql)


def test_a_column_of_using_is_the_left_sides():
    one = "SELECT COUNT(*) FROM visits v JOIN wards w USING (ward) WHERE ward = 'A'"
    two = "SELECT COUNT(*) FROM visits v JOIN wards w USING (ward) WHERE v.ward = 'A'"
    assert bind(one, catalog()) == bind(two, catalog())


def test_the_hidden_unit_of_a_subquery_has_no_name():
    assert "no column 'person'" in error(
        "SELECT COUNT(DISTINCT person) FROM (SELECT ward FROM visits) AS t"
    )
