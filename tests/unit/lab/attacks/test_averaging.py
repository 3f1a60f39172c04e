"""Averaging: fresh coins are read off, one report sent again is not."""

from math import exp

from discreet.lab.attacks.attacks import attack_named
from discreet.privacy.noise.error_bars import lower_limit

ALPHA = 1e-9
"""How often each limit below accuses a device that is right."""


def test_a_device_that_tosses_anew_is_caught_and_one_that_answers_once_is_not():
    """The private side fails a correct device with probability ALPHA (Clopper-Pearson)."""
    found = attack_named("averaging").run({"people": 70, "answers": 220})
    assert found.score.success == 1.0  # 220 coins at 0.73: the majority is wrong once in 1e12
    ceiling = 1 / (1 + exp(-1))
    assert lower_limit(round(found.private.success * 70), 70, ALPHA) <= ceiling
    assert lower_limit(70, 70, ALPHA) > ceiling, "the device that tosses anew would be caught"
    assert found.details["ceiling"] == ceiling


def test_rappor_without_its_permanent_step_is_caught_and_with_it_is_not():
    """At epsilon 4 a report's bits differ by 0.38 on average: 300 of them are misread once in 1e12."""
    found = attack_named("averaging").run({"people": 170, "answers": 300, "epsilon": 4.0})
    scores = found.details["by_device"]
    assert scores["RAPPOR, permanent coins tossed anew"]["success"] == 1.0
    kept = scores["RAPPOR, permanent coins kept"]["success"]
    # What endless reports show are two bits, each turned over with probability 1 / (1 + e^2).
    ceiling = 1 / (1 + exp(-2))
    assert lower_limit(round(kept * 170), 170, ALPHA) <= ceiling
    assert lower_limit(170, 170, ALPHA) > ceiling, "coins that are tossed anew would be caught"


def test_one_answer_is_all_there_is_to_average():
    found = attack_named("averaging").run({"people": 500, "answers": 1, "epsilon": 2.0})
    scores = found.details["by_device"]
    assert len(scores) == 4
    for score in (found.score, found.private):
        assert lower_limit(round(score.success * 500), 500, ALPHA) <= 1 / (1 + exp(-2))
        assert score.low > 0.5


def test_the_bits_of_a_file_of_your_own(tmp_path):
    file = tmp_path / "own.csv"
    file.write_text("ill\n" + "yes\nno\nno\n" * 10)
    found = attack_named("averaging").run(
        {"original": str(file), "secret": "ill", "answers": 300, "people": 200}
    )
    assert found.score.success == 1.0
    assert "20 people" in found.released
