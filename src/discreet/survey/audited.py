"""Every randomizer as a function to audit: `discreet audit .../survey/audited.py:warner`.

Neighbours are the two most different answers; an output is a whole report, as one number. Small
domains, so that a million reports show the worst event.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.survey.randomizers.base import Reports
from discreet.survey.randomizers.duchi import DuchiResponse
from discreet.survey.randomizers.hybrid import HybridResponse
from discreet.survey.randomizers.kary import KaryResponse
from discreet.survey.randomizers.keystream import KeystreamRng
from discreet.survey.randomizers.lattice import NumberRange
from discreet.survey.randomizers.local_hash import LocalHash
from discreet.survey.randomizers.piecewise import PiecewiseResponse
from discreet.survey.randomizers.projective import ProjectiveResponse
from discreet.survey.randomizers.rappor import Rappor
from discreet.survey.randomizers.unary import UnaryEncoding
from discreet.survey.sketch.count_mean import CountMeanSketch
from discreet.survey.sketch.hadamard import HadamardSketch
from discreet.survey.sketch.prefix_tree import PrefixTree
from discreet.survey.sketch.rappor_sketch import RapporSketch
from discreet.survey.spec.choose import AnyRandomizer

EPSILON = 1
NEIGHBOURS = (0, 1)
"""Two codes, the two ends of a range, or (for sketches) the words "0" and "1"."""

_SPAN = NumberRange(0.0, 1.0)
MAKERS: dict[str, Callable[[Fraction], AnyRandomizer]] = {
    "warner": lambda epsilon: KaryResponse.of(2, epsilon, name="warner"),
    "k_ary": lambda epsilon: KaryResponse.of(4, epsilon),
    "unary": lambda epsilon: UnaryEncoding.of(5, epsilon),
    "local_hash": lambda epsilon: LocalHash.of(9, epsilon),
    "projective": lambda epsilon: ProjectiveResponse.of(8, epsilon),
    "count_mean_sketch": lambda epsilon: CountMeanSketch.of(epsilon, rows=4, buckets=8),
    "hadamard_sketch": lambda epsilon: HadamardSketch.of(epsilon, rows=4, buckets=8),
    "prefix_tree": lambda epsilon: PrefixTree.of(epsilon, rows=2, buckets=4),
    "rappor": lambda epsilon: Rappor.of(5, epsilon),
    "rappor_sketch": lambda epsilon: RapporSketch.of(epsilon, rows=4, buckets=8),
    "duchi": lambda epsilon: DuchiResponse.of(_SPAN, epsilon),
    "piecewise": lambda epsilon: PiecewiseResponse.of(_SPAN, epsilon),
    "hybrid": lambda epsilon: HybridResponse.of(_SPAN, epsilon),
}
"""Each randomizer with the size that is audited."""
WORDS = {"count_mean_sketch", "hadamard_sketch", "prefix_tree", "rappor_sketch"}


def sample(name: str, value: int, size: int, *, epsilon: Fraction) -> npt.NDArray[np.int64]:
    """Return whole reports of one value, each as one number; of RAPPOR what endless reports would show."""
    randomizer = MAKERS[name](epsilon)
    values: Any = [str(value)] * size if name in WORDS else np.full(size, value)
    if isinstance(randomizer, Rappor | RapporSketch):
        return as_numbers(randomizer.keep_many(values, KeystreamRng()))
    return as_numbers(randomizer.encode_many(values, KeystreamRng()))


def as_numbers(reports: Reports) -> npt.NDArray[np.int64]:
    """Return reports as one number each, whether they are numbers or short strings of bits."""
    if reports.ndim == 1:
        return reports.astype(np.int64)
    found = np.zeros(len(reports), dtype=np.int64)
    for column in range(reports.shape[1]):
        found = found * 256 + reports[:, column]
    return found


def __getattr__(name: str) -> Callable[[int, int], npt.NDArray[np.int64]]:
    """Return what an audit calls, (data, size), for each name of MAKERS."""
    if name not in MAKERS:
        raise AttributeError(name)
    return partial(sample, name, epsilon=Fraction(EPSILON))
