"""Random histories: people come, go and move, owners edit, analysts ask. The bill covers what was read.

Two claims, after every step of a history:

- The bill of every person, by brute force over all answers that were ever computed and over the rows that each of them read (taken
  from the snapshot itself), is at most what the ledger says.
- What is told for nothing (prices, what is free, versions, refusals) is a function of public facts: two histories that differ in what
  happened to rows, and in nothing else, tell the same. `on-change` is public by name, and must fail this claim.
"""

from __future__ import annotations

import datetime as dt
import operator
import random
from collections import Counter
from contextlib import closing

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.api.opening import policy_of
from discreet.core.region import Positions, Region
from discreet.errors import DiscreetError
from discreet.ledger import Ledger
from discreet.release import sealing, snapshots
from sittings import FULL

SEEDS = range(40 if FULL else 1)
STEPS = 40 if FULL else 20
FIRST = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
TABLES = ("east", "west")

DECLARED = """
[datasets.shop]
epsilon = 100
refresh = "{refresh}"
{tables}
[datasets.clinic]
epsilon = 100
refresh = "{refresh}"
[datasets.clinic.tables.visits]
source = "visits.csv"
unit = "who"
max_rows = {max_rows}
[datasets.clinic.tables.visits.columns]
who = {{ type = "identifier" }}
ward = {{ type = "integer", lower = 0, upper = 3, constant = true }}
tag = {{ type = "integer", lower = 0, upper = 99 }}
[datasets.clinic.tables.stays]
source = "stays.parquet"
unit = "who"
max_rows = {max_rows}
[datasets.clinic.tables.stays.columns]
who = {{ type = "identifier" }}
ward = {{ type = "integer", lower = 0, upper = 3 }}
tag = {{ type = "integer", lower = 0, upper = 99 }}
[analysts.eve]
datasets = {{ shop = {{ epsilon = 100 }}, clinic = {{ epsilon = 100 }} }}
"""
TABLE = """
[datasets.shop.tables.{name}]
source = "{source}.csv"
unit = "row"
[datasets.shop.tables.{name}.columns]
size = {{ type = "integer", lower = 0, upper = {upper} }}
tag = {{ type = "integer", lower = 0, upper = 99 }}
"""


BOTH = "SELECT COUNT(*) AS n FROM visits JOIN stays ON visits.who = stays.who"
MATCHES = {"=": operator.eq, "<=": operator.le}


class History:
    """One folder, what has happened in it, and what everybody in it has lost by brute force."""

    def __init__(
        self,
        folder,
        refresh: str,
        *,
        rows: random.Random | None,
        public: random.Random,
        follows: bool = False,
    ):
        """`rows` draws what happens to rows (None: nothing does), `public` all that everybody may see.

        `follows`: whoever asks knows where one person stands, and asks about that more often than not.
        """
        self.follows = follows
        self.folder, self.refresh, self.rows, self.public = folder, refresh, rows, public
        self.places = {tag: (random.Random(tag).choice(TABLES), tag % 4) for tag in range(8)}
        self.wards = {tag: tag % 4 for tag in range(8)}
        self.kept_as = pa.int64()
        self.upper, self.max_rows, self.sources = 3, 1, dict(zip(TABLES, TABLES, strict=True))
        self.clock, self.lost = FIRST, Counter()
        self.told: list[object] = []
        self.asked: list[tuple[str, str]] = []
        self.backups = 0
        folder.mkdir()
        self.write()
        self.curator = self.opened()

    # What happens to rows.

    def write(self) -> None:
        for table in TABLES:
            rows = [f"{size},{tag}" for tag, (at, size) in self.places.items() if at == table]
            (self.folder / f"{table}.csv").write_text("\n".join(["size,tag", *rows, ""]))
        rows = [f"{tag},{ward},{tag}" for tag, ward in self.wards.items()]
        (self.folder / "visits.csv").write_text("\n".join(["who,ward,tag", *rows, ""]))
        who = pa.array(self.wards).cast(self.kept_as)
        wards, tags = list(self.wards.values()), list(self.wards)
        stays = pa.table({"who": who, "ward": pa.array(wards, pa.int64()), "tag": tags})
        pq.write_table(stays, self.folder / "stays.parquet")

    def change_rows(self) -> None:
        if self.rows is None:
            return
        draw, tag = self.rows, self.rows.randrange(10)
        match draw.randrange(5):
            case 0:
                self.places[tag] = (draw.choice(TABLES), draw.randrange(4))
                self.wards[tag] = draw.randrange(4)
            case 1:
                self.places.pop(tag, None)
                self.wards.pop(tag, None)
            case 2:  # everybody moves, as when a day passes
                self.places = {
                    t: (TABLES[at == TABLES[0]], s) for t, (at, s) in self.places.items()
                }
            case 3:
                self.places[tag] = (self.places.get(tag, ("east",))[0], draw.randrange(4))
                self.wards[tag] = draw.randrange(4)
            case 4:  # what writers make of a column follows from its rows
                self.kept_as = draw.choice([pa.int64(), pa.float64(), pa.string()])
        self.write()

    # What everybody may see.

    def opened(self):
        tables = "".join(
            TABLE.format(name=name, source=source, upper=self.upper)
            for name, source in self.sources.items()
        )
        text = DECLARED.format(refresh=self.refresh, tables=tables, max_rows=self.max_rows)
        (self.folder / "discreet.toml").write_text(text)
        curator = discreet.open(self.folder / "discreet.toml")
        self.watch(curator)
        return curator

    def watch(self, curator) -> None:
        """Remember of each state that is held which rows it has, from the files that are read."""
        hold = curator.engine.hold

        def watched(tables, **how):
            held = hold(tables, **how)
            self.read = {name: rows_of(held._snapshots[name].path) for name in tables}
            return held

        curator.engine.hold = watched

    def step(self) -> None:
        if self.public.randrange(3):
            self.change_rows()
        kind = self.public.choices(
            ["ask", "again", "explain", "begin", "time", "reopen", "declare", "swap", "restore"],
            [30, 15, 20, 6, 6, 4, 5, 3, 2],
        )[0]
        getattr(self, kind)()
        self.check()

    def question(self) -> tuple[str, str]:
        size = self.public.randrange(4)
        if self.follows and self.public.randrange(4):
            return self.question_about(0)
        if self.public.randrange(4) == 0:
            where = self.public.choice(["", f" WHERE ward = {size}"])
            table = self.public.choice(["visits", "stays"])
            return "clinic", self.public.choice([f"SELECT COUNT(*) AS n FROM {table}{where}", BOTH])
        where = self.public.choice(["", f" WHERE size = {size}", f" WHERE size <= {size}"])
        table = self.public.choice(sorted(self.sources))
        return "shop", f"SELECT COUNT(*) AS n FROM {table}{where}"

    def question_about(self, tag: int) -> tuple[str, str]:
        table, size = self.places.get(tag, (TABLES[0], 0))
        if self.public.randrange(2):
            where = f"ward = {self.wards.get(tag, 0)}"
            return "clinic", f"SELECT COUNT(*) AS n FROM visits WHERE {where}"
        called = next(name for name, source in self.sources.items() if source == table)
        return "shop", f"SELECT COUNT(*) AS n FROM {called} WHERE size = {size}"

    def ask(self, question: tuple[str, str] | None = None) -> None:
        dataset, sql = question or self.question()
        self.asked.append((dataset, sql))
        try:
            answer = self.curator.seen_by("eve").query(sql, epsilon=1, analyst="eve")
        except DiscreetError as error:
            self.told.append(str(error))
            return
        self.told.append((sql, answer.free, answer.provenance.snapshot))
        if not answer.free:
            for person in self.touched(dataset, sql):
                self.lost[dataset, person] += 1

    def touched(self, dataset: str, sql: str) -> set[int]:
        """Return whose rows the answer was computed from: those of the held state that match."""
        if sql == BOTH:
            return {tag for _, tag in self.read["clinic.visits"]} & {
                tag for _, tag in self.read["clinic.stays"]
            }
        _, _, table, *where = sql.split()[3:]
        rows = self.read[f"{dataset}.{table}"]
        if not where:
            return {tag for _, tag in rows}
        matches, size = MATCHES[where[2]], int(where[3])
        return {tag for cell, tag in rows if cell is not None and matches(cell, size)}

    def again(self) -> None:
        self.ask(self.public.choice(self.asked) if self.asked else None)

    def explain(self) -> None:
        _, sql = self.question()
        try:
            told = self.curator.seen_by("eve").explain(sql, epsilon=1, analyst="eve").to_json()
        except DiscreetError as error:
            told = str(error)
        self.told.append(told)

    def begin(self) -> None:
        self.curator.refresh(self.public.choice(["shop", "clinic"]))

    def time(self) -> None:
        self.clock += dt.timedelta(hours=self.public.choice([1, 13, 30]))

    def reopen(self) -> None:
        self.curator.close()
        self.curator = self.opened()

    def declare(self) -> None:
        self.upper = self.public.choice([3, 5])
        self.max_rows = self.public.choice([1, 2])
        self.reopen()

    def swap(self) -> None:
        """Give the tables each other's files, or other names."""
        names = self.public.choice([("east", "west"), ("west", "east"), ("eastern", "west")])
        self.sources = dict(zip(names, TABLES, strict=True))
        self.reopen()

    def restore(self) -> None:
        self.backups += 1
        copy = self.folder / f"copy{self.backups}.db"
        self.curator.ledger.backup(copy)
        self.ask()
        self.curator.close()
        catalog = self.curator.catalog
        policy = policy_of(catalog)
        found = Ledger.restore(catalog.ledger_url, policy, copy, base=self.folder, reason="a test")
        found.close()
        self.curator = self.opened()

    # The claim.

    def check(self) -> None:
        for dataset in ("shop", "clinic"):
            worst = max((n for (of, _), n in self.lost.items() if of == dataset), default=0)
            said = self.curator.ledger.spent(dataset).epsilon
            assert worst <= said, f"somebody lost {worst}, and the ledger says {said}"


def rows_of(path) -> list[tuple[int | None, int]]:
    """Return (cell, tag) of the rows of a snapshot: its first number is the cell, the last the tag."""
    with closing(duckdb.connect(str(path), read_only=True)) as connection:
        columns = [row[0] for row in connection.execute("DESCRIBE t").fetchall()]
        cells = [name for name in columns if name.startswith("c")]
        return connection.execute(f"SELECT {cells[0]}, {cells[-1]} FROM t").fetchall()


@pytest.fixture
def clock(monkeypatch):
    """Let histories have the time of their own."""
    running: list[History] = []
    monkeypatch.setattr(snapshots, "now", lambda: running[-1].clock if running else FIRST)
    return running


def lived(folder, refresh, seed, clock, *, rows: int | None = 0, follows=False) -> History:
    """Return a history of so many steps; `rows` draws what happens to rows, None: nothing."""
    draw = None if rows is None else random.Random(f"rows {seed} {rows}")
    public = random.Random(f"public {seed}")
    history = History(folder, refresh, rows=draw, public=public, follows=follows)
    clock.append(history)
    try:
        for _ in range(STEPS):
            history.step()
    finally:
        history.curator.close()
        clock.pop()
    return history


def live_on(folder, clock) -> None:
    """Live histories in which every change is seen, one after the other."""
    for seed in range(20):
        lived(folder / str(seed), "on-change", seed, clock, follows=True)


@pytest.mark.parametrize("refresh", ["manual", "daily", "on-change"])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_bill_of_everybody_covers_what_was_read(tmp_path, clock, refresh, seed):
    found = lived(tmp_path / "a", refresh, seed, clock, follows=True)
    assert found.lost, "somebody was asked about"


def test_the_twin_of_one_axis_for_all_versions_forgets_bills(tmp_path, clock, monkeypatch):
    def home(dataset, table, _snapshot):
        private = sorted(each.name for each in dataset.tables if not each.public)
        return Region.of({"tables": Positions.points([private.index(table.name)])})

    monkeypatch.setattr(sealing, "home", home)
    with pytest.raises(AssertionError, match="somebody lost"):
        live_on(tmp_path, clock)


def test_the_twin_of_versions_that_come_back_forgets_bills(tmp_path, clock, monkeypatch):
    """Versions by content, as they once were: every reading has the number 1."""
    monkeypatch.setattr(sealing, "axes_of", _numbered_1(sealing.axes_of))
    with pytest.raises(AssertionError, match="somebody lost"):
        live_on(tmp_path, clock)


def _numbered_1(axes_of):
    return lambda snapshots: axes_of(dict.fromkeys(snapshots, "1"))


@pytest.mark.parametrize("refresh", ["manual", "daily"])
@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_told_for_nothing_follows_from_public_facts(tmp_path, clock, refresh, seed):
    told = [lived(tmp_path / str(rows), refresh, seed, clock, rows=rows).told for rows in (None, 0)]
    assert told[0] == told[1]


def test_on_change_is_public_by_name(tmp_path, clock):
    def told(seed, rows):
        return lived(tmp_path / f"{seed} {rows}", "on-change", seed, clock, rows=rows).told

    assert any(told(seed, None) != told(seed, 0) for seed in SEEDS)
