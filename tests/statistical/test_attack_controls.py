"""A release that has nothing to do with its people must be found to have no risk."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit" / "lab" / "attacks"))

from release_kit import people

from discreet.lab.attacks.release_risk.inference import guessed
from discreet.lab.attacks.release_risk.linkability import joined
from discreet.lab.attacks.release_risk.releases import difference, parties_of
from discreet.lab.attacks.release_risk.singling_out import question_from, singling_out
from discreet.privacy.noise.error_bars import lower_limit
from sittings import FULL

ALPHA = 1e-9
SCENES = 120 if FULL else 40


def _scenes(size=150, seed=11):
    rng = np.random.default_rng(seed)
    for _ in range(SCENES):
        original, control, others = (people(size, rng) for _ in range(3))
        yield rng, parties_of(others, original, control, rng=rng), original, control


def _singled(parties, rng):
    return singling_out(parties, guesses=80, rng=rng)


def _linked(parties, rng):
    del rng
    ours = np.arange(parties.size)
    pieces = ("age", "job"), ("shoe", "owner")
    right, chance = joined(parties, *pieces, ours), joined(parties, *pieces, ours + parties.size)
    return difference(right, chance, parties.size)


def _inferred(parties, rng):
    del rng
    ours, known = np.arange(parties.size), ("age", "place", "owner")
    right = guessed(parties, known, "job", ours)
    return difference(right, guessed(parties, known, "job", ours + parties.size), parties.size)


def test_independent_releases_are_called_risky_at_most_one_time_in_forty():
    alarms = dict.fromkeys((_singled, _linked, _inferred), 0)
    sums = dict.fromkeys(alarms, 0.0)
    for rng, parties, _, _ in _scenes():
        for judge in alarms:
            risk = judge(parties, rng)
            alarms[judge] += risk.found
            sums[judge] += risk.value
    for judge, count in alarms.items():
        # The interval leaves out 0 from above with probability at most 2.5%.
        assert lower_limit(count, SCENES, ALPHA) <= 0.025, judge.__name__
        # Each risk has a standard deviation below 0.08, so their mean is within 6.8 of its own
        # but for one run in a hundred billion.
        assert abs(sums[judge] / SCENES) < 6.8 * 0.08 / SCENES**0.5, judge.__name__


def test_leaky_releases_are_always_found_and_a_small_control_invents_a_risk():
    invented = []
    for number, (rng, parties, original, control) in enumerate(_scenes(seed=12)):
        if number == 20:
            break
        leaky = parties_of(original, original, control, rng=rng)
        assert _singled(leaky, rng).found
        assert _linked(leaky, rng).found
        assert _inferred(leaky, rng).found
        invented.append(_with_a_small_control(parties, rng))
    # What equal sizes prevent: the same estimate with a control of a tenth reports a risk of
    # a release that holds none of these people.
    assert float(np.mean(invented)) > 0.05


def _with_a_small_control(parties, rng):
    """Return the risk by the rates of an original and a control of a tenth of its size."""
    narrow = {name: parties.columns[name] for name in ("age", "place", "job")}
    parties = replace(parties, columns=narrow)
    asked = ours = strangers = 0
    for row in range(parties.rows):
        fits = question_from(parties, row, rng)
        if fits is not None:
            asked += 1
            ours += fits[: parties.size].sum() == 1
            strangers += fits[parties.size : parties.size + parties.size // 10].sum() == 1
    return (ours - strangers) / asked
