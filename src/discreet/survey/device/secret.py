"""Memoised randomness of a device: pseudorandom bytes from its secret and the value answered."""

from __future__ import annotations

import hmac
import struct
from hashlib import sha256

from discreet.errors import InvalidInput

SECRET_BYTES = 32
_ANSWER = b"discreet survey answer\x00"
_MOMENT = b"discreet survey moment\x00"
_REPORT = b"discreet survey report\x00"


def value_bytes(value: int | float | str) -> bytes:
    """Return a value as the stream is keyed by it: 4 bytes of code, 8 of a double, or a word's UTF-8.

    >>> value_bytes(1).hex(), value_bytes(0.5).hex(), value_bytes("a").hex()
    ('00000001', '3fe0000000000000', '61')
    """
    if isinstance(value, str):
        return value.encode()
    return struct.pack(">d", value + 0.0) if isinstance(value, float) else struct.pack(">I", value)


class SecretStream:
    """The bytes that randomise one answer to one question: HMAC-SHA-256 in counter mode.

    Block i is HMAC(secret, "discreet survey answer" 0, survey id, question (2 bytes), length of the
    value (4 bytes), value, i (4 bytes)). With a `moment`, the day and the slot of a donation, it begins
    with "discreet survey moment" 0 instead, and day (4 bytes) and slot (2 bytes) follow the value.

    Guarantee: the same answer to the same question is randomised in the same way for ever (or for this one
        donation), so that any number of repeated reports tells no more than one; different answers get
        independent bytes. Both hold as long as HMAC-SHA-256 is a pseudorandom function and the secret is
        kept.
    """

    def __init__(
        self,
        secret: bytes,
        survey_id: bytes,
        question: int,
        value: int | float | str,
        moment: tuple[int, int] | None = None,
    ) -> None:
        if len(secret) != SECRET_BYTES:
            raise InvalidInput("A device's secret has 32 bytes.")
        key = value_bytes(value)
        start, end = (_ANSWER, b"") if moment is None else (_MOMENT, struct.pack(">IH", *moment))
        self._secret = secret
        self._message = start + survey_id + struct.pack(">HI", question, len(key)) + key + end
        self._blocks = 0
        self._held = b""

    def take(self, count: int) -> bytes:
        """Return the next `count` bytes."""
        while len(self._held) < count:
            message = self._message + struct.pack(">I", self._blocks)
            self._held += hmac.digest(self._secret, message, sha256)
            self._blocks += 1
        taken, self._held = self._held[:count], self._held[count:]
        return taken


def report_id(secret: bytes, survey_id: bytes, day: int, slot: int) -> bytes:
    """Return the one-use id of a donation: the slot-th one of a day (days since 1970-01-01, UTC).

    HMAC(secret, "discreet survey report" 0, survey id, day (4 bytes), slot (2 bytes)), 16 bytes of it:
    sending twice gives the same id, which a collector takes once; ids of different days cannot be linked
    without the secret.
    """
    message = _REPORT + survey_id + struct.pack(">IH", day, slot)
    return hmac.digest(secret, message, sha256)[:16]
