from __future__ import annotations

import numpy as np
import pytest

from discreet.lab.town.columns import Stream, TownLaw, bands, chunks, stream


def test_draws_follow_the_shares_of_their_own_group(assert_shares):
    law = TownLaw.of([[1, 2, 3, 4], [4, 3, 2, 1], [0, 1, 1, 0]])
    group = np.repeat(np.arange(3), 100_000)
    kinds = law.draw(stream(1, Stream.PEOPLE, 0), group)
    for g in range(3):
        counts = np.bincount(kinds[group == g], minlength=4)
        assert_shares(counts, law.shares[g], wrong=[law.shares[(g + 1) % 3]])


def test_impossible_kinds_never_appear_even_at_the_ends():
    class Edge:
        def __init__(self, value):
            self.value = value

        def random(self, count, dtype):
            return np.full(count, self.value, dtype=dtype)

    # Ten tenths do not add up to 1 in floating point: the last kind must stay impossible.
    law = TownLaw.of([[0, *[0.1] * 10, 0]] * 400)
    group = np.arange(400)
    lowest = law.draw(Edge(0.0), group)
    highest = law.draw(Edge(1 - 2.0**-24), group)
    assert set(lowest) == {1}
    assert set(highest) == {10}


def test_streams_are_their_own():
    first = stream(0, Stream.PEOPLE, 0).random(8)
    assert np.array_equal(first, stream(0, Stream.PEOPLE, 0).random(8))
    others = [stream(1, Stream.PEOPLE, 0), stream(0, Stream.VISITS, 0), stream(0, Stream.PEOPLE, 1)]
    for other in others:
        assert not np.array_equal(first, other.random(8))


def test_bands():
    assert bands({0: "a", 5: "b", 120: "c"}).tolist() == [0] * 5 + [1] * 115 + [2]


@pytest.mark.parametrize("total", [1, 9, 10, 11, 25])
def test_chunks_cover_everything_once(total):
    rows = [row for start, count in chunks(total, 10) for row in range(start, start + count)]
    assert rows == list(range(total))
