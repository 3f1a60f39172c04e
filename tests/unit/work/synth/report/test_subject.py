"""Words and numbers for codes."""

import datetime as dt
from fractions import Fraction

import numpy as np

from discreet.base.schema import CategoryDomain, DateDomain, NumberDomain, TimestampDomain
from discreet.measure.columns import Coded
from discreet.work.synth.report.publishable import centres_of, labels_of
from quality_kit import people, subject_of


def test_bins_are_named_by_their_ends():
    income = Coded("income", NumberDomain(Fraction(0), Fraction(1000), Fraction(1, 2)), (0, 1000))
    assert labels_of(income) == ("0 to 499.5", "500 to 1,000")
    assert centres_of(income).tolist() == [249.75, 750.0]


def test_days_and_seconds_are_told_by_their_day():
    days = DateDomain(dt.date(2020, 1, 1), dt.date(2020, 1, 3))
    assert labels_of(Coded("day", days))[0] == "2020-01-01"
    assert np.diff(centres_of(Coded("day", days))).tolist() == [1, 1]
    seconds = TimestampDomain(dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 2, 5))
    assert labels_of(Coded("when", seconds)) == ("2020-01-01", "2020-01-02")


def test_categories_have_no_numbers_and_missing_is_its_own():
    town = Coded("town", CategoryDomain(("a", "b")), missing=True)
    assert labels_of(town) == ("a", "b", "missing")
    assert centres_of(town) is None


def test_a_lens_fits_its_table():
    subject = subject_of(people())
    lens = subject.lens()
    assert tuple(len(words) for words in lens.labels) == lens.shape.sizes
    assert np.isnan(lens.centres[0][-1])
    assert 4500 < subject.rows < 5500
