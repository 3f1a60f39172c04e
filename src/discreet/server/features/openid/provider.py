"""Talking to an OpenID Connect provider: where it sends browsers, and who came back.

The authorization code flow with PKCE. Answers are fetched from the provider itself, over TLS (or on this very
machine), without following redirects, at most a megabyte and ten seconds each (`fetching`).
"""

from __future__ import annotations

import base64
import hashlib
import logging
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from discreet.errors import InvalidInput, NotSignedIn
from discreet.server.access.tokens import VOUCHED, Token
from discreet.server.features.openid.fetching import busy, fetched
from discreet.server.features.openid.id_token import UnknownKey, checked_claims
from discreet.server.features.openid.setting import (
    OpenIdSettings,
    is_here,
    read_openid,
    require_safe,
)
from discreet.server.workspace import stamp_of

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
