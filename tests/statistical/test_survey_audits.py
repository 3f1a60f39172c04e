"""Audits of every randomizer, whole reports: never above the claim, and close to it."""

from fractions import Fraction

import pytest

from discreet.attack.audit.audit import Effort, audit
from discreet.attack.audit.target import Target
from discreet.survey.audited import MAKERS, NEIGHBOURS, sample

CONFIDENCE = 1 - 1e-6  # a correct randomizer fails once in a million runs


def target(name, epsilon, *, truly=None):
    def function(data, size):
        return sample(name, data, size, epsilon=Fraction(truly or epsilon))

    return Target(name, function, (NEIGHBOURS,), False, float(epsilon))


def bound(found, samples):
    return audit(found, Effort(samples=samples, seconds=900, confidence=CONFIDENCE), claim=found.epsilon, delta=0.0).bound  # fmt: skip


@pytest.mark.parametrize("epsilon", [1, 2])
@pytest.mark.parametrize("name", MAKERS)
def test_at_most_the_claim_and_within_a_twentieth_of_it(name, epsilon):
    found = bound(target(name, epsilon), 400_000)
    assert 0.95 * epsilon < found <= epsilon


@pytest.mark.parametrize("name", ["warner", "projective", "rappor"])
def test_a_twin_with_too_little_noise_is_caught(name):
    assert bound(target(name, 1, truly=Fraction(11, 10)), 400_000) > 1
