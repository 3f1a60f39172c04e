"""Model inversion: the guess against brute force, the attack on small clinics, own files, bad input."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from discreet.errors import InvalidInput
from discreet.lab.attacks.files import OwnPeople
from discreet.lab.attacks.inversion import (
    ATTACK,
    ROOT,
    HiddenValueRates,
    inverted,
    plain_model,
    town_patients,
    with_root,
    without_model,
)

COLUMNS = ("age", "race", "vkorc1", "cyp2c9", ROOT)


@pytest.fixture(scope="module")
def patients():
    found = town_patients(1_500, 3)
    domains = {name: found.domains[name] for name in COLUMNS}
    return OwnPeople(found.rows.select(list(COLUMNS)), domains)


def test_a_model_asked_for_every_value_says_what_it_says_of_such_patients(patients):
    model = plain_model(patients)
    rows = patients.rows.slice(0, 20)
    said = model.under(rows, ("vkorc1",), (("G/G",), ("A/A",)))
    for i, word in enumerate(("G/G", "A/A")):
        place = rows.column_names.index("vkorc1")
        other = rows.set_column(place, "vkorc1", pa.array([word] * 20))
        assert said[:, i] == pytest.approx(model.predict(other))


def test_the_plain_model_gives_genotypes_away_and_a_wild_error_gives_nothing(patients):
    """1,500 patients: the gain of eight points has a spread of about one."""
    model = plain_model(patients)
    common = HiddenValueRates.of(patients.rows, ("vkorc1", "cyp2c9"), "race")
    blind = without_model(common, patients.rows)
    seen = inverted(model, 0.8, common, patients.rows)
    assert seen.mean() > blind.mean() + 0.04
    # Whoever knows that the model is worthless falls back on what is common.
    assert (inverted(model, 1e6, common, patients.rows) == blind).all()


def test_common_knowledge_without_groups_and_of_unknown_ones(patients):
    common = HiddenValueRates.of(patients.rows, ("vkorc1",), "")
    assert common.of_people(patients.rows).std(axis=0).max() < 1e-12
    by_race = HiddenValueRates.of(patients.rows, ("vkorc1",), "race")
    stranger = patients.rows.slice(0, 1)
    place = stranger.column_names.index("race")
    elsewhere = stranger.set_column(place, "race", pa.array(["Martian"]))
    assert by_race.of_people(elsewhere)[0] == pytest.approx(by_race.overall)


def test_the_attack_on_a_file_of_ones_own(tmp_path, patients, monkeypatch):
    """Without noise above common knowledge, with much noise near it: four small trainings."""
    monkeypatch.setattr("discreet.lab.attacks.inversion.CURVE", ())
    place = tmp_path / "patients.csv"
    rows = patients.rows
    dose = pa.array(np.round(rows[ROOT].to_numpy() ** 2, 1))
    pyarrow.csv.write_csv(rows.drop_columns([ROOT]).append_column("mg", dose), place)
    outcome = ATTACK.run(
        {
            "patients": str(place),
            "dose": "mg",
            "columns": "race,vkorc1",
            "hidden": "",
            "models": 4,
            "epsilon": 0.02,
        }
    )
    assert outcome.score.success > outcome.score.baseline + 0.02
    assert outcome.private is not None
    assert outcome.private.low < outcome.private.baseline + 0.05
    prices = outcome.details["by_price"]
    assert prices["epsilon 0.02"]["error"]["value"] > prices["no noise"]["error"]["value"]
    assert outcome.blocks[0].caption
    for given, words in (
        ({"patients": str(place), "columns": "race,vkorc1"}, "no column 'dose'"),
        (
            {"patients": str(place), "dose": "mg", "columns": "race,age", "hidden": ""},
            "cannot give",
        ),
        (
            {"patients": str(place), "dose": "mg", "columns": "age", "secret": "age"},
            "must be a column of words",
        ),
        ({"known": "nothing"}, "no column 'nothing'"),
    ):
        with pytest.raises(InvalidInput, match=words):
            ATTACK.run(given)


def test_doses_are_above_zero():
    with pytest.raises(InvalidInput, match="above 0"):
        with_root(pa.table({"dose": [1.0, 0.0]}), "dose")
