"""A rehearsal tells about what the noise destroys, without any real row."""

from fractions import Fraction

import numpy as np

from discreet.measure.sealing import MemoryCounter
from discreet.work.synth.report import publishable
from discreet.work.synth.report.publishable import rehearse
from discreet.work.synth.report.quality import compare
from quality_kit import SHAPE, people, subject_of


def mean(found):
    return float(np.mean([each.tvd for each in found]))


def test_it_is_near_the_truth_where_the_method_measures_everything():
    codes = people()
    for rho in (Fraction(1, 2), Fraction(1, 1000)):
        subject = subject_of(codes, rho=rho)
        lens = subject.lens()
        truth = compare(MemoryCounter(codes, SHAPE), MemoryCounter(subject.codes, SHAPE), lens)
        told = rehearse(subject, lens)
        assert 0.4 < mean(told.pairs) / mean(truth.pairs) < 2.5
    assert mean(told.pairs) > 0.05  # the second was noisy, and is told so


def test_without_the_method_there_is_none():
    subject = subject_of(people(), refit=False)
    assert rehearse(subject, subject.lens()) is None


def test_one_that_would_take_long_is_left_out(monkeypatch):
    subject = subject_of(people())
    assert publishable.work(subject) == 3 * subject.rows
    monkeypatch.setattr(publishable, "MOST_WORK", 100)
    assert rehearse(subject, subject.lens()) is None
