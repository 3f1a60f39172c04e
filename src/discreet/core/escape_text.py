r"""Text that others wrote, made safe to show: what would steer a terminal is shown as an escape."""

from __future__ import annotations

import unicodedata

_STEERS = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Control characters (C0, DEL, C1), formats (among them all that change the direction), halves of
pairs, and the separators of lines and paragraphs."""

_JOINERS = frozenset("\u200c\u200d")
"""Formats that are part of how words are written; they move nothing."""


def visible(text: str, *, keep: str = "") -> str:
    r"""Return `text` in one line, with an escape for each character that is not for reading.

    `keep` are characters that pass all the same, such as the line breaks of a whole table.

    Guarantee: what is returned holds no control character, no change of direction and no line break
        that is not in `keep`, so it neither moves a cursor nor hides, forges or reorders text.

    >>> visible("n\x1b[2J\u202e\n")
    'n\\x1b[2J\\u202e\\n'
    """
    if text.isprintable():
        return text
    return "".join(_shown(letter, keep) for letter in text)


def _shown(letter: str, keep: str) -> str:
    if letter in keep or letter in _JOINERS or unicodedata.category(letter) not in _STEERS:
        return letter
    return letter.encode("unicode_escape").decode("ascii")
