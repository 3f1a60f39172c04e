"""What one address gets in is its burst and then its rate, however it divides its reports into batches."""

from pathlib import Path

import pytest

from discreet.errors import TooLarge, TooManyRequests
from discreet.server.access.limits import Buckets, network_of
from discreet.server.features.survey.collector import ReportIntake
from discreet.server.settings import Settings

RATE, BURST, HOUR = 200, 20_000, 3600
"""The defaults that docs/survey-pages.md states."""
SIZES = (1, 7_000, 10_001, 19_999, 20_000, 20_001, 65_535, 10**6)


def at_a_time(count):
    """Return what a batch takes that says how many it holds before it is parsed."""
    return [(count, 0)]


def in_two(count):
    """Return what a JSON list takes whose members are no objects: its bytes, and the rest when it is parsed."""
    return [(max(1, count // 3), 0), (count, max(1, count // 3))]


def let_in(intake_kind, size, charges):
    """Return how many reports an address gets in within an hour whose batches all have one size."""
    now = 0.0
    intake = intake_kind(Settings(config=Path("discreet.toml")))
    intake._rate = Buckets(RATE, BURST, clock=lambda: now)
    found = 0
    for minute in range(HOUR // 60 + 1):
        now = 60.0 * minute
        try:
            for _ in range(100):
                for reports, taken in charges(size):
                    intake.take_rate("192.0.2.1", reports, taken=taken)
                found += size
        except (TooLarge, TooManyRequests):
            pass
    return found


@pytest.mark.parametrize("charges", [at_a_time, in_two])
@pytest.mark.parametrize("size", SIZES)
def test_an_address_gets_in_its_burst_and_then_its_rate(size, charges):
    assert let_in(ReportIntake, size, charges) <= BURST + RATE * HOUR


def test_the_defaults_are_those_of_the_docs_and_a_whole_burst_goes_in_at_once():
    settings = Settings(config=Path("discreet.toml"))
    assert (settings.survey_rate, settings.survey_burst) == (RATE, BURST)
    ReportIntake(settings).take_rate("192.0.2.1", BURST)
    with pytest.raises(TooLarge, match="at most 20,000 reports at once"):
        ReportIntake(settings).take_rate("192.0.2.1", BURST + 1)
    with pytest.raises(TooLarge, match="at most 20,000 reports at once"):
        ReportIntake(settings).take_rate("192.0.2.1", BURST + 1, taken=BURST)


class AtMostTheBurst(ReportIntake):
    """The twin: a batch costs at most the burst, as it did before."""

    def take_rate(self, address, reports, *, taken=0):
        if reports > taken:
            self._rate.take(network_of(address), min(reports - taken, self._burst))


def test_a_limit_of_the_price_alone_is_passed():
    assert let_in(AtMostTheBurst, 65_535, at_a_time) > 2 * (BURST + RATE * HOUR)
