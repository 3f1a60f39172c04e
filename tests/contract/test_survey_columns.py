"""Columns of reports on every engine: counted alike, and what no device can make is left out alike."""

import numpy as np
import pyarrow as pa
import pytest

from discreet.data.engines.base import open_exact
from discreet.data.engines.functions import function
from discreet.errors import InvalidInput
from discreet.privacy.noise.rng import SystemRng
from discreet.survey import columns as bit_columns
from discreet.survey.columns import ColumnReports
from discreet.survey.plan import SurveyPlan
from discreet.survey.specification import survey_of
from engines import ENGINES, engine_place

LETTERS = {"kind": "choice", "options": list("abcde")}
WORDS = {"kind": "open", "rows": 4, "buckets": 16}
QUESTIONS = {
    "smokes": {"kind": "yes-no"},
    "letter": LETTERS | {"mechanism": "rappor"},
    "street": {"kind": "choice", "options": [str(at) for at in range(139)], "mechanism": "unary"},
    "word": WORDS,
    "again": WORDS | {"mechanism": "rappor-sketch", "buckets": 128},
}
PLAN = SurveyPlan.of(survey_of({"title": "t", "epsilon": 10, "questions": QUESTIONS}, name="s"))
RANDOMIZERS = [choice.randomizer for choice in PLAN.choices]
COUNT = 300
NOTHING = dict.fromkeys(f"q{at}" for at in range(len(QUESTIONS)))
BAD = [
    NOTHING,
    NOTHING | {"q0": 2},
    NOTHING | {"q0": -1},
    NOTHING | {"q1": b"\x00\x00"},
    NOTHING | {"q0": 1, "q1": b"\x01"},  # a spare bit spoils the donation, also its good report
    NOTHING | {"q2": b""},
    NOTHING | {"q2": bytes(17) + b"\x01"},
    NOTHING | {"q3": b"\x00\x04\x00\x00"},  # row 4 of 4
    NOTHING | {"q3": b"\x01\x00\x00\x00"},
    NOTHING | {"q4": bytes(17)},
]
TYPES = [("q0", pa.int32()), *((f"q{at}", pa.binary()) for at in range(1, len(QUESTIONS)))]


def made():
    """Return reports to each question, every third one left out of the last."""
    codes = np.arange(COUNT)
    words = [f"w{code % 7}" for code in codes]
    told = [
        RANDOMIZERS[0].encode_many(codes % 2, SystemRng()),
        RANDOMIZERS[1].encode_many(codes % 5, SystemRng()),
        RANDOMIZERS[2].encode_many(codes % 139, SystemRng()),
        RANDOMIZERS[3].encode_many(words, SystemRng()),
        RANDOMIZERS[4].encode_many(words, SystemRng()),
    ]
    columns = [[bytes(each) for each in some] if some.ndim == 2 else some.tolist() for some in told]
    columns[-1] = [each if at % 3 else None for at, each in enumerate(columns[-1])]
    told[-1] = told[-1][np.arange(COUNT) % 3 != 0]
    rows = [{f"q{at}": each for at, each in enumerate(row)} for row in zip(*columns, strict=True)]
    return told, pa.Table.from_pylist([*rows, *BAD], schema=pa.schema(TYPES))


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.slow_on_spark
def test_every_engine_counts_alike(kind, tmp_path, monkeypatch):
    told, table = made()
    wrong = table.set_column(0, "q0", pa.array(["1"] * len(table)))
    empty = table.slice(0, 0)
    sources = {"reports": table, "wrong": wrong, "empty": empty}
    engine = engine_place(kind, sources, tmp_path).open()
    try:
        held = ColumnReports(engine, "reports", PLAN)
        for found, reports, randomizer in zip(held.tallies(), told, RANDOMIZERS, strict=True):
            assert found.answers == len(reports)
            assert np.array_equal(found.tally, randomizer.tally(reports))
        assert held.refused() == {"impossible report": len(BAD)}
        (one, two), times = held.pairs(("smokes", "letter"))
        assert len(one) == len(two) == len(times)
        assert times.sum() == COUNT
        assert held.least_alike() == COUNT // 3
        for found in ColumnReports(engine, "empty", PLAN).tallies():
            assert (found.answers, found.tally.sum()) == (0, 0)
        with pytest.raises(InvalidInput, match="q0"):
            ColumnReports(engine, "wrong", PLAN)
        beside = [each.tally for each in held.tallies()]
        monkeypatch.setattr(bit_columns, "MOST_BESIDE", 2)  # as if there were billions
        for found, before in zip(held.tallies(), beside, strict=True):
            assert np.array_equal(found.tally, before)
    finally:
        engine.close()


@pytest.mark.parametrize("kind", ENGINES)
def test_bytes_are_read_as_numbers_alike_and_nothing_raises(kind, tmp_path):
    strings = [b"", b"\x00", b"\xff\x01", bytes(range(1, 9)), b"\xff" * 9, b"\x80" + bytes(7), None]
    table = pa.table({"place": range(len(strings)), "q": pa.array(strings, type=pa.binary())})
    engine = engine_place(kind, {"strings": table}, tmp_path).open()
    try:
        dialect = engine.capabilities.dialect
        cells = [
            function("whole_of_bytes", dialect, "q", *asked) for asked in (("1", "8"), ("2", "1"))
        ]
        shifted = function("shift_right", dialect, cells[0], "3")
        named = ", ".join(f"{cell} AS c{at}" for at, cell in enumerate([*cells, shifted]))
        found = open_exact(
            engine.owner_reader().run(f"SELECT place, {named} FROM {engine.relation('strings')}")
        )
    finally:
        engine.close()
    for row in found.to_pylist():
        text = strings[row["place"]] or b""
        for part, number in ((text[:8], row["c0"]), (text[1:2], row["c1"])):
            assert (number or 0) == int.from_bytes(part, "big", signed=len(part) == 8)
        assert (row["c2"] or 0) == (row["c0"] or 0) >> 3
