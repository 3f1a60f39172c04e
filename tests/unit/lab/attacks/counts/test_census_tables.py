import numpy as np
import pytest

from discreet.lab.attacks.counts.people import (
    AGE,
    BANDS,
    MALE,
    MARRIED,
    PUBLISHED,
    RESIDENTS,
    SMOKER,
    age_rows,
    count_rows,
    tabulated,
)

PEOPLE = np.array([[34, 1, 1, 0], [34, 1, 1, 0], [7, 0, 0, 0], [81, 0, 1, 1], [40, 1, 0, 1]])


def test_a_block_is_a_count_of_every_kind_of_resident():
    block = tabulated(PEOPLE)
    assert block.sum() == 5
    assert sorted(np.repeat(RESIDENTS, block, axis=0).tolist()) == sorted(PEOPLE.tolist())


@pytest.mark.parametrize("table", PUBLISHED, ids=lambda table: table.words)
def test_equations_count_what_the_table_says(table):
    counts = table.matrix() @ tabulated(PEOPLE)
    assert counts.sum() == 5
    for person in PEOPLE:
        key = [int(person[flag]) for flag in table.flags]
        key += [int(person[AGE]) // 5] if table.banded else []
        same = [
            other
            for other in PEOPLE
            if all(other[flag] == person[flag] for flag in table.flags)
            and (not table.banded or other[AGE] // 5 == person[AGE] // 5)
        ]
        assert counts[table.cell_of(key)] == len(same)


def test_the_question_names_the_flags_and_bands():
    sql = PUBLISHED[0].sql("people")
    assert sql == (
        "SELECT block, male, married, age // 5 AS last, COUNT(*) AS n FROM people "
        "GROUP BY block, male, married, last"
    )
    assert PUBLISHED[0].cells == 4 * BANDS


def test_the_block_itself_satisfies_its_tables_and_another_does_not():
    block = tabulated(PEOPLE)
    for rows in (count_rows(block), age_rows(block)):
        values = rows.matrix @ block
        assert (rows.low <= values).all()
        assert (values <= rows.high).all()
    older = PEOPLE.copy()
    older[0, AGE] = 33
    rows = age_rows(block)
    values = rows.matrix @ tabulated(older)
    assert ((values < rows.low) | (values > rows.high)).any(), "a mean moved by a fifth of a year"


def test_flags_are_columns_of_the_residents():
    assert (MALE, MARRIED, SMOKER) == (1, 2, 3)
    assert len(RESIDENTS) == len(np.unique(RESIDENTS, axis=0)) == 105 * 8
