import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.lab.attacks.record_links import MatchTolerance, coded, link, one_typo


def columns(first, second):
    one, two = pa.table(first), pa.table(second)
    return [coded(name, one[name], two[name]) for name in first]


def pairs(links):
    return sorted(zip(links.first.tolist(), links.second.tolist(), strict=True))


def test_only_people_without_a_double_on_either_side():
    found = link(
        columns(
            {"zip": ["a", "a", "b", "c", "d"], "sex": ["f", "f", "f", "m", None]},
            {"zip": ["b", "a", "c", "c", "d"], "sex": ["f", "f", "m", "m", None]},
        )
    )
    assert pairs(found) == [(2, 0)]  # a is double here, c there, and d is not known
    assert found.exact == 1


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12),
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12),
)
def test_exact_links_equal_the_slow_way(first, second):
    found = link(
        columns(
            {"x": [str(a) for a, _ in first], "y": [str(b) for _, b in first]},
            {"x": [str(a) for a, _ in second], "y": [str(b) for _, b in second]},
        )
    )
    slow = [
        (i, second.index(row))
        for i, row in enumerate(first)
        if first.count(row) == 1 and second.count(row) == 1
    ]
    assert pairs(found) == sorted(slow)


@pytest.mark.parametrize(
    ("one", "other", "near"),
    [
        ("20104", "20114", True),
        ("20104", "20140", True),
        ("20104", "2014", True),
        ("2014", "20104", True),
        ("20104", "20204", True),
        ("20104", "21204", False),
        ("20104", "201", False),
        ("ab", "ba", True),
        ("abc", "cba", False),
        ("", "a", True),
    ],
)
def test_one_typo(one, other, near):
    assert one_typo(one, other) is near
    assert one_typo(other, one) is near


def made(many, slips, seed=0):
    """Return a roll and a file of the same people; the roll has slips in the ZIP code or the date."""
    dice = np.random.default_rng(seed)
    zips = np.array([f"{z:05d}" for z in range(10_000, 10_000 + 7 * 60, 7)])
    town = zips[dice.integers(0, 60, many)]
    born = dice.integers(0, 20_000, many)
    name = np.array([f"name {i}" for i in dice.integers(0, 50, many)])
    roll_zip, roll_born = town.copy(), born.copy()
    wrong = dice.permutation(many)[: 2 * slips]
    roll_zip[wrong[:slips]] = [z[:4] + str((int(z[4]) + 1) % 10) for z in town[wrong[:slips]]]
    roll_born[wrong[slips:]] += dice.choice([-2, -1, 1, 2], slips)
    day = np.datetime64("1950-01-01")
    return columns(
        {"zip": roll_zip.tolist(), "born": pa.array(day + roll_born), "name": name.tolist()},
        {"zip": town.tolist(), "born": pa.array(day + born), "name": name.tolist()},
    )


def test_slips_are_forgiven_where_that_finds_more_than_chance():
    both = made(2_000, 150)
    exact, fuzzy = link(both), link(both, MatchTolerance(days=2, typos=True))
    right = fuzzy.first == fuzzy.second
    assert exact.exact == fuzzy.exact < 1_800
    assert right.sum() >= 1_980
    assert right.mean() > 0.99
    # Each slack is for its own kind of slip.
    assert (link(both, MatchTolerance(days=2)).first.size - exact.exact) in range(130, 151)
    assert (link(both, MatchTolerance(typos=True)).first.size - exact.exact) in range(130, 151)
    assert (
        link(both, MatchTolerance(days=1)).first.size
        < link(both, MatchTolerance(days=2)).first.size
    )


def test_a_prefix_that_everybody_shares_is_not_believed():
    """Strangers: whoever nearly agrees does so by chance, so nobody is linked."""
    dice = np.random.default_rng(4)
    day = np.datetime64("1950-01-01")

    def strangers():
        return {
            "zip": [f"201{z:02d}" for z in dice.integers(0, 20, 3_000)],
            "born": pa.array(day + dice.integers(0, 3_000, 3_000)),
        }

    both = columns(strangers(), strangers())
    fuzzy = link(both, MatchTolerance(days=3, prefix=3, typos=True))
    assert fuzzy.first.size == fuzzy.exact
