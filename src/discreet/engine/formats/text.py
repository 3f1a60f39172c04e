"""Texts in the encodings that people's programs write, judged by their first bytes or as declared."""

from __future__ import annotations

import codecs
from pathlib import Path

from discreet.engine.formats.packed import unpacked
from discreet.errors import CatalogError, InvalidInput

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
KNOWN = {
    "utf-8": "utf-8",
    "utf-16": "utf-16-le",  # without a mark, on whatever machine
    "utf-16-le": "utf-16-le",
    "utf-16-be": "utf-16-be",
    "latin-1": "latin-1",
    "windows-1252": "cp1252",
}
"""Encodings that may be declared, and Python's names for them."""
_LATIN = "windows-1252"
_BLOCK = 1 << 20
CHECKED_BLOCKS = 64
_SHOWN = 5


def checked_encoding(name: str) -> str:
    """Return the name of an encoding in small letters, or refuse it."""
    if name.lower() not in KNOWN:
        raise CatalogError(f"encoding is one of: {', '.join(KNOWN)}; not '{name}'.")
    return name.lower()


def codec_of(start: bytes, declared: str = "") -> str:
    """Return Python's codec for a text that begins with these bytes.

    Guarantee: depends on the mark at the very beginning, before any row, and on what is declared.
    """
    for mark, codec in _MARKS:
        if start.startswith(mark):
            return codec
    return KNOWN[declared] if declared else "utf-8"


def detected_encoding(path: Path) -> tuple[str, tuple[str, ...]]:
    """Return the encoding that an owner should confirm, with words by which it can be told.

    Nothing where the text is UTF-8 or says by a mark what it is. For proposals only: it reads rows.
    Refuses what is no text, and UTF-8 that is damaged: in another encoding all of it would be wrong.
    """
    with unpacked(path) as file:
        head = file.read(_BLOCK)
        if codec_of(head) != "utf-8":
            return "", ()
        wide = _two_bytes_a_letter(head)
        if wide:
            return wide, ()
        decoder = codecs.getincrementaldecoder("utf-8")()
        block, plain = head, True
        for _ in range(CHECKED_BLOCKS):
            if b"\0" in block:
                raise _no_text(path, "holds NUL bytes, so it is not UTF-8 text")
            try:
                plain = decoder.decode(block, final=not block).isascii() and plain
            except UnicodeDecodeError as error:
                if not block or not plain or _damaged(error):
                    raise _no_text(path, "is not whole UTF-8 text") from None
                return _LATIN, odd_words(block)
            if not block:
                break
            block = file.read(_BLOCK)
    return "", ()


def _two_bytes_a_letter(head: bytes) -> str:
    """Return which UTF-16 a text without a mark is in: nearly every second byte is zero."""
    even, odd = head[::2].count(0), head[1::2].count(0)
    many = 0.3 * len(head) / 2
    if odd > many and even < 0.01 * odd:
        return "utf-16-le"
    return "utf-16-be" if even > many and odd < 0.01 * even else ""


def _damaged(error: UnicodeDecodeError) -> bool:
    """Return whether the bytes are half a pair of UTF-16 inside UTF-8, or come after good letters."""
    before = error.object[: error.start]
    bad = error.object[error.start : error.start + 2]
    return not before.isascii() or (bad[:1] == b"\xed" and bad[1:] >= b"\xa0")


def _no_text(path: Path, words: str) -> InvalidInput:
    return InvalidInput(
        f"'{path.name}' {words}.", hint="Export it again as CSV in UTF-8, or as Parquet."
    )


def odd_words(block: bytes) -> tuple[str, ...]:
    """Return a few words with letters beyond ASCII, as the encoding reads them."""
    text = block.decode(KNOWN[_LATIN], errors="replace").replace('"', " ")
    for mark in ",;\t|\r\n":
        text = text.replace(mark, " ")
    found = dict.fromkeys(word for word in text.split() if not word.isascii())
    return tuple(found)[:_SHOWN]
