"""A synthetic table in the hands of a user: files, samples, repeatable dice."""

import pyarrow.parquet as pq
import pytest

from copying import curator
from discreet.errors import InvalidInput
from discreet.work.synth.model_file import load_model
from discreet.work.synth.report.make_reports import subject_of
from discreet.work.synth.synthetic import sample_rows


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory):
    return curator(tmp_path_factory.mktemp("town")).synthesize("people", epsilon=2)


def test_files(synthetic, tmp_path):
    synthetic.write(tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet").num_rows == synthetic.table.num_rows
    synthetic.write(str(tmp_path / "out.csv"))
    assert (tmp_path / "out.csv").read_text().startswith("id,sex")
    assert len(synthetic.to_pandas()) == synthetic.to_arrow().num_rows


def test_more_rows_of_a_saved_model(synthetic, tmp_path):
    synthetic.save_model(tmp_path / "m.json")
    saved = load_model(tmp_path / "m.json")
    rows = sample_rows(saved, 25, where="sex = 'Female' AND age >= 18")
    assert rows.table.num_rows == 25
    assert set(rows.table["sex"].to_pylist()) == {"Female"}
    assert min(rows.table["age"].to_pylist()) >= 18
    assert synthetic.sample(7).num_rows == 7
    assert sample_rows(saved).table.num_rows == max(0, round(saved.model.total))


def test_a_seed_repeats_a_sample(synthetic):
    one, two, three = (sample_rows(synthetic.saved, 50, seed=s).table for s in (1, 1, 2))
    assert one.equals(two)
    assert not one.equals(three)


@pytest.mark.parametrize("rows", [-1, 10**12, True])
def test_numbers_of_rows_that_make_no_sense(synthetic, rows):
    with pytest.raises(InvalidInput, match="number of rows"):
        sample_rows(synthetic.saved, rows)


def test_the_subject_of_a_report(synthetic):
    subject = subject_of(synthetic.saved, synthetic.rows, ("a notice",))
    assert subject.table == "people"
    assert subject.price == "epsilon 2, delta 2.5e-7"
    assert subject.codes.shape == (synthetic.table.num_rows, len(synthetic.encoding.coded))
    assert subject.refit is not None
    assert subject.notices == ("a notice",)
