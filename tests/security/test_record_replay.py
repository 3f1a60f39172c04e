"""Tests 5, 9 and 15: nothing but the noisy values depends on the rows.

Record: run a question on D and keep what the mechanisms gave. Replay: run it on the neighbour D' and
give the same. Then everything else (SQL, charges, history, the answer to the last byte) is the same.
"""

from __future__ import annotations

import json
import random
from types import SimpleNamespace

import pytest

from curator_kit import (
    DATASET,
    SCHEMAS,
    MemoryEngine,
    arrow,
    catalog_of,
    replaced,
    without,
    world_rows,
)
from discreet.ask.release import answer as assembled
from discreet.ask.release.desk import Request
from discreet.ask.release.pipeline import prepared
from discreet.base.bill import Spent
from discreet.base.event import FREE
from discreet.curator import Curator
from discreet.errors import DiscreetError, EngineFailed
from discreet.privacy.kernel import look
from discreet.testing import FakeEngine, SeededRng
from queries import Questions
from sittings import FULL

AGGREGATES = (
    "SELECT COUNT(*) FROM people",
    "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex ORDER BY n DESC",
    "SELECT sex FROM people GROUP BY sex ORDER BY COUNT(*) DESC LIMIT 1",
    "SELECT COUNT(age), COUNT(DISTINCT age), COUNT(DISTINCT badge) FROM people",
    "SELECT zip, SUM(income), AVG(income) FROM people GROUP BY zip HAVING COUNT(*) > 2",
    "SELECT VAR_POP(balance), STDDEV(age) FROM people WHERE married",
    "SELECT MEDIAN(income), MIN(age), MAX(age), QUANTILE_CONT(balance, 0.9) FROM people",
    "SELECT sex, MEDIAN(age) FROM people GROUP BY sex",
    "SELECT SUM(age) FILTER (WHERE sex = 'Male') / COUNT(*) FROM people",
    "SELECT COUNT(*) FROM people WHERE age > 200",
    "SELECT z.state, COUNT(*) FROM people p JOIN zips z ON p.zip = z.zip GROUP BY z.state",
    "SELECT ward, COUNT(DISTINCT person), SUM(cost) FROM visits GROUP BY ward",
    (
        "SELECT AVG(n), AVG(total) FROM (SELECT person, COUNT(*) AS n, SUM(cost) AS total FROM visits "
        "GROUP BY person) AS s"
    ),
    "SELECT p.sex, AVG(v.cost) FROM patients p JOIN visits v ON p.person = v.person GROUP BY p.sex",
    "SELECT town, COUNT(*) FROM people GROUP BY town",
    "SELECT reason, SUM(cost) FROM visits GROUP BY reason",
)


NOISED = look.noised


def quote_of(request, catalog, ledger, engine):
    """Return the plan and the price of a request."""
    desk = SimpleNamespace(catalog=catalog, ledger=ledger, engine=engine)
    with prepared(request, desk) as (ready, _held):
        return ready


class Recorder:
    """Stands where noise is added: keeps what came out the first time and gives it again."""

    def __init__(self) -> None:
        self.given: dict[str, list] = {}
        self.calls: list[tuple] = []
        self.replaying = False

    def noised(self, exact, mechanisms, rng):
        size = len(exact.groups) if mechanisms.threshold is None else "private"
        self.calls.append((repr(mechanisms), size))
        key = str(len(self.calls))
        if not self.replaying:
            self.given[key] = NOISED(exact, mechanisms, rng)
        return self.given[key]


class CountingRng(SeededRng):
    """Remembers how many words were asked for at a time."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.sizes: list[int] = []

    def words(self, count):
        self.sizes.append(count)
        return super().words(count)


def ledger_story(curator: Curator) -> list[str]:
    """Return the ledger's entries without what a clock and hashes put there."""
    clock = {"time", "at", "when", "hash", "previous", "ledger"}
    story = []
    for entry in curator.ledger.history():
        data = {name: value for name, value in entry.data.items() if name not in clock}
        story.append(json.dumps(data, sort_keys=True, default=str))
    return story


def told(curator: Curator, sqls: list[str]) -> list[str]:
    """Return everything that an analyst gets to see, as text."""
    said = []
    for i, sql in enumerate(sqls):
        try:
            plan = curator.explain(sql, epsilon="0.5")
            answer = curator.query(sql, epsilon="0.5", request_id=f"r{i}")
            said += [json.dumps(plan.to_json()), json.dumps(answer.to_json()), repr(answer)]
            said += [
                answer.to_csv(),
                answer._repr_html_(),
                json.dumps(answer.plot().spec, default=str),
            ]
        except DiscreetError as error:
            said.append(json.dumps(error.to_json()))
        said.append(json.dumps(curator.budget_report(), default=str))
    return said


def pair(seed: int, catalog):
    rng = random.Random(seed)
    engine = MemoryEngine({n: arrow(n, r) for n, r in world_rows(rng).items()}, hide=True)
    unit = rng.randint(0, 11)
    other = engine
    for dataset in ("census", "clinic"):
        if catalog.datasets[dataset].neighbours.moves == 1:
            other = other.beside(without(engine, dataset, unit).places | _kept(other, dataset))
        else:
            other = other.beside(
                replaced(engine, dataset, unit, rng).places | _kept(other, dataset)
            )
    engine.asked, other.asked = [], []
    return engine, other


def _kept(engine, dataset):
    return {n: p for n, p in engine.places.items() if not n.startswith(f"{dataset}.")}


def replay(folder, sqls, seed, monkeypatch, neighbours="add-remove"):
    """Return what was told, asked and written on D and on D'."""
    recorder = Recorder()
    monkeypatch.setattr(look, "noised", recorder.noised)
    found = []
    for name in ("one", "two"):
        (folder / name).mkdir()
        catalog = catalog_of(folder / name, neighbours=neighbours)
        engines = pair(seed, catalog)
        engine = engines[0] if name == "one" else engines[1]
        recorder.replaying, recorder.calls = name == "two", []
        with Curator(catalog, engine=engine, rng=SeededRng(seed)) as curator:
            found.append((told(curator, sqls), engine.asked, ledger_story(curator), recorder.calls))
    return found


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_everything_but_the_noisy_values_is_the_same_on_neighbours(
    tmp_path, monkeypatch, neighbours, record_property
):
    questions = Questions(random.Random(5 + (neighbours == "add-remove")))
    # Each statement on one kind of neighbours at least, and others of random ones on each.
    asked = AGGREGATES if FULL else AGGREGATES[neighbours == "add-remove" :: 2]
    sqls = [*asked, *(questions.question() for _ in range(5 if FULL else 3))]
    one, two = replay(tmp_path, sqls, 5, monkeypatch, neighbours)
    for first, second in zip(one, two, strict=True):
        assert first == second
    assert len(one[3]) > 2 / 3 * len(sqls), "hardly anything was answered"
    record_property("questions replayed on neighbours, 0 differences", len(sqls))


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("seed", range(20))
def test_everything_but_the_noisy_values_is_the_same_in_full(tmp_path, monkeypatch, seed):
    questions = Questions(random.Random(500 + seed))
    sqls = [questions.question() for _ in range(500)]
    neighbours = ("add-remove", "replace-one")[seed % 2]
    one, two = replay(tmp_path, sqls, 500 + seed, monkeypatch, neighbours)
    for first, second in zip(one, two, strict=True):
        assert first == second


def test_a_curator_that_shows_how_many_rows_it_read_is_caught(tmp_path, monkeypatch):
    """The broken twin: one exact number in the notes of an answer."""
    real = look.exact
    counted = []

    def counting(*args, **named):
        exact = real(*args, **named)
        counted.append(sum(map(sum, exact.measures.values())))
        return exact

    monkeypatch.setattr(look, "exact", counting)
    notes = assembled.notes_of
    monkeypatch.setattr(
        assembled, "notes_of", lambda ready: (*notes(ready), f"{counted[-1:]} rows were read.")
    )
    one, two = replay(tmp_path, list(AGGREGATES[:4]), 7, monkeypatch)
    assert one[0] != two[0]


def test_the_same_number_of_random_words_is_drawn_whatever_the_rows_say(tmp_path):
    """Additive noise on public groups: chance is asked for by public sizes only."""
    sqls = [sql for sql in AGGREGATES if "MEDIAN" not in sql and "town" not in sql]
    sqls = [sql for sql in sqls if "reason" not in sql and "LIMIT 1" not in sql]
    sizes = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        catalog = catalog_of(tmp_path / name)
        engines = pair(15, catalog)
        rng = CountingRng(15)
        engine = engines[0] if name == "one" else engines[1]
        with Curator(catalog, engine=engine, rng=rng) as curator:
            for i, sql in enumerate(sqls):
                curator.query(sql, epsilon="0.5", request_id=f"r{i}")
        sizes.append(rng.sizes)
    assert sizes[0] == sizes[1]
    assert len(sizes[0]) >= len(sqls)


# -- the price -------------------------------------------------------------------------------------

_TYPES = {"int64": "BIGINT", "string": "VARCHAR", "double": "DOUBLE", "bool": "BOOLEAN"}


def absent_engine() -> FakeEngine:
    """Return an engine that knows column types and has no rows at all."""
    return FakeEngine(
        {
            f"{DATASET[name]}.{name}": {
                field.name: _TYPES.get(str(field.type), "DATE") for field in schema
            }
            for name, schema in SCHEMAS.items()
        }
    )


def test_the_price_with_the_data_absent_is_the_charge(tmp_path, record_property):
    rng = random.Random(9)
    questions = Questions(rng)
    engine = MemoryEngine({n: arrow(n, r) for n, r in world_rows(rng).items()}, hide=True)
    absent = absent_engine()
    catalog = catalog_of(tmp_path)
    asked, charged = 60 if FULL else 16, 0
    with Curator(catalog, engine=engine, rng=SeededRng(9)) as curator:
        for i in range(asked):
            sql = AGGREGATES[i] if i < len(AGGREGATES) else questions.question()
            epsilon = rng.choice(["0.1", "1/3", "2"])
            request = Request.of(sql, epsilon=epsilon, request_id=f"r{i}", fresh=True)
            try:
                ready = quote_of(request, catalog, curator.ledger, absent)
            except DiscreetError as refused:
                with pytest.raises(type(refused)):
                    curator.query(sql, epsilon=epsilon, request_id=f"r{i}", fresh=True)
                continue
            answer = curator.query(sql, epsilon=epsilon, request_id=f"r{i}", fresh=True)
            last = curator.ledger.history(ready.payer.budget, last=1)[0]
            assert answer.cost == Spent.of(ready.quote.cost), sql
            assert last.data["cost"] == ready.quote.cost.to_json(), sql
            charged += ready.quote.cost != FREE
    assert absent.ran == []
    assert charged > asked / 2
    record_property("prices with the data absent, all equal to the charge", charged)


def test_a_failing_engine_is_charged_like_a_working_one(tmp_path):
    costs = []
    for name, engine in (("broken", absent_engine()), ("sound", None)):
        (tmp_path / name).mkdir()
        rows = world_rows(random.Random(9))
        sound = MemoryEngine({n: arrow(n, r) for n, r in rows.items()})
        with Curator(catalog_of(tmp_path / name), engine=engine or sound) as curator:
            if engine is None:
                curator.query(AGGREGATES[1], epsilon="0.5")
            else:
                with pytest.raises(EngineFailed):
                    curator.query(AGGREGATES[1], epsilon="0.5")
            costs.append(curator.ledger.spent("census").epsilon)
    assert costs[0] == costs[1] > 0


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_the_price_with_the_data_absent_in_full(tmp_path):
    """The quote of 10,000 questions, with rows and without: prepare() cannot tell them apart."""
    rng = random.Random(99)
    questions = Questions(rng)
    engine = MemoryEngine({n: arrow(n, r) for n, r in world_rows(rng).items()})
    absent = absent_engine()
    catalog = catalog_of(tmp_path)
    with Curator(catalog, engine=engine) as curator:
        for i in range(10_000):
            request = Request.of(questions.question(), epsilon="0.5", request_id=f"r{i}")
            quotes = []
            for chosen in (absent, engine):
                try:
                    ready = quote_of(request, catalog, curator.ledger, chosen)
                    quotes.append(ready.quote)
                except DiscreetError as refused:
                    quotes.append(str(refused))
            assert quotes[0] == quotes[1], request.sql
    assert engine.asked == absent.ran == []
