"""An ID token checked: signature, issuer, audience, time and nonce, or nobody is signed in.

Guarantee: claims are returned only for a token signed by one of the given keys under RS256 or ES256 (the token's own
word about its algorithm is never enough: each key is used for its own kind alone), made by this issuer, for
this client, not expired, and for the sign-in that this browser began (OpenID Connect Core 1.0, 3.1.3.7).
"""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from discreet.errors import NotSignedIn

LEEWAY = 60
"""Seconds by which clocks of provider and server may differ."""
LONGEST_VALID = 366 * 86400
"""Seconds for which a token may say that it is good; one without an end is refused."""
_LEAST_RSA, _MOST_RSA, _MOST_EXPONENT = 2048, 16_384, 1 << 32


class UnknownKey(NotSignedIn):
    """The token names a key that is not among the given ones; the provider may have new ones."""


def checked_claims(
    token: str, keys: Sequence[Mapping[str, Any]], *, issuer: str, client_id: str, nonce: str
) -> dict[str, Any]:
    """Return the claims of a token that passes every check; raise NotSignedIn otherwise."""
    claims = _signed(token, keys)
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    now = time.time()
    right = (
        claims.get("iss") == issuer
        and client_id in audiences
        and (len(audiences) == 1 or claims.get("azp") == client_id)
        and claims.get("azp", client_id) == client_id
        and now - LEEWAY < _number(claims.get("exp")) < now + LONGEST_VALID
        and _number(claims.get("iat")) < now + LEEWAY
        and _number(claims.get("nbf", now)) < now + LEEWAY
        and _same(claims.get("nonce"), nonce)
    )
    if not (right and nonce):
        raise _refused()
    return claims


def _signed(token: str, keys: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what a token says, once its signature is that of one of the keys."""
    try:
        head, body, signature = token.split(".")
        header, claims = json.loads(_bytes(head)), json.loads(_bytes(body))
        raw = _bytes(signature)
    except (ValueError, binascii.Error, RecursionError):
        raise _refused() from None
    if (
        not isinstance(header, dict)
        or not isinstance(claims, dict)
        or {"crit", "b64"} & set(header)
    ):
        raise _refused()
    key = _key(header, keys)
    try:
        _verify(key, str(header.get("alg")), f"{head}.{body}".encode(), raw)
    except (InvalidSignature, ValueError, KeyError, TypeError, binascii.Error):
        raise _refused() from None
    return claims


def _key(header: Mapping[str, Any], keys: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    usable = [key for key in keys if _for_signatures(key, header.get("alg"))]
    if "kid" in header:
        usable = [key for key in usable if key.get("kid") == header["kid"]]
    if len(usable) != 1:
        raise UnknownKey(_refused().message)
    return usable[0]


def _for_signatures(key: Mapping[str, Any], algorithm: object) -> bool:
    """Return whether a key's own words allow that it checks a signature of this kind (RFC 7517, 4)."""
    does = key.get("key_ops", ["verify"])
    return (
        key.get("use", "sig") == "sig"
        and key.get("alg", algorithm) == algorithm
        and isinstance(does, list)
        and "verify" in does
    )


def _verify(key: Mapping[str, Any], algorithm: str, data: bytes, signature: bytes) -> None:
    match algorithm, key.get("kty"), key.get("crv"):
        case "RS256", "RSA", None:
            e, n = _integer(key["e"]), _integer(key["n"])
            if not (_LEAST_RSA <= n.bit_length() <= _MOST_RSA and 2 < e < _MOST_EXPONENT):
                raise InvalidSignature
            public = rsa.RSAPublicNumbers(e, n).public_key()
            public.verify(signature, data, padding.PKCS1v15(), SHA256())
        case "ES256", "EC", "P-256":
            if len(signature) != 64:
                raise InvalidSignature
            r, s = int.from_bytes(signature[:32]), int.from_bytes(signature[32:])
            point = ec.EllipticCurvePublicNumbers(
                _integer(key["x"]), _integer(key["y"]), ec.SECP256R1()
            )
            point.public_key().verify(encode_dss_signature(r, s), data, ec.ECDSA(SHA256()))
        case _:
            raise InvalidSignature


def _integer(text: str) -> int:
    return int.from_bytes(_bytes(text))


def _bytes(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)


def _number(value: object) -> float:
    """Return a number of seconds; what is none, or too large for one, is smaller and larger than nothing."""
    usable = isinstance(value, int | float) and not isinstance(value, bool)
    try:
        return float(value) if usable else math.nan  # type: ignore[arg-type]
    except OverflowError:
        return math.nan


def _same(given: object, nonce: str) -> bool:
    if not isinstance(given, str) or not given.isascii():
        return False
    return hmac.compare_digest(given.encode(), nonce.encode())


def _refused() -> NotSignedIn:
    return NotSignedIn("The provider's answer could not be trusted; nobody was signed in.")
