"""Two servers, commands, reloads, restores and kills on one ledger: nothing acknowledged is lost."""

from __future__ import annotations

import random

import pytest

from postgres_server import postgres_server, postgres_url  # noqa: F401  # fixtures
from sittings import FULL, progress_file
from torture_kit import Count, Ground

BLOCK = 12
"""Cycles on one ledger; then a new one, since each opening reads the whole history."""
CYCLES = 8 if FULL else 3
FULL = 2_000

STORES = [pytest.param("sqlite"), pytest.param("postgres", marks=pytest.mark.postgres)]


@pytest.fixture(params=STORES)
def url(request):
    if request.param == "postgres":
        return request.getfixturevalue("postgres_url")
    return "sqlite:ledger.db"


def block(base, count: Count, url: str, *, cycles: int = BLOCK, careless: bool = False) -> None:
    base.mkdir()
    rng = random.Random(count.cycles)
    ground = Ground(base, count, rng, url, careless=careless)
    for _ in range(cycles):
        ground.cycle()
        if count.wrong:
            break
    ground.end()


def test_nothing_acknowledged_is_lost_among_servers_commands_and_kills(tmp_path, url):
    count = Count()
    block(tmp_path / "ground", count, url, cycles=CYCLES)
    assert count.wrong == []
    assert count.cycles == CYCLES
    assert count.acknowledged > 8
    assert count.reloads > 0
    assert count.restores == 1


@pytest.mark.filterwarnings("ignore")
def test_the_torture_catches_a_server_that_drops_its_lock(tmp_path):
    """The broken twin looks at the file by hand after each charge, as the store once did."""
    count = Count()
    block(tmp_path / "ground", count, "sqlite:ledger.db", careless=True)
    assert count.wrong


@pytest.mark.slow
@pytest.mark.timeout(6 * 3600)
def test_the_full_count_over_as_many_sittings_as_it_needs(tmp_path):
    """Run it again to go on: what was done is in a file, in $DISCREET_PROGRESS if that is set."""
    progress = progress_file("ledger-torture.json")
    count = Count.read(progress)
    while count.cycles < FULL and not count.wrong:
        block(tmp_path / f"ground-{count.cycles}", count, "sqlite:ledger.db")
        count.write(progress)
    assert count.wrong == []
    assert count.cycles >= FULL
