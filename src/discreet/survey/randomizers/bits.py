"""Strings of random bits, eight to a byte with the first one foremost: drawn, packed and added up."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from discreet.noise.rng import Rng
from discreet.survey.randomizers.base import Reports, Tally
from discreet.survey.randomizers.dyadic import coins

_CELLS = 1 << 23  # bits that are unpacked at one time
_MANY = 1 << 15  # from so many reports on, counting pairs of bytes is faster than unpacking


def packed(bits: Iterable[bool | int]) -> bytes:
    """Return bits as bytes, the first one foremost, zeros at the end.

    >>> packed([1, 0, 0, 0, 0, 0, 0, 0, 1]).hex()
    '8080'
    """
    return np.packbits(np.array(list(bits), dtype=np.uint8)).tobytes()


def random_bits(
    parts: int, places: npt.NDArray[np.int64], special: npt.NDArray[np.bool_], width: int, rng: Rng
) -> Reports:
    """Return rows of `width` coins of parts / 2^32, packed, the one at `places` set to `special`."""
    rows = np.empty((places.size, -(-width // 8)), dtype=np.uint8)
    step = max(1, _CELLS // width)
    for start in range(0, places.size, step):
        part = slice(start, start + step)
        count = places[part].size
        drawn = coins(parts, count * width, rng).reshape(count, width)
        drawn[np.arange(count), places[part]] = special[part]
        rows[part] = np.packbits(drawn, axis=1)
    return rows


def column_sums(reports: Reports, width: int) -> Tally:
    """Return how often each bit is set."""
    reports = np.ascontiguousarray(reports, dtype=np.uint8)
    if len(reports) >= _MANY:
        return _counted_pairs(reports)[:width]
    sums = np.zeros(width, dtype=np.int64)
    step = max(1, _CELLS // width)
    for start in range(0, len(reports), step):
        bits = np.unpackbits(reports[start : start + step], axis=1, count=width)
        sums += bits.sum(axis=0, dtype=np.int64)
    return sums


def _counted_pairs(reports: Reports) -> Tally:
    """Return the sums of all bits from how often each pair of neighbouring bytes has each value."""
    count, length = reports.shape
    if length % 2:
        reports = np.concatenate([reports, np.zeros((count, 1), dtype=np.uint8)], axis=1)
    pairs = np.ascontiguousarray(reports.view(">u2").T.astype(np.uint16))
    values = np.arange(1 << 16, dtype=">u2").view(np.uint8).reshape(-1, 2)
    meaning = np.unpackbits(values, axis=1).astype(np.float64)
    # Counts stay below 2^53, so the product of floats is exact.
    sums = [np.bincount(pair, minlength=1 << 16) @ meaning for pair in pairs]
    return np.concatenate(sums).astype(np.int64)
