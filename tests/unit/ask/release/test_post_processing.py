"""Statements of several steps: each private question is paid for, everything else is free."""

import pytest

from asking import curator
from discreet.ask.release import pipeline
from discreet.ask.release.post_processing import ScratchTable
from discreet.base.answer import OutputType
from discreet.data.engines.duckdb.scratch import outcome
from discreet.errors import BudgetExceeded, DiscreetError, EngineFailed, QueryRefused

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


def test_a_total_of_rows_that_medians_decide_has_their_rank_error(tmp_path):
    k = "WITH k AS (SELECT balance, COUNT(*) AS n, MEDIAN(age) AS m FROM people GROUP BY balance) "
    with curator(tmp_path) as asked:
        answer = asked.query(
            f"{k} SELECT COUNT(*) AS x, SUM(n) AS y FROM k WHERE m > 50", epsilon="9"
        )
        assert all(each is not None and each.computed for each in answer.ranks[0])
        plain = asked.query(f"{k} SELECT COUNT(*) AS x, SUM(n) AS y FROM k", epsilon="9")
        assert not any(each for row in plain.ranks for each in row)


def test_a_median_of_another_row_is_of_the_least_rows(tmp_path):
    """FIRST_VALUE shows the median of any group, so its error is not that of the row it stands in."""
    k = "SELECT sex, COUNT(age) AS n, MEDIAN(age) AS m FROM people GROUP BY sex"
    with curator(tmp_path) as asked:
        sql = f"SELECT m, FIRST_VALUE(m) OVER (ORDER BY sex) AS x FROM ({k}) AS k"
        own, other = zip(*asked.query(sql, epsilon="9").ranks, strict=True)
        assert {each.rows for each in other} == {min(each.rows for each in own)}


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
    table = {"r0": ScratchTable((OutputType.INTEGER,), [(1,), (None,)])}
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


FITS_ONE = "SELECT COUNT(*) AS n, (SELECT SUM(age) FROM people) AS a FROM people"


def spent(asked):
    return asked.budget_report()["datasets"]["census"]["epsilon"]["spent"]


def test_a_budget_for_one_of_two_parts_charges_nothing(tmp_path):
    with curator(tmp_path) as asked:
        limit = asked.budget_report()["datasets"]["census"]["epsilon"]["limit"]
        with pytest.raises(BudgetExceeded, match="2 private questions of this statement together"):
            asked.query(FITS_ONE, epsilon=str(limit * 1.5), request_id="a")
        assert asked.budget_report()["datasets"]["census"]["charges"] == 0
        assert asked.query(FITS_ONE, epsilon=str(limit), request_id="b").rows
        assert spent(asked) == limit


def test_the_twin_that_charges_parts_one_by_one_is_caught(tmp_path, monkeypatch):
    def one_by_one(payer, works, **means):
        return [found for work in works for found in together(payer, [work], **means)]

    together = pipeline.paid_together
    monkeypatch.setattr(pipeline, "paid_together", one_by_one)
    with curator(tmp_path) as asked:
        limit = asked.budget_report()["datasets"]["census"]["epsilon"]["limit"]
        with pytest.raises(BudgetExceeded):
            asked.query(FITS_ONE, epsilon=str(limit * 1.5))
        assert asked.budget_report()["datasets"]["census"]["charges"] == 1


def test_a_part_that_cannot_be_planned_leaves_the_others_unpaid(tmp_path, monkeypatch):
    def second_fails(plan, *around):
        planned.append(plan)
        if len(planned) == 2:
            raise EngineFailed("The database is not there.")
        return seal(plan, *around)

    planned, seal = [], pipeline.seal
    with curator(tmp_path) as asked:
        monkeypatch.setattr(pipeline, "seal", second_fails)
        with pytest.raises(EngineFailed):
            asked.query(FITS_ONE, epsilon="1")
        assert asked.budget_report()["datasets"]["census"]["charges"] == 0


def test_parts_read_one_state_and_their_charges_stand_together(tmp_path):
    with curator(tmp_path) as asked:
        asked.query(FITS_ONE, epsilon="1", request_id="a")
        paid = [entry for entry in asked.ledger.history() if entry.kind == "charge"]
        assert [entry.data["request_id"] for entry in paid] == ["a.1", "a.2"]
        assert {tuple(entry.data["together"]) for entry in paid} == {(paid[0].position, 2)}
        assert len({entry.data["snapshot"] for entry in paid}) == 1


def test_after_a_kill_between_two_parts_the_rest_is_answered_under_the_same_id(tmp_path):
    class Killed(BaseException):
        pass

    def killed(*_):
        raise Killed

    with curator(tmp_path) as asked:
        asked.query("SELECT COUNT(*) FROM people WHERE age > 9", epsilon="1")
        took = asked.ledger.outcomes.take
        turns = []

        def second_dies(receipt):
            turns.append(receipt)
            return killed() if len(turns) == 2 else took(receipt)

        object.__setattr__(asked.ledger, "outcomes", _Instead(asked.ledger.outcomes, second_dies))
        with pytest.raises(Killed):
            asked.query(FITS_ONE, epsilon="1", request_id="a")
        assert spent(asked) == 2
        assert asked.query(FITS_ONE, epsilon="1", request_id="a").rows
        assert spent(asked) == 2
        assert len([e for e in asked.ledger.history() if e.kind == "charge"]) == 3


class _Instead:
    """Outcomes whose `take` is another."""

    def __init__(self, inner, take):
        self._inner, self.take = inner, take

    def __getattr__(self, name):
        return getattr(self._inner, name)


def test_a_question_that_a_statement_asks_twice_is_paid_once(tmp_path):
    twice = (
        "SELECT (SELECT COUNT(*) FROM people WHERE age > 9) AS a, "
        "(SELECT COUNT(*) AS b FROM people WHERE age > 9) AS b, COUNT(*) AS n FROM people"
    )
    with curator(tmp_path) as asked:
        answer = asked.query(twice, epsilon="1")
        assert answer.rows[0][0] == answer.rows[0][1]
        parts = answer.provenance.sql
        assert len(parts) >= 3
        paid = [entry for entry in asked.ledger.history() if entry.kind == "charge"]
        assert len(paid) == 2


COUNTED = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
BESIDE = "SELECT sex, COUNT(*), (SELECT {}) FROM people GROUP BY sex"
INTERNAL = [
    f'SELECT "_row" AS r FROM ({COUNTED}) AS t',
    f"SELECT _row FROM ({COUNTED}) AS t",
    f'SELECT t."_ROW" FROM ({COUNTED}) AS t',
    f'SELECT n FROM ({COUNTED}) AS t ORDER BY "_row"',
    f'SELECT "_row" FROM (SELECT n FROM ({COUNTED}) AS u) AS t',
    f'SELECT "_row_", "_row" FROM ({COUNTED}) AS t',
    f"SELECT c0 FROM ({COUNTED}) AS t",
    f"SELECT l1, h1 FROM ({COUNTED}) AS t",
    f"SELECT n FROM ({COUNTED}) AS t WHERE r0.c0 = 'Male'",
    "SELECT sex, SUM(COUNT(*)) OVER () FROM people GROUP BY sex ORDER BY _row",
    BESIDE.format("MAX(1) FROM (SELECT COUNT(*) AS n FROM people) q WHERE k0 = 'Male'"),
    BESIDE.format("MAX(t.a0) FROM (SELECT COUNT(*) AS n FROM people) q"),
    BESIDE.format("MAX(_row) FROM (SELECT COUNT(*) AS n FROM people) q"),
]


@pytest.mark.parametrize("sql", INTERNAL)
def test_internal_names_cannot_be_written(tmp_path, sql):
    with curator(tmp_path) as asked:
        with pytest.raises(DiscreetError, match=r"."):
            asked.query(sql, epsilon="1")
        assert asked.budget_report()["datasets"]["census"]["charges"] == 0


def test_the_twin_whose_names_can_be_written_is_caught(tmp_path, monkeypatch):
    monkeypatch.setattr("discreet.ask.sql.post_processing.split.unwritten", lambda _tree: "")
    with curator(tmp_path) as asked:
        assert asked.query(INTERNAL[0], epsilon="1").rows == ((0,), (1,))


@pytest.mark.parametrize("name", ["_row", "k0", "a0", "g0", "_row_", "c0", "r0", "t"])
def test_whoever_calls_a_column_so_gets_that_column(tmp_path, name):
    sql = f'SELECT "{name}" AS x, sex FROM (SELECT sex, COUNT(*) AS "{name}" FROM people GROUP BY sex) AS u'
    with curator(tmp_path) as asked:
        answer = asked.query(sql, epsilon="1")
        plain = asked.query(COUNTED, epsilon="1")
        assert plain.free
        assert [row[::-1] for row in answer.rows] == list(plain.rows)
        assert [bars[0] for bars in answer.error95] == [bars[1] for bars in plain.error95]


def test_a_number_whose_name_begins_like_a_key_is_noisy(tmp_path):
    sql = "SELECT kilos FROM (SELECT SUM(age) AS kilos FROM people) AS u GROUP BY kilos"
    with curator(tmp_path) as asked:
        assert asked.query(sql, epsilon="1").noisy == (0,)
