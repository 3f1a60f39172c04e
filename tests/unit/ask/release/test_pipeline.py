"""The corridor: charge, look, store, send."""

import json
from types import SimpleNamespace

import pyarrow as pa
import pytest

from asking import curator, engine, people
from discreet.ask.release import pipeline
from discreet.errors import (
    BudgetExceeded,
    CatalogError,
    EngineFailed,
    QueryRefused,
    RequestConflict,
)
from discreet.testing import SeededRng

COUNT = "SELECT COUNT(*) AS n FROM people"


def test_an_answer_is_charged_and_close(tmp_path):
    with curator(tmp_path) as asked:
        answer = asked.query(COUNT, epsilon="1")
        assert abs(answer.rows[0][0] - 100) < 40
        assert answer.to_json()["cost"] == {"epsilon": 1.0, "delta": 0.0}
        assert asked.budget_report()["datasets"]["census"]["epsilon"]["spent"] == 1.0
        assert not answer.provenance.private  # the noise was seeded


def test_four_questions_cost_the_worst_hit_person_one(tmp_path):
    asks = [
        ("TRUE", "0.5"),
        ("sex = 'Male'", "0.2"),
        ("sex = 'Female'", "0.25"),
        ("age > 20", "0.25"),
    ]
    with curator(tmp_path, epsilon="1") as asked:
        for where, epsilon in asks:
            asked.query(f"{COUNT} WHERE {where}", epsilon=epsilon, fresh=True)
        report = asked.budget_report()["datasets"]["census"]
        assert report["epsilon"] == {"limit": 1.0, "spent": 1.0, "left": 0.0}
        assert report["worst_region"] == "sex = 'Female' AND age > 20"
        with pytest.raises(BudgetExceeded):
            asked.query(f"{COUNT} WHERE sex = 'Female'", epsilon="0.01", fresh=True)
        # The men have paid 0.95.
        asked.query(f"{COUNT} WHERE sex = 'Male'", epsilon="0.05", fresh=True)


def test_the_charge_comes_before_the_look(tmp_path):
    asked = curator(tmp_path)
    asked.engine.answers = None
    with asked, pytest.raises(EngineFailed):
        asked.query(COUNT, epsilon="1")
    with curator(tmp_path) as again:
        assert again.budget_report()["datasets"]["census"]["epsilon"]["spent"] == 1.0


def test_what_is_refused_is_neither_charged_nor_run(tmp_path):
    with curator(tmp_path) as asked:
        for sql, error in ((f"{COUNT} TABLESAMPLE 5%", QueryRefused), (COUNT, BudgetExceeded)):
            with pytest.raises(error):
                asked.query(sql, epsilon="11")
        assert asked.engine.ran == []
        assert asked.budget_report()["datasets"]["census"]["charges"] == 0


@pytest.mark.parametrize("sql", ["SELECT SUM(age) FROM people", COUNT])
def test_a_declared_column_that_the_source_lacks_is_neither_charged_nor_run(tmp_path, sql):
    rows = people(60, 40).rename_columns(
        ["years", "sex", "income", "balance", "born", "member", "job"]
    )
    with curator(tmp_path, tables={"people": rows}) as asked:
        for ask in (asked.query, asked.explain):
            with pytest.raises(CatalogError, match=r"table 'people' .* has no column 'age'"):
                ask(sql, epsilon="1")
        assert asked.engine.ran == []
        assert asked.budget_report()["datasets"]["census"]["charges"] == 0


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT sex, COUNT(*) FROM people GROUP BY sex ORDER BY POWER(COUNT(*) - 1000, 0.5)",
        "SELECT sex, COUNT(*) FROM people GROUP BY sex HAVING POWER(COUNT(*) - 1000, 0.5) > 3",
        "SELECT SQRT(COUNT(*)) * POWER(SUM(age), 64) * POWER(SUM(age), 64) FROM people",
        "SELECT FLOOR(EXP(COUNT(*) * 20)) // 3 FROM people",
        "SELECT MEDIAN(CASE WHEN age > 50 THEN age END) FROM people WHERE age < 20",
        "SELECT AVG(CASE WHEN age > 50 THEN age END) FROM people WHERE age < 20",
        "SELECT QUANTILE_CONT(age, 0.12345678901234567) FROM people",
    ],
)
def test_nothing_fails_after_the_charge(tmp_path, sql):
    with curator(tmp_path) as asked:
        json.dumps(asked.query(sql, epsilon="1").to_json(), allow_nan=False)


def test_what_cannot_be_bounded_is_refused_before_the_charge(tmp_path):
    with curator(tmp_path) as asked:
        with pytest.raises(QueryRefused, match="not on the list"):
            asked.query(f"{COUNT} WHERE MD5(sex) = 'x'", epsilon="1")
        assert asked.budget_report()["datasets"]["census"]["charges"] == 0


def test_nobody_is_touched_nothing_is_run_nothing_is_paid(tmp_path):
    with curator(tmp_path) as asked:
        answer = asked.query(f"{COUNT} WHERE age > 500", epsilon="1")
        assert answer.rows == ((0,),)
        assert answer.free
        assert asked.engine.ran == []


def test_the_same_id_gives_the_same_answer_once_paid(tmp_path):
    with curator(tmp_path) as asked:
        first = asked.query(COUNT, epsilon="1", request_id="a", fresh=True)
        again = asked.query(COUNT, epsilon="1", request_id="a", fresh=True)
        assert again == first
        assert len(asked.engine.ran) == 1
        with pytest.raises(RequestConflict):
            asked.query(COUNT, epsilon="2", request_id="a", fresh=True)


def test_an_answer_is_asked_again_for_free_unless_fresh_or_finer(tmp_path):
    with curator(tmp_path) as asked:
        first = asked.query(COUNT, epsilon="1")
        again = asked.query("select count(*) as n from people", epsilon="0.5")
        assert again.free
        assert again.rows == first.rows
        assert "free of charge" in again.provenance.notes[-1]
        assert not asked.query(COUNT, epsilon="2").free
        assert not asked.query(COUNT, epsilon="1", fresh=True).free
        assert asked.budget_report()["datasets"]["census"]["epsilon"]["spent"] == 4.0


def test_explain_spends_nothing_and_runs_nothing(tmp_path):
    with curator(tmp_path) as asked:
        found = asked.explain("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", epsilon="0.5")
        assert found.expected_error == {"n": 6.0}
        assert found.to_json()["spends"] is False
        assert found.to_json()["cost"] == {"epsilon": 0.5, "delta": 0.0}
        assert asked.engine.ran == []
        assert asked.budget_report()["datasets"]["census"]["charges"] == 0


def test_the_price_does_not_depend_on_the_rows(tmp_path):
    sql = "SELECT sex, AVG(age), COUNT(*) FROM people GROUP BY sex"
    costs = []
    for folder, table in (("a", people(60, 40)), ("b", people(0, 0)), ("c", people(5000, 1))):
        (tmp_path / folder).mkdir()
        with curator(tmp_path / folder, tables={"people": table}) as asked:
            costs.append(asked.query(sql, epsilon="0.7").cost)
    assert len(set(costs)) == 1


def test_all_groups_appear_even_of_an_empty_table(tmp_path):
    with curator(tmp_path, tables={"people": people(0, 0)}) as asked:
        answer = asked.query("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", epsilon="5")
        assert [row[0] for row in answer.rows] == ["Female", "Male"]


def test_a_wrong_answer_of_the_engine_is_an_engine_failure_or_an_error_of_ours(tmp_path):
    with curator(tmp_path, rng=SeededRng(1)) as asked:
        asked.engine.answers = pa.table({"r0": [12]})
        assert abs(asked.query(COUNT, epsilon="1").rows[0][0] - 12) < 30


def test_fake_engines_of_all_dialects_are_asked_alike():
    assert {engine(d).capabilities.dialect for d in ("duckdb", "postgres", "spark")} == {
        "duckdb",
        "postgres",
        "spark",
    }


def test_what_left_without_a_guarantee_is_named_in_every_later_answer(tmp_path):
    with curator(tmp_path) as asked:
        before = asked.query(COUNT, epsilon="0.1")
        assert not any("Outside the budget" in note for note in before.provenance.notes)
        asked.ledger.record_exposure("census", reason="a copy", columns=["people.age"])
        for answer in (
            asked.query(COUNT, epsilon="0.1"),  # free: the same answer again
            asked.query(COUNT, epsilon="0.1", fresh=True),
            asked.query(f"{COUNT} WHERE age > 20", epsilon="0.1"),
        ):
            (said,) = [n for n in answer.provenance.notes if "Outside the budget" in n]
            assert "people.age" in said
        explained = asked.explain(f"{COUNT} WHERE age > 50", epsilon="0.1")
        assert any("people.age" in note for note in explained.notes)


def test_a_huge_epsilon_is_answered_all_but_exactly(tmp_path):
    with curator(tmp_path, epsilon="100000") as asked:
        answer = asked.query(COUNT, epsilon="5000")
        assert answer.rows == ((100,),)  # off once in e^1000
        assert answer.to_json()["cost"]["epsilon"] == 5000


def test_noise_that_cannot_be_drawn_is_refused_before_the_charge(tmp_path):
    with curator(tmp_path) as asked:
        with pytest.raises(QueryRefused, match="wider than any number"):
            asked.query(COUNT, epsilon="1e-13")
        assert asked.budget_report()["datasets"]["census"]["epsilon"]["spent"] == 0


def test_all_selects_of_a_question_share_one_limit(monkeypatch):
    now, given = [100.0], []

    def run(sql, *, seconds=None):
        given.append(seconds)
        now[0] += 4

    monkeypatch.setattr(pipeline, "time", SimpleNamespace(monotonic=lambda: now[0]))
    limited = pipeline._one_limit(run)
    for _ in range(3):
        limited("SELECT 1", seconds=6)
    assert given == [6, 2, 0]
    limited("SELECT 1")
    assert given[-1] is None
