"""Kinds of values: mixtures are refused before anything is charged."""

import pytest

from asking import question
from discreet.errors import QueryRefused


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM people WHERE age",
        "SELECT COUNT(*) FROM people WHERE sex + 1 > 3",
        "SELECT COUNT(*) FROM people WHERE sex * 1000000000 = 'x'",
        "SELECT COUNT(*) FROM people WHERE 'a' < 5",
        "SELECT COUNT(*) FROM people WHERE born > 5",
        "SELECT COUNT(*) FROM people WHERE sex AND member",
        "SELECT COUNT(*) FROM people WHERE LEAST(sex, 5) = 3",
        "SELECT SUM(member + 1) FROM people",
        "SELECT SUM(-sex) FROM people",
        "SELECT 'a' + COUNT(*) FROM people",
        "SELECT COUNT(*) < 'a' FROM people",
        "SELECT sex, sex + COUNT(*) FROM people GROUP BY sex",
        "SELECT COUNT(*) FROM people HAVING 5",
        "SELECT CASE WHEN COUNT(*) > 3 THEN 'a' ELSE 1 END FROM people",
        "SELECT UPPER(COUNT(*)) FROM people",
    ],
)
def test_mixtures_are_refused(sql):
    with pytest.raises(QueryRefused):
        question(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM people WHERE age > 5.5 AND member",
        "SELECT COUNT(*) FROM people WHERE CASE WHEN member THEN age ELSE NULL END > 3",
        "SELECT sex, UPPER(sex), COUNT(*) > 3 FROM people GROUP BY sex",
        "SELECT COALESCE(AVG(age), 0) FROM people HAVING COUNT(*) > 0 AND TRUE",
    ],
)
def test_proper_questions_are_not(sql):
    assert question(sql)
