"""The owner's signing key: one Ed25519 secret, made once, readable by its owner alone."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.core.system.atomic_file import write_first
from discreet.core.system.extras import needs
from discreet.errors import InvalidInput

FILE = "publish.key"
LENGTH = 32


@dataclass(frozen=True, slots=True, repr=False)
class OwnerKey:
    """The owner's secret; it signs, and never prints itself."""

    secret: bytes

    @property
    def public(self) -> bytes:
        """Return the 32 bytes by which anyone can check a signature."""
        found: bytes = _signer(self.secret).public_key().public_bytes_raw()
        return found

    def sign(self, message: bytes) -> bytes:
        """Return the 64 bytes of the signature over `message`."""
        found: bytes = _signer(self.secret).sign(message)
        return found

    def __repr__(self) -> str:
        return f"OwnerKey(public={self.public.hex()})"


def owner_key(folder: Path) -> OwnerKey:
    """Return the key kept in `folder`, made on first use.

    Guarantee: the file is complete before it has its name, and two processes that make one at the
        same time end up with the same key. Nobody but the file's owner may read it.
    """
    path = folder / FILE
    try:
        if not path.exists():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_first(path, os.urandom(LENGTH))  # any 32 bytes are an Ed25519 secret
        secret = path.read_bytes()
    except OSError as error:
        raise InvalidInput(
            f"The signing key at '{path}' cannot be used: {error.strerror}."
        ) from None
    if len(secret) != LENGTH:
        raise InvalidInput(
            f"The file '{path}' is not a signing key.",
            hint="Restore it from a copy: releases signed by a new key have a new owner.",
        )
    return OwnerKey(secret)


def _signer(secret: bytes) -> Any:
    with needs("cryptography", extra="server"):
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    return Ed25519PrivateKey.from_private_bytes(secret)
