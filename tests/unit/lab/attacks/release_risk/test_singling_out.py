import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from release_kit import people

from discreet.errors import InvalidInput
from discreet.lab.attacks.release_risk.releases import parties_of
from discreet.lab.attacks.release_risk.singling_out import ATTACK, question_from, singling_out


@pytest.fixture
def groups():
    rng = np.random.default_rng(3)
    return rng, people(400, rng), people(400, rng), people(400, rng)


def test_a_copy_of_the_rows_singles_its_people_out(groups):
    rng, original, control, _ = groups
    risk = singling_out(parties_of(original, original, control, rng=rng), guesses=200, rng=rng)
    assert risk.right == risk.trials
    assert risk.low > 0.5


def test_rows_of_other_people_do_not(groups):
    rng, original, control, others = groups
    risk = singling_out(parties_of(others, original, control, rng=rng), guesses=200, rng=rng)
    assert risk.low <= 0 <= risk.high


def test_a_question_fits_one_row_of_the_release(groups):
    rng, original, control, _ = groups
    parties = parties_of(original, original, control, rng=rng)
    fits = question_from(parties, 7, rng)
    assert fits[7], "the row is the person's own"
    assert fits[:400].sum() == 1


def test_a_row_that_has_a_twin_has_no_question():
    rng = np.random.default_rng(0)
    twins = pa.table({"age": [30, 30], "job": ["Nurse", "Nurse"]})
    assert question_from(parties_of(twins, twins, twins, rng=rng), 0, rng) is None
    with pytest.raises(InvalidInput, match="Nothing could be guessed"):
        singling_out(parties_of(twins, twins, twins, rng=rng), guesses=5, rng=rng)


def test_the_town_leaks_where_it_is_raw_or_anonymized_only():
    outcome = ATTACK.run({"people": 400, "guesses": 200})
    found = {name: risk["found"] for name, risk in outcome.details["by_release"].items()}
    assert found["raw copy"]
    assert found["anonymized"]
    # These two are right with probability 97.5% each at least; the dice of the town are fixed, and
    # those of the private copy cannot matter more than epsilon allows.
    null = outcome.details["by_release"]["other people"]
    assert null["low"] <= 0 <= null["high"]
    assert outcome.private.success < 0.5 < outcome.score.low


def test_a_users_files_are_judged(tmp_path, groups):
    _, original, control, others = groups
    files = {"released": original, "original": original, "control": control, "private": others}
    for name, table in files.items():
        shouted = table.rename_columns([column.upper() for column in table.column_names])
        rows = table if name == "original" else shouted
        pyarrow.csv.write_csv(rows, tmp_path / f"{name}.csv")
    settings = {name: str(tmp_path / f"{name}.csv") for name in files}
    outcome = ATTACK.run({**settings, "guesses": 100})
    assert outcome.details["risk"]["found"]
    assert not outcome.details["by_release"]["synthetic, private"]["found"]
    assert "released.csv" in outcome.released
    alone = ATTACK.run({**settings, "private": "", "guesses": 100, "columns": "age,job"})
    assert alone.private is None


def test_words_made_coarser_are_read_by_their_hierarchies(tmp_path, groups):
    _, original, control, _ = groups
    (tmp_path / "levels").mkdir()
    places = "".join(f"P{i};{'North' if i < 6 else 'South'};*\n" for i in range(12))
    (tmp_path / "levels" / "place.csv").write_text(places, encoding="utf-8")
    north = [f"P{i}" for i in range(6)]
    halves = ["North" if place in north else "South" for place in original["place"].to_pylist()]
    coarse = original.set_column(1, "place", pa.array(halves))
    settings = {"columns": "place,age,job,shoe,owner", "guesses": 200}
    for name, table in {"released": coarse, "original": original, "control": control}.items():
        pyarrow.csv.write_csv(table, tmp_path / f"{name}.csv")
        settings[name] = str(tmp_path / f"{name}.csv")
    blind = ATTACK.run(settings)
    seeing = ATTACK.run({**settings, "hierarchies": str(tmp_path / "levels")})
    assert seeing.details["risk"]["right"] > blind.details["risk"]["right"]
    assert seeing.details["risk"]["found"]


def test_bad_input_is_said_in_a_sentence(tmp_path):
    with pytest.raises(InvalidInput, match="'original' is missing"):
        ATTACK.run({"released": "x.csv"})
    with pytest.raises(InvalidInput, match="There is no file"):
        ATTACK.run({"released": "x.csv", "original": "y.csv", "control": "z.csv"})
