"""Talking to an OpenID Connect provider: where it sends browsers, and who came back.

The authorization code flow with PKCE. Answers are fetched from the provider itself, over TLS (or on this very
machine), without following redirects, at most a megabyte and ten seconds each.
"""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import threading
import time
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import urlencode

from discreet.errors import NotSignedIn
from discreet.server.features.openid.id_token import UnknownKey, checked_claims
from discreet.server.features.openid.setting import OpenIdSettings, require_safe

SECONDS, LARGEST = 10.0, 1 << 20
KEEP = 3600.0
"""Seconds for which what the provider says of itself is believed without asking again."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_args: Any, **_named: Any) -> None:
        return None


class Provider:
    """One provider and this server as its client; safe to share among threads."""

    def __init__(self, settings: OpenIdSettings) -> None:
        self.settings = settings
        self._lock = threading.Lock()
        self._said: dict[str, Any] = {}
        self._keys: list[dict[str, Any]] = []
        self._asked = 0.0
        self._opener = urllib.request.build_opener(_NoRedirects)

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
        found = self._fetch(self._endpoint("token_endpoint"), urlencode(sent).encode())
        token = str(found.get("id_token", ""))
        try:
            claims = self._claims(token, nonce)
        except UnknownKey:
            self._learn(again=True)  # keys are exchanged from time to time
            claims = self._claims(token, nonce)
        who = claims.get(self.settings.claim)
        if self.settings.claim == "email" and claims.get("email_verified") is not True:
            raise NotSignedIn("The provider has not verified your e-mail address.")
        if not isinstance(who, str) or not who:
            raise NotSignedIn(f"The provider does not say your '{self.settings.claim}'.")
        return who

    def _claims(self, token: str, nonce: str) -> dict[str, Any]:
        mine = self.settings
        return checked_claims(
            token, self._keys, issuer=mine.issuer, client_id=mine.client_id, nonce=nonce
        )

    def _endpoint(self, name: str) -> str:
        self._learn()
        return require_safe(str(self._said.get(name, "")))

    def _learn(self, *, again: bool = False) -> None:
        with self._lock:
            if self._said and not again and time.monotonic() - self._asked < KEEP:
                return
            said = self._fetch(
                f"{self.settings.issuer.rstrip('/')}/.well-known/openid-configuration"
            )
            if said.get("issuer") != self.settings.issuer:
                raise NotSignedIn("The provider says that it is another one.")
            keys = self._fetch(require_safe(str(said.get("jwks_uri", "")))).get("keys")
            self._keys = (
                [key for key in keys if isinstance(key, dict)] if isinstance(keys, list) else []
            )
            self._said, self._asked = said, time.monotonic()

    def _fetch(self, address: str, data: bytes | None = None) -> dict[str, Any]:
        request = urllib.request.Request(  # noqa: S310 https or loopback, see require_safe
            address, data, {"Accept": "application/json"}
        )
        try:
            with self._opener.open(request, timeout=SECONDS) as reply:
                found = json.loads(reply.read(LARGEST))
        except (OSError, ValueError, urllib.error.URLError, http.client.HTTPException):
            raise NotSignedIn(
                "The sign-in provider did not answer as expected.",
                hint="Try again, or sign in with a token.",
            ) from None
        if not isinstance(found, dict):
            raise NotSignedIn("The sign-in provider did not answer as expected.")
        return found
