"""privacy/README.md names every file of the trusted base, with its lines, and everybody else who may open rows."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import rooms
import trusted_base

PAGE = (trusted_base.PLACE / "README.md").read_text(encoding="utf-8")


def test_the_page_says_what_is_there():
    assert trusted_base.wrong(PAGE) == []


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("| `kernel/seal.py` |", "| `kernel/sealing.py` |"),
        ("| `ledger/outcomes.py` | 130 |", "| `ledger/outcomes.py` | 300 |"),
        ("a charge was begun", "a charge was wanted"),
        ("| make a permit |", "| open rows |"),
    ],
)
def test_a_page_of_another_house_is_found(true, false):
    assert true in PAGE
    assert trusted_base.wrong(PAGE.replace(true, false, 1)) != []


def test_it_is_importable_alone():
    """What the four folders import is base, data and each other: nothing of what they must not believe."""
    privacy = {room for room in rooms.ROOMS if room.startswith("privacy/")}
    allowed = privacy | {"data/engines"}
    assert all(rooms.ROOMS[room] <= allowed for room in privacy)
