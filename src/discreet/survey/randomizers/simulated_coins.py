"""Words for many reports at once: an AES keystream under a fresh key of the operating system."""

from __future__ import annotations

import os

import numpy as np

from discreet.noise.rng import SystemRng, Words

_ZEROS = memoryview(bytes(1 << 20))  # what is encrypted; making it anew would cost more than that
_BLOCK = 16
_FEW = 512  # words below which a cipher would cost more than it saves


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
        if count < _FEW:
            return self._system.words(count)
        try:
            from cryptography.hazmat.primitives.ciphers import Cipher
            from cryptography.hazmat.primitives.ciphers.algorithms import AES
            from cryptography.hazmat.primitives.ciphers.modes import CTR
        except ImportError:
            return self._system.words(count)
        key = os.urandom(32)
        stream = Cipher(AES(key[:16]), CTR(key[16:])).encryptor()
        drawn = bytearray(8 * count + _BLOCK)
        for start in range(0, 8 * count, len(_ZEROS)):
            some = _ZEROS[: 8 * count - start]
            stream.update_into(some, memoryview(drawn)[start:])
        return np.frombuffer(drawn, dtype=np.uint64, count=count)
