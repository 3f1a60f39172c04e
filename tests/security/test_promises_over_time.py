"""Promises over time: rows that move, rows that change and change back, and what prices tell of it."""

from __future__ import annotations

import datetime as dt
import shutil
from fractions import Fraction

import pytest

from discreet.ask.release import sealing as release_sealing
from discreet.ask.release import snapshots
from discreet.base.event import Positions, Region
from discreet.base.schema import Refresh
from discreet.curator.curator import policy_of
from discreet.errors import BudgetExceeded, CatalogError
from discreet.measure import sealing as synth_sealing
from discreet.privacy.ledger import Ledger
from ledger_kit import as_a_new_process
from shop_kit import ROWS, TODAY, YESTERDAY, a_day_passes, declared, opened, spent


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
