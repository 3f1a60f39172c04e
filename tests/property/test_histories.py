"""Random histories: people come, go and move, owners edit, analysts ask. The bill covers what was read.

Three claims, after every step of a history:

- The bill of every person, by brute force over all answers that were ever computed and over the rows that each of them read (taken
  from the snapshot itself), is at most what the ledger says.
- What is told for nothing (prices, what is free, versions, refusals) is a function of public facts: two histories that differ in what
  happened to rows, and in nothing else, tell the same. `on-change` is public by name, and must fail this claim.
- What is given again for nothing was computed under the declarations of today.

Under a small limit most is refused for budget, under a large one nothing is.
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
from discreet.ask.release import sealing, snapshots
from discreet.base.event import Positions, Region
from discreet.curator.curator import policy_of
from discreet.errors import BudgetExceeded, DiscreetError
from discreet.privacy.ledger import Ledger
from sittings import FULL

SEEDS = range(40 if FULL else 1)
STEPS = 40 if FULL else 16
SMALL, LARGE = 3, 100
FIRST = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
TABLES = ("east", "west")

DECLARED = """
[datasets.shop]
epsilon = {epsilon}
refresh = "{refresh}"
{tables}
[datasets.clinic]
epsilon = {epsilon}
refresh = "{refresh}"
[datasets.clinic.tables.visits]
source = "visits.csv"
{unit}
[datasets.clinic.tables.visits.columns]
who = {{ type = "identifier" }}
ward = {{ type = "integer", lower = 0, upper = 3{ward} }}
tag = {{ type = "integer", lower = 0, upper = 99 }}
[datasets.clinic.tables.stays]
source = "stays.parquet"
{unit}
[datasets.clinic.tables.stays.columns]
who = {{ type = "identifier" }}
ward = {{ type = "integer", lower = 0, upper = 3 }}
tag = {{ type = "integer", lower = 0, upper = 99 }}
[analysts.eve]
datasets = {{ shop = {{ epsilon = {epsilon} }}, clinic = {{ epsilon = {epsilon} }} }}
"""
TABLE = """
[datasets.shop.tables.{name}]
source = "{source}.csv"
unit = "row"
[datasets.shop.tables.{name}.columns]
size = {{ type = "integer", lower = 0, upper = {upper}{size} }}
tag = {{ type = "integer", lower = 0, upper = 99 }}
"""
RELEASE = """
[release]
name = "{name}"
dataset = "shop"
epsilon = 1
[tables.sizes]
sql = "SELECT size, COUNT(*) AS n FROM {table} GROUP BY size"
"""


KINDS = {
    "ask": 30,
    "again": 15,
    "explain": 15,
    "copy": 4,
    "release": 3,
    "begin": 6,
    "time": 6,
    "reopen": 2,
    "declare": 8,
    "swap": 3,
    "restore": 2,
}
"""How often each step is taken."""
BOTH = "SELECT COUNT(*) AS n FROM visits JOIN stays ON visits.who = stays.who"
CLINIC = ("visits", "stays")
PEOPLE = 10
"""How many people there can be: of each one or two rows, whose tags are the person and the person plus this."""
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
        limit: int = LARGE,
    ):
        """`rows` draws what happens to rows (None: nothing does), `public` all that everybody may see.

        `follows`: whoever asks knows where one person stands, and asks about that more often than not.
        """
        self.follows = follows
        self.folder, self.refresh, self.rows, self.public = folder, refresh, rows, public
        self.places = {tag: (random.Random(tag).choice(TABLES), tag % 4) for tag in range(8)}
        self.wards = {tag: [tag % 4, (tag + 1) % 4][: 1 + tag % 2] for tag in range(8)}
        self.kept_as = pa.int64()
        self.limit, self.refused = limit, 0
        self.upper, self.max_rows, self.sources = 3, 1, dict(zip(TABLES, TABLES, strict=True))
        self.unit, self.constant, self.complete = "who", True, False
        self.clock, self.lost = FIRST, Counter()
        self.told: list[object] = []
        self.asked: list[tuple[str, str]] = []
        self.paid: list[tuple[str, object]] = []
        self.backups = self.releases = 0
        folder.mkdir()
        self.write()
        self.curator = self.opened()

    # What happens to rows.

    def write(self) -> None:
        for table in TABLES:
            rows = [f"{size},{tag}" for tag, (at, size) in self.places.items() if at == table]
            (self.folder / f"{table}.csv").write_text("\n".join(["size,tag", *rows, ""]))
        rows = [
            (tag, ward, tag + PEOPLE * i)
            for tag, wards in self.wards.items()
            for i, ward in enumerate(wards)
        ]
        text = [",".join(map(str, row)) for row in rows]
        (self.folder / "visits.csv").write_text("\n".join(["who,ward,tag", *text, ""]))
        who, wards, tags = ([row[i] for row in rows] for i in range(3))
        kept = pa.array(who, pa.int64()).cast(self.kept_as)
        stays = pa.table({"who": kept, "ward": pa.array(wards, pa.int64()), "tag": tags})
        pq.write_table(stays, self.folder / "stays.parquet")

    def change_rows(self) -> None:
        if self.rows is None:
            return
        draw, tag = self.rows, self.rows.randrange(PEOPLE)
        match draw.randrange(5):
            case 0:
                self.places[tag] = (draw.choice(TABLES), draw.randrange(5))
                self.wards[tag] = self.drawn_wards()
            case 1:
                self.places.pop(tag, None)
                self.wards.pop(tag, None)
            case 2:  # everybody moves, as when a day passes
                self.places = {
                    t: (TABLES[at == TABLES[0]], s) for t, (at, s) in self.places.items()
                }
            case 3:
                self.places[tag] = (self.places.get(tag, ("east",))[0], draw.randrange(5))
                self.wards[tag] = self.drawn_wards()
            case 4:  # what writers make of a column follows from its rows
                self.kept_as = draw.choice([pa.int64(), pa.float64(), pa.string()])
        self.write()

    def drawn_wards(self) -> list[int]:
        """Return the wards of one person's rows, of which 4 is not in the domain."""
        return [self.rows.randrange(5) for _ in range(self.rows.choice([1, 2]))]

    # What everybody may see.

    def opened(self):
        complete = ", complete = true" if self.complete else ""
        constant = ", constant = true" if self.constant and self.unit == "who" else ""
        tables = "".join(
            TABLE.format(name=name, source=source, upper=self.upper, size=complete)
            for name, source in self.sources.items()
        )
        unit = f'unit = "{self.unit}"'
        if self.unit == "who":
            unit += f"\nmax_rows = {self.max_rows}"
        text = DECLARED.format(
            epsilon=self.limit,
            refresh=self.refresh,
            tables=tables,
            unit=unit,
            ward=constant + complete,
        )
        (self.folder / "discreet.toml").write_text(text)
        curator = discreet.open(self.folder / "discreet.toml")
        self.watch(curator)
        return curator

    def declared(self, dataset: str) -> object:
        """Return all that is declared of a dataset and on which its answers depend."""
        if dataset == "shop":
            return tuple(sorted(self.sources.items())), self.upper, self.complete
        if self.unit == "row":
            return self.unit, self.complete
        return self.unit, self.max_rows, self.constant, self.complete

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
            [*KINDS],
            [*KINDS.values()],
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
            where = f"ward = {self.public.choice(self.wards.get(tag, [0]))}"
            return "clinic", f"SELECT COUNT(*) AS n FROM visits WHERE {where}"
        called = next(name for name, source in self.sources.items() if source == table)
        return "shop", f"SELECT COUNT(*) AS n FROM {called} WHERE size = {size}"

    def ask(self, question: tuple[str, str, int] | None = None) -> None:
        dataset, sql, epsilon = question or (*self.question(), self.public.choice([1, 2, 3]))
        self.asked.append((dataset, sql, epsilon))
        eve = self.curator.seen_by("eve")
        answer = self.paid_for(lambda: eve.query(sql, epsilon=epsilon, analyst="eve"))
        if answer is None:
            return
        self.told.append((sql, answer.free, answer.provenance.snapshot))
        declared = answer.provenance.snapshot, self.declared(dataset)
        if answer.free:
            assert declared in self.paid, "given again what was paid for under another declaration"
            return
        self.paid.append(declared)
        for row in self.touched(dataset, sql):
            self.lost[dataset, row] += epsilon

    def paid_for(self, do):
        """Return what `do` returns; None where it is refused, which everybody sees."""
        try:
            return do()
        except DiscreetError as error:
            self.told.append(str(error))
            self.refused += isinstance(error, BudgetExceeded)
            return None

    def touched(self, dataset: str, sql: str) -> set[object]:
        """Return which rows the answer was computed from: those of the held state that match.

        Of people all rows that they have anywhere: what is said of one is said of its person.
        """
        if sql == BOTH:
            visits, stays = ({tag % PEOPLE for _, tag in self.rows_read(t)} for t in CLINIC)
            return self.rows_of_people(visits & stays)
        _, _, table, *where = sql.split()[3:]
        tags = {tag for cell, tag in self.rows_read(table) if not where or _matches(cell, where)}
        if dataset == "clinic" and self.unit == "who":
            return self.rows_of_people({tag % PEOPLE for tag in tags})
        return {tag if dataset == "shop" else (table, tag) for tag in tags}

    def rows_read(self, table: str) -> list[tuple[int | None, int]]:
        """Return the rows of the held state that may count: complete ones where that is declared."""
        dataset = "clinic" if table in CLINIC else "shop"
        whole = self.complete and table != "stays"
        rows = self.read[f"{dataset}.{table}"]
        return [(cell, tag) for cell, tag in rows if not (whole and cell is None)]

    def rows_of_people(self, people: set[int]) -> set[object]:
        return {(table, tag) for table in CLINIC for who in people for tag in (who, who + PEOPLE)}

    def copy(self) -> None:
        table = self.public.choice([*sorted(self.sources), "visits"])
        dataset = "clinic" if table == "visits" else "shop"
        name, how = f"{dataset}.{table}", {"epsilon": 1, "method": "independent"}
        eve = self.curator.seen_by("eve")
        made = self.paid_for(lambda: eve.synthesize(name, **how, analyst="eve"))
        self.all_read(dataset, table, made)

    def release(self) -> None:
        self.releases += 1
        table = self.public.choice(sorted(self.sources))
        place = self.folder / f"release{self.releases}.toml"
        place.write_text(RELEASE.format(name=place.stem, table=table))
        out = place.with_suffix(".zip")
        self.all_read("shop", table, self.paid_for(lambda: self.curator.publish(place, out=out)))

    def all_read(self, dataset: str, table: str, made) -> None:
        """Bill everybody in a table for what was made of all its rows at epsilon 1."""
        if made is None:
            return
        self.told.append((table, made.free, made.cost.epsilon))
        assert not made.free
        for row in self.touched(dataset, f"SELECT COUNT(*) AS n FROM {table}"):
            self.lost[dataset, row] += 1

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
        self.constant, self.complete = (self.public.choice([True, False]) for _ in range(2))
        self.unit = self.public.choice(["who", "who", "row"])
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
            assert worst <= said <= self.limit, f"somebody lost {worst}, and the ledger says {said}"


def _matches(cell: int | None, where: list[str]) -> bool:
    return cell is not None and MATCHES[where[2]](cell, int(where[3]))


def rows_of(path) -> list[tuple[int | None, int]]:
    """Return (cell, tag) of the rows of a snapshot: the last number is the tag, the one before it the cell."""
    with closing(duckdb.connect(str(path), read_only=True)) as connection:
        columns = [row[0] for row in connection.execute("DESCRIBE t").fetchall()]
        cells = [name for name in columns if name.startswith("c")]
        return connection.execute(f"SELECT {cells[-2]}, {cells[-1]} FROM t").fetchall()


@pytest.fixture
def clock(monkeypatch):
    """Let histories have the time of their own."""
    running: list[History] = []
    monkeypatch.setattr(snapshots, "now", lambda: running[-1].clock if running else FIRST)
    return running


def lived(
    folder, refresh, seed, clock, *, rows: int | None = 0, follows=False, limit=LARGE
) -> History:
    """Return a history of so many steps; `rows` draws what happens to rows, None: nothing."""
    draw = None if rows is None else random.Random(f"rows {seed} {rows}")
    public = random.Random(f"public {seed}")
    history = History(folder, refresh, rows=draw, public=public, follows=follows, limit=limit)
    clock.append(history)
    try:
        for _ in range(STEPS):
            history.step()
    finally:
        history.curator.close()
        clock.pop()
    return history


BROKEN = "somebody lost|under another declaration"
"""What a twin breaks: which claim first is up to the dice."""


def live_on(folder, clock) -> None:
    """Live histories in which every change is seen, one after the other."""
    for seed in range(1, 21):
        lived(folder / str(seed), "on-change", seed, clock, follows=True)


@pytest.mark.parametrize("limit", [SMALL, LARGE])
@pytest.mark.parametrize("refresh", ["manual", "daily", "on-change"])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_bill_of_everybody_covers_what_was_read(tmp_path, clock, refresh, seed, limit):
    found = lived(tmp_path / "a", refresh, seed, clock, follows=True, limit=limit)
    assert found.lost, "somebody was asked about"
    assert bool(found.refused) is (limit == SMALL)


def test_the_twin_of_one_axis_for_all_versions_forgets_bills(tmp_path, clock, monkeypatch):
    def home(dataset, table, _snapshot):
        private = sorted(each.name for each in dataset.tables if not each.public)
        return Region.of({"tables": Positions.points([private.index(table.name)])})

    monkeypatch.setattr(sealing, "home", home)
    with pytest.raises(AssertionError, match=BROKEN):
        live_on(tmp_path, clock)


def test_the_twin_of_versions_that_come_back_forgets_bills(tmp_path, clock, monkeypatch):
    """Versions by content, as they once were: every reading has the number 1."""
    moved(tmp_path / "a", clock)
    monkeypatch.setattr(sealing, "axes_of", _numbered_1(sealing.axes_of))
    with pytest.raises(AssertionError, match="somebody lost"):
        moved(tmp_path / "b", clock)


def in_two_halves(folder, refresh, clock, first, between, second) -> None:
    """Live a history of two questions, with what is done between them."""
    history = History(folder, refresh, rows=None, public=random.Random(0))
    clock.append(history)
    try:
        history.ask(first)
        between(history)
        history.ask(second)
        history.check()
    finally:
        history.curator.close()
        clock.pop()


def declared_anew(folder, clock) -> None:
    """Ask twice, with a declaration in between that changes what is counted."""

    def between(history):
        history.constant = False
        history.reopen()

    question = "clinic", "SELECT COUNT(*) AS n FROM visits WHERE ward = 1", 1
    in_two_halves(folder, "manual", clock, question, between, question)


def moved(folder, clock) -> None:
    """Ask about somebody in one cell, and in another one once they have moved."""

    def between(history):
        history.wards[0] = [1]
        history.write()

    def question(ward):
        return "clinic", f"SELECT COUNT(*) AS n FROM visits WHERE ward = {ward}", 1

    in_two_halves(folder, "on-change", clock, question(0), between, question(1))


def test_the_twin_without_declarations_gives_an_old_answer(tmp_path, clock, monkeypatch):
    declared_anew(tmp_path / "a", clock)
    nothing = property(lambda group: dict.fromkeys(group.tables, ""))
    monkeypatch.setattr(snapshots.Group, "declared", nothing)
    with pytest.raises(AssertionError, match="under another declaration"):
        declared_anew(tmp_path / "b", clock)


def _numbered_1(axes_of):
    return lambda snapshots: axes_of(dict.fromkeys(snapshots, "1"))


@pytest.mark.parametrize("limit", [SMALL, LARGE])
@pytest.mark.parametrize("refresh", ["manual", "daily"])
@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_told_for_nothing_follows_from_public_facts(tmp_path, clock, refresh, seed, limit):
    still, moved = (
        lived(tmp_path / str(rows), refresh, seed, clock, rows=rows, limit=limit)
        for rows in (None, 0)
    )
    assert still.told == moved.told
    assert bool(moved.refused) is (limit == SMALL)


def test_on_change_is_public_by_name(tmp_path, clock):
    def told(seed, rows):
        return lived(tmp_path / f"{seed} {rows}", "on-change", seed, clock, rows=rows).told

    assert any(told(seed, None) != told(seed, 0) for seed in SEEDS)
