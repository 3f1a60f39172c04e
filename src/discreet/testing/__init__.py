"""For tests and examples: repeatable words, fakes and statistical assertions. Never private."""

from discreet.testing.engine import FakeEngine
from discreet.testing.rng import FakeBits, SeededRng
from discreet.testing.statistics import ALPHA, assert_frequency, assert_law, chi_square_pvalue

__all__ = [
    "ALPHA",
    "FakeBits",
    "FakeEngine",
    "SeededRng",
    "assert_frequency",
    "assert_law",
    "chi_square_pvalue",
]
