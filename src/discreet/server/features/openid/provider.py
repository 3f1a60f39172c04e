"""Talking to an OpenID Connect provider: its settings, where it sends browsers, its ID tokens checked, who came back.

The authorization code flow with PKCE. Answers are fetched from the provider itself, over TLS (or on this very
machine), without following redirects, at most a megabyte and ten seconds each.

Guarantee: claims are returned only for a token signed by one of the given keys under RS256 or ES256 (the token's own
word about its algorithm is never enough: each key is used for its own kind alone), made by this issuer, for
this client, not expired, and for the sign-in that this browser began (OpenID Connect Core 1.0, 3.1.3.7).

Guarantee: one call takes at most `SECONDS` once the provider's address is known, however slowly its bytes come, headers
and handshake among them: a timer shuts the connection down. At most `AT_ONCE` calls run; whoever comes meanwhile is told at
once, so that a silent provider holds no more threads of the server than that (note 0067).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import http.client
import json
import logging
import math
import os
import socket
import threading
import time
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from discreet.base.files import read_text
from discreet.errors import InvalidInput, NotSignedIn
from discreet.server.access.tokens import VOUCHED, Role, Token
from discreet.server.settings import is_loopback
from discreet.server.workspace import stamp_of

KEYS = {
    "issuer": "The provider's address, https://...",
    "client_id": "What the provider calls this server.",
    "client_secret_env": "The environment variable that holds the client's secret; without it PKCE alone.",
    "address": "The address by which browsers reach this server.",
    "claim": "Which claim says who somebody is; `sub` unless named.",
    "people": "Maps each value of the claim to an analyst, or to `role:owner` or `role:reviewer`.",
}
"""What the file may say."""
_ROLES = {f"role:{role.value}": role for role in (Role.OWNER, Role.REVIEWER)}


@dataclass(frozen=True, slots=True)
class OpenIdSettings:
    """What the owner declared. `people` maps the value of `claim` to an analyst or to a role."""

    issuer: str
    client_id: str
    client_secret: str
    address: str
    claim: str
    people: Mapping[str, str]

    @property
    def callback(self) -> str:
        """Return the address that the provider sends browsers back to; register it there."""
        return f"{self.address}/openid/callback"

    def holder(self, who: str) -> tuple[Role, str | None] | None:
        """Return role and analyst of a person; None for one who is not listed."""
        found = self.people.get(who)
        if found is None:
            return None
        return (_ROLES[found], None) if found in _ROLES else (Role.ANALYST, found)


def read_openid(path: Path) -> OpenIdSettings:
    """Return what the file says, or refuse it with one sentence."""
    try:
        raw = tomllib.loads(read_text(path))
    except (OSError, UnicodeDecodeError):
        raise InvalidInput(f"There is no readable file '{path}'.") from None
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{path.name} is not valid TOML: {error}.") from None
    unknown = sorted(raw.keys() - KEYS.keys())
    if unknown:
        raise InvalidInput(f"{path.name} has an unknown setting '{unknown[0]}'.")
    people = raw.get("people", {})
    if not isinstance(people, dict) or not all(isinstance(v, str) and v for v in people.values()):
        raise InvalidInput(f"{path.name}: [people] maps persons to analysts or 'role:owner'.")
    wrong = [v for v in people.values() if v.startswith("role:") and v not in _ROLES]
    if wrong:
        raise InvalidInput(f"{path.name}: '{wrong[0]}' is none of {', '.join(sorted(_ROLES))}.")
    return OpenIdSettings(
        issuer=_address(_text(raw, "issuer", path), "issuer", path),
        client_id=_text(raw, "client_id", path),
        client_secret=_secret(raw.get("client_secret_env"), path),
        address=_address(_text(raw, "address", path), "address", path).rstrip("/"),
        claim=_text(raw, "claim", path) if "claim" in raw else "sub",
        people=people,
    )


def require_safe(address: str, *, here: bool = True) -> str:
    """Return an address that nobody on the way can change: TLS, or, if it may be `here`, this very machine."""
    plain = address.isascii() and address.isprintable() and not set(address) & set(' \\"<>')
    try:
        parts = urlsplit(address)
        _ = parts.port  # a wrong one raises
        usable = plain and bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:
        usable = False
    if usable and (
        parts.scheme == "https" or (here and parts.scheme == "http" and is_here(address))
    ):
        return address
    raise InvalidInput("An OpenID Connect address must be https://...")


def is_here(address: str) -> bool:
    """Return whether an address is one of this very machine."""
    return is_loopback(urlsplit(address).hostname or "")


def _text(raw: Mapping[str, Any], name: str, path: Path) -> str:
    value = raw.get(name)
    if not isinstance(value, str) or not value:
        raise InvalidInput(f"{path.name} must say '{name}'.")
    return value


def _address(value: str, name: str, path: Path) -> str:
    try:
        return require_safe(value)
    except InvalidInput:
        raise InvalidInput(f"{path.name}: '{name}' must be an https:// address.") from None


def _secret(variable: object, path: Path) -> str:
    """Return the client's secret, from the environment: never from the file itself."""
    if variable is None:
        return ""  # a public client: PKCE alone
    if not isinstance(variable, str) or not os.environ.get(variable):
        raise InvalidInput(f"{path.name}: 'client_secret_env' names a variable that is not set.")
    return os.environ[variable]


KEEP = 3600.0
"""Seconds for which what the provider says of itself is believed without asking again."""
LOOK_AGAIN = 0.5
"""Seconds after which the file is looked at again."""
LONGEST_NAME = 200
_log = logging.getLogger("discreet.server")


class Provider:
    """One provider and this server as its client; safe to share among threads.

    `file` is where the settings are from: it is read again when it changes, as discreet.toml is; one that
    has become wrong, or is gone, leaves the old settings in force.
    """

    def __init__(self, settings: OpenIdSettings, file: Path | None = None) -> None:
        self.settings = settings
        self._learning = threading.Lock()
        self._said: dict[str, Any] = {}
        self._keys: list[dict[str, Any]] = []
        self._asked = 0.0
        self._file, self._looked = file, time.monotonic()
        self._stamp = None if file is None else stamp_of(file)

    def refresh(self) -> None:
        """Put the file in force as it is now, if it has changed and is right."""
        now = time.monotonic()
        if self._file is None or now - self._looked <= LOOK_AGAIN:
            return
        self._looked, stamp = now, stamp_of(self._file)
        if stamp is None or not stamp.size or stamp == self._stamp:
            return  # gone, being written, or the same
        self._stamp = stamp
        try:
            self.settings = read_openid(self._file)
        except InvalidInput as error:
            _log.warning("openid file", extra={"facts": {"problem": error.message}})
            return
        self._said = {}  # it may name another provider

    def stands(self, token: Token) -> bool:
        """Return whether a token that a sign-in has made is still that of somebody who is listed."""
        if not token.label.startswith(VOUCHED):
            return True
        self.refresh()
        holders = [who for who in self.settings.people if label_of(who) == token.label]
        return any(self.settings.holder(who) == (token.role, token.analyst) for who in holders)

    def address(self, *, state: str, nonce: str, verifier: str) -> str:
        """Return where the browser goes to sign in."""
        digest = hashlib.sha256(verifier.encode()).digest()
        scope = "openid" if self.settings.claim == "sub" else "openid email profile"
        asked = {
            "response_type": "code",
            "client_id": self.settings.client_id,
            "redirect_uri": self.settings.callback,
            "scope": scope,
            "state": state,
            "nonce": nonce,
            "code_challenge": base64.urlsafe_b64encode(digest).decode().rstrip("="),
            "code_challenge_method": "S256",
        }
        place = self._endpoint("authorization_endpoint")
        return f"{place}{'&' if '?' in place else '?'}{urlencode(asked)}"

    def person(self, code: str, *, nonce: str, verifier: str) -> str:
        """Return who signed in, by the claim that the owner chose; raise NotSignedIn otherwise."""
        sent = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.settings.callback,
            "client_id": self.settings.client_id,
            "code_verifier": verifier,
        }
        if self.settings.client_secret:
            sent["client_secret"] = self.settings.client_secret
        found = fetched(self._endpoint("token_endpoint"), urlencode(sent).encode())
        token = str(found.get("id_token", ""))
        try:
            claims = self._claims(token, nonce)
        except UnknownKey:
            self._learn(again=True)  # keys are exchanged from time to time
            claims = self._claims(token, nonce)
        who = claims.get(self.settings.claim)
        if self.settings.claim == "email" and claims.get("email_verified") is not True:
            raise NotSignedIn("The provider has not verified your e-mail address.")
        if not isinstance(who, str) or not (who.isprintable() and 0 < len(who) <= LONGEST_NAME):
            raise NotSignedIn(f"The provider does not say your '{self.settings.claim}'.")
        return who

    def _claims(self, token: str, nonce: str) -> dict[str, Any]:
        mine = self.settings
        return checked_claims(
            token, self._keys, issuer=mine.issuer, client_id=mine.client_id, nonce=nonce
        )

    def _endpoint(self, name: str) -> str:
        self._learn()
        return self._safe(self._said.get(name))

    def _safe(self, address: object) -> str:
        """Return an address that the provider names; on this machine only if itself is there."""
        return require_safe(str(address or ""), here=is_here(self.settings.issuer))

    def _learn(self, *, again: bool = False) -> None:
        """Ask the provider about itself; one thread does, others go on with what is known or are told."""
        fresh = self._said and time.monotonic() - self._asked < KEEP
        if fresh and not again:
            return
        if not self._learning.acquire(blocking=False):
            if self._said and not again:
                return
            raise busy()
        try:
            issuer = self.settings.issuer
            said = fetched(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
            if said.get("issuer") != issuer:
                raise NotSignedIn("The provider says that it is another one.")
            keys = fetched(self._safe(said.get("jwks_uri"))).get("keys")
            keys = keys if isinstance(keys, list) else []
            self._keys = [key for key in keys if isinstance(key, dict)]
            self._said, self._asked = said, time.monotonic()
        finally:
            self._learning.release()


def label_of(who: str) -> str:
    """Return the label of the tokens that a person's sign-ins make."""
    return f"{VOUCHED}: {who}"


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


SECONDS, LARGEST = 10.0, 1 << 20
AT_ONCE = 4
_turns = threading.BoundedSemaphore(AT_ONCE)
_watched = threading.local()


def fetched(address: str, data: bytes | None = None) -> dict[str, Any]:
    """Return the JSON object at an address, or raise NotSignedIn with one sentence."""
    if not _turns.acquire(blocking=False):
        raise busy()
    try:
        request = urllib.request.Request(  # noqa: S310 https or loopback, see require_safe
            address, data, {"Accept": "application/json"}
        )
        with _ended_after(SECONDS), _OPENER.open(request, timeout=SECONDS) as reply:
            found = json.loads(reply.read(LARGEST))
    except (OSError, ValueError, RecursionError, urllib.error.URLError, http.client.HTTPException):
        raise _unexpected() from None
    finally:
        _turns.release()
    if not isinstance(found, dict):
        raise _unexpected()
    return found


def busy() -> NotSignedIn:
    """Return what somebody hears who would have to wait for others."""
    return NotSignedIn(
        "The sign-in provider is being asked for others.",
        hint="Try again in a moment, or sign in with a token.",
    )


def _unexpected() -> NotSignedIn:
    return NotSignedIn(
        "The sign-in provider did not answer as expected.",
        hint="Try again, or sign in with a token.",
    )


@contextmanager
def _ended_after(seconds: float) -> Iterator[None]:
    """Shut down, after so many seconds, every connection that this thread opens in the block."""
    handles: list[socket.socket] = []
    _watched.handles = handles

    def shut() -> None:
        for handle in handles:
            with suppress(OSError):
                handle.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, shut)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        for handle in handles:
            handle.close()


def _connected(*arguments: Any, **named: Any) -> socket.socket:
    """Return a connection, with a second handle on it that outlives the handshake's own."""
    made = socket.create_connection(*arguments, **named)
    _watched.handles.append(socket.socket(fileno=os.dup(made.fileno())))
    return made


class _Http(http.client.HTTPConnection):
    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._create_connection = _connected


class _Https(http.client.HTTPSConnection):
    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._create_connection = _connected


class _OpenHttp(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_Http, req)


class _OpenHttps(urllib.request.HTTPSHandler):
    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_Https, req)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_args: Any, **_named: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirects, _OpenHttp, _OpenHttps)
