from __future__ import annotations

import base64
import hashlib
import hmac
from dataclasses import dataclass

import pytest

from discreet.server.access.tokens import scram_keys
from discreet.server.pgwire.connection import PLAIN, PLUS, ScramError, challenge, prove


@dataclass(frozen=True)
class Keys:
    stored_key: bytes
    server_key: bytes


SALT = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
PENCIL = Keys(*scram_keys("pencil", SALT))
# The dialogue of RFC 7677, section 3.
CLIENT_FIRST = b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
SERVER_NONCE = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
CLIENT_FINAL = (
    b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
    b"p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
)


def begun():
    return challenge(CLIENT_FIRST, mechanism=PLAIN, salt=SALT, tls=False, nonce=SERVER_NONCE)


def test_the_dialogue_of_the_rfc():
    found = begun()
    assert found.said == (
        "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
    )
    other = Keys(*scram_keys("ink", SALT))
    place, said = prove(CLIENT_FINAL, found, [other, PENCIL, other])
    assert place == 1
    assert said == "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


@pytest.mark.parametrize(
    "final",
    [
        CLIENT_FINAL.replace(b"dHz", b"eHz"),
        CLIENT_FINAL.replace(b"c=biws", b"c=eSws"),
        CLIENT_FINAL.replace(b"rOpr", b"xOpr"),
        CLIENT_FINAL[:-10],
        b"",
        b"\xff\xfe",
        b"c=biws,r=,p=",
    ],
)
def test_wrong_proofs(final):
    with pytest.raises(ScramError):
        prove(final, begun(), [PENCIL])
    with pytest.raises(ScramError):
        prove(CLIENT_FINAL, begun(), [])


@pytest.mark.parametrize(
    ("first", "mechanism", "tls"),
    [
        (b"y,,n=,r=0123456789abc", PLAIN, True),  # somebody took the offer of binding away
        (b"n,,n=,r=0123456789abc", PLUS, True),
        (b"p=tls-unique,,n=,r=0123456789abc", PLUS, True),
        (b"p=tls-server-end-point,,n=,r=0123456789abc", PLAIN, True),
        (b"n,a=owner,n=,r=0123456789abc", PLAIN, False),
        (b"n,,n=,r=short", PLAIN, False),
        (b"n,,m=x,n=,r=0123456789abc", PLAIN, False),
        (b"", PLAIN, False),
    ],
)
def test_wrong_beginnings(first, mechanism, tls):
    with pytest.raises(ScramError):
        challenge(first, mechanism=mechanism, salt=SALT, tls=tls)


def test_a_proof_is_bound_to_the_certificate():
    bare = "n=,r=0123456789abcdef"
    header = b"p=tls-server-end-point,,"
    found = challenge(header + bare.encode(), mechanism=PLUS, salt=SALT, tls=True)
    mine = hashlib.sha256(b"certificate").digest()
    without = f"c={base64.b64encode(header + mine).decode()},r={found.nonce}"
    salted = hashlib.pbkdf2_hmac("sha256", b"pencil", SALT, 4096)
    client = hmac.digest(salted, b"Client Key", "sha256")
    signature = hmac.digest(PENCIL.stored_key, f"{bare},{found.said},{without}".encode(), "sha256")
    proof = base64.b64encode(bytes(a ^ b for a, b in zip(client, signature, strict=True)))
    final = f"{without},p={proof.decode()}".encode()
    assert prove(final, found, [PENCIL], binding=mine)[0] == 0
    with pytest.raises(ScramError):
        prove(final, found, [PENCIL], binding=hashlib.sha256(b"another").digest())
