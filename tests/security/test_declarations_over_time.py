"""Promises over time: declarations that change, tables that lie elsewhere, and series of totals meanwhile."""

from __future__ import annotations

import duckdb
import pyarrow as pa
import pytest

import discreet
from discreet.ask.release import snapshots
from discreet.errors import InvalidInput
from discreet.privacy.ledger.accounts import Versions
from discreet.work.publish import totals
from discreet.work.publish.totals import TotalsRequest
from shop_kit import TODAY, declared, opened, spent

# 3. Declarations that change.

PEOPLE = """
[datasets.clinic]
epsilon = 9
refresh = "{refresh}"
[datasets.clinic.tables.visits]
source = "visits.csv"
unit = "{unit}"
{max_rows}
[datasets.clinic.tables.visits.columns]
who = {{ type = "identifier" }}
ward = {{ type = "integer", lower = 0, upper = {upper}{ward} }}
"""
PLAIN = {
    "refresh": "manual",
    "unit": "who",
    "max_rows": "max_rows = 2",
    "upper": 9,
    "ward": "",
}
CHANGES = {
    "constant": {"ward": ", constant = true"},
    "complete": {"ward": ", complete = true"},
    "missing": {"ward": ", missing = true"},
    "domain": {"upper": 8},
    "max_rows": {"max_rows": "max_rows = 1"},
    "bound": {"max_rows": 'max_rows = 2\nbound = "table"'},
    "unit": {"unit": "row", "max_rows": ""},
}


@pytest.mark.parametrize("refresh", ["manual", "on-change"])
@pytest.mark.parametrize("change", CHANGES)
def test_an_old_answer_is_never_given_for_a_new_declaration(tmp_path, change, refresh):
    (tmp_path / "visits.csv").write_text("who,ward\n" + "a,1\na,2\nb,\n" * 20)
    sql = "SELECT COUNT(*) AS n FROM visits WHERE ward < 5"

    def asked(**changed):
        text = PEOPLE.format(**(PLAIN | {"refresh": refresh} | changed))
        (tmp_path / "discreet.toml").write_text(text)
        with discreet.open(tmp_path / "discreet.toml") as curator:
            return curator.query(sql, epsilon=1)

    first = asked()
    assert asked().free
    other = asked(**CHANGES[change])
    assert not other.free
    back = asked()
    assert not back.free, "what was declared before is a new version too"
    assert (
        len({first.provenance.snapshot, other.provenance.snapshot, back.provenance.snapshot}) == 3
    )


NO_CHANGES = {
    "a budget": ("epsilon = 9", "epsilon = 8"),
    "a limit of time": ("epsilon = 9", "epsilon = 9\nseconds = 100"),
    "the share of rows kept": ("max_rows = 2", "max_rows = 2\nrows_kept = 0.5"),
}


@pytest.mark.parametrize("change", NO_CHANGES)
def test_what_changes_no_answer_begins_no_version(tmp_path, change):
    (tmp_path / "visits.csv").write_text("who,ward\na,1\n")
    text = PEOPLE.format(**PLAIN)
    edited = text.replace(*NO_CHANGES[change])
    assert edited != text
    found = []
    for each in (text, edited):
        (tmp_path / "discreet.toml").write_text(each)
        with discreet.open(tmp_path / "discreet.toml") as curator:
            answer = curator.query("SELECT COUNT(*) AS n FROM visits", epsilon=1)
            found.append((answer.free, answer.provenance.snapshot))
    assert found == [(False, "visits:1"), (True, "visits:1")]


def test_the_twin_without_declarations_gives_the_old_answer(tmp_path, monkeypatch):
    monkeypatch.setattr(
        snapshots.Group, "declared", property(lambda group: dict.fromkeys(group.tables, ""))
    )
    (tmp_path / "visits.csv").write_text("who,ward\n" + "a,1\na,2\nb,\n" * 20)
    free = []
    for changed in ({}, CHANGES["constant"]):
        (tmp_path / "discreet.toml").write_text(PEOPLE.format(**(PLAIN | changed)))
        with discreet.open(tmp_path / "discreet.toml") as curator:
            free.append(curator.query("SELECT COUNT(*) AS n FROM visits", epsilon=1).free)
    assert free == [False, True]


SEEN = {
    "review": (", review = true", ""),
    "hide": ("", ", hidden = true"),
    "let wait": ("", ", review = true"),
    "show": (", hidden = true", ""),
}
"""What the owner says of a column that no question is about, before and after."""


def told_after(folder, said, *, changed) -> list:
    """Return what an analyst is told for nothing, and why the version began, once the owner has said more."""
    folder.mkdir()
    sql, found = "SELECT COUNT(*) AS n FROM today", []
    for mark, rows in zip(SEEN[said], (50, 49 if changed else 50), strict=True):
        text = (
            declared(folder, refresh="manual", analysts=True).joinpath("discreet.toml").read_text()
        )
        column = f'note = {{ type = "integer", lower = 0, upper = 3{mark} }}'
        begun = text.index("[datasets.shop.tables.yesterday]")
        (folder / "discreet.toml").write_text(f"{text[:begun]}{column}\n{text[begun:]}")
        (folder / "today.csv").write_text("size,note\n" + "1,2\n" * rows)
        with opened(folder) as curator:
            found.append(curator.seen_by("eve").explain(sql, epsilon=1, analyst="eve").to_json())
            found.append(curator.versions()[0]["why"])
            curator.query(sql, epsilon=1, analyst="eve")
    return found


def declared_alone(group):
    """The broken twin: what a table declares of itself, wherever it lies and whatever is stored of it."""
    return {name: table.declaration for name, table in group.tables.items()}


@pytest.mark.parametrize("said", SEEN)
def test_what_the_owner_says_of_a_column_tells_of_no_row(tmp_path, said):
    found = [told_after(tmp_path / f"{each}", said, changed=each) for each in (False, True)]
    assert found[0] == found[1]
    assert found[0][2]["free"] is False
    assert found[0][3] == "declaration"


def test_the_twin_that_knows_the_table_alone_tells_of_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(snapshots.Group, "declared", property(declared_alone))
    found = [told_after(tmp_path / f"{each}", "review", changed=each) for each in (False, True)]
    assert (found[0][2]["free"], found[1][2]["free"]) == (True, False)


BOUGHT = """
[engine]
url = "{url}"
[datasets.shop]
epsilon = 9000
refresh = "manual"
[datasets.shop.tables.customers]
source = "{customers}"
unit = "customer"
max_rows = 1
[datasets.shop.tables.orders]
source = "{orders}"
unit = "customer"
max_rows = 9
[datasets.shop.tables.orders.columns]
id = {{ type = "integer", lower = 0, upper = 99 }}
[datasets.shop.tables.items]
source = "{items}"
unit = "order_id -> orders.id -> customer"
max_rows = 9
"""
FILES = {
    "url": "duckdb:",
    "customers": "customers.csv",
    "orders": "orders.csv",
    "items": "items.csv",
}
TABLES = {**{name: name for name in FILES}, "url": "duckdb:a.duckdb"}
ELSEWHERE = {
    "who bought what": (FILES, {"orders": "other.csv"}, "items"),
    "the database": (TABLES, {"url": "duckdb:b.duckdb"}, "customers"),
    "the database of who bought what": (TABLES, {"url": "duckdb:b.duckdb"}, "items"),
}


def bought(folder):
    """Write rows of ten customers and of one, as files and as tables of two databases."""
    for place, orders, customers in (("a", "orders", 10), ("b", "other", 1)):
        found = {
            "customers": pa.table({"customer": range(customers)}),
            "items": pa.table({"order_id": range(10)}),
            "orders": pa.table({"id": range(customers), "customer": range(customers)}),
        }
        with duckdb.connect(f"{folder}/{place}.duckdb") as database:
            for name, rows in found.items():
                database.register("rows", rows)
                database.execute(f"CREATE TABLE {name} AS SELECT * FROM rows")
                name = orders if name == "orders" else name  # noqa: PLW2901 as the file is called
                if place == "a" or name == "other":
                    database.execute(f"COPY rows TO '{folder}/{name}.csv'")


def counted_elsewhere(folder, change):
    """Return what is counted of a table, and whether it is free, once something lies elsewhere."""
    bought(folder)
    before, changed, table = ELSEWHERE[change]
    found = []
    for places in (before, before | changed):
        (folder / "discreet.toml").write_text(BOUGHT.format(**places))
        with opened(folder) as curator:
            answer = curator.query(f"SELECT COUNT(*) AS n FROM {table}", epsilon=500)
            found.append((round(answer.rows[0][0]), answer.free))
    return found


@pytest.mark.parametrize("change", ELSEWHERE)
def test_an_old_answer_is_never_given_for_rows_that_lie_elsewhere(tmp_path, change):
    assert counted_elsewhere(tmp_path, change) == [(10, False), (1, False)]


@pytest.mark.parametrize("change", ["who bought what", "the database"])
def test_the_twin_that_knows_no_other_place_gives_the_old_answer(tmp_path, monkeypatch, change):
    monkeypatch.setattr(snapshots.Group, "declared", property(declared_alone))
    assert counted_elsewhere(tmp_path, change) == [(10, False), (10, True)]


DATED = """
[datasets.shop]
epsilon = 2
delta = 1e-6
refresh = "manual"
"""
DAY = """
[datasets.shop.tables.{name}]
source = "{name}.csv"
unit = "row"
[datasets.shop.tables.{name}.columns]
day = {{ type = "date", lower = 2026-01-01, upper = 2026-12-31, immutable = true, missing = true }}
"""
FEBRUARY = "day\n" + "2026-02-03\n" * 100


def dated(folder):
    tables = "".join(DAY.format(name=name) for name in ("today", "yesterday"))
    (folder / "discreet.toml").write_text(DATED + tables)
    (folder / "today.csv").write_text(FEBRUARY)
    (folder / "yesterday.csv").write_text("day\n")
    return folder


def series(table, epsilon="0.5"):
    more = {"column": "day", "start": "2026-01-01", "days": 60, "epsilon": epsilon, "delta": "1e-7"}
    return TotalsRequest.of(f"of-{table}", dataset="shop", table=table, **more)


def billed_to_both_series(folder) -> float:
    """Return the bill of two series through January, and then through a day whose rows both count."""
    with opened(dated(folder)) as curator:
        for table in ("today", "yesterday"):
            curator.running_totals(series(table), through="2026-01-31")
        curator.running_totals(series("today"), through="2026-02-03")
        (folder / "yesterday.csv").write_text(FEBRUARY)
        (folder / "today.csv").write_text("day\n")
        curator.refresh("shop")
        curator.running_totals(series("yesterday"), through="2026-02-03")
        return spent(curator)


def test_running_totals_are_billed_to_rows_that_move_while_they_run(tmp_path):
    assert billed_to_both_series(tmp_path) > 0.6, "two of 0.5 under one law of composition"


def test_the_twin_that_bills_totals_in_their_first_version_forgets_half(tmp_path, monkeypatch):
    monkeypatch.setattr(totals, "in_every_version", lambda region: region)
    monkeypatch.setattr(totals, "require_billed", lambda *_: None)
    assert billed_to_both_series(tmp_path) < 0.6


def test_a_question_before_a_series_is_billed_beside_it(tmp_path):
    with opened(dated(tmp_path)) as curator:
        curator.running_totals(series("yesterday"), through="2026-01-31")
        curator.query(TODAY, epsilon=0.5)
        assert spent(curator) > 0.9


READ = """
[datasets.shop]
epsilon = {epsilon}
delta = 1e-5
refresh = "manual"
[datasets.shop.tables.t]
source = "t.csv"
unit = "row"
[datasets.shop.tables.t.columns]
day = {{ type = "date", lower = 2026-01-01, upper = {upper}, immutable = true{more}{format} }}
{beside}
"""
READ_SO = {
    "epsilon": 20,
    "upper": "2026-12-31",
    "more": "",
    "format": ', format = "%m/%d/%Y"',
    "beside": "",
}
MORE = {"column": "day", "start": "2026-01-01", "days": 50, "epsilon": "5", "delta": "1e-7"}
OTHER_DATES = {
    "days before months": {"format": ', format = "%d/%m/%Y"'},
    "two formats": {"format": ', format = ["%m/%d/%Y", "%d/%m/%Y"]'},
    "empty": {"more": ', empty = ["03/02/2026"]'},
    "trimmed": {"more": ", trim = true"},
    "bounds": {"upper": "2027-12-31"},
}
SAME_DATES = {
    "a column beside": {"beside": 'size = { type = "integer", lower = 0, upper = 9 }'},
    "a budget": {"epsilon": 21},
    "missing": {"more": ", missing = true"},
    "complete": {"more": ", complete = true"},
}


def counted(folder, changed, through, name="s"):
    """Return a series through a day, its table declared so; its rows are of 2 March or of 3 February."""
    (folder / "t.csv").write_text("day,size\n" + "03/02/2026,1\n" * 1000)
    (folder / "discreet.toml").write_text(READ.format(**(READ_SO | changed)))
    with opened(folder) as curator:
        asked = TotalsRequest.of(name, dataset="shop", table="t", **MORE)
        return curator.running_totals(asked, through=through), spent(curator)


@pytest.mark.parametrize("change", OTHER_DATES)
def test_a_series_does_not_go_on_by_a_date_that_is_read_otherwise(tmp_path, change):
    begun, _ = counted(tmp_path, {}, "2026-01-10")
    with pytest.raises(InvalidInput, match=r"declared in another way .* not paid for") as refused:
        counted(tmp_path, OTHER_DATES[change], "2026-02-10")
    assert "under another name" in refused.value.hint
    again, _ = counted(tmp_path, OTHER_DATES[change], "2026-01-10")
    assert again.measured == begun.measured, "what was measured is read as before"
    assert len(counted(tmp_path, {}, "2026-02-10")[0].days) == 41


def test_a_series_of_another_date_is_paid_for(tmp_path):
    counted(tmp_path, {}, "2026-01-10")
    other = OTHER_DATES["days before months"]
    found, bill = counted(tmp_path, other, "2026-02-10", name="other")
    assert found.totals[-1] > 900
    assert bill > 5.1


@pytest.mark.parametrize("change", SAME_DATES)
def test_a_series_goes_on_whatever_else_is_declared(tmp_path, change):
    _, before = counted(tmp_path, {}, "2026-01-10")
    found, after = counted(tmp_path, SAME_DATES[change], "2026-02-10")
    assert (len(found.days), found.free, after) == (41, True, before)


def test_the_twin_that_does_not_ask_what_was_billed_goes_on_for_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(totals, "require_billed", lambda *_: None)
    counted(tmp_path, {}, "2026-01-10")
    with opened(tmp_path) as curator:
        sql = "SELECT COUNT(*) AS n FROM t WHERE day = DATE '2026-03-02'"
        assert curator.query(sql, epsilon=5).rows[0][0] > 900
    found, bill = counted(tmp_path, OTHER_DATES["days before months"], "2026-02-10")
    assert found.totals[-1] > 900
    assert bill < 5.1  # and a thousand people lost 10


ONE = """
[datasets.shop]
epsilon = 9000
refresh = "{refresh}"
{tables}
"""
SIZED = """
[datasets.shop.tables.{name}]
source = "{name}.csv"
unit = "row"
[datasets.shop.tables.{name}.columns]
size = {{ type = "integer", lower = 0, upper = 9 }}
"""


def declared_again(folder, refresh):
    """Return what is answered while a table beside it is declared, is not, is again, and is not."""

    def asked(*names, rows=100):
        tables = "".join(SIZED.format(name=name) for name in names)
        (folder / "discreet.toml").write_text(ONE.format(refresh=refresh, tables=tables))
        (folder / "today.csv").write_text("size\n" + "1\n" * rows)
        with opened(folder) as curator:
            answer = curator.query(TODAY, epsilon=100)
            return answer.provenance.snapshot, round(answer.rows[0][0]), answer.free

    (folder / "yesterday.csv").write_text("size\n1\n")
    both = ("today", "yesterday")
    return [asked(*both), asked("today", rows=50), asked(*both), asked("today")]


@pytest.mark.parametrize("refresh", ["manual", "on-change"])
def test_no_version_comes_back_with_a_table_that_is_declared_again(tmp_path, refresh):
    found, counted = declared_again(tmp_path, refresh), [100, 50, 100, 100]
    assert found == [(f"today:{i}", n, False) for i, n in enumerate(counted, start=1)]


def test_the_twin_whose_groups_keep_versions_of_their_own_brings_rows_back(tmp_path, monkeypatch):
    def enter(self, version):
        for table in version.declared:
            self.leave_out(table, version.number)
        self._latest[version.group] = version

    monkeypatch.setattr(Versions, "enter", enter)
    first, _, third, _ = declared_again(tmp_path, "manual")
    assert third == (first[0], first[1], True)
