"""Verdicts follow the errors."""

import numpy as np
import pytest

from discreet.measure.sealing import MemoryCounter
from discreet.work.synth.report.quality import compare
from discreet.work.synth.report.sections import BADLY, ROUGHLY, TABLES, WELL, supports, verdict
from quality_kit import SHAPE, people, subject_of


@pytest.mark.parametrize(
    ("value", "word"),
    [(0.03, WELL), (0.031, ROUGHLY), (0.1, ROUGHLY), (0.11, BADLY), (float("nan"), "not seen")],
)
def test_words(value, word):
    assert verdict(value, TABLES) == word


def test_the_same_rows_are_supported_well_and_shuffled_ones_badly():
    codes, lens = people(), subject_of(people()).lens()
    real = MemoryCounter(codes, SHAPE)
    dice = np.random.default_rng(0)
    mixed = np.stack([dice.permutation(codes[:, i]) for i in range(3)], axis=1)
    same = {each.kind: each.verdict for each in supports(compare(real, real, lens))}
    assert set(same.values()) <= {WELL, "not seen"}
    lost = compare(real, MemoryCounter(mixed, SHAPE), lens)
    verdicts = {each.kind: each.verdict for each in supports(lost)}
    assert verdicts["counts by one column"] == WELL
    assert verdicts["counts by two columns"] == BADLY
    assert verdicts["predicting rich"] == BADLY
