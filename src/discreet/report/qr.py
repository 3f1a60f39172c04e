"""A QR code as one SVG path: the modules of a text, masked so that cameras read them best."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby

from discreet.report.qr_words import Version, codewords, version_for

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
