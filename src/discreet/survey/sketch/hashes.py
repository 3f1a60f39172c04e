"""Public hashes of words by SHA-256: sixteen rows share a digest, two bytes each."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Sequence
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.core.arrays import Integers
from discreet.errors import InvalidInput

BLANKS = " \t\r\n"
"""What devices trim at both ends of an answer, and nothing else."""
LONGEST_WORD = 256
"""Bytes of an open answer, at the most."""
_PREFIX = b"discreet sketch\x00"
_ROWS_A_DIGEST = 16


def word_bytes(word: str) -> bytes:
    r"""Return an open answer as every device writes it: trimmed, composed (NFC), in UTF-8.

    >>> word_bytes(" cafe\u0301 ") == "caf\u00e9".encode()
    True
    """
    try:
        written = unicodedata.normalize("NFC", word.strip(BLANKS)).encode()
    except UnicodeEncodeError:
        raise InvalidInput("An open answer must be text.") from None
    if not 0 < len(written) <= LONGEST_WORD:
        raise InvalidInput(f"An open answer has between 1 and {LONGEST_WORD} bytes.")
    return written


def words_of(values: Collection[Any] | npt.NDArray[Any]) -> list[bytes]:
    """Return open answers as devices write them; bytes are written already."""
    written = {
        word: word if isinstance(word, bytes) else word_bytes(str(word)) for word in set(values)
    }
    return [written[word] for word in values]


def bucket(word: bytes, row: int, buckets: int) -> int:
    """Return the bucket of a word in one row; `buckets` is a power of two, at most 65,536.

    Bytes 2 (row mod 16) and the next of SHA-256("discreet sketch" 0 (row div 16 as 2 bytes) word),
    the most significant one first, modulo `buckets`.
    """
    digest = sha256(_PREFIX + (row // _ROWS_A_DIGEST).to_bytes(2, "big") + word).digest()
    place = 2 * (row % _ROWS_A_DIGEST)
    return int.from_bytes(digest[place : place + 2], "big") % buckets


def buckets_of(words: Sequence[bytes], rows: int, buckets: int) -> Integers:
    """Return the bucket of every word (down) in every row (across)."""
    groups = [_PREFIX + group.to_bytes(2, "big") for group in range(-(-rows // _ROWS_A_DIGEST))]
    digests = b"".join([sha256(group + word).digest() for word in words for group in groups])
    found = np.frombuffer(digests, dtype=">u2").reshape(len(words), len(groups) * _ROWS_A_DIGEST)[
        :, :rows
    ]
    return found.astype(np.int64) % buckets


def check_size(rows: int, buckets: int) -> None:
    """Refuse sketches that are no power of two, or larger than a report can name."""
    for size, most in ((rows, 1 << 14), (buckets, 1 << 14)):
        if not 2 <= size <= most or size & (size - 1):
            raise InvalidInput(
                "The rows and buckets of a sketch are powers of two, from 2 to 16,384."
            )
