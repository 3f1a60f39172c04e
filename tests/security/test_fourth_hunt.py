"""What a fourth hostile reader found: how tables and contents are named (docs/notes/0083). Each with its twin."""

import shutil
import sqlite3

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.ask.release import snapshots
from discreet.ask.release.snapshots import Group
from discreet.data.catalog import policy_file
from discreet.data.engines.duckdb.canonical import SourceOrigin
from discreet.errors import BudgetExceeded, CatalogError


def one_of_two_names(folder):
    (folder / "discreet.toml").write_text(
        '[datasets."a.b"]\nepsilon = 1\n'
        '[datasets."a.b".tables.c]\nsource = "private.parquet"\nunit = "row"\n'
        '[datasets."a.b".tables.c.columns]\nincome = { type = "integer", lower = 0, upper = 9 }\n'
        "[datasets.a]\nepsilon = 1\n"
        '[datasets.a.tables."b.c"]\nsource = "public.parquet"\npublic = true\n'
        '[datasets.a.tables."b.c".columns]\nincome = { type = "integer", lower = 0, upper = 9 }\n'
    )
    pq.write_table(pa.table({"income": [7]}), folder / "private.parquet")
    pq.write_table(pa.table({"income": [0]}), folder / "public.parquet")


def test_two_tables_never_have_one_name(tmp_path):
    one_of_two_names(tmp_path)
    with pytest.raises(CatalogError, match="one and the same name"):
        discreet.open(tmp_path)


def test_the_twin_that_takes_the_last_of_them_is_caught(tmp_path, monkeypatch):
    one_of_two_names(tmp_path)
    monkeypatch.setattr(policy_file, "_refuse_one_name_for_two", lambda _: None)
    with discreet.open(tmp_path) as curator:
        assert set(curator.catalog.sources) == {"a.b.c"}, "one source for two tables"


TWINS = """
[datasets.clinic]
epsilon = 1
[datasets.clinic.tables.patients]
source = "patients.parquet"
unit = "person"
max_rows = 1
[datasets.clinic.tables.patients.columns]
person = { type = "identifier" }
ward = { type = "category", values = ["A"] }
[datasets.clinic.tables.visits]
source = "visits.parquet"
unit = "person"
max_rows = 1
[datasets.clinic.tables.visits.columns]
person = { type = "identifier" }
kind = { type = "category", values = ["a", "b"], constant = true }
[datasets.geo]
epsilon = 1
[datasets.geo.tables.visits]
source = "geo.parquet"
public = true
key_copies = 1
[datasets.geo.tables.visits.columns]
ward = { type = "category", values = ["A"] }
"""
OVER_TWINS = """SELECT COUNT(*) AS n FROM clinic.patients p JOIN geo.visits g ON p.ward = g.ward
JOIN clinic.visits v ON v.person = p.person WHERE v.kind = '{}'"""


def asked_over_twins(folder):
    """Ask about Eva's kind, then move her and ask about the other one."""
    (folder / "discreet.toml").write_text(TWINS)
    people = pa.table({"person": ["eva", "bob"], "ward": ["A", "A"]})
    pq.write_table(people, folder / "patients.parquet")
    pq.write_table(pa.table({"ward": ["A"]}), folder / "geo.parquet")
    with discreet.open(folder) as curator:
        for kind in "ab":
            now = pa.table({"person": ["eva", "bob"], "kind": [kind, "a"]})
            pq.write_table(now, folder / "visits.parquet")
            curator.query(OVER_TWINS.format(kind), epsilon=1)


def test_a_public_table_of_the_same_name_hides_no_change(tmp_path):
    with pytest.raises(BudgetExceeded):
        asked_over_twins(tmp_path)


def test_the_twin_that_numbers_by_name_alone_is_caught(tmp_path, monkeypatch):
    numbered = snapshots.snapshots_of

    def by_name(*given):
        return {name: number.split("+")[-1] for name, number in numbered(*given).items()}

    monkeypatch.setattr("discreet.ask.release.pipeline.snapshots_of", by_name)
    asked_over_twins(tmp_path)  # two answers about Eva for the price of one


ONE_FILE = """
[engine]
url = "{url}"
[datasets.d]
epsilon = 1
[datasets.d.tables.v]
source = "{source}"
unit = "person"
max_rows = 1
[datasets.d.tables.v.columns]
person = {{ type = "identifier" }}
kind = {{ type = "category", values = ["a", "b"], constant = true }}
"""


def in_duckdb(folder):
    with duckdb.connect(str(folder / "s.duckdb")) as made:
        made.execute("CREATE TABLE one AS SELECT 'eva' AS person, 'a' AS kind")
        made.execute("CREATE TABLE two AS SELECT 'eva' AS person, 'b' AS kind")
    return "duckdb:s.duckdb", ("one", "two")


def in_sqlite(folder):
    made = sqlite3.connect(folder / "s.sqlite")
    for table, kind in (("one", "a"), ("two", "b")):
        made.execute(f"CREATE TABLE {table} (person, kind)")
        made.execute(f"INSERT INTO {table} VALUES ('eva', ?)", [kind])
    made.commit()
    made.close()
    return "duckdb:", ("s.sqlite#one", "s.sqlite#two")


def asked_of_one_file(folder, made):
    url, sources = made(folder)
    for source, kind in zip(sources, "ab", strict=True):
        (folder / "discreet.toml").write_text(ONE_FILE.format(url=url, source=source))
        with discreet.open(folder) as curator:
            curator.query(f"SELECT COUNT(*) AS n FROM v WHERE kind = '{kind}'", epsilon=1)


@pytest.mark.parametrize("made", [in_duckdb, in_sqlite])
def test_another_table_of_the_same_file_is_another_content(tmp_path, made):
    with pytest.raises(BudgetExceeded):
        asked_of_one_file(tmp_path, made)


@pytest.mark.parametrize("made", [in_duckdb, in_sqlite])
def test_the_twin_that_hashes_files_alone_is_caught(tmp_path, made, monkeypatch):
    monkeypatch.setattr(SourceOrigin, "within", "")
    as_before = property(lambda group: dict.fromkeys(group.tables, ""))
    monkeypatch.setattr(Group, "declared", as_before)  # where the source is named, too
    asked_of_one_file(tmp_path, made)


OVER_A_PATH = """
[engine]
url = "duckdb:s.duckdb"
[datasets.d]
epsilon = 60
[datasets.d.tables.visits]
source = "{source}"
unit = "person"
max_rows = 1
[datasets.d.tables.visits.columns]
person = {{ type = "identifier" }}
id = {{ type = "identifier" }}
other = {{ type = "identifier" }}
[datasets.d.tables.labs]
source = "labs"
unit = "visit -> visits.{key} -> person"
max_rows = 1
[datasets.d.tables.labs.columns]
grade = {{ type = "integer", lower = 1, upper = 2, constant = true }}
"""


def asked_over_a_path(folder, edits):
    with duckdb.connect(str(folder / "s.duckdb")) as made:
        made.execute("CREATE TABLE v1 AS SELECT 'eva' AS person, '5' AS id, '6' AS other")
        made.execute("CREATE TABLE v2 AS SELECT 'eva' AS person, '6' AS id, '5' AS other")
        made.execute(
            "CREATE TABLE labs AS SELECT * FROM (VALUES ('5', 1), ('6', 2)) t(visit, grade)"
        )
    for (source, key), grade in zip(edits, (1, 2), strict=True):
        (folder / "discreet.toml").write_text(OVER_A_PATH.format(source=source, key=key))
        with discreet.open(folder) as curator:
            curator.query(f"SELECT COUNT(*) AS n FROM labs WHERE grade = {grade}", epsilon=50)
        shutil.rmtree(folder / ".discreet" / "duckdb" / "canon")


@pytest.mark.parametrize("edits", [(("v1", "id"), ("v2", "id")), (("v1", "id"), ("v1", "other"))])
def test_another_way_to_people_is_another_content(tmp_path, edits):
    with pytest.raises(BudgetExceeded):
        asked_over_a_path(tmp_path, edits)


def test_the_twin_that_forgets_the_way_is_caught(tmp_path, monkeypatch):
    monkeypatch.setattr(SourceOrigin, "within", "")
    as_before = property(lambda group: dict.fromkeys(group.tables, ""))
    monkeypatch.setattr(Group, "declared", as_before)  # where the source is named, too
    asked_over_a_path(tmp_path, [("v1", "id"), ("v2", "id")])
