"""Audits find every planted bug, and never accuse a correct mechanism beyond the stated rate."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from discreet.audit.audit import Effort, audit, audit_one_run
from discreet.audit.bounds import GuessCount, LossMeasure
from discreet.audit.events import choose_events
from discreet.audit.target import Target, load_target, other_target
from discreet.errors import InvalidInput
from discreet.privacy.noise.additive import discrete_gaussian_squared, discrete_laplace
from discreet.testing import SeededRng
from patience import slowness
from sittings import FULL

PLANTED = Path(__file__).with_name("planted.py")
SURE = 1 - 1e-9
"""The confidence of these tests: a correct mechanism is accused once in a thousand million runs."""


def planted(name, *, samples=100_000, **more):
    target = load_target(f"{PLANTED}:{name}")
    effort = Effort(samples=samples, confidence=SURE)
    return audit(target, effort, claim=target.epsilon, delta=0.0, **more)


def seeded(draw, scale, pair, *, seed=0):
    """Return a target whose noise a seed decides: it decides then which event the pilot finds.

    What stays to chance is how many samples each input gets: a bound moves by a thousandth.
    """
    rng = SeededRng(seed)
    return Target(
        draw.__name__,
        lambda data, size: data + draw(scale, size, rng=rng),
        pairs=(pair,),
        guessed_pairs=False,
    )


@pytest.mark.parametrize(
    "name", ["half_the_noise", "wrong_sensitivity", "naive_float", "budget_used_twice"]
)
def test_a_planted_bug_is_found(name):
    found = planted(name)
    assert found.refuted, found
    assert found.bound > 1.2


def test_a_domain_read_from_the_data_is_found():
    found = planted("domain_from_data", samples=2_500)
    assert found.refuted
    assert found.bound > 4
    assert "is shown" in found.event


def test_a_reachable_float_shows_what_thresholds_miss():
    found = planted("naive_float", samples=1_000_000)
    assert found.bound > 9  # at this confidence and a quarter of the samples that show 12
    assert "lowest bit" in found.event


@pytest.mark.slow
def test_at_95_percent_the_reachability_event_shows_12():
    target = load_target(f"{PLANTED}:naive_float")
    found = audit(target, Effort(samples=4_000_000), claim=1.0, delta=0.0)
    assert found.bound >= 12


@pytest.mark.parametrize("name", ["right", "as_text"])
def test_a_correct_mechanism_is_not_accused(name):
    found = planted(name, samples=100_000 if name == "right" else 2_500)
    assert not found.refuted, found


@pytest.mark.parametrize("epsilon", ["0.1", "1", "5", *(["0.5", "2"] if FULL else [])])
def test_the_bound_is_close_below_the_truth(epsilon):
    target = seeded(discrete_laplace, 1 / float(epsilon), (0, 1))
    # A million samples. The bound at 1e-9 lies six standard deviations below the truth and is
    # itself off by one: looser limits than at 95%, where 5% must hold.
    found = audit(target, Effort(samples=1_000_000, confidence=SURE), claim=None, delta=0.0)
    assert found.bound <= float(epsilon)
    # At 0.1 one standard deviation is 3% of it: six for the bound, five for this test, and the half
    # of the samples that chooses the event may choose a worse one.
    assert found.bound > float(epsilon) * (0.95 if float(epsilon) >= 0.5 else 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["0.1", "0.2", "0.5", "1", "2", "5"])
def test_at_95_percent_and_a_million_samples_it_is_within_5_percent(epsilon):
    """The bound itself is a random number; its median over 15 audits is what the claim is about."""
    effort = Effort(samples=1_000_000)
    targets = [seeded(discrete_laplace, 1 / float(epsilon), (0, 1), seed=i) for i in range(15)]
    bounds = [audit(target, effort, claim=None, delta=0.0).bound for target in targets]
    assert float(np.median(bounds)) > 0.95 * float(epsilon)
    # Each is too high with probability 0.05; 8 of 15 happen for one choice of seeds in two million.
    assert sum(bound > float(epsilon) for bound in bounds) < 8


def test_mu_of_a_gaussian():
    effort = Effort(samples=200_000, confidence=SURE)
    asked = {"claim": 1.0, "delta": 0.0, "gaussian": True}
    found = audit(seeded(discrete_gaussian_squared, 20**2, (0, 20)), effort, **asked)
    assert 0.93 < found.bound <= 1.0
    assert audit(seeded(discrete_gaussian_squared, 10**2, (0, 20)), effort, **asked).refuted


def test_delta_forgives_what_it_should():
    dice, rng = np.random.default_rng(0), SeededRng(0)

    def sometimes_tells(data, size):
        told = dice.random(size) < 0.01
        return np.where(told, 1000 * data, data + discrete_laplace(1, size, rng=rng))

    target = Target("leaky", sometimes_tells, pairs=((0, 1),), guessed_pairs=False)
    effort = Effort(samples=100_000, confidence=SURE)
    assert audit(target, effort, claim=1.0, delta=0.0).bound > 3
    assert not audit(target, effort, claim=1.0, delta=0.011).refuted


def test_time_is_a_limit_and_is_told():
    # However few samples a stalled machine leaves: none are taken for more than they show.
    effort = Effort(samples=10**7, seconds=0.3, confidence=SURE)
    found = audit(load_target(f"{PLANTED}:as_text"), effort, claim=1.0, delta=0.0)
    assert any("Time ran out" in note for note in found.notes)
    assert not found.refuted


def test_one_run_finds_memories_and_accuses_nobody_else():
    def of(name, claim):
        return audit_one_run(
            load_target(f"{PLANTED}:{name}"), claim=claim, delta=0.0, confidence=SURE
        )

    assert of("leaks_rows", 1.0).refuted
    assert not of("forgets", 0.1).refuted
    assert not of("randomized", 1.0986123).refuted
    assert of("randomized", 0.1).bound > 0.5


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("nothing.py:f", "There is no file"),
        ("nothing", "does not name a function"),
        (f"{PLANTED}:nobody", "has no function"),
    ],
)
def test_bad_targets_get_a_sentence(where, said):
    with pytest.raises(InvalidInput, match=said):
        load_target(where)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("NEIGHBOURS = 5\ndef f(x): return 1", "NEIGHBOURS"),
        ("NEIGHBOURS = [(1, 2, 3)]\ndef f(x): return 1", "NEIGHBOURS"),
        ("EPSILON = 'much'\ndef f(x): return 1", "EPSILON must be a number"),
        ("raise RuntimeError('no')", "cannot be imported"),
    ],
)
def test_bad_files_get_a_sentence(tmp_path, text, said):
    file = tmp_path / "bad.py"
    file.write_text(text)
    with pytest.raises(InvalidInput, match=said):
        load_target(f"{file}:f")


def test_a_wrong_number_of_outputs_is_told():
    target = Target("short", lambda _data, size: np.zeros(size - 1), ((0, 1),), guessed_pairs=False)
    with pytest.raises(InvalidInput, match="returned"):
        audit(target, Effort(samples=1000), claim=None, delta=0.0)


@pytest.mark.parametrize("name", ["nested", "its_length"])
def test_outputs_of_every_form_are_opened(name):
    found = planted(name, samples=1_500)
    assert found.refuted, found


@pytest.mark.parametrize(
    ("name", "samples"),
    [("spills", 1_000_000), pytest.param("debugs", 400_000, marks=pytest.mark.slow)],
)
def test_a_catastrophe_once_in_ten_thousand_runs_is_found(name, samples):
    """At 95%: the audit is wrong about a private mechanism once in twenty, and this one is not private."""
    target = load_target(f"{PLANTED}:{name}")
    one = replace(target, pairs=(([0.0, 1.0], [0.0]),))
    found = audit(one, Effort(samples=samples), claim=1.0, delta=0.0)
    assert found.refuted, found
    # Forgiven by a delta that is large enough.
    assert not audit(one, Effort(samples=20_000), claim=1.1, delta=0.001).refuted


@pytest.mark.parametrize("samples", [200, 250])
def test_few_samples_show_little_and_crash_nothing(samples):
    for name in ("right", "as_text", "half_the_noise"):
        target = load_target(f"{PLANTED}:{name}")
        found = audit(target, Effort(samples=samples, confidence=SURE), claim=5.0, delta=0.0)
        assert 0 <= found.bound < 5
    assert LossMeasure().bound(GuessCount(0, 3, 0, 3, 10, 10), alpha=0.05) == 0


def test_seconds_are_kept_by_slow_mechanisms():
    """A clock of the test's own: each output takes a second of it."""
    now = [0.0]

    def slow(data):
        now[0] += 1.0
        return data

    target = Target("slow", slow, pairs=((0, 1), (0, 2), (0, 3)), guessed_pairs=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("discreet.audit.audit.time.monotonic", lambda: now[0])
        found = audit(target, Effort(samples=1_000, seconds=30.0), claim=None, delta=0.0)
    assert now[0] <= 33
    assert any("Time ran out" in note for note in found.notes)


def test_another_python_runs_the_mechanism(tmp_path):
    file = tmp_path / "plain.py"
    file.write_text(
        "import random\nEPSILON = 1\nNEIGHBOURS = ([1], [])\n"
        "def leaks(rows): return {'n': {'rows': len(rows)}, 'seed': random.random() < 0.5}\n"
        "def fails(rows): raise ValueError('no')\n"
    )
    with other_target(f"{file}:leaks", Path(sys.executable)) as target:
        assert target.epsilon == 1
        assert repr(target.pairs[0]) == "([1], [])"
        assert audit(target, Effort(samples=400), claim=1.0, delta=0.0).refuted
    with (
        pytest.raises(InvalidInput, match="ValueError: no"),
        other_target(f"{file}:fails", Path(sys.executable)) as target,
    ):
        audit(target, Effort(samples=400), claim=1.0, delta=0.0)
    with (
        pytest.raises(InvalidInput, match="cannot be run"),
        other_target(f"{file}:leaks", tmp_path / "python"),
    ):
        pass


def test_a_mechanism_that_fails_gets_a_sentence():
    with pytest.raises(InvalidInput, match="RuntimeError"):
        planted("fails")


@pytest.mark.slow
@pytest.mark.parametrize("number", range(1, 7))
def test_the_six_sparse_vectors_are_judged_right(number):
    """Lyu, Su & Li: the first two are private at epsilon 1, the others are not; within a minute each."""
    target = load_target(f"{PLANTED.with_name('sparse_vectors.py')}:variant_{number}")
    effort = Effort(samples=200_000, seconds=60.0 * slowness())
    found = audit(target, effort, claim=1.0, delta=0.0)
    assert found.refuted == (number > 2), found


@pytest.mark.slow
def test_correct_mechanisms_are_accused_in_at_most_one_audit_of_twenty():
    """4,000 audits at 95%, at the true epsilon: above 288 accusations once in 10^9 runs."""
    dice = np.random.default_rng(5)
    kinds = {
        "laplace": (lambda data, size: data + discrete_laplace(1, size), (0, 1)),
        "answer": (lambda data, size: (dice.random(size) < 0.7310585786) == data, (False, True)),
        "table": (
            lambda data, size: [{"n": int(x)} for x in data + discrete_laplace(1, size)],
            (0, 1),
        ),
        "vector": (
            lambda data, size: data + np.stack([discrete_laplace(2, size) for _ in range(2)], 1),
            (np.array([0, 0]), np.array([1, 1])),
        ),
    }
    accused = 0
    for i in range(4_000):
        name = list(kinds)[i % len(kinds)]
        target = Target(name, kinds[name][0], (kinds[name][1],), guessed_pairs=False)
        accused += audit(target, Effort(samples=1_000), claim=1.0, delta=0.0).refuted
    assert accused <= 288


def test_effort_has_limits():
    for wrong in ({"samples": 3}, {"confidence": 1.0}, {"seconds": 0.0}):
        with pytest.raises(InvalidInput):
            Effort(**wrong)


def test_a_catastrophe_that_the_pilot_met_seven_times_is_measured():
    """Seven of 50,000 on one input: too few to be sure, enough to be worth a fifth of the error."""
    ranks = (np.arange(100_000) + 0.5) / 100_000
    noise = np.rint(np.sign(ranks - 0.5) * -np.log(1 - 2 * np.abs(ranks - 0.5)))
    noise = np.random.default_rng(0).permutation(noise)
    first, second = noise + 10, noise + 9
    first[:14] = 1e6  # every second one is for learning, the others for judging
    chosen = choose_events(first, second, LossMeasure(gaussian=False, delta=0.0), times=8)
    assert chosen.rare is not None
    assert chosen.rare.guesses(np.array([1e6]))[0].all()
