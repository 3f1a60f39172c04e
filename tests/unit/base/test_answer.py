"""An answer as JSON, Arrow, pandas, CSV, text, HTML and a chart."""

import csv
import io
import json
import math
from dataclasses import replace
from fractions import Fraction

import pytest

from discreet.base.answer import Answer, Provenance
from discreet.base.bill import Bill, Spent
from discreet.errors import InvalidInput


def spent(epsilon, delta="0"):
    return Spent(Fraction(epsilon), Fraction(delta))


BILL = Bill(
    cost=spent("0.5"),
    before=spent("0"),
    after=spent("0.5"),
    limit=spent("1", "1e-9"),
    free=False,
)


def answer(**changes):
    given = {
        "columns": ("sex", "n"),
        "rows": (("Female", 16192), ("Male", 32650)),
        "error95": ((None, 6.0), (None, 6.0)),
        "bill": BILL,
        "request_id": "r1",
        "provenance": Provenance("census", "people:1", "each row", ("noise",), ("SELECT 1",)),
        "keys": 1,
        "intervals": ((None, (16186.0, 16198.0)), (None, (32644.0, 32656.0))),
        "covariance": (((8.0,),), ((8.0,),)),
        "noisy": (1,),
    }
    return Answer(**(given | changes))


def test_json_is_the_contract():
    found = json.loads(json.dumps(answer().to_json()))
    contract = {
        "columns": ["sex", "n"],
        "rows": [["Female", 16192], ["Male", 32650]],
        "error95": [[None, 6.0], [None, 6.0]],
        "cost": {"epsilon": 0.5, "delta": 0.0},
        "free": False,
        "request_id": "r1",
    }
    assert {key: found[key] for key in contract} == contract
    assert found["budget"]["before"] == {"epsilon": 0.0, "delta": 0.0}
    assert found["budget"]["after"] == {"epsilon": 0.5, "delta": 0.0}


def test_an_answer_is_what_its_json_says():
    whole = answer(intervals=((None, (-math.inf, 3.5)), (None, None)))
    assert Answer.from_json(json.loads(json.dumps(whole.to_json()))) == whole
    assert whole.covariance is not None
    assert whole.keys
    unknown = answer(covariance=None)
    assert Answer.from_json(unknown.to_json()) == unknown


def test_arrow_has_the_error_beside_each_noisy_column():
    table = answer().to_arrow()
    assert table.column_names == ["sex", "n", "n ±"]
    assert table.column("n ±").to_pylist() == [6.0, 6.0]


def test_arrow_of_an_empty_answer():
    assert answer(rows=(), error95=(), intervals=()).to_arrow().num_rows == 0


def test_pandas_has_the_same_columns():
    pandas = pytest.importorskip("pandas")
    frame = answer().to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == ["sex", "n", "n ±"]
    assert frame["n"].tolist() == [16192, 32650]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_csv_never_starts_a_formula(start, tmp_path):
    nasty = f"{start}HYPERLINK(1)"
    text = answer(columns=(nasty, "n"), rows=((nasty, -5), ("x", 6))).to_csv(tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_bytes().decode("utf-8") == text
    read = list(csv.reader(io.StringIO(text, newline="")))
    assert read[0][0] == read[1][0] == f"'{nasty}"
    assert read[1][1] == "-5"  # a number is not a formula


def test_a_line_break_in_a_cell_does_not_begin_a_row():
    text = answer(rows=(("x\r=HYPERLINK(1)", 1), ("y\n=1", 2))).to_csv()
    read = list(csv.reader(io.StringIO(text, newline="")))
    assert [row[0] for row in read] == ["sex", "x\r=HYPERLINK(1)", "y\n=1"]
    assert '"x\r=HYPERLINK(1)"' in text


def test_csv_of_missing_values_is_empty():
    assert answer(rows=((None, None), ("x", 1))).to_csv().splitlines()[1] == ",,6.0"


def test_text_shows_noise_and_price():
    text = str(answer())
    assert "noise ±" in text
    assert "16,192" in text
    assert text.endswith("uses 0.5, leaves 0.5 of 1")
    assert str(answer(bill=replace(BILL, free=True))).endswith("free, leaves 0.5 of 1")


def test_html_is_escaped():
    page = answer(columns=("<b>", "n"), rows=(("<script>x</script>", 1), ("a&b", 2)))._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;x&lt;/script&gt;" in page
    assert "&lt;b&gt;" in page
    assert "a&amp;b" in page


def test_charts_are_saved_by_their_ending(tmp_path):
    pytest.importorskip("vl_convert")
    chart = answer().plot()
    for name in ("a.svg", "a.png", "a.json"):
        chart.save(tmp_path / name)
    assert (tmp_path / "a.svg").read_text(encoding="utf-8").startswith("<svg")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    points = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["data"]["values"]
    assert points[0] == {"key": "Female", "value": 16192, "low": 16186.0, "high": 16198.0}
    with pytest.raises(InvalidInput, match="cannot be saved"):
        chart.save(tmp_path / "a.docx")


def test_nothing_noisy_nothing_to_draw():
    with pytest.raises(InvalidInput):
        answer(noisy=()).plot()


def test_provenance_is_plain():
    assert answer().to_json()["provenance"]["private"] is True
    assert answer().to_json()["provenance"]["sql"] == ["SELECT 1"]
