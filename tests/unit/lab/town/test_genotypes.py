from __future__ import annotations

import numpy as np
from scipy import stats

from discreet.lab.town import parameters as p
from discreet.lab.town.studies import allele_frequencies, write_genotypes


def test_allele_counts_follow_the_known_frequencies(tmp_path):
    people, loci = 1_000, 2_000
    matrix = np.load(write_genotypes(5, people, loci, tmp_path / "g.npy"))
    assert matrix.dtype == np.int8
    assert matrix.shape == (people, loci)
    frequencies = allele_frequencies(5, loci)
    assert frequencies.min() >= p.ALLELE_LOWEST
    assert frequencies.max() <= p.ALLELE_HIGHEST

    def misfit(wanted):
        error = np.sqrt(wanted * (1 - wanted) / (2 * people))
        return float((((matrix.mean(axis=0) / 2 - wanted) / error) ** 2).sum())

    law = stats.chi2(loci)
    assert law.isf(1 - 1e-9 / 2) < misfit(frequencies) < law.isf(1e-9 / 2)
    assert misfit(frequencies * 0.97) > law.isf(1e-9 / 2)


def test_hardy_weinberg_and_independence_of_people(tmp_path):
    matrix = np.load(write_genotypes(5, 1_000, 2_000, tmp_path / "g.npy"))
    frequencies = allele_frequencies(5, 2_000)
    both = (matrix == 2).sum()
    expected = 1_000 * (frequencies**2).sum()
    assert abs(both - expected) < 6.2 * np.sqrt(expected)
    assert abs(both - 1_000 * (frequencies / 2).sum()) > 6.2 * np.sqrt(expected)
    assert len(np.unique(matrix, axis=0)) == 1_000
    assert [file.name for file in tmp_path.iterdir()] == ["g.npy"]
