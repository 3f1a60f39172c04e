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

from discreet.base.arrays import Integers
from discreet.survey.mechanisms import MECHANISMS
from discreet.survey.randomizers.base import AnswerDomain, AnyRandomizer, Mechanism, Reports
from discreet.survey.randomizers.bits import KeystreamRng

EPSILON = 1
NEIGHBOURS = (0, 1)
"""Two codes, the two ends of a range, or (for sketches) the words "0" and "1"."""

AUDITED: dict[str, Mechanism] = {
    name.replace("-", "_"): mechanism for name, mechanism in MECHANISMS.items()
}
"""Each mechanism by a name that Python can import."""
WORDS = {name for name, each in AUDITED.items() if each.over is AnswerDomain.WORDS}


def audited_randomizer(name: str, epsilon: Fraction) -> AnyRandomizer:
    """Return a randomizer of the size that is audited."""
    return AUDITED[name].make(AUDITED[name].audited, epsilon)


def sample(name: str, value: int, size: int, *, epsilon: Fraction) -> Integers:
    """Return whole reports of one value, each as one number; of RAPPOR what endless reports would show."""
    randomizer: Any = audited_randomizer(name, epsilon)
    values: Any = [str(value)] * size if name in WORDS else np.full(size, value)
    if AUDITED[name].kept:
        return as_numbers(randomizer.keep_many(values, KeystreamRng()))
    return as_numbers(randomizer.encode_many(values, KeystreamRng()))


def as_numbers(reports: Reports) -> Integers:
    """Return reports as one number each, whether they are numbers or short strings of bits."""
    if reports.ndim == 1:
        return reports.astype(np.int64)
    found = np.zeros(len(reports), dtype=np.int64)
    for column in range(reports.shape[1]):
        found = found * 256 + reports[:, column]
    return found


def __getattr__(name: str) -> Callable[[int, int], Integers]:
    """Return what an audit calls, (data, size), for each name of AUDITED."""
    if name not in AUDITED:
        raise AttributeError(name)
    return partial(sample, name, epsilon=Fraction(EPSILON))
