import re

import pyarrow as pa
import pytest

from discreet.anonymize.release import KS, curve
from discreet.anonymize.run import AnonymizeRequest
from discreet.anonymize.source import narrowed
from discreet.testing import FakeEngine

AGES = pa.table({"age": list(range(40)), "rows": [3] * 40})


def source():
    def answer(sql):
        count = re.search(r"COUNT\(\*\) AS \"?(\w+)", sql)[1]
        return AGES.rename_columns(["age", count]) if "GROUP BY" in sql else pa.table({"n": [120]})

    return narrowed(FakeEngine({"t": {"age": "BIGINT"}}, answers=answer), "t", "t")


def test_more_alike_is_less_risk_and_less_detail():
    told = []
    before, points = curve(
        source(), AnonymizeRequest.of(k=5, quasi=["age"]), progress=lambda *step: told.append(step)
    )
    assert [point.k for point in points] == list(KS)
    assert before.prosecutor.average == pytest.approx(1 / 3)
    risks = [point.risk.prosecutor.average for point in points]
    losses = [point.loss for point in points]
    assert risks == sorted(risks, reverse=True)
    assert losses == sorted(losses)
    assert risks[0] > risks[-1]
    assert losses[0] < losses[-1]
    assert told[-1][0] == told[-1][1]


def test_what_is_impossible_says_why_and_the_rest_goes_on():
    _, points = curve(source(), AnonymizeRequest.of(k=5, quasi=["age"]), ks=(5, 500))
    assert points[0].risk is not None
    assert points[1].risk is None
    assert "needs 500 rows" in points[1].why_not
    assert points[1].to_json()["risk"] is None


def test_the_rows_are_counted_once():
    found = source()
    curve(found, AnonymizeRequest.of(k=5, quasi=["age"]))
    assert sum("GROUP BY" in sql for sql in found.engine.ran) == 1
