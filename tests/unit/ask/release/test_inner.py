"""Subqueries inside a condition: public ones are read, private ones are asked and paid for first."""

import duckdb
import pytest

import discreet
from asking import curator
from discreet.ask.release import statement
from discreet.errors import BudgetExceeded, InvalidInput, QueryRefused, RequestConflict

OLDER = "SELECT COUNT(*) AS n FROM people WHERE age > (SELECT AVG(age) FROM people)"
TOML = """
[datasets.clinic]
epsilon = 1000000
delta = 1e-6
[datasets.clinic.tables.visits]
source = "visits.parquet"
unit = "person"
max_rows = 4
[datasets.clinic.tables.visits.columns]
person = { type = "identifier" }
ward = { type = "category", values = ["A", "B", "C"] }
cost = { type = "integer", lower = 0, upper = 1000 }
[datasets.clinic.tables.wards]
source = "wards.parquet"
public = true
key_copies = 2
[datasets.clinic.tables.wards.columns]
ward = { type = "category", values = ["A", "B", "C"] }
beds = { type = "integer", lower = 0, upper = 500 }
"""


@pytest.fixture
def clinic(tmp_path):
    (tmp_path / "discreet.toml").write_text(TOML, encoding="utf-8")
    with duckdb.connect() as database:
        for name, sql in {
            "visits": "SELECT i % 500 AS person, chr(CAST(65 + i % 3 AS INTEGER)) AS ward, "
            "i % 997 AS cost FROM range(2000) AS t(i)",
            "wards": "SELECT * FROM (VALUES ('A', 10), ('A', 20), ('B', 300), ('C', 30)) AS t(ward, beds)",
        }.items():
            database.execute(f"COPY ({sql}) TO '{tmp_path}/{name}.parquet' (FORMAT parquet)")
            database.execute(f"CREATE VIEW {name} AS SELECT * FROM '{tmp_path}/{name}.parquet'")
        with discreet.open(tmp_path / "discreet.toml") as asked:
            yield asked, database


@pytest.mark.parametrize(
    "condition",
    [
        "cost > (SELECT MAX(beds) FROM wards)",
        "cost < (SELECT AVG(beds) FROM wards WHERE ward = 'A') * 2",
        "ward = (SELECT ward FROM wards ORDER BY beds DESC LIMIT 1)",
        "ward IN (SELECT ward FROM wards WHERE beds < 50)",
        "ward NOT IN (SELECT ward FROM wards GROUP BY ward HAVING SUM(beds) < 100)",
        "cost > (SELECT MAX(beds) FROM wards WHERE beds > 400)",
        "cost > (SELECT AVG(cost) FROM visits)",
        "cost > (SELECT AVG(cost) + 10 FROM visits WHERE ward = 'B') AND ward IN ('A', 'B')",
    ],
)
def test_without_noise_it_is_what_the_database_says(clinic, condition):
    asked, database = clinic
    sql = f"SELECT COUNT(*) AS n FROM visits WHERE {condition}"
    answer = asked.query(sql, epsilon=100_000)
    assert answer.rows == tuple(database.execute(sql).fetchall())
    assert asked.explain(sql, epsilon=1).columns == ("n",)


def test_a_public_subquery_costs_nothing(clinic):
    asked, _ = clinic
    asked.query("SELECT COUNT(*) FROM visits WHERE cost > (SELECT MAX(beds) FROM wards)", epsilon=3)
    assert asked.budget_report()["datasets"]["clinic"]["epsilon"]["spent"] == 3.0
    assert asked.budget_report()["datasets"]["clinic"]["charges"] == 1


def test_a_private_one_shares_the_price_that_was_named_before(tmp_path):
    with curator(tmp_path) as asked:
        assert float(asked.explain(OLDER, epsilon="1").cost.epsilon) == 1.0
        answer = asked.query(OLDER, epsilon="1", request_id="a")
        assert float(answer.cost.epsilon) == 1.0
        report = asked.budget_report()["datasets"]["census"]
        assert (report["charges"], report["epsilon"]["spent"] <= 1.0) == (2, True)
        again = asked.query(OLDER, epsilon="1", request_id="a")
        assert again.rows == answer.rows
        assert asked.budget_report()["datasets"]["census"]["charges"] == 2


def test_what_is_refused_is_refused_before_the_first_charge(tmp_path):
    with curator(tmp_path) as asked:
        for sql, why in (
            (OLDER.replace("COUNT(*)", "job"), "single rows"),
            (OLDER.replace("AVG(age)", "age"), "subquery"),
            (OLDER.replace("FROM people)", "FROM people p WHERE p.sex = people.sex)"), "subquery"),
            (OLDER.replace("AVG(age) FROM people)", "AVG(cost) FROM visits)"), "one dataset"),
            (f"SELECT COUNT(*) FROM people WHERE age IN ({OLDER})", "subquery"),
        ):
            with pytest.raises(QueryRefused, match=why):
                asked.query(sql, epsilon="1")
        with pytest.raises(QueryRefused, match="error can only be asked for"):
            asked.query(OLDER, within=5)
        with pytest.raises(BudgetExceeded):
            asked.query(OLDER, epsilon="1000")
        assert asked.budget_report()["datasets"]["census"]["charges"] == 0


def test_several_values_where_one_belongs(clinic):
    asked, _ = clinic
    with pytest.raises(QueryRefused, match="gives 4 values"):
        asked.query("SELECT COUNT(*) FROM visits WHERE cost > (SELECT beds FROM wards)", epsilon=1)


def test_all_of_it_fits_or_nothing_is_charged(tmp_path):
    """The inner question alone would fit: three quarters of the limit are asked for twice."""
    with curator(tmp_path) as asked:
        limit = asked.share_report()["datasets"]["census"]["epsilon"]["limit"]
        with pytest.raises(BudgetExceeded, match="Nothing was charged"):
            asked.query(OLDER, epsilon=str(1.5 * limit))
        assert asked.budget_report()["datasets"]["census"]["charges"] == 0


def test_when_the_rest_does_not_fit_any_more_it_says_what_was_paid(tmp_path, monkeypatch):
    monkeypatch.setattr(statement, "refuse_too_dear", lambda foreseen: None)  # others were quicker
    with curator(tmp_path) as asked:
        limit = asked.share_report()["datasets"]["census"]["epsilon"]["limit"]
        with pytest.raises(BudgetExceeded, match="inside it were charged") as caught:
            asked.query(OLDER, epsilon=str(1.5 * limit))
        assert "Nothing was charged" not in caught.value.message
        assert asked.budget_report()["datasets"]["census"]["charges"] == 1


@pytest.mark.parametrize(
    "inner", ["SUM(age) + COUNT(*)", "SUM(age) / COUNT(*)", "COVAR_POP(age, age)"]
)
def test_two_aggregates_inside_are_refused_in_a_sentence(tmp_path, inner):
    with curator(tmp_path) as asked, pytest.raises(QueryRefused, match="subquery"):
        asked.query(OLDER.replace("AVG(age)", inner), epsilon="1")


def test_an_id_that_leaves_no_room_for_others_is_refused_before_anything_is_charged(tmp_path):
    with curator(tmp_path) as asked:
        with pytest.raises(InvalidInput, match="request id"):
            asked.query(OLDER, epsilon="1", request_id="i" * 195)
        assert asked.budget_report()["datasets"]["census"]["charges"] == 0


@pytest.mark.parametrize("inner", [".in1", ".out"])
def test_no_text_of_a_callers_is_taken_for_a_question_inside(tmp_path, inner):
    """Whoever knows how the questions of a statement are called gets none of their answers by it."""
    with curator(tmp_path) as asked:
        asked.query(OLDER, epsilon="1", request_id="x")
        texts = {".in1": f"{OLDER} /* inner 1 */", ".out": OLDER}
        with pytest.raises(RequestConflict):
            asked.query(texts[inner], epsilon="0.5", request_id=f"x{inner}")


def test_nor_is_an_answer_to_such_a_text_taken_for_the_one_inside(tmp_path):
    with curator(tmp_path) as asked:
        asked.query(
            "SELECT COUNT(*) AS n FROM people /* inner 1 */", epsilon="0.5", request_id="y.in1"
        )
        with pytest.raises(RequestConflict):
            asked.query(OLDER, epsilon="1", request_id="y")
        assert asked.budget_report()["datasets"]["census"]["charges"] == 1
