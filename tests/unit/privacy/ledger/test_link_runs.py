"""Charges made together stand side by side: every history that is not whole is refused where it breaks."""

import itertools

import pytest

from discreet.privacy.ledger.entry import run_after


def whole(history) -> bool:
    """Return whether every run is unbroken, begins where it says and is as long as it says."""
    at = 0
    while at < len(history):
        if history[at] is None:
            at += 1
            continue
        first, many = history[at]
        if first != at or many < 2 or history[at : at + many] != [(first, many)] * many:
            return False
        at += many
    return True


def passes(history) -> bool:
    run = None
    for position, together in enumerate(history):
        try:
            run = run_after(run, position, together)
        except ValueError:
            return False
    return run is None


def test_of_all_short_histories_only_whole_ones_pass():
    said = [None, *itertools.product(range(3), range(1, 5))]
    every = [list(each) for each in itertools.product(said, repeat=4)]
    good = [history for history in every if whole(history)]
    assert len(good) == 8  # runs of 2, 3 or 4 among single entries
    assert [history for history in every if passes(history)] == good


def test_it_says_which_run_is_still_open():
    assert run_after(None, 5, (5, 3)) == (5, 3)
    assert run_after((5, 3), 6, (5, 3)) == (5, 3)
    assert run_after((5, 3), 7, (5, 3)) is None
    assert run_after(None, 8, None) is None


@pytest.mark.parametrize(
    ("run", "position", "together"),
    [
        ((5, 3), 6, None),  # broken off
        ((5, 3), 6, (6, 2)),  # another one begins, with the same end
        ((5, 3), 6, (5, 4)),  # it has become longer
        ((5, 3), 8, (5, 3)),  # it goes on beyond its end
        (None, 6, (5, 3)),  # its first is missing
        (None, 5, (5, 1)),  # one alone is no run
        (None, 5, (5, 0)),
        (None, 5, (5, -1)),
    ],
)
def test_what_is_broken_is_refused(run, position, together):
    with pytest.raises(ValueError, match="run"):
        run_after(run, position, together)
