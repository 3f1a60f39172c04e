from types import SimpleNamespace

import numpy as np
import pytest

from discreet.errors import InvalidInput
from discreet.lab.attacks.curator import temporary_town
from discreet.lab.attacks.hospital import (
    Hospital,
    VoterRoll,
    asked,
    learned,
    prior_of,
    shuffled,
    with_typos,
)
from discreet.lab.attacks.record_links import PersonLinks


@pytest.fixture(scope="module")
def town():
    dice = np.random.default_rng(0)
    with temporary_town(3_000, tables=("people", "visits", "voters")) as made:
        hospital = Hospital.of(made, made.truth["diagnoses"])
        roll = VoterRoll.of(made, errors=0.0, dice=dice)
        slipped = VoterRoll.of(made, errors=0.4, dice=dice)
        visits = made.load("visits").select(["person_id", "diagnosis"]).to_pylist()
        return hospital, roll, slipped, prior_of(made, roll.voters), visits


def test_who_was_treated_for_what(town):
    hospital, _, _, _, visits = town
    told = {(row["person_id"], row["diagnosis"]) for row in visits}
    patient, kind = np.nonzero(hospital.treated)
    found = {
        (int(hospital.identity[p]), hospital.diagnoses[k])
        for p, k in zip(patient, kind, strict=True)
    }
    assert found == told


def test_common_knowledge_is_a_law(town):
    *_, prior, _ = town
    assert prior.sum(axis=1) == pytest.approx(np.ones(len(prior)))
    assert len(np.unique(prior.argmax(axis=1))) > 1  # it depends on age and sex


def test_slips_are_as_many_as_asked(town):
    _, roll, slipped, _, _ = town
    dates = roll.voters["birth_date"].to_pylist(), slipped.voters["birth_date"].to_pylist()
    zips = roll.voters["zip"].to_pylist(), slipped.voters["zip"].to_pylist()
    off = [abs((a - b).days) for a, b in zip(*dates, strict=True) if a != b]
    assert 0.14 < len(off) / len(dates[0]) < 0.26
    assert set(off) == {1, 2, 3}
    wrong = sum(a != b for a, b in zip(*zips, strict=True)) / len(zips[0])
    assert 0.14 < wrong < 0.26
    with pytest.raises(InvalidInput):
        with_typos(roll.voters, 1.5, np.random.default_rng(0))


def true_links(hospital, roll):
    _, voter, patient = np.intersect1d(roll.identity, hospital.identity, return_indices=True)
    return PersonLinks(voter, patient, len(voter))


def test_right_links_tell_everything_and_shuffled_ones_nothing(town):
    hospital, roll, _, prior, _ = town
    links = true_links(hospital, roll)
    found, named, blind = learned(hospital, roll, links, prior)
    assert found.all()
    assert named.all()
    assert 0.2 < blind.mean() < 0.6
    control = shuffled(roll, np.random.default_rng(1))
    chance, _, _ = learned(hospital, control, links, prior)
    assert chance.mean() < 0.02


def test_without_links_the_adversary_guesses_blindly(town):
    hospital, roll, _, prior, _ = town
    none = PersonLinks(np.empty(0, np.int64), np.empty(0, np.int64), 0)
    found, named, blind = learned(hospital, roll, none, prior)
    assert not found.any()
    assert (named == blind).all()


def test_exact_answers_tell_and_empty_ones_do_not(town):
    """The adversary of the private version uses what it is given: the test of the attacker."""
    hospital, roll, _, prior, _ = town
    cells = {}
    for row, voter in enumerate(roll.identity):
        place = np.searchsorted(hospital.identity, voter)
        if place < len(hospital.identity) and hospital.identity[place] == voter:
            cell = tuple(
                str(roll.voters[name][row].as_py()) for name in ("zip", "birth_date", "sex")
            )
            cells[cell] = hospital.treated[place]

    def answer(counts):
        return SimpleNamespace(rows=list(zip(hospital.diagnoses, counts, strict=True)))

    def exact(sql, epsilon):
        words = sql.split("'")
        return answer(cells[words[1], words[3], words[5]].astype(int))

    def empty(sql, epsilon):
        return answer(np.zeros(len(hospital.diagnoses)))

    def share(ask, epsilon):
        right, trials = asked(
            ask,
            hospital,
            roll,
            prior,
            epsilon=epsilon,
            targets=80,
            dice=np.random.default_rng(2),
        )
        return right / trials

    assert share(exact, 50.0) > 0.97
    assert share(empty, 50.0) < 0.65
