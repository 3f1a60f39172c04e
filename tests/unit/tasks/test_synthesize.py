"""discreet.synthesize and Synthesizer: frames in, frames out; types of a text file are paid for."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.errors import BudgetExceeded, InvalidInput

ROWS = 2_000
DICE = np.random.default_rng(4)
TABLE = pa.table(
    {
        "age": DICE.integers(0, 90, ROWS),
        "sex": ["F", "M"] * (ROWS // 2),
        "day": [dt.date(2020, 1, 1) + dt.timedelta(int(d)) for d in DICE.integers(0, 99, ROWS)],
    }
)
COLUMNS = {
    "age": {"type": "integer", "lower": 0, "upper": 120},
    "sex": {"type": "category", "values": ["F", "M"]},
    "day": {"type": "date", "lower": dt.date(2020, 1, 1), "upper": dt.date(2020, 12, 31)},
}


def test_arrow_in_and_out_with_declared_columns():
    found = discreet.synthesize(TABLE, epsilon=2, columns=COLUMNS, method="tree")
    assert found.table.column_names == ["age", "sex", "day"]
    assert found.cost.epsilon == 2
    again = pa.table(found)
    assert again.num_rows == found.table.num_rows
    assert again.schema.field("day").type == pa.date32()


def test_a_pandas_frame_learns_what_nobody_declared():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": TABLE["age"].to_pylist(), "sex": TABLE["sex"].to_pylist()})
    model = discreet.Synthesizer(epsilon=4, delta=1e-6, method="independent").fit(frame)
    rows = model.sample(50)
    assert rows.num_rows == 50
    assert set(rows["sex"].to_pylist()) <= {"F", "M", None}
    assert model.synthetic_.to_pandas().shape[1] == 2
    assert model.set_params(epsilon=1).get_params()["epsilon"] == 1


def test_mistakes_are_told_in_a_sentence():
    with pytest.raises(InvalidInput, match="not a table"):
        discreet.synthesize(3, epsilon=1)
    with pytest.raises(InvalidInput, match="no column 'wage'"):
        discreet.synthesize(TABLE, epsilon=1, columns={"wage": {"type": "integer"}})
    with pytest.raises(InvalidInput, match="no model yet"):
        discreet.Synthesizer(epsilon=1).sample(3)
    with pytest.raises(InvalidInput, match="no setting"):
        discreet.Synthesizer(epsilon=1).set_params(colour="red")


def written(folder, *more):
    lines = [f"{a},{b}" for a, b in zip(TABLE["age"], TABLE["sex"], strict=True)]
    text = "\n".join(["age,sex", *lines, *more]) + "\n"
    (folder / "people.csv").write_text(text, encoding="utf-8")
    return folder / "people.csv"


def test_one_odd_row_does_not_flip_a_column(tmp_path):
    """Neighbouring files: the declaration may depend on rows through noise alone."""
    path = written(tmp_path, "unknown,F")
    found = discreet.synthesize(path, epsilon=3, delta=1e-6, method="tree")
    text = (tmp_path / "discreet.toml").read_text(encoding="utf-8")
    assert 'age = { type = "integer"' in text
    assert 'sex = { type = "text" }' in text
    assert pa.types.is_integer(found.table.schema.field("age").type)
    with pytest.raises(BudgetExceeded):  # nothing forgets what types and copy have cost
        discreet.synthesize(path, epsilon=3, delta=1e-6, method="tree")


@pytest.mark.parametrize(
    "said",
    [{"max_rows": 3}, {"neighbours": "replace-one"}, {"columns": {"age": {"type": "integer"}}}],
)
def test_what_is_said_of_a_frame_is_refused_for_a_file_and_leaves_nothing(tmp_path, said):
    path = tmp_path / "people.csv"
    path.write_text(
        "age\n" + "\n".join(str(20 + i % 50) for i in range(80)) + "\n", encoding="utf-8"
    )
    with pytest.raises(InvalidInput, match=f"'{next(iter(said))}' is for a data frame"):
        discreet.synthesize(path, epsilon=1, **said)
    assert [each.name for each in tmp_path.iterdir()] == ["people.csv"]
