"""Strings of random bits, eight to a byte with the first one foremost: drawn, packed and added up."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from discreet.noise.rng import Rng
from discreet.survey.randomizers.base import Reports, Tally
from discreet.survey.randomizers.dyadic import coins

_CELLS = 1 << 19  # bits that are drawn at one time: they stay in the processor's cache
_ROWS, _MANY = 31, 255
_BESIDE = 256
_LAYERS = 31 * 255  # reports of a group at one time: what is left of them fits into a byte
_GROUPS = 256
_LOWEST = np.uint64(0x0101010101010101)

Planes = npt.NDArray[np.uint64]


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
    """Return how often each bit is set; see `grouped_sums`."""
    count, length = reports.shape
    many = _MANY if count >= 8 * _MANY else _ROWS
    words = np.zeros((-(-count // many) * many, -(-length // 8) * 8), dtype=np.uint8)
    words[:count, :length] = reports
    rows = words.view(np.uint64)
    total = np.zeros(words.shape[1] * 8, dtype=np.int64)
    for start in range(0, len(rows), many * _BESIDE):
        some = rows[start : start + many * _BESIDE]
        total += _bits_added(some[:, None, :], many)[0]
    return total[:width]


def grouped_sums(
    reports: Reports, groups: npt.NDArray[np.int64], count: int, width: int
) -> npt.NDArray[np.int64]:
    """Return how often each bit is set among the reports of each of `count` groups.

    Reports are laid beside each other as 64-bit words, a few hundred of each group at a time, and
    added up bit by bit with full adders, which leaves words of weight 1, 2, 4 and so on; only those are
    taken apart.
    """
    words = np.zeros((len(reports) + 1, -(-reports.shape[1] // 8) * 8), dtype=np.uint8)
    words[:-1, : reports.shape[1]] = reports  # the last one is all zeros: it fills gaps
    rows = words.view(np.uint64)
    order = np.append(np.argsort(groups, kind="stable"), len(reports))
    sizes = np.bincount(groups, minlength=count)
    starts = np.cumsum(sizes) - sizes
    total = np.zeros((count, words.shape[1] * 8), dtype=np.int64)
    for done in range(0, int(sizes.max(initial=0)), _LAYERS):
        present = np.flatnonzero(sizes > done)
        for some in np.array_split(present, -(-present.size // _GROUPS)):
            left = np.minimum(sizes[some] - done, _LAYERS)
            layers = -(-int(left.max()) // _ROWS) * _ROWS
            at = np.arange(layers)[:, None]
            places = np.where(at < left, starts[some] + done + at, len(reports))
            total[some] += _bits_added(rows[order[places]], _ROWS)
    return np.asarray(total[:, :width])


def _bits_added(rows: Planes, many: int) -> npt.NDArray[np.int64]:
    """Return, for each group (second axis), how often each bit is set over the layers (first axis).

    `many` layers are added to one another at a time; their number divides that of the layers.
    """
    parts = list(rows.reshape(many, -1, *rows.shape[1:]))
    total = np.zeros((rows.shape[1], rows.shape[2] * 64), dtype=np.int64)
    for power, planes in enumerate(_added(parts)):
        for plane in planes:
            total += _taken_apart(plane) << power
    return total


def _added(level: list[Planes]) -> list[list[Planes]]:
    """Return, for each power of two, at most two words whose bits add up to those of all parts."""
    found = []
    while level:
        carried = []
        while len(level) >= 3:
            one, two, three = level.pop(), level.pop(), level.pop()
            half, carry = one ^ two, one & two
            carry |= half & three
            half ^= three
            level.append(half)
            carried.append(carry)
        found.append(level)
        level = carried
    return found


def _taken_apart(plane: Planes) -> npt.NDArray[np.int64]:
    """Return how often each bit of the words of each group is set over at most 255 layers."""
    sums = np.zeros((*plane.shape[1:], 8, 8), dtype=np.int64)  # group, word, byte of it, bit
    for bit in range(8):
        counts = ((plane >> np.uint64(7 - bit)) & _LOWEST).sum(axis=0, dtype=np.uint64)
        sums[..., bit] = counts.view(np.uint8).reshape(*counts.shape, 8)
    return sums.reshape(plane.shape[1], -1)
