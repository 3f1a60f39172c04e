from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.curator import Curator
from discreet.data.catalog.policy_file import loads
from discreet.errors import DiscreetError
from discreet.server.pgwire.catalog.browse import Browser
from discreet.server.pgwire.catalog.locked import rows_of
from discreet.server.pgwire.options import Options
from discreet.server.pgwire.statements import browsed, split


def parsed(sql):
    [statement] = split(sql)
    return browsed(statement)


TOML = """
[datasets.town]
epsilon = 1
[datasets.town.tables.people]
source = "nowhere.parquet"
unit = "row"
[datasets.town.tables.people.columns]
age = { type = "integer", lower = 10, upper = 20 }
sex = { type = "category", values = ["F", "M"] }
job = { type = "category", values = [JOBS] }
guess = { type = "category", values = ["LEAK"], review = true }
note = { type = "text", hidden = true }
[datasets.other]
epsilon = 1
[datasets.other.tables.people]
source = "elsewhere.parquet"
unit = "row"
[datasets.other.tables.people.columns]
age = { type = "integer", lower = 0, upper = 5 }
[analysts.ann]
datasets = { town = { epsilon = 1 } }
""".replace("JOBS", ", ".join(f'"job {i}"' for i in range(150)))
SETTING = Options().show


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    # There is no data at all, so whatever is shown was declared.
    catalog = loads(TOML, base=tmp_path_factory.mktemp("none"))
    found = Browser.open(Curator(catalog), "ann", "ann")
    yield found
    found.db.close()


def ask(browser, sql):
    return browser.run(parsed(sql), [], SETTING).rows


def test_previews_are_made_of_declared_values_only(browser):
    rows = ask(browser, "SELECT age, sex, job, guess FROM preview.people")
    assert len(rows) == 150, "every listed value appears"
    assert {row[2] for row in rows} == {f"job {i}" for i in range(150)}
    assert all(10 <= row[0] <= 20 for row in rows)
    assert {row[3] for row in rows} == {None}, "what waits for review is not shown"
    assert ask(browser, "SELECT DISTINCT sex FROM preview.people ORDER BY 1") == [("F",), ("M",)]
    seen = next(table for table in browser.tables if table.schema == "preview")
    assert rows_of(seen) == rows_of(seen)


def test_nothing_waiting_for_review_is_told(browser):
    words = ask(browser, "SELECT description FROM pg_description")
    assert not any("LEAK" in row[0] for row in words)


def test_datasets_of_others_are_not_there(browser):
    assert ask(browser, "SELECT COUNT(*) FROM pg_namespace WHERE nspname = 'other'") == [(0,)]
    with pytest.raises(DiscreetError):
        browser.check(parsed("SELECT COUNT(*) FROM other.people"))


def test_macro_arguments_are_not_captured_by_the_macro(browser):
    rows = ask(
        browser,
        "SELECT c.oid::regclass::text, oid::regclass::text, pg_table_is_visible(c.oid), "
        "pg_table_is_visible(oid) FROM pg_class c ORDER BY c.oid",
    )
    assert rows == [("people", "people", True, True), ("preview.people",) * 2 + (False, False)]


def test_a_catalog_query_that_cannot_be_run_finds_nothing_under_the_right_names(browser):
    found = browser.run(
        parsed('SELECT c.a AS "One", two, max(b) FROM pg_catalog.pg_new c'), [], SETTING
    )
    assert found.rows == []
    assert [column.name for column in found.columns] == ["One", "two", "max"]


@pytest.mark.parametrize("function", ["read_text", "glob", "getenv", "range", "repeat", "query",
                                      "pg_read_file", "set_config", "nextval"])  # fmt: skip
def test_functions_off_the_list_are_refused(browser, function):
    for sql in (f"SELECT {function}('x')", f"SELECT * FROM {function}('x')",
                f"SELECT {function}('x') FROM pg_class"):  # fmt: skip
        with pytest.raises(DiscreetError):
            browser.run(parsed(sql), [], SETTING)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "SELECT",
                "FROM",
                "WHERE",
                "pg_class",
                "pg_type",
                "preview",
                ".",
                "people",
                "oid",
                "relname",
                ",",
                "(",
                ")",
                "*",
                "'x'",
                "1",
                "=",
                "AND",
                "::regclass",
                "::text",
                "UNION",
                "JOIN",
                "ON",
                "format_type",
                "ARRAY",
                "[",
                "]",
                "ANY",
                "CASE",
                "WHEN",
                "END",
                "AS",
                "x",
            ]
        ),
        max_size=14,
    )
)
def test_random_queries_are_answered_or_refused(browser, words):
    try:
        tree = parsed("SELECT " + " ".join(words))
        browser.describe(tree, (), SETTING)
        browser.run(tree, [], SETTING)
    except DiscreetError:
        return
