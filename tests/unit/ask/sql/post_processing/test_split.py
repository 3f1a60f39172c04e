"""What reads people is told apart from what is done with results."""

import pytest
from sqlglot import exp

from asking import catalog
from discreet.ask.release.post_processing import written
from discreet.ask.sql.parse import read_checked
from discreet.ask.sql.post_processing.split import split
from discreet.base.answer import OutputType
from discreet.data.engines.duckdb.scratch import ScratchTable, outcome_types
from discreet.errors import DiscreetError, QueryRefused


def program(sql):
    return split(read_checked(sql), catalog())


def parts(sql):
    return [part.sql(dialect="duckdb") for part in program(sql).parts]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM people",
        "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex HAVING n > 3 ORDER BY n LIMIT 2",
        "SELECT AVG(n) FROM (SELECT person, COUNT(*) AS n FROM visits GROUP BY person) AS t",
        "WITH young AS (SELECT * FROM people WHERE age < 9) SELECT COUNT(*) FROM young",
    ],
)
def test_one_private_question_has_no_steps(sql):
    assert program(sql) is None


def test_a_window_runs_over_keys_and_aggregates():
    found = program("SELECT sex, SUM(COUNT(*)) OVER () AS every FROM people GROUP BY sex")
    assert [part.sql() for part in found.parts] == [
        "SELECT sex AS c0, COUNT(*) AS c1 FROM people GROUP BY 1"
    ]
    assert "SUM(t.a0) OVER ()" in found.after.sql()
    assert found.columns == ("sex", "every")


def test_sets_of_keys_are_a_question_each():
    assert parts("SELECT sex, member, COUNT(*) FROM people GROUP BY ROLLUP (sex, member)") == [
        "SELECT sex AS c0, member AS c1, COUNT(*) AS c2 FROM people GROUP BY 1, 2",
        "SELECT sex AS c0, COUNT(*) AS c1 FROM people GROUP BY 1",
        "SELECT COUNT(*) AS c0 FROM people",
    ]


def test_the_same_question_twice_is_asked_once():
    one = "SELECT COUNT(*) AS n FROM people"
    assert len(parts(f"{one} UNION ALL {one}")) == 1
    assert len(parts(f"{one} UNION ALL {one} WHERE age > 3")) == 2


def test_rows_that_are_passed_on_keep_their_error_bars():
    inner = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
    assert program(f"SELECT n, sex, n * 2 FROM ({inner}) AS t WHERE n > 3").bars.columns == (
        1,
        0,
        None,
    )
    assert program(f"SELECT SUM(n) FROM ({inner}) AS t").bars is None


def test_what_comes_after_names_results_and_public_tables_only():
    found = program(
        "WITH t AS (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) "
        "SELECT w.ward, t.n FROM wards AS w LEFT JOIN t ON t.ward = w.ward"
    )
    assert {table.name for table in found.after.find_all(exp.Table)} == {"r0", "p0"}
    assert [table.name for _, table in found.public] == ["wards"]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_csv('x')",
        "SELECT UNNEST([1, 2]) FROM wards",
        "SELECT * FROM wards, range(9)",
        "SELECT RANDOM() FROM wards",
        "SELECT getenv('HOME') FROM wards",
        "WITH RECURSIVE t AS (SELECT 1 UNION ALL SELECT * FROM t) SELECT * FROM t",
        "SELECT ROW_NUMBER() OVER (ORDER BY age) FROM people",
        "SELECT age FROM people UNION ALL SELECT COUNT(*) FROM people",
        "SELECT sex, age, RANK() OVER (ORDER BY COUNT(*)) FROM people GROUP BY sex",
        "SELECT hidden FROM wards",
    ],
)
def test_what_is_no_step_is_refused(sql):
    with pytest.raises(DiscreetError):
        tried(sql)


def tried(sql):
    """Split a statement, and look whether its step can be computed at all."""
    found = program(sql)
    kinds = {f"p{i}": ScratchTable((OutputType.TEXT,) * 9) for i, _ in enumerate(found.public)}
    outcome_types(written(found), kinds)


def test_a_cube_of_many_keys_is_refused():
    keys = ", ".join(f"age % {i}" for i in range(2, 9))
    with pytest.raises(QueryRefused, match="sets of keys"):
        program(f"SELECT COUNT(*) FROM people GROUP BY CUBE ({keys})")
