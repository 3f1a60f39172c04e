"""Two spellings of a question share a signature, two questions do not."""

from dataclasses import replace

import pytest

from asking import catalog, question
from discreet.ask.plan.ir import scans_of, signature
from discreet.ask.sql.bind import bind
from discreet.base.unit import unit_path


def signed(sql, **options):
    return signature(question(sql, **options).statement)


PLAIN = "SELECT COUNT(*) AS n FROM people WHERE age > 5 GROUP BY sex"


def test_spelling_does_not_matter():
    other = "select count(*)  as n from PEOPLE where (AGE > 5) group by SEX -- the same"
    assert signed(PLAIN) == signed(other)


@pytest.mark.parametrize(
    "other",
    [
        PLAIN.replace("5", "6"),
        PLAIN.replace("COUNT(*)", "COUNT(age)"),
        PLAIN.replace("GROUP BY sex", "GROUP BY member"),
        PLAIN.replace(">", ">="),
        PLAIN.replace("COUNT(*)", "COUNT(*), SUM(age)"),
        PLAIN.replace("GROUP BY sex", "GROUP BY sex, member"),
    ],
)
def test_a_difference_does(other):
    assert signed(PLAIN) != signed(other)


@pytest.mark.parametrize(
    "other",
    [
        f"{PLAIN} HAVING COUNT(*) > 3",
        f"{PLAIN} ORDER BY n",
        f"{PLAIN} LIMIT 1",
        PLAIN.replace("AS n", "AS m"),
        PLAIN.replace("COUNT(*) AS n", "sex, COUNT(*) * 100"),
    ],
)
def test_what_is_done_with_the_numbers_does_not(other):
    assert signed(PLAIN) == signed(other)


def test_the_largest_group_alone_is_chosen_in_another_way():
    other = PLAIN.replace("COUNT(*) AS n", "sex") + " ORDER BY COUNT(*) DESC LIMIT 1"
    assert signature(bind(PLAIN, catalog())) != signature(bind(other, catalog()))


def test_the_order_of_keys_and_aggregates_does_not():
    one = "SELECT sex, member, COUNT(*), SUM(age) FROM people GROUP BY sex, member"
    two = "SELECT SUM(age), member, sex, COUNT(*) FROM people GROUP BY member, sex"
    assert signed(one) == signed(two)


def test_the_bound_on_rows_is_part_of_the_question():
    assert signed("SELECT COUNT(*) FROM visits", max_rows=1) != signed(
        "SELECT COUNT(*) FROM visits"
    )


def test_another_path_to_people_is_another_question():
    """Over another path the same rows are other people's; content and columns do not tell."""
    found = bind(PLAIN, catalog())
    paths = [None, *map(unit_path, ("a -> t.key -> person", "b -> t.key -> person"))]
    scans = [
        replace(s, table=replace(s.table, path=p)) for p in paths for s in scans_of(found.source)
    ]
    assert len({signature(replace(found, source=scan)) for scan in scans}) == len(paths)
