"""The codewords of a QR code (ISO/IEC 18004): bytes, padded, with Reed-Solomon words of level M."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from discreet.errors import InvalidInput

_MODULUS = 0x11D
_BYTE_MODE = 0b0100
_PADS = (0xEC, 0x11)


@dataclass(frozen=True, slots=True)
class Version:
    """One size of QR code: its error words a block, its blocks' data words, and where its patterns align."""

    number: int
    correction: int
    blocks: tuple[int, ...]
    aligned: tuple[int, ...]

    @property
    def size(self) -> int:
        """Return how many modules a side has."""
        return 17 + 4 * self.number

    @property
    def count_bits(self) -> int:
        """Return how many bits say the length."""
        return 8 if self.number < 10 else 16


VERSIONS = (
    Version(1, 10, (16,), ()),
    Version(2, 16, (28,), (6, 18)),
    Version(3, 26, (44,), (6, 22)),
    Version(4, 18, (32,) * 2, (6, 26)),
    Version(5, 24, (43,) * 2, (6, 30)),
    Version(6, 16, (27,) * 4, (6, 34)),
    Version(7, 18, (31,) * 4, (6, 22, 38)),
    Version(8, 22, (38, 38, 39, 39), (6, 24, 42)),
    Version(9, 22, (36, 36, 36, 37, 37), (6, 26, 46)),
    Version(10, 26, (43, 43, 43, 43, 44), (6, 28, 50)),
)
"""The sizes in use, at level M: up to 213 bytes, of which about 15% of the modules may be spoiled."""


def version_for(data: bytes) -> Version:
    """Return the smallest size that holds these bytes."""
    for version in VERSIONS:
        if 4 + version.count_bits + 8 * len(data) <= 8 * sum(version.blocks):
            return version
    raise InvalidInput("The address is too long for a QR code: at most 213 bytes.")


def codewords(data: bytes, version: Version) -> bytes:
    """Return all words in the order in which they are drawn: blocks interleaved, data before correction."""
    words = _padded(data, version)
    blocks, at = [], 0
    for size in version.blocks:
        blocks.append(words[at : at + size])
        at += size
    corrections = [remainder(block, version.correction) for block in blocks]
    return _interleaved(blocks) + _interleaved(corrections)


def _padded(data: bytes, version: Version) -> bytes:
    capacity = sum(version.blocks)
    bits = f"{_BYTE_MODE:04b}{len(data):0{version.count_bits}b}"
    bits += "".join(f"{byte:08b}" for byte in data)
    bits += "0" * min(4, 8 * capacity - len(bits))
    bits += "0" * (-len(bits) % 8)
    words = bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits), 8))
    return words + bytes(_PADS[i % 2] for i in range(capacity - len(words)))


def _interleaved(blocks: list[bytes]) -> bytes:
    longest = max(len(block) for block in blocks)
    return bytes(block[i] for i in range(longest) for block in blocks if i < len(block))


def multiply(one: int, other: int) -> int:
    """Return a product in the field of 256 elements."""
    found = 0
    while other:
        if other & 1:
            found ^= one
        one <<= 1
        if one & 0x100:
            one ^= _MODULUS
        other >>= 1
    return found


@lru_cache
def _generator(degree: int) -> bytes:
    """Return the product of (x - 2^i), without its leading 1."""
    found = [1]
    root = 1
    for _ in range(degree):
        shifted = [*found, 0]
        for i, factor in enumerate(found):
            shifted[i + 1] ^= multiply(factor, root)
        found, root = shifted, multiply(root, 2)
    return bytes(found[1:])


def remainder(block: bytes, degree: int) -> bytes:
    """Return the correction words of a block."""
    generator = _generator(degree)
    found = bytearray(degree)
    for byte in block:
        factor = byte ^ found[0]
        found = bytearray([*found[1:], 0])
        for i, each in enumerate(generator):
            found[i] ^= multiply(each, factor)
    return bytes(found)
