"""Promises over time: rows that move, rows that change and change back, and declarations that change."""

from __future__ import annotations

import datetime as dt
import shutil
from decimal import Decimal
from fractions import Fraction

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.api.opening import policy_of
from discreet.core.region import Positions, Region
from discreet.core.schema import Refresh
from discreet.engine.dialect import types
from discreet.engine.dialect.storage import ColumnKind, Storage
from discreet.engine.dialect.types import read_as
from discreet.engine.duckdb.canonical import SnapshotMaker
from discreet.engine.duckdb.engine import DuckDBEngine
from discreet.errors import BudgetExceeded, CatalogError, InvalidInput
from discreet.kernel import canonical, sources
from discreet.kernel.cells import unit_cell
from discreet.ledger import Ledger
from discreet.ledger.accounts import Versions
from discreet.publish import totals
from discreet.publish.totals import TotalsRequest
from discreet.release import sealing as release_sealing
from discreet.release import snapshots
from discreet.synth.measure import sealing as synth_sealing
from ledger_kit import as_a_new_process

DAYS = """
[datasets.shop]
epsilon = {epsilon}
{more}
[datasets.shop.tables.today]
source = "today.csv"
unit = "row"
[datasets.shop.tables.today.columns]
size = {{ type = "integer", lower = 0, upper = 3 }}
[datasets.shop.tables.yesterday]
source = "yesterday.csv"
unit = "row"
[datasets.shop.tables.yesterday.columns]
size = {{ type = "integer", lower = 0, upper = 3 }}
{end}
"""
EVE = "[analysts.eve]\ndatasets = {{ shop = {{ epsilon = {epsilon} }} }}\n"
ROWS = "size\n" + "1\n2\n3\n" * 30
TODAY, YESTERDAY = "SELECT COUNT(*) AS n FROM today", "SELECT COUNT(*) AS n FROM yesterday"


def declared(folder, *, epsilon=2, refresh=None, analysts=False, day=("", ROWS)):
    """Write a catalog of two tables of rows, and their rows: yesterday's and today's."""
    more = "" if refresh is None else f'refresh = "{refresh}"'
    end = EVE.format(epsilon=epsilon) if analysts else ""
    (folder / "discreet.toml").write_text(DAYS.format(epsilon=epsilon, more=more, end=end))
    (folder / "yesterday.csv").write_text(day[0] or "size\n")
    (folder / "today.csv").write_text(day[1])
    return folder


def opened(folder):
    return discreet.open(folder / "discreet.toml")


def a_day_passes(folder):
    """Let today's rows become yesterday's."""
    (folder / "yesterday.csv").write_text((folder / "today.csv").read_text())
    (folder / "today.csv").write_text("size\n")


def spent(curator, dataset="shop"):
    return curator.ledger.spent(dataset).epsilon


def on_an_axis_without_versions(monkeypatch):
    """The broken twin: tables are told apart by name and source, across all versions."""

    def home(dataset, table, _snapshot):
        private = sorted(each.name for each in dataset.tables if not each.public)
        return Region.of({"shop#table": Positions.points([private.index(table.name)])})

    for module in (release_sealing, synth_sealing):
        monkeypatch.setattr(module, "home", home)


def ask(curator, table):
    curator.query(f"SELECT COUNT(*) AS n FROM {table}", epsilon=1)


def copy(curator, table):
    curator.synthesize(f"shop.{table}", epsilon=1, method="independent")


def publish(curator, table):
    spec = f"""
[release]
name = "{table}"
dataset = "shop"
epsilon = 1
[tables.by_size]
sql = "SELECT size, COUNT(*) AS n FROM {table} GROUP BY size"
"""
    place = curator.catalog.base / f"{table}.toml"
    place.write_text(spec)
    curator.publish(place, out=curator.catalog.base / f"{table}.zip")


DOORS = [ask, copy, publish]


@pytest.mark.parametrize("second", DOORS)
@pytest.mark.parametrize("first", DOORS)
def test_rows_that_move_to_another_table_pay_twice(tmp_path, first, second):
    with opened(declared(tmp_path)) as curator:
        first(curator, "today")
        a_day_passes(tmp_path)
        second(curator, "yesterday")
        assert spent(curator) == 2


@pytest.mark.parametrize("door", [ask, copy, publish])
def test_the_twin_of_one_axis_for_all_versions_lets_them_pay_once(tmp_path, monkeypatch, door):
    on_an_axis_without_versions(monkeypatch)
    with opened(declared(tmp_path)) as curator:
        door(curator, "today")
        a_day_passes(tmp_path)
        door(curator, "yesterday")
        assert spent(curator) == 1  # and each of them lost 2


def test_rows_of_two_tables_of_one_version_pay_once(tmp_path):
    with opened(declared(tmp_path, epsilon=4, day=(ROWS, ROWS))) as curator:
        for door in DOORS:
            door(curator, "today")
            door(curator, "yesterday")
        assert spent(curator) == 3
        for table in ("today", "yesterday"):
            for size in range(4):
                sql = f"SELECT COUNT(*) AS n FROM {table} WHERE size = {size}"
                curator.query(sql, epsilon=1)
        assert spent(curator) == 4


def test_a_table_that_is_read_later_was_read_when_the_version_began(tmp_path):
    """A version of the first question covers the table that nobody has asked about."""
    with opened(declared(tmp_path, day=("size\n1\n", ROWS), refresh="manual")) as curator:
        ask(curator, "today")
        a_day_passes(tmp_path)
        ask(curator, "yesterday")
        assert spent(curator) == 1
        assert curator.query(YESTERDAY, epsilon=1).rows[0][0] < 30, "the row of the time"


def test_a_table_beside_that_cannot_be_read_starts_a_version_when_it_can(tmp_path):
    (declared(tmp_path, refresh="manual") / "yesterday.csv").write_text('size\n"2,3\n1,2,3\n')
    with opened(tmp_path) as curator:
        ask(curator, "today")
        with pytest.raises(CatalogError):
            ask(curator, "yesterday")
        a_day_passes(tmp_path)
        ask(curator, "yesterday")
        assert spent(curator) == 2


# 2. What a price tells of changes.


def seen(curator, sql=TODAY):
    """Return all that is told for nothing: price, whether it is free, version, notes."""
    eve = curator.seen_by("eve")
    told = eve.explain(sql, epsilon=1, analyst="eve").to_json()
    told.pop("seconds", None)
    return told


HISTORIES = {
    "nothing": lambda folder: None,
    "somebody comes": lambda folder: (folder / "today.csv").write_text(ROWS + "1\n"),
    "somebody goes": lambda folder: (folder / "today.csv").write_text(ROWS[:-2]),
    "somebody moves": lambda folder: (
        (folder / "today.csv").write_text(ROWS[:-2]),
        (folder / "yesterday.csv").write_text("size\n3\n"),
    ),
    "a cell is edited": lambda folder: (folder / "today.csv").write_text(ROWS[:-2] + "2\n"),
}


def told_of(folder, change, refresh):
    folder.mkdir()
    told = []
    with opened(declared(folder, refresh=refresh, analysts=True)) as curator:
        told.append(seen(curator))
        curator.seen_by("eve").query(TODAY, epsilon=1, analyst="eve")
        told.append(seen(curator))
        HISTORIES[change](folder)
        told += [seen(curator), seen(curator, YESTERDAY)]
    with opened(folder) as curator:
        told += [seen(curator), seen(curator, YESTERDAY)]
        answer = curator.seen_by("eve").query(TODAY, epsilon=1, analyst="eve")
        told += [answer.free, answer.provenance.snapshot]
        (folder / "today.csv").write_text(ROWS)
        told += [seen(curator), seen(curator, YESTERDAY)]
    return told


@pytest.mark.parametrize("refresh", [None, "manual", "daily"])
@pytest.mark.parametrize("change", [name for name in HISTORIES if name != "nothing"])
def test_prices_tell_nothing_of_changes(tmp_path, change, refresh):
    assert told_of(tmp_path / "a", change, refresh) == told_of(tmp_path / "b", "nothing", refresh)


def test_the_policy_that_is_public_tells_of_changes(tmp_path):
    changed = told_of(tmp_path / "a", "somebody comes", "on-change")
    assert changed != told_of(tmp_path / "b", "nothing", "on-change")


def test_the_default_is_public_where_the_owner_alone_asks(tmp_path):
    for analysts, expected in ((False, Refresh.ON_CHANGE), (True, Refresh.MANUAL)):
        with opened(declared(tmp_path, analysts=analysts)) as curator:
            assert curator.catalog.dataset("shop").refresh is expected


def test_rows_that_come_back_are_a_new_version(tmp_path):
    found = []
    with opened(declared(tmp_path, epsilon=9)) as curator:
        for rows in (ROWS, ROWS + "1\n", ROWS):
            (tmp_path / "today.csv").write_text(rows)
            answer = curator.query(TODAY, epsilon=1)
            found.append((answer.provenance.snapshot, answer.free))
        assert found == [("today:1", False), ("today:2", False), ("today:3", False)]
        assert spent(curator) == 3


def test_the_owner_begins_a_version_and_questions_read_it(tmp_path):
    with opened(declared(tmp_path, epsilon=200, refresh="manual")) as curator:
        assert abs(curator.query(TODAY, epsilon=50).rows[0][0] - 90) < 9
        a_day_passes(tmp_path)
        assert abs(curator.query(TODAY, epsilon=50, fresh=True).rows[0][0] - 90) < 9
        (known,) = curator.versions()
        assert (known["version"], known["changed"]) == (1, ["today", "yesterday"])
        assert "have changed since version 1" in " ".join(curator.warnings())
        (begun,) = curator.refresh("shop", table="today")
        assert (begun["version"], begun["why"], begun["changed"]) == (2, "owner", [])
        assert abs(curator.query(TODAY, epsilon=50).rows[0][0]) < 9
        assert abs(curator.query(YESTERDAY, epsilon=50).rows[0][0] - 90) < 9
        assert spent(curator) == 150
        curator.ledger.verify()


def test_a_period_begins_a_version_whatever_the_rows(tmp_path, monkeypatch):
    moment = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)
    with opened(declared(tmp_path, epsilon=9, refresh="daily")) as curator:
        for hours, expected in ((0, "1"), (11, "1"), (12, "2"), (40, "3")):
            now = moment + dt.timedelta(hours=hours)
            monkeypatch.setattr(snapshots, "now", lambda now=now: now)
            answer = curator.query(TODAY, epsilon=1)
            assert answer.provenance.snapshot == f"today:{expected}"


@pytest.mark.parametrize(
    "refresh", [each for each in Refresh if each.period(dt.datetime.now(dt.UTC))]
)
def test_periods_have_names_that_follow_each_other(refresh):
    start = dt.datetime(2024, 12, 28, tzinfo=dt.UTC)
    names = [refresh.period(start + dt.timedelta(minutes=20 * i)) for i in range(3000)]
    changes = [i for i in range(1, 3000) if names[i] != names[i - 1]]
    assert len(set(names)) == len(changes) + 1, "none comes back"
    for i in changes:
        moment = start + dt.timedelta(minutes=20 * i)
        assert moment.minute == 0


def test_an_unknown_policy_is_refused_with_those_there_are(tmp_path):
    with pytest.raises(CatalogError, match=r'"manual", .* or "on-change", not "sometimes"'):
        opened(declared(tmp_path, refresh="sometimes"))


def test_a_declared_version_of_a_file_that_changed_warns_the_owner_alone(tmp_path):
    text = declared(tmp_path).joinpath("discreet.toml").read_text()
    text = text.replace('source = "today.csv"', 'source = "today.csv"\nversion = "1"')
    (tmp_path / "discreet.toml").write_text(text)
    with opened(tmp_path) as curator:
        before = curator.query(TODAY, epsilon=1)
        a_day_passes(tmp_path)
        again = curator.query(TODAY, epsilon=1)
        assert again.free
        assert again.rows == before.rows
        assert "change version" in " ".join(curator.warnings())
        assert "changed" not in str(again.to_json())


def test_rows_that_were_lost_and_changed_begin_a_version(tmp_path):
    import shutil

    with opened(declared(tmp_path, refresh="manual")) as curator:
        ask(curator, "today")
    shutil.rmtree(tmp_path / ".discreet" / "duckdb")
    with opened(tmp_path) as curator:
        assert curator.query(TODAY, epsilon=1).free, "the same rows are the same version"
    shutil.rmtree(tmp_path / ".discreet" / "duckdb")
    a_day_passes(tmp_path)
    with opened(tmp_path) as curator:
        ask(curator, "yesterday")
        assert spent(curator) == 2
        assert curator.versions()[0]["why"] == "lost"


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


def test_a_budget_that_is_spent_stays_so_over_versions(tmp_path):
    with opened(declared(tmp_path, epsilon=1)) as curator:
        ask(curator, "today")
        a_day_passes(tmp_path)
        for door in DOORS:
            with pytest.raises(BudgetExceeded):
                door(curator, "yesterday")
        assert spent(curator) == Fraction(1)


def test_a_folder_that_is_copied_with_its_state_remembers_its_versions(tmp_path):
    first = tmp_path / "first"
    first.mkdir()
    with opened(declared(first, epsilon=1000, refresh="manual")) as curator:
        curator.query(TODAY, epsilon=100)
    shutil.copytree(first, tmp_path / "second")
    as_a_new_process()
    for folder in (first, tmp_path / "second"):
        a_day_passes(folder)
        with opened(folder) as curator:
            answer = curator.query(TODAY, epsilon=100, fresh=True)
            assert round(answer.rows[0][0]) == 90
            assert answer.provenance.snapshot == "today:1"
        as_a_new_process()


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


def test_after_a_restore_no_number_is_given_twice(tmp_path):
    """What was lost had begun versions: their numbers and their rows are over."""
    backup = tmp_path / "backup.db"
    with opened(declared(tmp_path, epsilon=9000, refresh="manual")) as curator:
        curator.query(TODAY, epsilon=100)
        curator.ledger.backup(backup)
        a_day_passes(tmp_path)
        curator.refresh("shop")
        lost = curator.query(TODAY, epsilon=100).provenance.snapshot
        policy, url = policy_of(curator.catalog), curator.catalog.ledger_url
    Ledger.restore(url, policy, backup, base=tmp_path, reason="a test").close()
    with opened(tmp_path) as curator:
        again = curator.query(TODAY, epsilon=100, fresh=True).provenance.snapshot
    numbers = [int(each.partition(":")[2]) for each in (lost, again)]
    assert numbers[0] == 2
    assert numbers[1] > 2


EXPORTS = """
[datasets.clinic]
epsilon = 9000
refresh = "manual"
[analysts.eve]
datasets = { clinic = { epsilon = 9000 } }
"""
EXPORTED = """
[datasets.clinic.tables.{name}]
source = "{name}.parquet"
unit = "who"
max_rows = 2
[datasets.clinic.tables.{name}.columns]
size = {{ type = "integer", lower = 0, upper = 9 }}
"""


def people(folder, name, who):
    pq.write_table(pa.table({"who": who, "size": [1] * len(who)}), folder / f"{name}.parquet")


def told_of_a(folder, last) -> list:
    """Return what is told of table a after both files changed, b's with `last` as its last person."""
    folder.mkdir()
    (folder / "discreet.toml").write_text(EXPORTS + "".join(EXPORTED.format(name=n) for n in "ab"))
    for name in "ab":
        people(folder, name, list(range(20)))
    with opened(folder) as curator:
        eve, sql = curator.seen_by("eve"), "SELECT COUNT(*) AS n FROM a"
        eve.query(sql, epsilon=1, analyst="eve")
        people(folder, "a", list(range(19)))
        people(folder, "b", [float(i) for i in range(19)] + [last] if last is None else range(20))
        price = eve.explain(sql, epsilon=1, analyst="eve").to_json()
        answer = eve.query(sql, epsilon=1, analyst="eve")
        return [price, answer.free, answer.provenance.snapshot]


def test_how_another_table_is_written_today_changes_no_price(tmp_path):
    """A row without a person makes the numbers of a Parquet file doubles."""
    found = [told_of_a(tmp_path / "with", 19), told_of_a(tmp_path / "without", None)]
    assert found[0] == found[1]
    assert found[0][1:] == [True, "a:1"]


def test_the_twin_that_looks_at_other_tables_of_today_tells_of_them(tmp_path, monkeypatch):
    def alias(self, name, recipe, content):
        beside = pq.read_schema(folder / "b.parquet").field("who").type
        return self.store.name("stored", name, content, str(beside))

    monkeypatch.setattr(SnapshotMaker, "_alias", alias)
    found = []
    for folder, last in ((tmp_path / "with", 19), (tmp_path / "without", None)):
        found.append(told_of_a(folder, last))
    assert found[0] != found[1]


FIGURES = """
[datasets.clinic]
epsilon = 9000
refresh = "manual"
[analysts.eve]
datasets = {{ clinic = {{ epsilon = 9000 }} }}
[datasets.clinic.tables.t]
source = "t.parquet"
unit = "row"
[datasets.clinic.tables.t.columns]
{columns}
"""
FIGURE_TYPES = {
    "whole": 'type = "integer", lower = 0, upper = 1',
    "number": 'type = "number", lower = 0, upper = 1, step = 1',
    "flag": 'type = "boolean"',
    "spelled": 'type = "boolean", same = { true = ["1"], false = ["0"] }',
    "kind": 'type = "category", values = ["0", "1"]',
    "said": 'type = "text"',
    "named": 'type = "identifier"',
}


def told_of_figures(folder, last) -> dict[str, object]:
    """Return what an analyst is told of a first version whose columns hold 0 and 1, the last cell being `last`."""
    folder.mkdir()
    columns = "\n".join(f"{name} = {{ {said} }}" for name, said in FIGURE_TYPES.items())
    (folder / "discreet.toml").write_text(FIGURES.format(columns=columns))
    # As pandas writes them: doubles once one of them is missing.
    kind = pa.int64() if last is not None else pa.float64()
    cells = pa.array([0, 1] * 20 + [last], kind)
    pq.write_table(pa.table(dict.fromkeys(FIGURE_TYPES, cells)), folder / "t.parquet")
    found: dict[str, object] = {}
    with opened(folder) as curator:
        for sql in ("COUNT(*)", "COUNT(flag)", "SUM(whole)", "SUM(number)", "COUNT(kind)"):
            asked = f"SELECT {sql} AS n FROM t"
            found[sql] = curator.seen_by("eve").explain(asked, epsilon=1, analyst="eve").to_json()
        sql = "SELECT COUNT(*) AS n FROM t WHERE flag AND spelled"
        found["flags"] = round(curator.query(sql, epsilon=500, analyst="eve").rows[0][0])
    return found


def test_a_missing_cell_that_makes_figures_doubles_is_told_to_nobody(tmp_path):
    found = [told_of_figures(tmp_path / f"{last}", last) for last in (0, None)]
    assert found[0] == found[1]
    assert found[0]["flags"] == 20


def test_the_twin_that_reads_flags_from_whole_numbers_alone_tells_of_a_missing_cell(
    tmp_path, monkeypatch
):
    for stored in (Storage.NUMBER, Storage.DECIMAL):
        monkeypatch.delitem(types._READERS, (ColumnKind.BOOLEAN, stored))
    told_of_figures(tmp_path / "0", 0)
    with pytest.raises(CatalogError, match="cannot be read as boolean"):
        told_of_figures(tmp_path / "None", None)


JOINED = "SELECT COUNT(*) AS n FROM a JOIN b ON a.who = b.who"


def joined(folder) -> int:
    """Return in how many rows the people of both tables meet, as good as exactly."""
    with opened(folder) as curator:
        return round(curator.query(JOINED, epsilon=500, analyst="eve").rows[0][0])


def test_people_are_the_same_in_rows_that_were_stored_as_other_types(tmp_path):
    """Table a was stored when b had whole numbers; now b's are doubles, and nobody begins a version."""
    told_of_a(tmp_path / "a", None)
    as_a_new_process()
    assert joined(tmp_path / "a") == 19


STORED_AS = {
    "32 bits": pa.array(range(20), pa.int32()),
    "64 bits without a sign": pa.array(range(20), pa.uint64()),
    "floats": pa.array([float(i) for i in range(20)], pa.float32()),
    "doubles": pa.array([float(i) for i in range(20)], pa.float64()),
    "doubles below zero": pa.array([-0.0, *(float(i) for i in range(1, 20))], pa.float64()),
    "decimals": pa.array([Decimal(i) for i in range(20)], pa.decimal128(9, 2)),
    "wide decimals": pa.array([Decimal(i) for i in range(20)], pa.decimal128(38, 0)),
    "decimals of 21 places": pa.array([Decimal(i) for i in range(20)], pa.decimal128(38, 21)),
    "texts": pa.array([str(i) for i in range(20)]),
    "texts of doubles": pa.array([f"{i}.0" for i in range(20)]),
    "a dictionary": pa.array([str(i) for i in range(20)]).dictionary_encode(),
}


def kept_as(folder, values):
    """Keep people 0 to 19 as integers in table a, and as `values` in table b."""
    (folder / "discreet.toml").write_text(EXPORTS + "".join(EXPORTED.format(name=n) for n in "ab"))
    people(folder, "a", pa.array(range(20), pa.int64()))
    people(folder, "b", values)


@pytest.mark.parametrize("values", STORED_AS.values(), ids=STORED_AS)
def test_a_whole_number_is_one_person_however_it_is_stored(tmp_path, values):
    kept_as(tmp_path, values)
    assert joined(tmp_path) == 20


def test_other_spellings_of_a_number_are_other_people(tmp_path):
    others = ["07", "7.", "07.0", "7.01", " 7.0", ".0", " 7", "7 ", "+7", "7e0", "\u0667"]
    others += ["1_0", "-0", "-", "9" * 19, "x" * 9_000]
    kept_as(tmp_path, pa.array(others))
    assert joined(tmp_path) == 0


@pytest.mark.parametrize("values", STORED_AS.values(), ids=STORED_AS)
def test_a_person_is_one_in_files_that_store_people_in_several_ways(tmp_path, values):
    """Also in one file of several: else a bound on rows would be one for each way."""
    kept_as(tmp_path, pa.array(range(20), pa.int64()))
    text = (tmp_path / "discreet.toml").read_text().replace("b.parquet", "b/*.parquet")
    (tmp_path / "discreet.toml").write_text(text)
    (tmp_path / "b").mkdir()
    for number, who in enumerate([pa.array(range(20), pa.int64()), values, values]):
        people(tmp_path / "b", str(number), who)
    with opened(tmp_path) as curator:
        rows = curator.query("SELECT COUNT(*) AS n FROM b", epsilon=500, analyst="eve").rows
        assert round(rows[0][0]) == 40, "two of each person"
        assert round(curator.query(JOINED, epsilon=500, analyst="eve").rows[0][0]) == 40


BY_PATH = """
[datasets.clinic.tables.items]
source = "items.parquet"
unit = "order_id -> orders.id -> customer"
max_rows = 2
[datasets.clinic.tables.items.columns]
price = { type = "integer", lower = 0, upper = 99 }
[datasets.clinic.tables.orders]
source = "orders/*.parquet"
unit = "customer"
max_rows = 2
[datasets.clinic.tables.orders.columns]
size = { type = "integer", lower = 0, upper = 99 }
"""


def order_files(folder, number, **other):
    numbers = pa.array(range(20), pa.int64())
    rows = {"id": numbers, "customer": numbers, "size": numbers} | other
    (folder / "orders").mkdir(exist_ok=True)
    pq.write_table(pa.table(rows), folder / "orders" / f"{number}.parquet")


@pytest.mark.parametrize("column", ["id", "customer", "size"])
@pytest.mark.parametrize("values", [*STORED_AS.values(), pa.nulls(20)], ids=[*STORED_AS, "nothing"])
def test_nothing_tells_how_a_table_on_the_way_is_stored_today(tmp_path, column, values):
    (tmp_path / "discreet.toml").write_text(EXPORTS + BY_PATH)
    order_files(tmp_path, 1)
    numbers = pa.array(range(20), pa.int64())
    items = pa.table({"order_id": numbers, "price": numbers})
    pq.write_table(items, tmp_path / "items.parquet")
    sql = "SELECT COUNT(*) AS n FROM items"
    with opened(tmp_path) as curator:
        assert round(curator.query(sql, epsilon=500, analyst="eve").rows[0][0]) == 20
        told = curator.seen_by("eve").explain(sql, epsilon=500, analyst="eve").to_json()
    order_files(tmp_path, 2, **{column: values})
    if column == "id":
        pq.write_table(items.set_column(0, "order_id", values), tmp_path / "items.parquet")
    as_a_new_process()
    with opened(tmp_path) as curator:
        assert curator.seen_by("eve").explain(sql, epsilon=500, analyst="eve").to_json() == told
        answer = curator.query(sql, epsilon=500, analyst="eve")
        assert (answer.free, answer.provenance.snapshot) == (True, "items:1")
        curator.refresh("clinic")
        again = round(curator.query(sql, epsilon=500, analyst="eve").rows[0][0])
        # Nobody is reached by keys that say nothing.
        assert again == (0 if column == "id" and values.type == pa.null() else 20)


def test_the_twin_that_asks_for_types_to_know_names_tells_of_them(tmp_path, monkeypatch):
    monkeypatch.setattr(
        DuckDBEngine, "names", lambda self, name: [c for c, _ in self.columns(name)]
    )
    with pytest.raises(CatalogError, match="in different ways"):
        test_nothing_tells_how_a_table_on_the_way_is_stored_today(
            tmp_path, "size", STORED_AS["doubles"]
        )


def test_the_ends_of_64_bits_are_themselves(tmp_path):
    ends = [-(2**63), 2**63 - 1, -1]
    beyond = [2**63, -(2**63) - 1, 2**64 - 1]
    kept_as(tmp_path, pa.array([str(each) for each in (*ends, *beyond)]))
    people(tmp_path, "a", pa.array(ends, pa.int64()))
    assert joined(tmp_path) == 3


def test_the_twin_that_hides_all_texts_tells_integers_from_them(tmp_path, monkeypatch):
    monkeypatch.setattr(canonical, "_INTEGER", "nobody")
    kept_as(tmp_path, STORED_AS["texts"])
    assert joined(tmp_path) == 0


def test_the_twin_that_spells_doubles_as_the_engine_does_loses_them(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "unit_cell", spelled_as_stored)
    kept_as(tmp_path, STORED_AS["doubles"])
    assert joined(tmp_path) == 0


def spelled_as_stored(column, bare, engine_type, dialect, *, whole):
    if whole:
        return unit_cell(column, bare, engine_type, dialect, whole=whole)
    return read_as(ColumnKind.TEXT, bare, engine_type=engine_type, dialect=dialect)
