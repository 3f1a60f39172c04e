import pytest

from discreet.data.catalog import loads
from discreet.errors import CatalogError


def table(dataset, name, source, unit="row"):
    return (
        f'[datasets.{dataset}.tables.{name}]\nsource = "{source}"\nunit = "{unit}"\n'
        f'[datasets.{dataset}.tables.{name}.columns]\nx = {{ type = "boolean" }}\n'
    )


def budget(dataset, words="epsilon = 1"):
    return f"[datasets.{dataset}]\n{words}\n"


def test_one_source_under_two_budgets_is_refused(tmp_path):
    text = budget("a") + table("a", "t", "x.csv") + budget("b") + table("b", "u", "./y/../x.csv")
    with pytest.raises(CatalogError, match="in two datasets, 'a' and 'b'"):
        loads(text, base=tmp_path)
    assert loads(text.replace("./y/../x.csv", "z.csv"), base=tmp_path)


def test_a_pattern_that_holds_another_source_is_refused(tmp_path):
    text = budget("a") + table("a", "t", "part-*.csv")
    text += budget("b") + table("b", "u", "part-1.csv")
    with pytest.raises(CatalogError, match="separate budgets"):
        loads(text, base=tmp_path)


def test_a_link_to_another_source_is_refused(tmp_path):
    (tmp_path / "x.csv").write_text("x\n")
    (tmp_path / "link.csv").symlink_to(tmp_path / "x.csv")
    text = budget("a") + table("a", "t", "x.csv") + budget("b") + table("b", "u", "link.csv")
    with pytest.raises(CatalogError, match="separate budgets"):
        loads(text, base=tmp_path)


def test_files_beside_a_database_are_compared_as_files(tmp_path):
    text = '[engine]\nurl = "duckdb:shop.duckdb"\n'
    text += budget("a") + table("a", "t", "x.csv") + budget("b") + table("b", "u", "./x.csv")
    with pytest.raises(CatalogError, match="separate budgets"):
        loads(text, base=tmp_path)


def test_files_whose_names_look_like_tables_are_files(tmp_path):
    text = budget("a") + table("a", "t", "people.csv")
    assert loads(text + budget("b") + table("b", "u", "public.people.csv"), base=tmp_path)


def test_a_database_table_by_two_names_is_refused(tmp_path):
    text = '[engine]\nurl = "postgresql://h/d"\n'
    text += budget("a") + table("a", "t", "people") + budget("b") + table("b", "u", "public.people")
    with pytest.raises(CatalogError, match="separate budgets"):
        loads(text, base=tmp_path)
    assert loads(text.replace("public.people", "tax.people"), base=tmp_path)


def test_one_source_may_be_in_two_datasets_that_share_a_budget(tmp_path):
    shared = 'budget = "p"'
    text = "[budgets.p]\nepsilon = 1\n" + budget("a", shared) + table("a", "t", "x.csv")
    assert loads(text + budget("b", shared) + table("b", "u", "x.csv"), base=tmp_path)


def test_rows_cannot_be_in_two_tables_of_a_dataset(tmp_path):
    # Rows of different tables are billed as different people, so these would pay half.
    text = budget("a") + table("a", "t", "x.csv") + table("a", "u", "x.csv")
    with pytest.raises(CatalogError, match="declared as two tables, 't' and 'u'"):
        loads(text, base=tmp_path)


def test_people_may_be_in_two_tables_of_a_dataset(tmp_path):
    text = budget("a") + table("a", "t", "x.csv", "who") + table("a", "u", "x.csv", "who")
    assert loads(text, base=tmp_path)


@pytest.mark.parametrize("shared", [True, False])
def test_mixed_units_are_refused(tmp_path, shared):
    if shared:
        words = 'budget = "p"'
        text = "[budgets.p]\nepsilon = 1\n" + budget("a", words) + table("a", "t", "x.csv")
        text += budget("b", words) + table("b", "u", "y.csv", "who")
    else:
        text = budget("a") + table("a", "t", "x.csv") + table("a", "u", "y.csv", "who")
    with pytest.raises(CatalogError, match=r"'t'.*protects rows and table 'u'.*protects people"):
        loads(text, base=tmp_path)


def two(one, other, url="duckdb:"):
    """Two datasets with budgets of their own, each with one source."""
    text = f'[engine]\nurl = "{url}"\n' + budget("a") + table("a", "t", one)
    return text + budget("b") + table("b", "u", other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("data", "data/people.parquet"),
        ("data", "data/deep/er/people.parquet"),
        ("data", "data/deep"),
        ("data", "data/people.csv"),
        ("data/", "./data"),
        ("data/people.parquet", "data/*"),
        ("data", "data/*.parquet"),
        ("data/2024-*.csv", "data/*-01.csv"),
        ("data/**/x.csv", "data/*/*/x.csv"),
        ("data/part-?.csv", "data/part-[0-9].csv"),
        ("data/part-[a-f].csv", "data/part-[d-z].csv"),
        ("data/*.csv", "DATA/people.CSV"),
        ("people.csv", "People.csv"),
        ("people.csv", "PEOPLE.CSV"),
        ("*/x.csv", "data/*.csv"),
    ],
)
def test_sources_that_meet_are_refused_before_there_are_any_files(tmp_path, one, other):
    for first, second in ((one, other), (other, one)):
        with pytest.raises(CatalogError, match="separate budgets"):
            loads(two(first, second), base=tmp_path)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("data", "data2"),
        ("data/2024-*.csv", "data/2025-*.csv"),
        ("data/part-[a-f].csv", "data/part-[g-z].csv"),
        ("data/*.csv", "data/*.parquet"),
        ("data/*.csv", "data/deep/x.csv"),
        ("data/*/x.csv", "data/**/y.csv"),
        ("a/x.csv", "b/x.csv"),
    ],
)
def test_sources_that_cannot_meet_are_not_refused(tmp_path, one, other):
    assert loads(two(one, other), base=tmp_path)
    assert loads(two(other, one), base=tmp_path)


@pytest.mark.parametrize("way", ["hard", "soft", "folder"])
def test_another_name_of_the_same_file_is_refused(tmp_path, way):
    (tmp_path / "data").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "data" / "x.parquet").write_text("x\n")
    name = "other/y.parquet"
    if way == "hard":
        (tmp_path / name).hardlink_to(tmp_path / "data" / "x.parquet")
    elif way == "soft":
        (tmp_path / name).symlink_to("../data/x.parquet")
    else:
        (tmp_path / "other" / "link").symlink_to("../data")
        name = "other/link/x.parquet"
    for source in ("data", "data/x.parquet", "data/*", "**/x.parquet"):
        for pattern in (name, name.replace("y.parquet", "*.parquet")):
            with pytest.raises(CatalogError, match="separate budgets"):
                loads(two(source, pattern), base=tmp_path)


def test_two_files_that_only_case_tells_apart_are_two(tmp_path):
    (tmp_path / "x.csv").write_text("x\n")
    (tmp_path / "X.csv").write_text("x\n")
    if (tmp_path / "x.csv").samefile(tmp_path / "X.csv"):
        pytest.skip("this file system takes them for one")
    assert loads(two("x.csv", "X.csv"), base=tmp_path)


@pytest.mark.parametrize("url", ["postgresql://h/d", "duckdb:shop.duckdb"])
@pytest.mark.parametrize(
    "other", ["People", "PUBLIC.people", "main.people", "shop.main.people", '\\"people\\"']
)
def test_a_database_table_under_two_spellings_is_refused(tmp_path, url, other):
    with pytest.raises(CatalogError, match="separate budgets"):
        loads(two("people", other, url), base=tmp_path)
    assert loads(two("people", other.replace("eople", "lans"), url), base=tmp_path)


def test_a_private_source_cannot_be_a_public_table_as_well(tmp_path):
    public = (
        '[datasets.a.tables.p]\nsource = "*.csv"\npublic = true\n'
        '[datasets.a.tables.p.columns]\nx = { type = "boolean" }\n'
    )
    text = budget("a") + table("a", "t", "x.csv") + public
    with pytest.raises(CatalogError, match="private table 't' is also in the public table 'p'"):
        loads(text, base=tmp_path)
    assert loads(text.replace("*.csv", "y.csv"), base=tmp_path)


@pytest.mark.parametrize("source", ["*", "ledger.*", "ledger.db", "./ledger.db", "**/*", "link"])
def test_the_ledger_is_no_source(tmp_path, source):
    (tmp_path / "ledger.db").write_text("x")
    (tmp_path / "link").hardlink_to(tmp_path / "ledger.db")
    text = budget("a") + table("a", "t", source)
    with pytest.raises(CatalogError, match="the ledger's own file"):
        loads(text, base=tmp_path)
    elsewhere = '[ledger]\nurl = "sqlite:elsewhere/book.sqlite"\n'
    if source not in ("*", "**/*"):
        assert loads(elsewhere + text, base=tmp_path)


def test_the_ledger_is_no_engine(tmp_path):
    text = '[engine]\nurl = "duckdb:ledger.db"\n' + budget("a") + table("a", "t", "people")
    with pytest.raises(CatalogError, match="the ledger's own file"):
        loads(text, base=tmp_path)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("s3://b/people", "s3://b/people/a.parquet"),
        ("s3://b/people/", "s3://b//people"),
        ("s3://b/people", "s3a://b/people"),
        ("s3://b/people?region=x", "s3://b/people?region=y"),
        ("s3://b/people/*.parquet", "s3://b/people/a.parquet"),
        ("gs://b/people", "gcs://b/people/x/y.csv"),
        ("s3://b/x/people.parquet", "s3://b/x/peopl%65.parquet"),
        ("s3://b/x/people.parquet", "s3://b/x%2Fpeople.parquet"),
        ("s3://b/x", "s3://b/%78"),
        ("s3://b/x", "s3://b/y/../x"),
    ],
)
def test_places_of_one_store_that_share_rows_are_refused(tmp_path, one, two):
    text = budget("a") + table("a", "t", one) + budget("b") + table("b", "u", two)
    with pytest.raises(CatalogError, match="separate budgets"):
        loads(text, base=tmp_path)


def test_other_places_of_a_store_are_other_rows(tmp_path):
    text = budget("a") + table("a", "t", "s3://b/people") + budget("b")
    for other in ("s3://b/peoples", "s3://c/people", "gs://b/people", "s3://b/x/people"):
        assert loads(text + table("b", "u", other), base=tmp_path)


def test_an_address_of_this_machine_is_a_path(tmp_path):
    (tmp_path / "x.csv").write_text("x\n1\n")
    text = budget("a") + table("a", "t", "x.csv") + budget("b")
    text += table("b", "u", f"file://{tmp_path}/x.csv")
    with pytest.raises(CatalogError, match="separate budgets"):
        loads('[engine]\nurl = "spark:"\n' + text, base=tmp_path)


def test_copies_of_other_sources_are_no_sources(tmp_path):
    text = budget("a") + table("a", "t", ".discreet/duckdb/remote/00/files/people.parquet")
    with pytest.raises(CatalogError, match="where copies of other sources are kept"):
        loads(text, base=tmp_path)
