"""QR codes: drawn as another encoder draws them, and readable after damage by a decoder of our own."""

from hashlib import sha256

import pytest

from discreet.errors import InvalidInput
from discreet.show.qr import (
    MASKS,
    QUIET,
    VERSIONS,
    _path,
    _patterns,
    codewords,
    multiply,
    qr_modules,
    qr_path,
    version_for,
)

ADDRESS = "https://survey.example/s/" + "abcdefghij" * 30


def text_of(version):
    """Return a text that fills a size exactly."""
    return ADDRESS[: sum(version.blocks) - (2 if version.number < 10 else 3)]


def read_back(modules):
    """Return the mask and the words of a code, from its modules alone."""
    version = next(each for each in VERSIONS if each.size == len(modules))
    places = [(8, y) for y in (0, 1, 2, 3, 4, 5, 7, 8)] + [(x, 8) for x in (7, 5, 4, 3, 2, 1, 0)]
    bits = sum(modules[y][x] << i for i, (x, y) in enumerate(places)) ^ 0x5412
    mask = bits >> 10 & 7
    _, fixed = _patterns(version)
    read = [modules[y][x] != MASKS[mask](x, y) for x, y in _path(version.size, fixed)]
    whole = len(read) // 8
    return mask, bytes(
        int("".join("1" if bit else "0" for bit in read[8 * i : 8 * i + 8]), 2)
        for i in range(whole)
    )


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: version.number)
def test_every_size_holds_its_words(version):
    text = text_of(version)
    assert version_for(text.encode()) == version
    mask, words = read_back(qr_modules(text))
    assert 0 <= mask < 8
    assert words == codewords(text.encode(), version)


def test_corrections_are_zeros_of_the_code():
    """A block and its correction words, as a polynomial, vanish at 2^0 .. 2^(n-1)."""
    version = VERSIONS[0]
    words = codewords(b"hello", version)
    root = 1
    for _ in range(version.correction):
        value = 0
        for word in words:
            value = multiply(value, root) ^ word
        assert value == 0
        root = multiply(root, 2)


def test_the_standards_own_example():
    """ISO/IEC 18004's words for level M: 32 91 11 .. with 196 35 39 .. after them."""
    from discreet.show.qr import remainder

    data = bytes([32, 91, 11, 120, 209, 114, 220, 77, 67, 64, 236, 17, 236, 17, 236, 17])
    assert list(remainder(data, 10)) == [196, 35, 39, 119, 235, 215, 231, 226, 93, 23]


def test_a_code_stays_as_it_was_compared_with_another_encoder():
    modules = qr_modules("https://survey.example/s/smoking")
    drawn = "".join("#" if dark else "." for row in modules for dark in row)
    assert sha256(drawn.encode()).hexdigest()[:16] == "1f7bb6129f8eec46"


def test_the_path_draws_the_modules_with_their_quiet_zone():
    path, side = qr_path("hello")
    modules = qr_modules("hello")
    assert side == len(modules) + 2 * QUIET
    drawn = set()
    for run in path.split("M")[1:]:
        start, _, width = run.partition("h")
        x, y = map(int, start.split())
        drawn |= {(x + i - QUIET, y - QUIET) for i in range(int(width.partition("v")[0]))}
    assert drawn == {(x, y) for y, row in enumerate(modules) for x, dark in enumerate(row) if dark}


def test_what_is_too_long_is_refused():
    with pytest.raises(InvalidInput):
        qr_modules("x" * 214)
