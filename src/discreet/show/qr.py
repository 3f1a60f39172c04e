"""QR codes (ISO/IEC 18004) as SVG paths, and a sheet to print of links that sign in.

The sheet is a secret like the tokens in its links: whoever holds it can sign in as everybody on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from itertools import groupby

from discreet.errors import InvalidInput

Modules = list[list[bool]]
Mask = Callable[[int, int], bool]

QUIET = 4
"""Empty modules around the code, as the standard asks."""
_LEVEL_M = 0b00

MASKS: tuple[Mask, ...] = (
    lambda x, y: (x + y) % 2 == 0,
    lambda _, y: y % 2 == 0,
    lambda x, _: x % 3 == 0,
    lambda x, y: (x + y) % 3 == 0,
    lambda x, y: (x // 3 + y // 2) % 2 == 0,
    lambda x, y: x * y % 2 + x * y % 3 == 0,
    lambda x, y: (x * y % 2 + x * y % 3) % 2 == 0,
    lambda x, y: ((x + y) % 2 + x * y % 3) % 2 == 0,
)


def qr_modules(text: str) -> Modules:
    """Return the dark modules of a text, by rows."""
    data = text.encode()
    version = version_for(data)
    plain, fixed = _patterns(version)
    words = codewords(data, version)
    bits = [word >> (7 - i) & 1 for word in words for i in range(8)]
    for (x, y), bit in zip(_path(version.size, fixed), bits, strict=False):
        plain[y][x] = bool(bit)
    return min((_masked(plain, fixed, mask) for mask in range(8)), key=_penalty)


def qr_path(text: str) -> tuple[str, int]:
    """Return an SVG path that draws the dark modules, and the side of the picture with its margin."""
    modules = qr_modules(text)
    runs = []
    for y, row in enumerate(modules):
        x = QUIET
        for dark, run in groupby(row):
            width = len(list(run))
            if dark:
                runs.append(f"M{x} {y + QUIET}h{width}v1h-{width}z")
            x += width
    return "".join(runs), len(modules) + 2 * QUIET


def _patterns(version: Version) -> tuple[Modules, Modules]:
    """Return the modules that every code of this size has, and which places they take."""
    size = version.size
    dark: Modules = [[False] * size for _ in range(size)]
    fixed: Modules = [[False] * size for _ in range(size)]

    def put(x: int, y: int, value: bool) -> None:
        if 0 <= x < size and 0 <= y < size:
            dark[y][x], fixed[y][x] = value, True

    for i in range(size):
        put(6, i, i % 2 == 0)
        put(i, 6, i % 2 == 0)
    for x, y in ((3, 3), (size - 4, 3), (3, size - 4)):
        for dx, dy in _square(4):
            put(x + dx, y + dy, max(abs(dx), abs(dy)) not in (2, 4))
    for x, y in _alignments(version):
        for dx, dy in _square(2):
            put(x + dx, y + dy, max(abs(dx), abs(dy)) != 1)
    for x, y, _ in _format_places(size, 0):
        put(x, y, False)
    put(8, size - 8, True)
    for x, y, value in _version_places(version):
        put(x, y, value)
    return dark, fixed


def _square(reach: int) -> Iterator[tuple[int, int]]:
    span = range(-reach, reach + 1)
    return ((dx, dy) for dy in span for dx in span)


def _alignments(version: Version) -> Iterator[tuple[int, int]]:
    """Yield the centres of alignment patterns: all pairs but the three corners of finders."""
    places = version.aligned
    last = len(places) - 1
    corners = {(0, 0), (0, last), (last, 0)}
    for i, x in enumerate(places):
        for j, y in enumerate(places):
            if (i, j) not in corners:
                yield x, y


def _checked_bits(value: int, polynomial: int, bits: int) -> int:
    """Return a value followed by the remainder of its division by a polynomial (BCH)."""
    found = value
    for _ in range(bits):
        found = found << 1 ^ (found >> (bits - 1)) * polynomial
    return value << bits | found


def _format_places(size: int, mask: int) -> Iterator[tuple[int, int, bool]]:
    """Yield both copies of the level and the mask."""
    bits = _checked_bits(_LEVEL_M << 3 | mask, 0x537, 10) ^ 0x5412
    first = [(8, y) for y in (0, 1, 2, 3, 4, 5, 7, 8)] + [(x, 8) for x in (7, 5, 4, 3, 2, 1, 0)]
    second = [(size - 1 - i, 8) for i in range(8)] + [(8, size - 7 + i) for i in range(7)]
    for places in (first, second):
        for i, (x, y) in enumerate(places):
            yield x, y, bool(bits >> i & 1)


def _version_places(version: Version) -> Iterator[tuple[int, int, bool]]:
    """Yield both copies of the size's number, which sizes from 7 on carry."""
    if version.number < 7:
        return
    bits = _checked_bits(version.number, 0x1F25, 12)
    for i in range(18):
        x, y = version.size - 11 + i % 3, i // 3
        yield x, y, bool(bits >> i & 1)
        yield y, x, bool(bits >> i & 1)


def _path(size: int, fixed: Modules) -> Iterator[tuple[int, int]]:
    """Yield the places of data in order: pairs of columns from the right, up and down in turn."""
    upwards = True
    for right in [*range(size - 1, 6, -2), 5, 3, 1]:
        for y in reversed(range(size)) if upwards else range(size):
            for x in (right, right - 1):
                if not fixed[y][x]:
                    yield x, y
        upwards = not upwards


def _masked(plain: Modules, fixed: Modules, mask: int) -> Modules:
    size = len(plain)
    turns = MASKS[mask]
    found = [
        [plain[y][x] != (not fixed[y][x] and turns(x, y)) for x in range(size)] for y in range(size)
    ]
    for x, y, value in _format_places(size, mask):
        found[y][x] = value
    return found


def _penalty(modules: Modules) -> int:
    """Return how hard a code is to read, by the standard's four rules."""
    size = len(modules)
    lines = ["".join("#" if dark else "." for dark in row) for row in modules]
    lines += ["".join("#" if row[x] else "." for row in modules) for x in range(size)]
    found = sum(_line_penalty(line) for line in lines)
    for y in range(size - 1):
        for x in range(size - 1):
            four = modules[y][x] + modules[y][x + 1] + modules[y + 1][x] + modules[y + 1][x + 1]
            found += 3 * (four in (0, 4))
    dark = sum(map(sum, modules)) * 100 / size**2
    return found + 10 * int(abs(dark - 50) // 5)


def _line_penalty(line: str) -> int:
    runs = (len(list(run)) for _, run in groupby(line))
    found = sum(run - 2 for run in runs if run >= 5)
    look = ("#.###.#....", "....#.###.#")
    return found + 40 * sum(line.startswith(look, i) for i in range(len(line)))


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


_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
KEEP = "Yours alone: it signs you in. Keep it like a password."
"""What stands on every card."""

_STYLE = """
body{font:16px/24px ui-sans-serif,system-ui,sans-serif;color:#1d1f21;background:#fff;margin:24px}
h1{font:28px/36px ui-serif,Georgia,serif;margin:0 0 8px}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(300px,100%),1fr));padding:0 1px 1px 0;list-style:none}
.cards li{display:flex;gap:12px;border:1px dashed #5c6166;margin:0 -1px -1px 0;padding:12px;break-inside:avoid}
.cards div{min-width:0}
.cards svg{flex:none;width:132px;height:132px}
.cards strong{display:block;font-size:18px}
.cards code{font:11px/15px ui-monospace,monospace;overflow-wrap:anywhere}
.cards span{display:block;font-size:13px;line-height:18px;color:#5c6166}
@media print{body{margin:0}.cards{grid-template-columns:1fr 1fr}}
"""


@dataclass(frozen=True, slots=True)
class SheetCard:
    """One person: a name, the link that signs in, and its QR code as the path and side of an SVG."""

    name: str
    link: str
    path: str
    side: int

    @classmethod
    def of(cls, name: str, link: str) -> SheetCard:
        """Return the card of a person, its code drawn."""
        return cls(name, link, *qr_path(link))


def sign_in_sheet(title: str, about: str, cards: Sequence[SheetCard]) -> str:
    """Return the sheet as one HTML file: no script, nothing loaded from anywhere, every text escaped."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="referrer" content="no-referrer">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>"
        f"<h1>{escape(title)}</h1><p>{escape(about)}</p>"
        f'<ol class="cards">{"".join(_card(card) for card in cards)}</ol></body></html>\n'
    )


def _card(card: SheetCard) -> str:
    name, link = escape(card.name), escape(card.link)
    return (
        f'<li><svg viewBox="0 0 {card.side} {card.side}" role="img" aria-label="QR code of {name}">'
        f'<path d="{card.path}" shape-rendering="crispEdges"/></svg>'
        f"<div><strong>{name}</strong><code>{link}</code><span>{KEEP}</span></div></li>"
    )
