"""A small OpenID Connect provider on this machine, and the ways in which one can lie."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlencode, urlsplit

from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

CLIENT, SECRET = "discreet", "a-secret"
RSA, OTHER = (rsa.generate_private_key(public_exponent=65537, key_size=2048) for _ in range(2))
CURVE = ec.generate_private_key(ec.SECP256R1())


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def number(value: int) -> str:
    return b64(value.to_bytes((value.bit_length() + 7) // 8))


def rsa_key(key=RSA, kid="one"):
    public = key.public_key().public_numbers()
    return {"kty": "RSA", "use": "sig", "kid": kid, "n": number(public.n), "e": number(public.e)}


def curve_key(kid="two"):
    public = CURVE.public_key().public_numbers()
    return {"kty": "EC", "crv": "P-256", "kid": kid, "x": number(public.x), "y": number(public.y)}


def token(claims, *, alg="RS256", kid="one", key=RSA, header=None) -> str:
    """Return a signed token; `alg` may be one that nobody should accept."""
    head = b64(json.dumps({"alg": alg, "kid": kid} | (header or {})).encode())
    data = f"{head}.{b64(json.dumps(claims).encode())}"
    if alg == "RS256":
        signature = key.sign(data.encode(), padding.PKCS1v15(), SHA256())
    elif alg == "ES256":
        r, s = decode_dss_signature(CURVE.sign(data.encode(), ec.ECDSA(SHA256())))
        signature = r.to_bytes(32) + s.to_bytes(32)
    elif alg == "HS256":  # the old trick: the public key as a shared secret
        signature = hmac.new(rsa_key()["n"].encode(), data.encode(), hashlib.sha256).digest()
    else:
        signature = b""
    return f"{data}.{b64(signature)}"


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_args) -> None:
        """Say nothing."""

    def answer(self, body, status=200) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        mine, parts = self.server.provider, urlsplit(self.path)
        if parts.path == "/.well-known/openid-configuration":
            self.answer(mine.document())
        elif parts.path == "/keys":
            self.answer({"keys": mine.keys})
        elif parts.path == "/authorize":
            asked = dict(parse_qsl(parts.query))
            mine.codes["code-1"] = asked
            back = urlencode({"code": "code-1", "state": asked["state"]})
            self.send_response(302)
            self.send_header("Location", f"{asked['redirect_uri']}?{back}")
            self.end_headers()
        else:
            self.answer({}, 404)

    def do_POST(self) -> None:
        mine = self.server.provider
        length = int(self.headers["Content-Length"])
        sent = dict(parse_qsl(self.rfile.read(length).decode()))
        asked = mine.codes.pop(sent.get("code", ""), None)  # once
        challenge = b64(hashlib.sha256(sent.get("code_verifier", "").encode()).digest())
        right = (
            asked and challenge == asked["code_challenge"] and sent.get("client_secret") == SECRET
        )
        if not right:
            self.answer({"error": "invalid_grant"}, 400)
            return
        self.answer({"access_token": "x", "token_type": "Bearer", "id_token": mine.made(asked)})


class LocalProvider:
    """What the provider says; tests change `claims`, `signing` and `keys`."""

    def __init__(self, url: str) -> None:
        self.url, self.codes = url, {}
        self.claims, self.signing, self.keys, self.says = {}, {}, [rsa_key(), curve_key()], {}

    def document(self):
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
        } | self.says

    def made(self, asked) -> str:
        now = int(time.time())
        usual = {
            "iss": self.url, "aud": CLIENT, "sub": "7", "email": "ann@example.org", "email_verified": True,
            "iat": now, "exp": now + 300, "nonce": asked["nonce"],
        }  # fmt: skip
        return token(usual | self.claims, **self.signing)


@contextmanager
def local_provider():
    """Serve one until the block ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.provider = LocalProvider(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
