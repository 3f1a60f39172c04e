"""Every randomizer as a function to audit: `discreet audit .../survey/audited.py:warner`.

Neighbours are the two most different answers; an output is a whole report, as one number. Small
domains, so that a million reports show the worst event.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
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


def warner(data: int, size: int) -> Any:
    """Return reports of Warner's coin."""
    return sample("warner", data, size, epsilon=Fraction(EPSILON))


def k_ary(data: int, size: int) -> Any:
    """Return reports of k-ary randomized response."""
    return sample("k_ary", data, size, epsilon=Fraction(EPSILON))


def unary(data: int, size: int) -> Any:
    """Return reports of optimised unary encoding."""
    return sample("unary", data, size, epsilon=Fraction(EPSILON))


def local_hash(data: int, size: int) -> Any:
    """Return reports of optimised local hashing."""
    return sample("local_hash", data, size, epsilon=Fraction(EPSILON))


def projective(data: int, size: int) -> Any:
    """Return reports of projective geometry response."""
    return sample("projective", data, size, epsilon=Fraction(EPSILON))


def count_mean_sketch(data: int, size: int) -> Any:
    """Return reports of the count mean sketch."""
    return sample("count_mean_sketch", data, size, epsilon=Fraction(EPSILON))


def hadamard_sketch(data: int, size: int) -> Any:
    """Return reports of the Hadamard sketch."""
    return sample("hadamard_sketch", data, size, epsilon=Fraction(EPSILON))


def prefix_tree(data: int, size: int) -> Any:
    """Return reports of the prefix tree."""
    return sample("prefix_tree", data, size, epsilon=Fraction(EPSILON))


def rappor(data: int, size: int) -> Any:
    """Return all that RAPPOR's reports ever tell: the permanent bits."""
    return sample("rappor", data, size, epsilon=Fraction(EPSILON))


def rappor_sketch(data: int, size: int) -> Any:
    """Return the same for words."""
    return sample("rappor_sketch", data, size, epsilon=Fraction(EPSILON))


def duchi(data: int, size: int) -> Any:
    """Return reports of Duchi's response."""
    return sample("duchi", data, size, epsilon=Fraction(EPSILON))


def piecewise(data: int, size: int) -> Any:
    """Return reports of piecewise response."""
    return sample("piecewise", data, size, epsilon=Fraction(EPSILON))


def hybrid(data: int, size: int) -> Any:
    """Return reports of hybrid response."""
    return sample("hybrid", data, size, epsilon=Fraction(EPSILON))
