"""Moments as keys of an answer: shown with their time, kept, passed on, and free the second time."""

import duckdb
import pytest

import discreet

TOML = """
[datasets.d]
epsilon = 100000000
[datasets.d.tables.seen]
source = "seen.parquet"
unit = "row"
[datasets.d.tables.seen.columns]
met = { type = "timestamp", lower = 2024-01-01T00:00:00, upper = 2024-01-03T23:59:59 }
said = { type = "timestamp", lower = 2024-01-01T00:00:00, upper = 2024-01-03T23:59:59, format = "%d/%m/%Y" }
income = { type = "number", lower = 0, upper = 500000, step = 0.01 }
"""
ROWS = """
SELECT m AS met, strftime(m, '%d/%m/%Y %H:%M:%S') AS said, i * 1.25 AS income
FROM (SELECT i, TIMESTAMP '2024-01-01 00:00:00' + to_seconds(CAST(i * 977 % 259200 AS BIGINT)) AS m
FROM range(900) AS t(i))
"""
HOURS = "SELECT DATE_TRUNC('hour', met) AS h, COUNT(*) AS n FROM seen GROUP BY 1"


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("seen")
    (folder / "discreet.toml").write_text(TOML, encoding="utf-8")
    with duckdb.connect() as database:
        database.execute(f"COPY ({ROWS}) TO '{folder}/seen.parquet' (FORMAT parquet)")
        database.execute(f"CREATE VIEW seen AS SELECT * FROM '{folder}/seen.parquet'")
        with discreet.open(folder / "discreet.toml") as curator:
            yield curator, database


def shown(database, sql):
    return tuple(
        tuple(str(v) if hasattr(v, "year") else v for v in row)
        for row in database.execute(sql).fetchall()
    )


@pytest.mark.parametrize(
    "sql",
    [
        f"{HOURS} ORDER BY 1",
        f"{HOURS} HAVING DATE_TRUNC('hour', met) < '2024-01-01 05:00:00' ORDER BY h DESC",
        f"SELECT h, n - LAG(n) OVER (ORDER BY h) AS more FROM ({HOURS}) AS t ORDER BY h LIMIT 5",
        f"SELECT HOUR(h) AS c, n FROM ({HOURS}) AS t WHERE h > '2024-01-03 20:00:00' ORDER BY h",
        "SELECT COUNT(*) AS n FROM seen WHERE met BETWEEN '2024-01-01 10:30:00' AND '2024-01-02'",
        "SELECT COUNT(*) AS n FROM seen WHERE met > '2024-01-02'",
        "SELECT COUNT(*) AS n FROM seen WHERE CAST(met AS DATE) > '2024-01-01'",
        "SELECT COUNT(*) AS n FROM seen WHERE DATE(met) IN ('2024-01-02')",
        "SELECT COUNT(*) AS n FROM seen WHERE met IN ('2024-01-01', '2024-01-01 00:16:17')",
        "SELECT COUNT(*) AS n FROM seen WHERE met > NOW() - INTERVAL '24 hours'",
        "SELECT COUNT(*) AS n FROM (SELECT met::date AS d FROM seen) AS t WHERE d <= '2024-01-01'",
        "SELECT COUNT(*) AS n FROM (SELECT met AS m FROM seen) AS t WHERE m <= '2024-01-01'",
        "SELECT COUNT(DISTINCT met) AS n, COUNT(DISTINCT met::date) AS d FROM seen",
        "SELECT COUNT(DISTINCT met) FILTER (WHERE met::time < '12:00') AS n FROM seen",
        "SELECT STRFTIME(met, '%H:00') AS h, COUNT(*) AS n FROM seen GROUP BY 1 ORDER BY 1",
        "SELECT STRFTIME(DATE_TRUNC('hour', met), '%a %H:%M') AS h, COUNT(*) AS n FROM seen GROUP BY 1 ORDER BY 1",
        "SELECT TIME_BUCKET(INTERVAL '6 hours', met) AS b, COUNT(*) AS n FROM seen GROUP BY 1 ORDER BY 1",
        "SELECT HOUR(met - INTERVAL '30 minutes') AS h, COUNT(*) AS n FROM seen GROUP BY 1 ORDER BY 1",
        "SELECT STRFTIME(h, '%H') AS c, n FROM (SELECT DATE_TRUNC('hour', met) AS h, COUNT(*) AS n FROM seen GROUP BY 1) AS t ORDER BY h LIMIT 3",
    ],
)
def test_an_answer_without_noise_is_the_true_one(asked, sql):
    curator, database = asked
    assert curator.query(sql, epsilon=1000).rows == shown(database, sql)


def test_another_spelling_of_the_source_says_the_same(asked):
    curator, database = asked
    sql = "SELECT HOUR({0}) AS h, COUNT(*) AS n FROM seen WHERE SECOND({0}) >= 30 GROUP BY 1 ORDER BY 1"
    true = shown(database, sql.format("met"))
    assert curator.query(sql.format("said"), epsilon=1000).rows == true
    assert curator.query(sql.format("met"), epsilon=1000).rows == true


def test_the_second_time_it_is_free(asked):
    curator, _ = asked
    first = curator.query(f"{HOURS} ORDER BY 1", epsilon=500)
    for other in (f"{HOURS} ORDER BY 2 LIMIT 3", HOURS.replace(" AS h", " AS hour")):
        again = curator.query(other, epsilon=500)
        assert again.free
        assert set(again.rows) <= set(first.rows)
