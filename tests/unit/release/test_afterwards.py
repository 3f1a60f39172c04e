"""Statements of several steps: each private question is paid for, everything else is free."""

import pytest

from asking import curator
from discreet.core.output import OutputType
from discreet.engine.duckdb.scratch import outcome
from discreet.errors import BudgetExceeded, QueryRefused
from discreet.release.afterwards.tables import Small

SHARES = "SELECT sex, COUNT(*) AS n, COUNT(*) * 1.0 / SUM(COUNT(*)) OVER () AS s FROM people GROUP BY sex"
BOTH = (
    "SELECT 'f' AS who, COUNT(*) AS n FROM people WHERE sex = 'Female' "
    "UNION ALL SELECT 'm', COUNT(*) FROM people WHERE sex = 'Male'"
)


def test_a_share_is_computed_from_noisy_counts(tmp_path):
    with curator(tmp_path) as asked:
        answer = asked.query(SHARES, epsilon="1")
        total = sum(row[1] for row in answer.rows)
        assert [round(row[1] / total, 9) for row in answer.rows] == [
            round(row[2], 9) for row in answer.rows
        ]
        assert answer.error95[0][0] is None
        assert answer.error95[0][1] > 0
        assert answer.noisy == (1, 2)
        assert asked.budget_report()["datasets"]["census"]["epsilon"]["spent"] == 1.0


def test_parts_share_epsilon_and_disjoint_ones_are_billed_once(tmp_path):
    with curator(tmp_path) as asked:
        plan = asked.explain(BOTH, epsilon="1")
        assert float(plan.cost.epsilon) == 1.0
        answer = asked.query(BOTH, epsilon="1")
        assert [row[0] for row in answer.rows] == ["f", "m"]
        assert asked.budget_report()["datasets"]["census"]["epsilon"]["spent"] == 0.5


def test_the_same_request_id_gets_the_same_outcome(tmp_path):
    with curator(tmp_path) as asked:
        one = asked.query(BOTH, epsilon="1", request_id="a")
        spent = asked.budget_report()["datasets"]["census"]["epsilon"]["spent"]
        assert asked.query(BOTH, epsilon="1", request_id="a").rows == one.rows
        assert asked.budget_report()["datasets"]["census"]["epsilon"]["spent"] == spent


def test_another_form_of_a_paid_question_is_free(tmp_path):
    with curator(tmp_path) as asked:
        asked.query(
            "SELECT sex, COUNT(*) AS n, SUM(age) AS a FROM people GROUP BY sex", epsilon="1"
        )
        for other in (
            "SELECT SUM(age), COUNT(*) AS m, sex AS s FROM people GROUP BY sex ORDER BY m LIMIT 1",
            "SELECT sex FROM people GROUP BY sex HAVING COUNT(*) > 3 AND SUM(age) > 4",
            "SELECT sex, RANK() OVER (ORDER BY COUNT(*)), SUM(age) FROM people GROUP BY sex",
        ):
            assert asked.query(other, epsilon="1").free
        assert not asked.query("SELECT sex, COUNT(*) FROM people GROUP BY 1", epsilon="2").free


def test_what_cannot_be_computed_is_refused_before_the_charge(tmp_path):
    with curator(tmp_path) as asked:
        with pytest.raises(QueryRefused, match="after the noise"):
            asked.query(
                "SELECT SUM(sex) FROM (SELECT sex, COUNT(*) AS n FROM people GROUP BY sex) AS t",
                epsilon="1",
            )
        with pytest.raises(BudgetExceeded):
            asked.query(BOTH, epsilon="1000")
        assert asked.budget_report()["datasets"]["census"]["charges"] == 0


def test_ends_of_error_bars_are_columns(tmp_path):
    sql = "SELECT sex, COUNT(*) AS n, DP_INTERVAL_LOW(n) AS lo, DP_INTERVAL_HIGH(n) AS hi FROM people GROUP BY sex"
    with curator(tmp_path) as asked:
        answer = asked.query(sql, epsilon="1")
        for row, bars in zip(answer.rows, answer.error95, strict=True):
            assert (row[2], row[3]) == (row[1] - bars[1], row[1] + bars[1])


def test_a_price_in_the_statement_is_the_price(tmp_path):
    priced = (
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.5, delta = 1e-6{}) COUNT(*) FROM {}"
    )
    with curator(tmp_path) as asked:
        asked.query(priced.format("", "people"))
        assert asked.budget_report()["datasets"]["census"]["epsilon"]["spent"] == 0.5
        with pytest.raises(QueryRefused, match="names the person"):
            asked.explain(priced.format(", privacy_unit_column = ward", "visits"))
        with pytest.raises(QueryRefused, match="option"):
            asked.explain(
                "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (noise = none) COUNT(*) FROM people"
            )


def test_the_database_for_results_reaches_nothing_else(tmp_path):
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n", encoding="utf-8")
    table = {"r0": Small((OutputType.INTEGER,), [(1,), (None,)])}
    assert outcome("SELECT SUM(c0) FROM r0", table) == [(1,)]
    for sql in (
        f"SELECT * FROM '{secret}'",
        f"SELECT * FROM read_csv('{secret}')",
        f"COPY r0 TO '{tmp_path}/out.csv'",
        "SET memory_limit = '9GB'",
        "INSTALL httpfs",
    ):
        with pytest.raises(QueryRefused):
            outcome(sql, table)
    assert not (tmp_path / "out.csv").exists()
