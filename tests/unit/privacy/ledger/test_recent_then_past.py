"""What came since and what lay before, as one dict."""

import pytest

from discreet.privacy.ledger.checkpoint_records import RecentThenPast

BEFORE = {"old": [1], "both": [2]}


@pytest.fixture
def since():
    made = RecentThenPast({"both": [3], "new": [4]})
    made.earlier = BEFORE.get
    return made


def test_what_came_since_counts_before_what_lay_earlier(since):
    whole = {"old": [1], "both": [3], "new": [4]}
    for name, value in whole.items():
        assert since[name] == since.get(name) == since.get(name, []) == value
        assert name in since
    assert since.get("nowhere") is None
    assert since.get("nowhere", [9]) == [9]
    assert "nowhere" not in since
    with pytest.raises(KeyError):
        since["nowhere"]
    assert dict(since) == {"both": [3], "new": [4]}, "what lay earlier is looked up, not held"


def test_without_anything_earlier_it_is_a_plain_dict():
    plain = RecentThenPast({"new": [4]})
    assert plain["new"] == plain.get("new") == [4]
    assert plain.get("old") is None
    assert "old" not in plain
    with pytest.raises(KeyError):
        plain["old"]
