import pytest

from discreet.errors import TooManyRequests
from discreet.server.access.limits import KEPT, Buckets


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_burst_then_rate():
    clock = Clock()
    buckets = Buckets(2.0, 3, clock=clock)
    for _ in range(3):
        buckets.take("a")
    with pytest.raises(TooManyRequests):
        buckets.take("a")
    buckets.take("b")
    clock.now = 0.49
    with pytest.raises(TooManyRequests):
        buckets.take("a")
    clock.now = 0.51
    buckets.take("a")
    clock.now = 1000.0
    for _ in range(3):
        buckets.take("a")
    with pytest.raises(TooManyRequests):
        buckets.take("a")


def test_a_refusal_takes_nothing():
    buckets = Buckets(0.0001, 3, clock=Clock())
    with pytest.raises(TooManyRequests):
        buckets.take("a", 4)
    buckets.take("a", 3)


def test_memory_is_bounded():
    buckets = Buckets(1.0, 1, clock=Clock())
    for i in range(KEPT + 50):
        buckets.take(str(i))
    assert len(buckets._levels) == KEPT
