"""Columns of reports on every engine: counted alike, and what no device can make is left out alike."""

import numpy as np
import pyarrow as pa
import pytest

from discreet.errors import InvalidInput
from discreet.noise.rng import SystemRng
from discreet.survey.collect.columns import ColumnReports
from discreet.survey.spec.plan import SurveyPlan
from discreet.survey.spec.read import survey_of
from engines import ENGINES, engine_place

QUESTIONS = {
    "smokes": {"kind": "yes-no"},
    "letter": {"kind": "choice", "options": list("abcde"), "mechanism": "rappor"},
}
PLAN = SurveyPlan.of(survey_of({"title": "t", "epsilon": 4, "questions": QUESTIONS}, name="s"))
BAD = {"q0": [2, -1, None, None], "q1": [None, None, b"\x00\x00", b"\x01"]}


@pytest.mark.parametrize("kind", ENGINES)
def test_every_engine_counts_alike(kind, tmp_path):
    first, second = (choice.randomizer for choice in PLAN.choices)
    told = first.encode_many(np.arange(300) % 2, SystemRng())
    bits = second.encode_many(np.arange(300) % 5, SystemRng())
    rows = {
        "q0": pa.array([*told.tolist(), *BAD["q0"]], type=pa.int32()),
        "q1": pa.array([*(bytes(each) for each in bits), *BAD["q1"]], type=pa.binary()),
    }
    wrong = {**rows, "q0": pa.array(["1"] * 304)}
    place = engine_place(kind, {"reports": pa.table(rows), "wrong": pa.table(wrong)}, tmp_path)
    engine = place.open()
    try:
        held = ColumnReports(engine, "reports", PLAN)
        assert [each.answers for each in held.tallies()] == [300, 300]
        assert np.array_equal(held.tallies()[0].tally, first.tally(told))
        assert np.array_equal(held.tallies()[1].tally, second.tally(bits))
        assert held.refused() == {"impossible report": 4}
        (one, two), times = held.pairs(("smokes", "letter"))
        assert len(one) == len(two) == len(times)
        assert times.sum() == 300
        assert held.least_alike() == 1  # the string with a spare bit stands alone
        with pytest.raises(InvalidInput, match="q0"):
            ColumnReports(engine, "wrong", PLAN)
    finally:
        engine.close()
