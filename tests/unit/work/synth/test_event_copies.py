"""Events in time: days never run backwards, later rows hang on earlier ones, people's rows are bounded."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.ask.release.snapshots import hold_tables
from discreet.curator import Curator
from discreet.data.catalog.policy_file import load
from discreet.data.engines.base import open_exact
from discreet.errors import CatalogError, InvalidInput, UnknownName
from discreet.measure.columns import Bins, outline_of
from discreet.testing import SeededRng
from discreet.work.synth.linked_model import (
    linked_tables,
    moments_in_order,
    pack_linked,
    unpack_linked,
)
from discreet.work.synth.linked_rows import (
    columns_of,
    event_columns,
    seal_first,
    seal_later,
    tree_of,
)
from discreet.work.synth.prepare import preview_of
from permits import paid

TOML = """
[datasets.clinic]
epsilon = 100
delta = 1e-6
[datasets.clinic.tables.people]
source = "people.parquet"
unit = "id"
max_rows = 1
[datasets.clinic.tables.people.columns]
id = { type = "identifier" }
sex = { type = "category", values = ["F", "M"] }
[datasets.clinic.tables.visits]
source = "visits.parquet"
unit = "id"
max_rows = 4
events = "day"
[datasets.clinic.tables.visits.columns]
nr = { type = "identifier" }
id = { type = "identifier" }
day = { type = "date", lower = 2020-01-01, upper = 2021-12-31 }
kind = { type = "category", values = ["a", "b"] }
[datasets.clinic.tables.tests]
source = "tests.parquet"
unit = "id"
max_rows = 8
parent = "visits"
events = "taken"
rules = ["level <> 0"]
[datasets.clinic.tables.tests.columns]
nr = { type = "identifier" }
id = { type = "identifier" }
taken = { type = "timestamp", lower = 2020-01-01T00:00:00, upper = 2022-06-30T23:59:59 }
level = { type = "integer", lower = 0, upper = 3 }
"""
PEOPLE = 800
START = np.datetime64("2020-01-01")


def _tables(many: np.ndarray) -> dict[str, pa.Table]:
    """Women come first in 2020, men in 2021; kinds take turns; after a 3 days pass, after b 40."""
    rng = np.random.default_rng(5)
    sex = np.arange(PEOPLE) % 2
    who = np.repeat(np.arange(PEOPLE), many)
    step = np.concatenate([np.arange(each) for each in many])
    kind = (who // 2 + step) % 2
    start = rng.integers(0, 300, PEOPLE) + 366 * sex
    gap = np.where(kind == 1, 3, 40)  # after the kind before, which is the other one
    gap[step == 0] = 0
    day = start[who]
    for i in range(1, len(day)):
        if who[i] == who[i - 1]:
            day[i] = day[i - 1] + gap[i]
    day = np.minimum(day, 730)
    mixed = rng.permutation(len(who))
    visits = {
        "nr": np.arange(len(who))[mixed],
        "id": who[mixed],
        "day": pa.array((START + day.astype("timedelta64[D]"))[mixed]),
        "kind": [("a", "b")[i] for i in kind[mixed]],
    }
    which = np.repeat(np.arange(len(who)), 2)
    level = np.tile([0, 1], len(who))
    moment = (START + day[which].astype("timedelta64[D]")).astype("datetime64[s]")
    tests = {
        "nr": which,
        "id": who[which],
        "taken": pa.array(moment + np.tile([3600, 7200], len(who)).astype("timedelta64[s]")),
        "level": level,
    }
    people = {"id": np.arange(PEOPLE), "sex": [("F", "M")[i] for i in sex]}
    return {
        "people": pa.table(people),
        "visits": pa.table(visits),
        "tests": pa.table(tests),
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("events")
    many = np.arange(PEOPLE) // 2 % 4
    many[0] = 30
    for name, table in _tables(many).items():
        pq.write_table(table, place / f"{name}.parquet")
    (place / "discreet.toml").write_text(TOML, encoding="utf-8")
    return place


@pytest.fixture(scope="module")
def made(folder):
    """A copy with seeded noise and seeded rows: what is said of it is so in every run.

    With fresh noise a fit may miss its own tables, and simpler models step in (test_trusted_fit).
    """
    with Curator(load(folder / "discreet.toml"), rng=SeededRng(1)) as curator:
        found = curator.synthesize_linked("clinic", epsilon=30, request_id="one")
    return replace(found, tables=linked_tables(found.model, seed=1))


def _days(table: pa.Table, name: str) -> np.ndarray:
    return np.array(table.column(name).to_pylist(), dtype="datetime64[s]")


def _in_order(table: pa.Table, key: str, name: str) -> bool:
    """Return whether rows of one key, as they are written, never run backwards."""
    keys, moments = np.array(table.column(key).to_pylist()), _days(table, name)
    order = np.argsort(keys, kind="stable")
    keys, moments = keys[order], moments[order]
    same = keys[1:] == keys[:-1]
    return bool((moments[1:] >= moments[:-1])[same].all())


def test_days_never_run_backwards(made, folder):
    assert _in_order(made.tables["visits"], "id", "day")
    assert _in_order(made.tables["tests"], "nr", "taken")
    # The test could have failed: the real rows are not written in order.
    assert not _in_order(pq.read_table(folder / "visits.parquet"), "id", "day")


def test_the_first_day_hangs_on_the_parent(made):
    people = made.tables["people"].to_pydict()
    sex = dict(zip(people["id"], people["sex"], strict=True))
    visits = made.tables["visits"].to_pydict()
    first = {}
    for who, day in zip(visits["id"], visits["day"], strict=True):
        first.setdefault(who, day)
    right = [(day.year == 2020) == (sex[who] == "F") for who, day in first.items()]
    assert np.mean(right) > 0.9


def test_what_follows_hangs_on_what_was_before(made):
    visits = made.tables["visits"]
    who = np.array(visits.column("id").to_pylist())
    days = _days(visits, "day").astype("datetime64[D]").astype(int)
    kind = np.array(visits.column("kind").to_pylist())
    later = np.flatnonzero(who[1:] == who[:-1]) + 1
    assert np.mean(kind[later] != kind[later - 1]) > 0.9
    gaps = (days[later] - days[later - 1])[kind[later] == "b"]
    assert np.mean(np.abs(gaps - 3) <= 1) > 0.8
    gaps = (days[later] - days[later - 1])[kind[later] == "a"]
    assert np.mean(np.abs(gaps - 40) <= 10) > 0.8


def test_a_kept_model_draws_the_same_rows(made):
    kept = unpack_linked(pack_linked(made.model))
    ours, theirs = (linked_tables(each, 60, seed=3) for each in (made.model, kept))
    assert all(ours[name].equals(theirs[name]) for name in ours)
    assert made.to_json()["agreement"] >= 1e-6


def test_rules_hold_below_people_too(made):
    """Half of the real tests have level 0: without the rule, half of the copy's would."""
    levels = made.tables["tests"].column("level").to_pylist()
    assert levels
    assert 0 not in levels


def test_moments_of_one_day_are_put_in_order():
    moments = pa.array([50, 10, 5, 7], pa.timestamp("s"))
    table = pa.table({"x": [1, 2, 3, 4], "at": moments})
    found = moments_in_order(table, 1, np.array([0, 0, 1, 1]))
    assert found.column("at").cast(pa.int64()).to_pylist() == [10, 50, 5, 7]
    assert found.column("x").to_pylist() == [1, 2, 3, 4]


def _sealed(curator, name: str, most: int):
    tree = tree_of(curator.catalog.datasets["clinic"])
    encodings = {
        node.name: preview_of(
            outline_of(
                curator.catalog,
                f"clinic.{node.name}",
                bins=Bins.AUTO,
                has_delta=True,
                many=True,
            )
        )
        for node in tree.tables
    }
    node = tree.of(name)
    split = event_columns(node, columns_of(node, tree, encodings))
    return [seal(node, tree, split, most, curator) for seal in (seal_first, seal_later)]


def test_the_kernel_reads_the_bound_off_the_sql(folder):
    """Person 0 has 30 visits: what is counted of anybody is what the noise is for."""
    with discreet.open(folder) as curator:
        for most in (1, 3):
            assert [each.unit.rows for each in _sealed(curator, "visits", most)] == [1, most]
            assert [each.unit.rows for each in _sealed(curator, "tests", most)] == [most, most]


Codes = dict[tuple[str, int], list[list[tuple]]]


def _rows(folder) -> Codes:
    """Return the codes of first and later rows, for some tables and bounds."""
    found: Codes = {}
    with discreet.open(folder) as curator:
        dataset = curator.catalog.datasets["clinic"]
        tables = [(dataset, table) for table in dataset.tables]
        with hold_tables(tables, curator) as held:
            for name, most in (("visits", 1), ("visits", 4), ("tests", 2)):
                read = [
                    open_exact(paid(held).run(each.sql, seconds=60))
                    for each in _sealed(curator, name, most)
                ]
                found[name, most] = [
                    sorted(zip(*table.to_pydict().values(), strict=True)) for table in read
                ]
    return found


@pytest.fixture(scope="module")
def codes(folder) -> Codes:
    return _rows(folder)


def test_a_person_more_or_less_moves_few_rows(folder, codes, tmp_path):
    """Without person 0, who has 30 visits, at most `most` rows of codes are gone, none is new."""
    for table in ("people", "visits", "tests"):
        rows = pq.read_table(folder / f"{table}.parquet")
        keep = np.array(rows.column("id").to_pylist()) != 0
        pq.write_table(rows.filter(pa.array(keep)), tmp_path / f"{table}.parquet")
    (tmp_path / "discreet.toml").write_text(TOML, encoding="utf-8")
    for (name, most), fewer in _rows(tmp_path).items():
        for before, after in zip(codes[name, most], fewer, strict=True):
            gone = Counter(before)
            gone.subtract(Counter(after))
            assert min(gone.values()) >= 0
            assert gone.total() <= most
            assert gone.total() >= (name == "visits")


def test_every_later_row_meets_the_one_before_it(folder, codes):
    """Brute force: gaps in the codes are those between neighbouring days of each person."""
    _, later = codes["visits", 4]
    visits = pq.read_table(folder / "visits.parquet")
    who, days = np.array(visits.column("id").to_pylist()), _days(visits, "day")
    days = days.astype("datetime64[D]").astype(int)
    gaps: list[int] = []
    for person in range(1, PEOPLE):
        gaps += np.diff(np.sort(days[who == person])).tolist()
    found = [row[0] for row in later]
    assert 0 <= len(found) - len(gaps) <= 3
    assert sum(gap == 3 for gap in gaps) <= found.count(3) <= sum(gap == 3 for gap in gaps) + 3


def test_a_wrong_day_is_refused_by_the_catalog(folder, tmp_path):
    for wrong in ("kind", "nowhere"):
        text = TOML.replace('events = "day"', f'events = "{wrong}"')
        (tmp_path / "discreet.toml").write_text(text, encoding="utf-8")
        with pytest.raises(CatalogError, match="events must name"):
            discreet.open(tmp_path)


@pytest.mark.parametrize("case", ["root", "hidden", "decided", "unread"])
def test_events_without_a_day_are_refused_before_the_charge(folder, tmp_path, case):
    for name in ("people", "visits", "tests"):
        (tmp_path / f"{name}.parquet").symlink_to(folder / f"{name}.parquet")
    wrong = {
        "decided": TOML.replace('events = "day"', 'events = "day"\nrules = ["day = day + 1"]'),
        "unread": TOML.replace("level <> 0", "nothing <> 0"),
        "hidden": TOML.replace("upper = 2021-12-31 }", "upper = 2021-12-31, hidden = true }"),
        "root": TOML.replace(
            'id = { type = "identifier" }\nsex',
            'id = { type = "identifier" }\nborn = { type = "date", lower = 1990-01-01, upper = 1991-01-01 }\nsex',
        ).replace("max_rows = 1\n", 'max_rows = 1\nevents = "born"\n'),
    }
    if case == "root":
        rows = pq.read_table(folder / "people.parquet")
        born = pa.array(np.full(len(rows), 20 * 366), pa.int32()).cast(pa.date32())
        (tmp_path / "people.parquet").unlink()
        pq.write_table(rows.append_column("born", born), tmp_path / "people.parquet")
    (tmp_path / "discreet.toml").write_text(wrong[case], encoding="utf-8")
    with discreet.open(tmp_path) as curator:
        with pytest.raises((InvalidInput, UnknownName)):
            curator.synthesize_linked("clinic", epsilon=1)
        assert curator.ledger.spent("clinic", None).epsilon == 0
