"""Browser sessions: a random cookie that stands for a token, and a CSRF token beside it."""

from __future__ import annotations

import hashlib
import secrets
import time
from dataclasses import dataclass

from discreet.server.access.access_db import AccessDb
from discreet.server.access.audit_log import AuditAction
from discreet.server.access.tokens import Token, Tokens


@dataclass(frozen=True, slots=True)
class BrowserSession:
    """Whose session it is, and the text that state-changing requests must repeat."""

    token: Token
    csrf: str


class BrowserSessions:
    """The sessions of all browsers; a session is worth no more than its token is."""

    def __init__(self, db: AccessDb, tokens: Tokens, *, hours: float) -> None:
        self._db = db
        self._tokens = tokens
        self._seconds = hours * 3600

    def new(self, token: Token, *, way: str = "page") -> str:
        """Return the cookie of a new session of the holder of `token`, told to the audit log."""
        self._db.audit.record(token.actor, AuditAction.SIGNED_IN, way=way)
        cookie, now = secrets.token_urlsafe(32), time.time()
        with self._db.writing() as connection:
            connection.execute("DELETE FROM sessions WHERE expires < ?", (now,))
            connection.execute(
                "INSERT INTO sessions VALUES (?, ?, ?, ?)",
                (_hash(cookie), token.id, secrets.token_urlsafe(24), now + self._seconds),
            )
        return cookie

    def find(self, cookie: str) -> BrowserSession | None:
        """Return the session of this cookie, if it and its token still hold."""
        rows = self._db.rows(
            "SELECT token, csrf FROM sessions WHERE hash = ? AND expires > ?",
            _hash(cookie),
            time.time(),
        )
        token = self._tokens.by_id(rows[0][0]) if rows else None
        return None if token is None else BrowserSession(token, rows[0][1])

    def end(self, cookie: str) -> None:
        """Forget a session."""
        with self._db.writing() as connection:
            connection.execute("DELETE FROM sessions WHERE hash = ?", (_hash(cookie),))


def _hash(cookie: str) -> bytes:
    return hashlib.sha256(cookie.encode("utf-8", "surrogateescape")).digest()
