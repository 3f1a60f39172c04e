"""`discreet init` from the command line to the file, through the real engine."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from typer.testing import CliRunner

from discreet.base.schema import BooleanDomain, CategoryDomain, DateDomain, IntegerDomain
from discreet.cli.owner import init
from discreet.data.catalog import load
from discreet.data.catalog.policy_file import loads
from discreet.data.catalog.proposal import refuse_wide
from discreet.data.catalog.sources import check_table
from discreet.data.engines.connect import connect
from discreet.errors import DiscreetError, InvalidInput, NotReviewed

app = typer.Typer(rich_markup_mode=None, add_completion=False)
app.command()(init)

CSV = "\ufeffwho;Marital Status;born;ok;pay\n" + "".join(
    f"p{i};{'?' if i % 9 == 0 else ('single', 'wed')[i % 2]};{1 + i % 28:02}.03.19{50 + i % 50};"
    f"{'true' if i % 3 else 'false'};{i % 7}\n"
    for i in range(300)
)


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(CSV, encoding="utf-8")
    return path


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_accepted_domains_can_be_asked_at_once(people, tmp_path):
    out = tmp_path / "discreet.toml"
    options = ["--accept", "--epsilon", "0.5", "--unit", "row", "--json"]
    result = run(people, "--out", out, *options)
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["tables"]["people"]["who"] == "identifier"
    assert told["review"] == []
    catalog = load(out)
    assert catalog.accepted
    table = catalog.table("people")
    assert catalog.column(table, "Marital Status").domain == CategoryDomain(("single", "wed"))
    born = catalog.column(table, "born")
    assert isinstance(born.domain, DateDomain)
    assert born.spelling.dates == ("%d.%m.%Y",)
    assert catalog.column(table, "ok").domain == BooleanDomain()
    assert catalog.column(table, "pay").domain == IntegerDomain(0, 6)
    assert "300" not in result.stdout  # the summary shows nothing from the data


def test_a_proposal_waits_and_is_never_overwritten(people, tmp_path):
    out = tmp_path / "discreet.toml"
    result = run(people, "--out", out)
    assert result.exit_code == 0, result.output
    assert "Next: fill in epsilon" in result.stdout
    with pytest.raises(NotReviewed):
        load(out).table("people")
    written = out.read_text()
    again = run(people, "--out", out)
    assert isinstance(again.exception, InvalidInput)
    assert "--force" in str(again.exception)
    assert out.read_text() == written


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--accept"], "--accept needs"),
        (["--epsilon", "-1"], "greater than 0"),
        (["--delta", "2"], "below 1"),
        (["--epsilon", "much"], "must be a number"),
        (["--unit", "nobody"], "no column 'nobody'"),
    ],
)
def test_mistakes_write_nothing(people, tmp_path, options, sentence):
    out = tmp_path / "discreet.toml"
    result = run(people, "--out", out, *options)
    assert sentence in str(result.exception)
    assert not out.exists()


def test_a_file_with_ragged_lines_is_refused_without_its_cells(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("a,b\n1,2\nSECRET,2,3,4\n")
    result = run(path, "--out", tmp_path / "discreet.toml")
    assert isinstance(result.exception, DiscreetError)
    assert "SECRET" not in str(result.exception)
    assert "'bad'" in str(result.exception)


def test_parquet_and_a_folder_elsewhere(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "config").mkdir()
    table = pa.table({"age": [i % 90 for i in range(500)], "naïve ✓": ["a", "b"] * 250})
    pq.write_table(table, tmp_path / "data" / "town.parquet")
    out = tmp_path / "config" / "discreet.toml"
    options = ["--out", out, "--epsilon", "1", "--unit", "row", "--dataset", "my town"]
    result = run(tmp_path / "data" / "town.parquet", *options)
    assert result.exit_code == 0, result.output
    catalog = load(out)
    assert catalog.table("town", "MY TOWN").source == "../data/town.parquet"
    with pytest.raises(NotReviewed):
        catalog.column(catalog.table("town"), "age")
    engine = connect(catalog.engine_url, catalog.sources, base=catalog.base)
    try:
        check_table(catalog.datasets["my town"], catalog.table("town"), engine)
    finally:
        engine.close()


def test_a_table_of_a_duckdb_file(tmp_path):
    import duckdb

    with duckdb.connect(tmp_path / "shop.duckdb") as connection:
        connection.execute("CREATE TABLE orders AS SELECT i % 7 AS n FROM range(100) t(i)")
    out = tmp_path / "discreet.toml"
    options = ["--out", out, "--epsilon", "1", "--unit", "row", "--accept"]
    result = run(f"duckdb:{tmp_path}/shop.duckdb/orders", *options)
    assert result.exit_code == 0, result.output
    catalog = load(out)
    assert catalog.engine_url == "duckdb:shop.duckdb"
    assert catalog.table("orders").column("n").domain == IntegerDomain(0, 6)


@pytest.mark.postgres
def test_a_table_on_a_server(tmp_path, postgres_url):
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA tax")
        connection.execute(
            "CREATE TABLE tax.people AS SELECT i AS person_id, i % 7 AS n, "
            "DATE '2020-05-01' + i % 90 AS day, i % 2 = 0 AS ok, (i % 500)::numeric / 100 AS pay "
            "FROM generate_series(1, 1000) AS i"
        )
        connection.execute("DROP ROLE IF EXISTS taxman")
        connection.execute("CREATE ROLE taxman LOGIN")
        connection.execute("GRANT USAGE ON SCHEMA tax TO taxman")
        connection.execute("GRANT SELECT ON tax.people TO taxman")
    head, _, query = postgres_url.replace("postgres:@", "taxman:@").partition("?")
    out = tmp_path / "discreet.toml"
    options = ["--out", out, "--epsilon", "1", "--unit", "person_id", "--accept"]
    result = run(f"{head}/tax.people" + (f"?{query}" if query else ""), *options)
    assert result.exit_code == 0, result.exception
    catalog = load(out)
    people = catalog.table("people")
    assert people.source == "tax.people"
    assert people.max_rows == 1
    kinds = [type(column.domain).__name__ for column in people.columns]
    wanted = ["Identifier", "Integer", "Date", "Boolean", "Number"]
    assert kinds == [f"{name}Domain" for name in wanted]


CAUSES = {
    "no host": ("//me@no-such-host.invalid/db", "There is no host 'no-such-host.invalid'."),
    "no server": (
        "//me@127.0.0.1:1/db",
        "No PostgreSQL server answers on host '127.0.0.1', port 1.",
    ),
    "no database": ("//postgres@/nothing{here}", "The server has no database 'nothing'."),
    "no role": ("//nobody@/{db}{here}", "The server has no role 'nobody'."),
    "no login": ("//locked@/{db}{here}", "The role 'locked' may not log in."),
    "no schema": ("//poor@/{db}/x.people{here}", "has no schema 'x'."),
    "no table": ("//poor@/{db}/tax.person{here}", "The schema 'tax' has no table 'person'."),
    "no right to the schema": ("//poor@/{db}/tax.people{here}", "it lacks USAGE."),
    "no right to the table": ("//clerk@/{db}/tax.secret{here}", "it lacks SELECT."),
    "a superuser": ("//postgres@/{db}/tax.people{here}", "is a superuser"),
    "a password": ("//clerk:hush@/{db}/tax.people{here}", "holds a password in clear."),
    "a password behind": ("//clerk@/{db}/tax.people{here}&password=hush", "password in clear."),
}


@pytest.mark.postgres
def test_what_is_in_the_way_is_named(tmp_path, postgres_url):
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        for statement in (
            "CREATE SCHEMA tax",
            "CREATE TABLE tax.people AS SELECT 1 AS a",
            "CREATE TABLE tax.secret AS SELECT 1 AS a",
            *(f"DROP ROLE IF EXISTS {role}" for role in ("poor", "clerk", "locked")),
            "CREATE ROLE poor LOGIN",
            "CREATE ROLE clerk LOGIN",
            "CREATE ROLE locked",
            "GRANT USAGE ON SCHEMA tax TO clerk",
        ):
            connection.execute(statement)
    head, _, query = postgres_url.partition("?")
    facts = {"{db}": head.rpartition("/")[2], "{here}": f"?{query}"}
    for address, told in CAUSES.values():
        for key, value in facts.items():
            address = address.replace(key, value)  # noqa: PLW2901 it is filled in
        if "?" not in address:
            address += "/t"  # noqa: PLW2901 likewise
        elif address.partition("?")[0].count("/") == 3:
            address = address.replace("?", "/t?")  # noqa: PLW2901 likewise
        result = run(f"postgresql:{address}", "--out", tmp_path / "discreet.toml")
        assert result.exit_code == 1, address
        assert told in str(result.exception), (address, str(result.exception))
        assert "hush" not in str(result.exception)


def test_a_password_in_the_file_is_refused():
    for place in ("engine", "ledger"):
        text = f'[{place}]\nurl = "postgresql://me:hush@host/db"\n'
        with pytest.raises(InvalidInput, match="password in clear") as caught:
            loads(text, base=Path())
        assert "hush" not in str(caught.value)
    loads('[engine]\nurl = "postgresql://me:@host/db"\n', base=Path())


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_table_that_nobody_would_look_through_is_refused_before_it_is_opened(
    tmp_path, monkeypatch, form
):
    def never(*_given, **_named):
        pytest.fail("opened: with so many columns that takes minutes")

    names = [f"c{i}" for i in range(5_001)]
    path = tmp_path / f"wide.{form}"
    if form == "csv":
        path.write_text(",".join(names) + "\n" + ",".join("1" * 5_001) + "\n")
    else:
        pq.write_table(pa.table({name: [1] for name in names}), path)
    monkeypatch.setattr("discreet.data.catalog.proposal.connect", never)
    out = tmp_path / "discreet.toml"
    result = run(path, "--out", out, "--epsilon", "1")
    assert isinstance(result.exception, InvalidInput)
    assert "'wide' has 5,001 columns; at most 5,000 can be proposed" in str(result.exception)
    assert not out.exists()
    refuse_wide("wide", 5_000)
