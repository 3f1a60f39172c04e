"""Genotypes of a study: how many minor alleles each person carries at each locus."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from discreet.core.arrays import Floats
from discreet.examples import parameters as p
from discreet.examples.draw import Stream, chunks, stream

PEOPLE_A_CHUNK = 500
"""People made at a time; like CHUNK, a part of the recipe."""


def allele_frequencies(seed: int, loci: int) -> Floats:
    """Return the frequency of the minor allele at each locus in the whole population."""
    rng = stream(seed, Stream.GENOTYPES, 0)
    return p.ALLELE_LOWEST + (p.ALLELE_HIGHEST - p.ALLELE_LOWEST) * rng.random(loci)


def write_genotypes(seed: int, people: int, loci: int, path: Path) -> Path:
    """Return `path` after writing a people x loci matrix of 0, 1 and 2 as 8-bit integers (.npy).

    Loci are independent and in Hardy-Weinberg equilibrium: two alleles, each minor with the
    frequency that `allele_frequencies` gives.
    """
    frequencies = allele_frequencies(seed, loci).astype(np.float32)
    unfinished = path.with_name(path.name + ".part")
    matrix = np.lib.format.open_memmap(unfinished, mode="w+", dtype=np.int8, shape=(people, loci))
    for chunk, (start, count) in enumerate(chunks(people, PEOPLE_A_CHUNK), start=1):
        rng = stream(seed, Stream.GENOTYPES, chunk)
        carried = rng.random((2, count, loci), dtype=np.float32) < frequencies
        matrix[start : start + count] = carried.sum(axis=0, dtype=np.int8)
    matrix.flush()
    del matrix
    return unfinished.replace(path)
