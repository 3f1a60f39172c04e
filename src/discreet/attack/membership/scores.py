"""Was this person's genome among those behind the published allele frequencies? Four statistics.

A genotype row holds 0, 1 or 2 minor alleles at each locus. `published` are the study's frequencies of
the minor allele, `reference` those of the population that the adversary compares with. Each function
returns one score a row; the higher, the more likely a member.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.core.arrays import Floats

Genotypes: TypeAlias = npt.NDArray[np.int8]
Statistic: TypeAlias = Callable[[Genotypes, Floats, Floats], Floats]
PEOPLE_A_CHUNK = 200
_EDGE = 1e-4


def homer(rows: Genotypes, published: Floats, reference: Floats) -> Floats:
    """Return |row - reference| - |row - published|, summed over loci (Homer et al. 2008)."""
    near, far = published.astype(np.float32), reference.astype(np.float32)

    def of(part: Genotypes) -> Floats:
        share = part * np.float32(0.5)
        return np.asarray(
            (np.abs(share - far) - np.abs(share - near)).sum(axis=1, dtype=np.float64)
        )

    return _chunked(rows, of)


def inner_product(rows: Genotypes, published: Floats, reference: Floats) -> Floats:
    """Return <row - reference, published - reference> (Dwork et al. 2015)."""
    return _projected(rows, published - reference, reference)


def scaled_product(rows: Genotypes, published: Floats, reference: Floats) -> Floats:
    """Return the inner product with each locus measured in units of its own spread."""
    spread = np.clip(reference * (1 - reference), _EDGE, None)
    return _projected(rows, (published - reference) / spread, reference)


def likelihood_ratio(rows: Genotypes, published: Floats, reference: Floats) -> Floats:
    """Return the log likelihood of a row under the study's frequencies over the population's.

    Most powerful when loci are independent (Sankararaman et al. 2009). Frequencies outside (0, 1),
    as noise makes them, are moved inside: post-processing by the adversary.
    """
    study = np.clip(published, _EDGE, 1 - _EDGE)
    people = np.clip(reference, _EDGE, 1 - _EDGE)
    minor, major = np.log(study / people), np.log((1 - study) / (1 - people))
    return _projected(rows, 2 * (minor - major), np.zeros(len(minor))) + 2 * float(major.sum())


STATISTICS: Mapping[str, Statistic] = MappingProxyType(
    {
        "homer": homer,
        "inner-product": inner_product,
        "scaled-product": scaled_product,
        "likelihood-ratio": likelihood_ratio,
    }
)


def _projected(rows: Genotypes, direction: Floats, centre: Floats) -> Floats:
    return _chunked(rows, lambda part: (part * 0.5) @ direction) - float(centre @ direction)


def _chunked(rows: Genotypes, of: Callable[[Genotypes], Floats]) -> Floats:
    scores = np.empty(len(rows))
    for start in range(0, len(rows), PEOPLE_A_CHUNK):
        scores[start : start + PEOPLE_A_CHUNK] = of(rows[start : start + PEOPLE_A_CHUNK])
    return scores
