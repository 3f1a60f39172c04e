"""The time of a choice says nothing about the utilities.

Method: the same call on two inputs that differ as much as they can, interleaved in random order;
the area under the curve of "which input was it?" from the time alone must be at most 0.55 (security
test 13). By chance alone it has a standard deviation of 0.0065 at 4,000 calls of each: 0.05 is 7.7 of
them, one false alarm in 1e13. Wall clocks are shared with other processes, so this runs with the full counts only; the
property test of equal numbers of words runs always.
"""

import time

import numpy as np
import pytest

from discreet.privacy.noise.select import exponential, permute_and_flip

CALLS = 4000
SIZE = 2000


def area(first, second):
    from scipy.stats import rankdata  # a second to import: not while tests are collected

    ranks = rankdata(np.concatenate([first, second]))[: len(first)]
    value = (ranks.sum() - len(first) * (len(first) + 1) / 2) / (len(first) * len(second))
    return max(value, 1 - value)


def timed(call, argument):
    start = time.perf_counter_ns()
    call(argument)
    return time.perf_counter_ns() - start


CALLED = {
    "exponential": lambda data: exponential(data, 1, 1),
    "permute and flip": lambda data: permute_and_flip(data, 1, 1),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLED)
def test_time_does_not_tell_inputs_apart(name):
    call = CALLED[name]
    inputs = (np.zeros(SIZE, dtype=np.int64), np.arange(SIZE, dtype=np.int64))
    times = ([], [])
    for data in inputs:
        call(data)
    for which in np.random.default_rng(1).permutation(np.repeat([0, 1], CALLS)).tolist():
        times[which].append(timed(call, inputs[which]))
    assert area(np.array(times[0]), np.array(times[1])) <= 0.55
