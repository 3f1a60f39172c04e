"""Real clients: psql, psycopg 3, SQLAlchemy with pandas, asyncpg."""

from __future__ import annotations

import asyncio
import datetime as dt
import os
import shutil
import ssl
import subprocess

import asyncpg
import pandas as pd
import psycopg
import pytest
import sqlalchemy as sa

from patience import LONG
from pgwire_kit import endpoint

PSQL = shutil.which("psql")


@pytest.fixture(scope="module")
def pg(tmp_path_factory):
    with endpoint(tmp_path_factory.mktemp("pg")) as found:
        yield found


def psql(pg, *commands: str, user: str = "alice") -> subprocess.CompletedProcess[str]:
    if PSQL is None:
        pytest.skip("psql is not installed")
    arguments = [part for command in commands for part in ("-c", command)]
    return subprocess.run(
        [PSQL, "-X", "-h", "127.0.0.1", "-p", str(pg.port), "-U", user, "discreet", *arguments],
        env={"PATH": os.environ["PATH"], "PGPASSWORD": getattr(pg, user)},
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
    )


def test_psql_looks_around_for_free(pg):
    before = pg.spent()
    listed = psql(pg, r"\d", r"\dt", r"\l", r"\dn", r"\du", r"\dt preview.*", r"\df", r"\dx", r"\z")
    assert listed.returncode == 0, listed.stderr
    assert listed.stderr == ""
    assert " census | people | table | owner" in listed.stdout
    assert "preview" in listed.stdout
    assert "secret" not in listed.stdout
    shown = psql(pg, r"\d people", r"\d+ people", r"\d preview.people")
    assert shown.returncode == 0, shown.stderr
    assert "double precision" in shown.stdout
    assert "0 to 120" in shown.stdout
    assert "note" not in shown.stdout
    assert pg.spent() == before


def test_psql_asks(pg):
    before = pg.spent("alice")
    asked = psql(
        pg,
        "SET discreet.epsilon = 0.25",
        "SET discreet.errors = on",
        "SELECT sex, COUNT(*) AS n FROM people WHERE age >= 18 GROUP BY sex ORDER BY sex",
        "EXPLAIN SELECT COUNT(*) FROM people",
        "SHOW discreet.epsilon",
        "SHOW discreet.budget",
    )
    assert asked.returncode == 0, asked.stderr
    assert "n_error95" in asked.stdout
    assert "Used epsilon 0.25" in asked.stderr
    assert "This spends nothing" in asked.stdout
    assert "epsilon_left" in asked.stdout
    assert pg.spent("alice") == before + 0.25
    refused = psql(pg, "SELECT COUNT(*) FROM people")
    assert refused.returncode == 1
    assert "HINT:  SET discreet.epsilon = 0.1" in refused.stderr


def test_psql_with_a_wrong_token(pg):
    if PSQL is None:
        pytest.skip("psql is not installed")
    found = psql(pg, "SELECT 1", user="bob")
    assert found.returncode == 0, found.stderr
    wrong = subprocess.run(
        [
            PSQL,
            "-X",
            "-h",
            "127.0.0.1",
            "-p",
            str(pg.port),
            "-U",
            "bob",
            "discreet",
            "-c",
            "SELECT 1",
        ],
        env={"PATH": os.environ["PATH"], "PGPASSWORD": pg.alice},
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
    )
    assert wrong.returncode == 2
    assert "Signing in failed." in wrong.stderr


@pytest.mark.parametrize("binary", [False, True])
def test_psycopg_parameters_and_types(pg, binary):
    sql = (
        "SELECT sex, COUNT(*) AS n, AVG(age) AS a, MEDIAN(income) AS m FROM people "
        "WHERE age > %s AND born > %s AND married = %s AND income < %s AND sex <> %s GROUP BY sex"
    )
    values = [20, dt.date(1950, 1, 1), True, 80000.5, "O'Neil\\'; DROP TABLE people; --"]
    with psycopg.connect(pg.url(options="-c discreet.epsilon=50")) as connection:
        cursor = connection.execute(sql, values, binary=binary)
        assert [column.name for column in cursor.description] == ["sex", "n", "a", "m"]
        rows = cursor.fetchall()
    assert [row[0] for row in rows] == ["Female", "Male"]
    for _, n, a, m in rows:
        assert isinstance(n, int)
        assert 0 < n < 200
        assert isinstance(a, float)
        assert 20 < a < 120
        assert isinstance(m, float)


def test_psycopg_asks_again_for_free(pg):
    with psycopg.connect(pg.url(), autocommit=True, prepare_threshold=0) as connection:
        before = pg.spent("alice")
        sql = "SELECT /* discreet.epsilon=0.5 */ COUNT(*) AS n FROM people WHERE age > %s"
        first = connection.execute(sql, [41]).fetchone()
        assert pg.spent("alice") == before + 0.5
        for _ in range(5):
            assert connection.execute(sql, [41]).fetchone() == first
        assert pg.spent("alice") == before + 0.5


ERRORS = "SELECT MEDIAN(age) AS m, COUNT(*) AS n FROM people WHERE age > 17"


@pytest.mark.parametrize("prepared", [None, 0], ids=["simple", "prepared"])
def test_psycopg_hears_the_errors_unless_it_wants_none(pg, prepared):
    said: list[str] = []
    options = "-c discreet.epsilon=2"
    with psycopg.connect(
        pg.url(options=options), autocommit=True, prepare_threshold=prepared
    ) as connection:
        connection.add_notice_handler(lambda notice: said.append(notice.message_primary or ""))
        connection.execute(ERRORS)
        errors = [line for line in said if line.startswith(("m: ", "n: "))]
        assert len(errors) == 2
        assert errors[0].startswith("m: rank ± ") or errors[0].startswith("m: too noisy to use")
        assert errors[1].startswith("n: ± ")
        assert all(line.endswith(" (95%)") for line in errors)
        for off in ("SET discreet.notices = off", "SET client_min_messages = warning"):
            connection.execute(off)
            said.clear()
            connection.execute(ERRORS)
            assert said == []
            connection.execute("RESET ALL")
        connection.execute(ERRORS)
        assert errors == [line for line in said if line.startswith(("m: ", "n: "))]


def test_psql_shows_the_errors(pg):
    asked = psql(pg, "SET discreet.epsilon = 2", ERRORS)
    assert "NOTICE:  m: " in asked.stderr
    assert "NOTICE:  n: ± " in asked.stderr
    quiet = psql(pg, "SET discreet.epsilon = 2", "SET discreet.notices = off", ERRORS)
    assert quiet.stderr == ""
    assert quiet.stdout.splitlines()[-4:] == asked.stdout.splitlines()[-4:]


def test_rollback_never_refunds_but_forgets_settings(pg):
    with psycopg.connect(pg.url()) as connection:
        before = pg.spent("alice")
        connection.execute("SET discreet.epsilon = 0.5")
        connection.execute("SELECT COUNT(*) FROM people WHERE age > 61")
        connection.rollback()
        assert pg.spent("alice") == before + 0.5
        assert connection.execute("SHOW discreet.epsilon").fetchone() == ("",)


def test_a_failed_block_waits_for_its_end(pg):
    with psycopg.connect(pg.url()) as connection:
        with pytest.raises(psycopg.errors.FeatureNotSupported):
            connection.execute("SELECT * FROM people")
        with pytest.raises(psycopg.errors.InFailedSqlTransaction):
            connection.execute("SELECT 1")
        connection.rollback()
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_the_ceiling_and_missing_epsilon(pg):
    with psycopg.connect(pg.url(), autocommit=True) as connection:
        before = pg.spent("alice")
        connection.execute("SET discreet.max_epsilon = 0.2")
        for sql in (
            "SELECT COUNT(*) FROM people WHERE age > 70",
            "SELECT /* discreet.epsilon=0.3 */ COUNT(*) FROM people WHERE age > 70",
            "SELECT /* discreet.epsilon=0.3 discreet.max_epsilon=1 */ COUNT(*) FROM people",
        ):
            with pytest.raises(psycopg.errors.InvalidParameterValue):
                connection.execute(sql)
        assert pg.spent("alice") == before
        connection.execute("/* discreet.epsilon=0.2 */ SELECT COUNT(*) FROM people WHERE age > 70")
        assert pg.spent("alice") == before + 0.2


def test_a_price_in_the_statement_as_in_googlesql(pg):
    priced = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = {}) COUNT(*) AS n FROM people {}"
    with psycopg.connect(pg.url(), autocommit=True) as connection:
        before = pg.spent("alice")
        sql = priced.format("0.25", "WHERE age > %s")
        ((count,),) = connection.execute(sql, (43,)).fetchall()
        assert isinstance(count, int)
        assert round(pg.spent("alice") - before, 9) == 0.25
        plan = connection.execute(f"EXPLAIN {priced.format('0.125', 'WHERE age > 44')}").fetchall()
        assert any("0.125" in line for (line,) in plan)
        connection.execute("SET discreet.max_epsilon = 0.2")
        for declined in (
            priced.format("0.3", ""),
            priced.format("0.1, privacy_unit_column = sex", ""),
            priced.format("0.1, noise = none", ""),
        ):
            with pytest.raises(psycopg.Error):
                connection.execute(declined)
        with pytest.raises(psycopg.errors.SyntaxError) as wrong:
            connection.execute(priced.format("0.1", "WHERE age > 3 GROUP 4"))
        place = int(wrong.value.diag.statement_position)
        assert priced.format("0.1", "WHERE age > 3 GROUP 4")[place - 1 :].startswith("GROUP")
        assert round(pg.spent("alice") - before, 9) == 0.25


def test_notices_say_what_it_cost(pg):
    said = []
    with psycopg.connect(pg.url(), autocommit=True) as connection:
        connection.add_notice_handler(lambda notice: said.append(notice.message_primary))
        sql = "SELECT /* discreet.epsilon=0.5 */ COUNT(*) FROM people WHERE age > 81"
        connection.execute(sql)
        connection.execute(sql)
        assert said[0].startswith("Used epsilon 0.5; ")
        assert said[1].startswith("count: ± ")
        assert said[2].startswith("Free of charge; ")
        assert said[3] == said[1]
        assert "answered before" in said[4]
        connection.execute("SET client_min_messages = warning")
        connection.execute(sql)
        assert len(said) == 5


def test_sqlalchemy_and_pandas(pg):
    url = pg.url(options="-c discreet.epsilon=5").replace("postgresql:", "postgresql+psycopg:")
    engine = sa.create_engine(url)
    before = pg.spent("alice")
    inspector = sa.inspect(engine)
    assert inspector.default_schema_name == "census"
    assert set(inspector.get_schema_names()) >= {"census", "preview"}
    assert inspector.has_table("people")
    assert not inspector.has_table("agents")
    names = [column["name"] for column in inspector.get_columns("people")]
    assert names == ["age", "sex", "income", "born", "married"]
    assert inspector.get_pk_constraint("people")["constrained_columns"] == []
    assert inspector.get_foreign_keys("people") == []
    assert inspector.get_indexes("people") == []
    table = sa.Table("people", sa.MetaData(), autoload_with=engine)
    assert len(pd.read_sql_table("people", engine, schema="preview")) == 100
    assert pg.spent("alice") == before
    count = sa.func.count().label("n")
    query = sa.select(table.c.sex, count).where(table.c.age > 33).group_by(table.c.sex)
    frame = pd.read_sql(query, engine)
    assert list(frame.columns) == ["sex", "n"]
    assert frame["n"].dtype == "int64"
    assert pg.spent("alice") == before + 5
    engine.dispose()


def test_asyncpg(pg):
    async def ask():
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection = await asyncpg.connect(
            host="127.0.0.1",
            port=pg.port,
            user="alice",
            password=pg.alice,
            database="discreet",
            ssl=context,
            server_settings={"discreet.epsilon": "20"},
        )
        rows = await connection.fetch(
            "SELECT sex, COUNT(*) AS n, AVG(age) AS a FROM people "
            "WHERE age > $1 AND born > $2 AND married = $3 AND sex <> $4 GROUP BY sex",
            18,
            dt.date(1940, 5, 5),
            True,
            "Nobody",
        )
        async with connection.transaction():
            made_up = [row async for row in connection.cursor("SELECT * FROM preview.people")]
        found = await connection.fetch(
            "SELECT relname FROM pg_class WHERE relname = ANY($1::text[])", ["people"]
        )
        await connection.reset()
        await connection.close()
        return rows, made_up, found

    rows, made_up, found = asyncio.run(ask())
    assert [row["sex"] for row in rows] == ["Female", "Male"]
    assert all(0 < row["n"] < 200 and 18 < row["a"] < 120 for row in rows)
    assert len(made_up) == 100
    assert isinstance(made_up[0]["born"], dt.date)
    assert {row["relname"] for row in found} == {"people"}


def test_roles(pg):
    ask = "SELECT /* discreet.epsilon=0.1 */ COUNT(*) FROM people WHERE age > 12"
    with psycopg.connect(pg.url("reviewer"), autocommit=True) as reviewer:
        assert len(reviewer.execute("SHOW discreet.budget").fetchall()) == 2
        for sql in (ask, f"EXPLAIN {ask}"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                reviewer.execute(sql)
    with psycopg.connect(pg.url("owner"), autocommit=True) as owner:
        before = pg.spent("bob")
        owner.execute(ask)
        assert pg.spent("bob") == before, "the owner asks in her own name"
        owner.execute("SET discreet.analyst = 'bob'")
        owner.execute(ask)
        assert pg.spent("bob") == before + 0.1
    with psycopg.connect(pg.url("bob"), autocommit=True) as bob:
        bob.execute("SET discreet.analyst = 'alice'")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            bob.execute("SELECT /* discreet.epsilon=0.1 */ COUNT(*) FROM people WHERE age > 13")
        bob.execute("RESET discreet.analyst")
        with pytest.raises(psycopg.errors.ConfigurationLimitExceeded) as error:
            bob.execute("SELECT /* discreet.epsilon=0.6 */ COUNT(*) FROM people WHERE age > 13")
        assert error.value.diag.message_hint


def test_server_side_cursors_pay_once(pg):
    """psycopg declares, describes the portal, fetches in pages and closes, in a transaction."""
    sql = "SELECT age, COUNT(*) AS n FROM people WHERE sex = %s GROUP BY age ORDER BY age"
    with psycopg.connect(pg.url(options="-c discreet.epsilon=0.5")) as connection:
        before = pg.spent("alice")
        with connection.cursor(name="pages") as cursor:
            cursor.execute(sql, ["Female"])
            assert [column.name for column in cursor.description] == ["age", "n"]
            assert pg.spent("alice") == before + 0.5
            first, some = cursor.fetchone(), cursor.fetchmany(20)
            cursor.itersize = 7
            rest = list(cursor)
        assert [row[0] for row in [first, *some, *rest]] == list(range(121))
        assert pg.spent("alice") == before + 0.5
        with connection.cursor(name="again", scrollable=True, binary=True) as cursor:
            cursor.execute(sql, ["Female"])
            cursor.scroll(100, mode="absolute")
            assert cursor.fetchone()[0] == 100
            cursor.scroll(-11)
            assert cursor.fetchone()[0] == 90
        assert pg.spent("alice") == before + 0.5
        with pytest.raises(psycopg.errors.InvalidCursorName):
            connection.execute("FETCH 1 FROM again")


def test_a_held_cursor_survives_its_transaction_and_others_do_not(pg):
    sql = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex ORDER BY sex"
    with psycopg.connect(pg.url(options="-c discreet.epsilon=0.5")) as connection:
        connection.execute(f"DECLARE held CURSOR WITH HOLD FOR {sql}")
        connection.execute(f"DECLARE brief CURSOR FOR {sql}")
        connection.commit()
        assert connection.execute("FETCH ALL FROM held").fetchall()[1][0] == "Male"
        with pytest.raises(psycopg.errors.InvalidCursorName):
            connection.execute("FETCH ALL FROM brief")
        connection.rollback()
        connection.autocommit = True
        before = pg.spent("alice")
        with pytest.raises(psycopg.errors.NoActiveSqlTransaction):
            connection.execute(f"DECLARE alone CURSOR FOR {sql} /* discreet.fresh=on */")
        assert pg.spent("alice") == before
