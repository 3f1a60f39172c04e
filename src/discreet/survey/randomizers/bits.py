"""Random bits in bulk: strings of bits drawn, packed, added up and counted, and words from a keystream.

Strings have eight bits to a byte with the first one foremost. `BitReports` have one independent bit a code.
`KeystreamRng` yields words for many reports at once: an AES keystream under a fresh key of the operating system.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.base.arrays import Bits, Integers
from discreet.privacy.noise.rng import Rng, SystemRng, Words
from discreet.survey.randomizers.base import Reports, ReportShape, Shares, Tally

_CELLS = 1 << 20  # bits that are drawn at one time
_ROWS = 31
_STRIP = 1 << 15  # bytes that are added to one another at one time: they stay near the processor
_FEW = 4  # strips, below which adding them up first does not pay
_LAYERS = 31 * 255  # reports of a group at one time: what is left of them fits into a byte
_GROUPS = 256
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_LOWEST = np.uint64(0x0101010101010101)

Planes = npt.NDArray[np.uint64]


def packed(bits: Iterable[bool | int]) -> bytes:
    """Return bits as bytes, the first one foremost, zeros at the end.

    >>> packed([1, 0, 0, 0, 0, 0, 0, 0, 1]).hex()
    '8080'
    """
    return np.packbits(np.array(list(bits), dtype=np.uint8)).tobytes()


def random_bits(parts: int, places: Integers, special: Bits, width: int, rng: Rng) -> Reports:
    """Return rows of `width` coins of parts / 2^32, packed, the one at `places` set to `special`."""
    length, words = -(-width // 8), -(-width // 64)
    rows = np.empty((places.size, length), dtype=np.uint8)
    step = max(1, _CELLS // width)
    for start in range(0, places.size, step):
        some = rows[start : start + step]
        drawn = packed_coins(parts, len(some) * words, rng).view(np.uint8)
        some[:] = drawn.reshape(len(some), words * 8)[:, :length]
    rows[:, -1] &= 0xFF << (-width % 8) & 0xFF
    lanes, bytes_at, masks = np.arange(places.size), places >> 3, (0x80 >> (places & 7))
    kept = rows[lanes, bytes_at] & ~masks
    rows[lanes, bytes_at] = kept | np.where(special, masks, 0)
    return rows


def packed_coins(parts: int, words: int, rng: Rng) -> Planes:
    """Return 64 coins a word, each set with probability exactly parts / 2^32.

    Coin by coin a 32-bit number is compared with `parts`, a byte of it at a time: the words hold bit j
    of 64 numbers each, so a comparison is a few operations on words. Only words with a coin that ties
    with the bytes so far (one in five after the first) draw the next byte; and zeros at the end of
    `parts` need no digits at all, since nothing is below them.
    """
    (first, width), *others = _digits(parts) or [(0, 1)]
    below, ties = _compared(first, rng.words(width * words).reshape(width, -1))
    places = np.flatnonzero(ties) if others else np.zeros(0, dtype=np.int64)
    ties = ties[places]
    for byte, width in others:
        less, same = _compared(byte, rng.words(width * places.size).reshape(width, -1))
        below[places] |= ties & less
        ties &= same
        again = ties != 0
        places, ties = places[again], ties[again]
    return below


def _digits(parts: int) -> list[tuple[int, int]]:
    """Return a number of 2^32 parts as bytes, each with its bits, as far as there is one that is set.

    >>> _digits(0x40000000), _digits(0x12003800)
    ([(1, 2)], [(18, 8), (0, 8), (7, 5)])
    """
    found = []
    for shift in (24, 16, 8, 0):
        byte, rest = parts >> shift & 255, parts & ((1 << shift) - 1)
        if rest:
            found.append((byte, 8))
        elif byte:
            zeros = (byte & -byte).bit_length() - 1
            return [*found, (byte >> zeros, 8 - zeros)]
    return found


def _compared(byte: int, planes: Planes) -> tuple[Planes, Planes]:
    """Return which of the numbers whose bits the planes hold turned over are below `byte`, and which equal it.

    Turned over they are as random as they were, and a zero of `byte` needs no inverse.
    """
    less = np.zeros(planes.shape[1], dtype=np.uint64)
    same = np.full(planes.shape[1], _ALL, dtype=np.uint64)
    for at, plane in enumerate(planes):  # from the lowest bit to the highest
        if byte >> at & 1:
            less |= plane
            same &= ~plane
        else:
            less &= plane
            same &= plane
    return less, same


def column_sums(reports: Reports, width: int) -> Tally:
    """Return how often each bit is set.

    The bytes are added up where they lie: reports that fill whole words together (at most eight) are
    one stride, strides one after another a strip of some thousand words, and the strips are added to
    one another bit by bit. What is left of them is few, and only that is taken apart.
    """
    count, length = reports.shape
    together = 8 // math.gcd(length, 8)
    beside = max(1, _STRIP // (length * together)) * together  # reports of a strip
    strips = count // beside if count >= _FEW * beside else 0
    flat = np.ascontiguousarray(reports[: strips * beside]).reshape(strips, beside * length)
    total = _unpacked(reports[strips * beside :])
    for power, planes in enumerate(_added_up(flat.view(np.uint64))):
        for plane in planes:
            total += _unpacked(plane.view(np.uint8).reshape(beside, length)) << power
    return total[:width]


def _added_up(strips: Iterable[Planes]) -> list[list[Planes]]:
    """Return, for each power of two, at most two strips whose bits add up to those of all."""
    levels: list[list[Planes]] = []
    for strip in strips:
        carry = strip
        for level in levels:
            level.append(carry)
            if len(level) < 3:
                break
            half, carry = _full_adder(*level)
            level[:] = [half]
        else:
            levels.append([carry])
    return levels


def _full_adder(one: Planes, two: Planes, three: Planes) -> tuple[Planes, Planes]:
    """Return the last digit of the sum of three bits, and the digit before it."""
    half, carry = one ^ two, one & two
    carry |= half & three
    half ^= three
    return half, carry


def _unpacked(rows: npt.NDArray[np.uint8]) -> Integers:
    """Return how often each bit of some rows is set: a byte a bit, so that 255 rows fit into it."""
    total = np.zeros(rows.shape[1] * 8, dtype=np.int64)
    for start in range(0, len(rows), 255):
        bits = np.unpackbits(rows[start : start + 255], axis=1)
        total += bits.view(np.uint64).sum(axis=0, dtype=np.uint64).view(np.uint8)
    return total


def grouped_sums(reports: Reports, groups: Integers, count: int, width: int) -> Integers:
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
            total[some] += _bits_added(rows[order[places]])
    return np.asarray(total[:, :width])


def _bits_added(rows: Planes) -> Integers:
    """Return, for each group (second axis), how often each bit is set over the layers (first axis).

    31 layers are added to one another at a time; their number divides that of the layers.
    """
    parts = rows.reshape(_ROWS, -1, *rows.shape[1:])
    total = np.zeros((rows.shape[1], rows.shape[2] * 64), dtype=np.int64)
    for power, planes in enumerate(_added_up(parts)):
        for plane in planes:
            total += _taken_apart(plane) << power
    return total


def _taken_apart(plane: Planes) -> Integers:
    """Return how often each bit of the words of each group is set over at most 255 layers."""
    sums = np.zeros((*plane.shape[1:], 8, 8), dtype=np.int64)  # group, word, byte of it, bit
    for bit in range(8):
        counts = ((plane >> np.uint64(7 - bit)) & _LOWEST).sum(axis=0, dtype=np.uint64)
        sums[..., bit] = counts.view(np.uint8).reshape(*counts.shape, 8)
    return sums.reshape(plane.shape[1], -1)


class BitReports:
    """What such randomizers share."""

    __slots__ = ()

    codes: int

    @property
    def shape(self) -> ReportShape:
        """Return that a report has one bit a code, the first one foremost."""
        return ReportShape(length=-(-self.codes // 8), spare_bits=-self.codes % 8)

    def tally(self, reports: Reports) -> Tally:
        """Return how often each bit was set, and after them how many reports there were."""
        return np.append(column_sums(reports, self.codes), len(reports))

    def supporters(self, tally: Tally, values: Sequence[Any]) -> Shares:
        """Return how many reports set the bit of each code."""
        return tally[np.asarray(values, dtype=np.int64)].astype(np.float64)

    def supports(self, reports: Reports, values: Sequence[Any]) -> Bits:
        """Return which reports set which bits."""
        bits = np.unpackbits(np.asarray(reports), axis=1, count=self.codes)
        return bits[:, np.asarray(values, dtype=np.int64)].astype(np.bool_)


_ZEROS = memoryview(bytes(1 << 20))  # what is encrypted; making it anew would cost more than that
_CIPHER_BLOCK = 16
_FEW_WORDS = 512  # words below which a cipher would cost more than it saves


class KeystreamRng:
    """Words of AES-128 in counter mode, under a key drawn from the operating system at every call.

    Guarantee: nothing is buffered between calls, so neither a fork nor a snapshot of this process can
        repeat a word; uniform as long as AES-128 is a pseudorandom permutation. Where the package
        `cryptography` is not installed, the words come straight from the operating system.
    """

    def __init__(self) -> None:
        self._system = SystemRng()

    def words(self, count: int) -> Words:
        """Return `count` fresh words."""
        if count < _FEW_WORDS:
            return self._system.words(count)
        try:
            from cryptography.hazmat.primitives.ciphers import Cipher
            from cryptography.hazmat.primitives.ciphers.algorithms import AES
            from cryptography.hazmat.primitives.ciphers.modes import CTR
        except ImportError:
            return self._system.words(count)
        key = os.urandom(32)
        stream = Cipher(AES(key[:16]), CTR(key[16:])).encryptor()
        drawn = bytearray(8 * count + _CIPHER_BLOCK)
        for start in range(0, 8 * count, len(_ZEROS)):
            some = _ZEROS[: 8 * count - start]
            stream.update_into(some, memoryview(drawn)[start:])
        return np.frombuffer(drawn, dtype=np.uint64, count=count)
