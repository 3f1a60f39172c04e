"""SCRAM-SHA-256 (RFC 5802, RFC 7677), the server's side; with and without channel binding."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from discreet.server.access.tokens import ROUNDS, Verifier

PLAIN = "SCRAM-SHA-256"
PLUS = "SCRAM-SHA-256-PLUS"
_BINDING = "p=tls-server-end-point"


class ScramError(Exception):
    """The dialogue went wrong; the client only learns that signing in failed."""


@dataclass(frozen=True, slots=True)
class Challenge:
    """The server's first message, and what must be remembered of the dialogue so far."""

    said: str
    bare: str
    header: str
    nonce: str


def challenge(
    first: bytes, *, mechanism: str, salt: bytes, tls: bool, nonce: str = ""
) -> Challenge:
    """Return the answer to the client's first message.

    Guarantee: it is the same for known and unknown users, so it tells nobody who exists.
    """
    header, _, rest = _text(first).partition(",")
    authority, _, bare = rest.partition(",")
    _check_header(header, mechanism, tls=tls)
    if authority:
        raise ScramError("no authorization identity is taken")
    fields = bare.split(",")
    if len(fields) < 2 or not fields[0].startswith("n=") or not fields[1].startswith("r="):
        raise ScramError("not a first message")
    if len(fields[1]) < 10 or len(fields[1]) > 200:
        raise ScramError("the client's nonce is too short or too long")
    both = fields[1][2:] + (nonce or secrets.token_urlsafe(18))
    said = f"r={both},s={base64.b64encode(salt).decode()},i={ROUNDS}"
    return Challenge(said, bare, f"{header},,", both)


def _check_header(header: str, mechanism: str, *, tls: bool) -> None:
    # "y" says: I would bind but you do not offer it. Where we did offer it, somebody in the middle
    # took the offer away.
    without = ("n",) if tls else ("n", "y")
    if header not in ((_BINDING,) if mechanism == PLUS else without):
        raise ScramError("the binding does not fit the mechanism")


def prove(
    final: bytes, begun: Challenge, keys: Sequence[Verifier], *, binding: bytes = b""
) -> tuple[int, str]:
    """Return which of `keys` the client has proven to know, and the server's own proof.

    Guarantee: all keys are tried whatever happens, and compared in constant time.
    """
    said = _text(final)
    without, _, proof_text = said.rpartition(",p=")
    fields = without.split(",")
    if len(fields) < 2 or not fields[0].startswith("c=") or fields[1] != f"r={begun.nonce}":
        raise ScramError("not a final message")
    expected = begun.header.encode() + (binding if begun.header.startswith("p=") else b"")
    if not hmac.compare_digest(_decoded(fields[0][2:]), expected):
        raise ScramError("bound to another channel")
    message = f"{begun.bare},{begun.said},{without}".encode()
    proof = _decoded(proof_text)
    if len(proof) != 32:
        raise ScramError("a proof has 32 bytes")
    found = -1
    for place, key in enumerate(keys):
        signature = hmac.digest(key.stored_key, message, "sha256")
        client_key = bytes(one ^ two for one, two in zip(proof, signature, strict=True))
        if hmac.compare_digest(hashlib.sha256(client_key).digest(), key.stored_key):
            found = place
    if found < 0:
        raise ScramError("wrong proof")
    server = hmac.digest(keys[found].server_key, message, "sha256")
    return found, f"v={base64.b64encode(server).decode()}"


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise ScramError("not text") from None


def _decoded(written: str) -> bytes:
    try:
        return base64.b64decode(written.encode(), validate=True)
    except (binascii.Error, ValueError):
        raise ScramError("not base64") from None
