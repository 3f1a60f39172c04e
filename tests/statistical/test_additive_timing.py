"""The time of a draw says nothing about its value.

Method: time single draws, take the rank correlation of |value| with time. If time does not depend
on the value then, whatever the machine does meanwhile, the values are in random order relative to
the times, so the correlation is about normal with deviation 1/sqrt(n): beyond 6.2 of these has a
chance below 1e-9. A sampler that loops as long as its value is large must be caught.
"""

import time

import numpy as np
import pytest

from discreet.privacy.noise.additive import discrete_gaussian_squared, discrete_laplace

DRAWS = 4000
LIMIT = 6.2 / DRAWS**0.5


def gaussian(sigma, size):
    return discrete_gaussian_squared(sigma**2, size)


def ranks(values, seed):
    places = np.empty(len(values))
    # Equal values get ranks in random order, not in order of time, and equal times in another.
    order = np.lexsort((np.random.default_rng(seed).random(len(values)), values))
    places[order] = np.arange(len(values))
    return places


def correlation(draw):
    for _ in range(50):
        draw()
    values, times = np.empty(DRAWS), np.empty(DRAWS)
    for i in range(DRAWS):
        start = time.perf_counter_ns()
        value = draw()
        times[i] = time.perf_counter_ns() - start
        values[i] = np.abs(value).sum()
    return float(np.corrcoef(ranks(values, 1), ranks(times, 2))[0, 1])


@pytest.mark.parametrize("scale", [3, 1000])
@pytest.mark.parametrize("law", [discrete_laplace, gaussian])
def test_time_does_not_depend_on_the_value(law, scale):
    assert abs(correlation(lambda: law(scale, 1))) < LIMIT


def test_a_looping_sampler_would_be_caught():
    def looping():
        value = abs(int(discrete_laplace(1000, 1)[0]))
        for _ in range(value):
            pass
        return value

    assert correlation(looping) > 2 * LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("law", [discrete_laplace, gaussian])
def test_time_of_batches_does_not_depend_on_their_values(law):
    assert abs(correlation(lambda: law(1000, 100))) < LIMIT
