"""Every PostgreSQL type is read right, or refused before anything is charged: no paid zeros."""

from __future__ import annotations

import pytest

import discreet
from discreet.data.engines.connect import connect
from discreet.errors import CatalogError
from engines import fill_postgres, own, postgres_url
from ledger_kit import as_a_new_process

pytestmark = pytest.mark.postgres

TEXT = '{ type = "category", values = ["a", "b"] }'
NUMBER = '{ type = "integer", lower = 0, upper = 100 }'
MONTH = '{ type = "date", lower = 2024-01-01, upper = 2024-12-31 }'
READ = {
    "varchar(5)": (TEXT, "'a'"),
    "char(5)": (TEXT, "'a'"),
    "bpchar": (TEXT, "'a'"),
    "name": (TEXT, "'a'"),
    '"char"': (TEXT, "'a'"),
    "town.mood": (TEXT, "'a'"),
    "town.word": (TEXT, "'a'"),
    "town.deep": (NUMBER, "7"),
    "town.feeling": (TEXT, "'a'"),
    "smallint": (NUMBER, "7"),
    "numeric(30, 10)": (NUMBER, "7.0"),
    "real": (NUMBER, "7"),
    "timestamptz": (MONTH, "'2024-05-05 12:00+00'"),
    "timestamp(0)": (MONTH, "'2024-05-05 12:00'"),
}
REFUSED = {
    "money": (NUMBER, "7"),
    "oid": (NUMBER, "7"),
    "integer[]": (NUMBER, "'{7}'"),
    "varchar(5)[]": (TEXT, "'{a}'"),
    "timestamp[]": (MONTH, "'{2024-05-05}'"),
    "interval": (NUMBER, "'7 days'"),
    "jsonb": (TEXT, "'{}'"),
    "town.words": (TEXT, "'{a}'"),
    "boolean": (MONTH, "true"),
}


@pytest.fixture(scope="module")
def url():
    fill_postgres(postgres_url(), {})
    own(
        "CREATE TYPE town.mood AS ENUM ('a', 'b')",
        "CREATE DOMAIN town.word AS VARCHAR(9)",
        "CREATE DOMAIN town.number AS INTEGER CHECK (VALUE >= 0)",
        "CREATE DOMAIN town.deep AS town.number",
        "CREATE DOMAIN town.feeling AS town.mood",
        "CREATE DOMAIN town.words AS TEXT[]",
    )
    return postgres_url()


def curator(folder, url, kind, declared, value, *, snapshot="live"):
    own(
        "DROP TABLE IF EXISTS town.one",
        f"CREATE TABLE town.one (x {kind})",
        f"INSERT INTO town.one SELECT {value}::{kind} FROM generate_series(1, 50)",
        "GRANT SELECT ON town.one TO discreet_reader",
    )
    folder.mkdir(exist_ok=True)
    (folder / "discreet.toml").write_text(
        f'[engine]\nurl = "{url}"\n[datasets.d]\nepsilon = 100000\n[datasets.d.tables.one]\n'
        f'source = "town.one"\nunit = "row"\nsnapshot = "{snapshot}"\n'
        f"[datasets.d.tables.one.columns]\nx = {declared}\n"
    )
    return discreet.open(folder / "discreet.toml")


def test_what_can_be_read_is_read_right(url, tmp_path):
    for number, (kind, (declared, value)) in enumerate(READ.items()):
        with curator(tmp_path / str(number), url, kind, declared, value) as asked:
            answer = asked.query("SELECT COUNT(x) AS n FROM one", epsilon=50)
            assert answer.rows[0][0] == 50, kind


def test_what_cannot_be_read_is_refused_before_the_charge(url, tmp_path):
    for number, (kind, (declared, value)) in enumerate(REFUSED.items()):
        with curator(tmp_path / str(number), url, kind, declared, value) as asked:
            with pytest.raises(CatalogError, match="'x'"):
                asked.query("SELECT COUNT(x) AS n FROM one", epsilon=50)
            assert asked.budget_report()["datasets"]["d"]["charges"] == 0, kind


def test_questions_read_a_copy_with_the_same_answers(url, tmp_path):
    with curator(tmp_path / "copy", url, "smallint", NUMBER, "7", snapshot="copy") as asked:
        found = asked.query("SELECT COUNT(*) AS n, SUM(x) AS s FROM one WHERE x > 3", epsilon=50)
        assert found.rows[0][0] == 50
        assert found.rows[0][1] == pytest.approx(350, abs=100), "and some noise"
        assert "discreet_state" not in str(found.provenance.sql)
        shown = asked.explain("SELECT COUNT(x) AS n FROM one", epsilon=1).sql
        own("UPDATE town.one SET x = 4")
        assert asked.explain("SELECT COUNT(x) AS n FROM one", epsilon=1).sql == shown


def test_a_removed_ledger_and_a_second_project_never_read_old_rows(url, tmp_path):
    def ask(folder, value):
        with curator(folder, url, "smallint", NUMBER, value, snapshot="copy"):
            text = folder / "discreet.toml"
            text.write_text(text.read_text().replace('unit = "row"', 'unit = "row"\nversion = 1'))
            with discreet.open(text) as versioned:
                return versioned.query("SELECT SUM(x) AS s FROM one", epsilon=500).rows[0][0]

    first = tmp_path / "first"
    assert ask(first, "7") == pytest.approx(350, abs=20)
    for file in first.glob("ledger*"):
        file.unlink()
    as_a_new_process()  # the one that knew the ledger would refuse
    assert ask(first, "3") == pytest.approx(150, abs=20), (
        "the ledger is gone, the state folder is not"
    )
    assert ask(tmp_path / "second", "5") == pytest.approx(250, abs=20), (
        "the same names in another project"
    )


def test_a_superuser_is_refused_unless_the_owner_says_so(url, tmp_path):
    from engines import owner_url

    with pytest.raises(CatalogError, match="superuser"):
        connect(owner_url(), {}, base=tmp_path)
    connect(owner_url(), {}, base=tmp_path, allow_superuser=True).close()
