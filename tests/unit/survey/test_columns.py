"""Columns of reports in an engine: counted as the store counts, and not believed."""

import time
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.data.engines.connect import connect
from discreet.errors import InvalidInput, UnknownName
from discreet.survey import store as state
from discreet.survey.columns import ColumnReports
from discreet.survey.command import close_survey, estimate_survey
from discreet.survey.device import Device
from discreet.survey.results import EstimateRequest
from discreet.survey.store import COLUMNS, SurveyStore

TOML = """
title = "Class"
epsilon = 30
[questions.smokes]
kind = "yes-no"
[questions.street]
kind = "choice"
options = ["a", "b", "c"]
mechanism = "unary"
[questions.word]
kind = "open"
rows = 16
buckets = 64
"""
ANSWERS = {"smokes": "yes", "street": "b", "word": "tea"}
WANTED = EstimateRequest({"word": ["tea", "milk"]}, cross=("smokes", "street"))


@pytest.fixture(autouse=True)
def one_day(monkeypatch):
    """It stays the day on which a test began: a midnight would make it two."""
    now = time.time()
    monkeypatch.setattr(state, "time", SimpleNamespace(time=lambda: now))


@pytest.fixture
def store(tmp_path):
    (tmp_path / "class.toml").write_text(TOML, encoding="utf-8")
    found = SurveyStore.create(tmp_path / "class.toml", tmp_path)
    answers = [ANSWERS] * 40 + [ANSWERS | {"smokes": None}] * 30
    given = [Device().donate(found.plan, each).to_cbor() for each in answers]
    assert found.take_cbor(given).accepted == 70
    return found


@pytest.fixture
def engine_of(tmp_path):
    """Return a function that gives an engine with tables of these contents."""
    engines = []

    def made(**tables):
        for name, table in tables.items():
            pq.write_table(table, tmp_path / f"{name}.parquet")
        sources = {name: f"{name}.parquet" for name in tables}
        engines.append(connect("duckdb:", sources, base=tmp_path))
        return engines[-1]

    yield made
    for engine in engines:
        engine.close()


JUNK = [
    {"q0": 250, "q1": None, "q2": None},  # beyond the last answer
    {"q0": -1, "q1": None, "q2": None},  # would count as the last cell from the end
    {"q0": None, "q1": b"\xff", "q2": None},  # a bit beyond the third option
    {"q0": None, "q1": b"", "q2": None},
    {"q0": None, "q1": b"\x00\x00", "q2": None},  # together with the one above: as if two
    {"q0": None, "q1": None, "q2": b"\x00\x10" + bytes(8)},  # row 16 of 16
    {"q0": 1, "q1": None, "q2": bytes(9)},  # one bad report spoils its donation, and no other
    {"q0": None, "q1": None, "q2": None},
]
WIDE = pa.schema([("q0", pa.int64()), ("q1", pa.binary()), ("q2", pa.binary())])


def crossed(found):
    """Return the numbers of a cross table in one list; engines add up in any order."""
    cells = [each for row in found["cross"]["estimates"].values() for each in row.values()]
    return [number for each in cells for number in each.values()]


def test_an_engine_counts_as_the_store_does_and_leaves_out_what_no_device_makes(
    store, tmp_path, engine_of
):
    path = store.close()
    assert path.stat().st_mode & 0o777 == 0o600
    written = pq.read_table(path)
    mixed = pa.concat_tables([written.cast(WIDE), pa.Table.from_pylist(JUNK, schema=WIDE)])
    engine = engine_of(written=written, mixed=mixed)
    own = estimate_survey("class", tmp_path, wanted=WANTED)
    same = estimate_survey("class", tmp_path, wanted=WANTED, columns=(engine, "written"))
    assert crossed(same) == pytest.approx(crossed(own))
    assert same == {**own, "cross": same["cross"]}
    assert same["questions"]["smokes"]["answers"] == 40
    found = estimate_survey("class", tmp_path, wanted=WANTED, columns=(engine, "mixed"))
    assert found["refused"] == {"impossible report": len(JUNK)}
    assert crossed(found) == pytest.approx(crossed(own))
    assert found["questions"] == own["questions"]


def test_columns_that_are_missing_or_of_another_type_are_refused(store, engine_of):
    good = pq.read_table(store.close())
    wrong = [
        ("q0", pa.string()),
        ("q0", pa.float64()),  # halves would be cut off
        ("q0", pa.binary()),
        ("q1", pa.string()),
        ("q1", pa.int64()),
    ]
    tables = {
        f"t{at}": good.set_column(int(name[1]), name, pa.nulls(len(good), kind))
        for at, (name, kind) in enumerate(wrong)
    }
    engine = engine_of(good=good, less=good.drop(["q2"]), **tables)
    assert ColumnReports(engine, "good", store.plan).reports() == 70
    for at, (name, _) in enumerate(wrong):
        with pytest.raises(InvalidInput, match=name):
            ColumnReports(engine, f"t{at}", store.plan)
    with pytest.raises(InvalidInput, match="q2"):
        ColumnReports(engine, "less", store.plan)
    with pytest.raises(UnknownName):
        ColumnReports(engine, 'good" UNION SELECT * FROM "less', store.plan)


def test_closing_again_replaces_the_file_as_a_whole(store, tmp_path):
    first = store.close().read_bytes()
    assert pq.read_table(store.folder / COLUMNS).num_rows == 70
    (store.folder / COLUMNS).write_bytes(b"half of it")
    close_survey("class", tmp_path)
    assert (store.folder / COLUMNS).read_bytes() == first
    assert [each.name for each in store.folder.glob(".*")] == []


def test_a_file_that_cannot_be_written_leaves_the_old_one(store, monkeypatch):
    first = store.close().read_bytes()

    def fails(*_):
        raise OSError("disk full")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", fails)
    with pytest.raises(OSError, match="disk full"):
        store.close()
    assert (store.folder / COLUMNS).read_bytes() == first
    assert [each.name for each in store.folder.glob(".*")] == []
