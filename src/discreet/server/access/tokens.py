"""Tokens: 256 random bits, shown once, kept only as hashes in access.db; sessions of browsers; classes of tokens."""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import hmac
import os
import re
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from discreet.base.bill import name_of
from discreet.errors import CatalogError, InvalidInput, UnknownName
from discreet.server.access.audit_log import COMMAND_LINE, Actor, AuditAction, AuditLog


@dataclass(frozen=True, slots=True)
class AskedAs:
    """Whose share pays for what one caller asks; `Principal.asks_as` decides it.

    `analyst` is None for the owner: she sees everything, and the whole budget pays. `asker` is who
    calls; the ledger writes it down where another share pays.
    """

    analyst: str | None
    asker: str

    @property
    def name(self) -> str:
        """Return the payer as every method of the curator takes it."""
        return name_of(self.analyst)


PREFIX = "dsc_"
ROUNDS = 4096
"""PBKDF2 rounds for SCRAM: 256 random bits need no stretching, clients insist on 4096."""
MAX_LENGTH = 200
VOUCHED = "OpenID Connect"
"""How the labels of tokens begin that a sign-in by a provider has made; no other label does."""
LONGEST_LABEL = 100


class Role(Enum):
    """What a token lets its holder do."""

    OWNER = "owner"
    ANALYST = "analyst"
    REVIEWER = "reviewer"

    @classmethod
    def of(cls, written: str) -> Role:
        """Return the role of this name."""
        try:
            return cls(written)
        except ValueError:
            known = ", ".join(role.value for role in cls)
            raise InvalidInput(
                f"There is no role '{written[:40]}'.", hint=f"Use: {known}."
            ) from None


@dataclass(frozen=True, slots=True)
class Token:
    """A token as everybody may see it: `id` is the beginning of its hash. Times are Unix seconds."""

    id: str
    role: Role
    analyst: str | None
    label: str
    created: float
    expires: float | None
    revoked: float | None

    @property
    def actor(self) -> Actor:
        """Return its holder as the audit log names them."""
        return Actor(self.analyst or self.role.value, self.id)

    def valid(self, now: float) -> bool:
        """Return whether the token opens anything at this time."""
        return self.revoked is None and (self.expires is None or now < self.expires)

    def to_json(self) -> dict[str, Any]:
        """Return plain values; the token itself is not among them."""
        return asdict(self) | {"role": self.role.value, "valid": self.valid(time.time())}


@dataclass(frozen=True, slots=True)
class Verifier:
    """What a SCRAM-SHA-256 server needs to know of a token (RFC 5802), never the token."""

    token: Token
    stored_key: bytes
    server_key: bytes


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token at the only moment when it can be shown."""

    token: Token
    text: str


class Tokens:
    """All tokens of one server.

    Guarantee: nothing here can be turned back into a token; a lookup takes the same steps for a
    wrong token as for a right one, and compares in constant time. No token is made or revoked
    without a line of the audit log, written first. The token of an analyst who is not `listed`
    (any more) opens nothing, wherever it is used.
    """

    def __init__(self, db: AccessDb, *, listed: Callable[[str], bool] = lambda _: True) -> None:
        self._db = db
        self._listed = listed
        self._asked: list[Callable[[Token], bool]] = []
        self.salt: bytes = db.rows("SELECT value FROM facts WHERE name = 'salt'")[0][0]
        """One salt for all, so that a SCRAM server can name it before it knows the token."""

    @property
    def audit(self) -> AuditLog:
        """Return the log of who did what with them."""
        return self._db.audit

    def new(
        self,
        role: Role,
        *,
        analyst: str | None = None,
        expires_days: float | None = None,
        label: str = "",
        by: Actor = COMMAND_LINE,
        vouched: bool = False,
    ) -> NewToken:
        """Return a fresh token; an analyst's names the analyst of the catalog that it asks as.

        One that is `vouched` for stands for a session that a provider has caused, and ends with it.
        """
        return self.new_many(
            role, [analyst], expires_days=expires_days, label=label, by=by, vouched=vouched
        )[0]

    def new_many(
        self,
        role: Role,
        analysts: Sequence[str | None],
        *,
        expires_days: float | None = None,
        label: str = "",
        by: Actor = COMMAND_LINE,
        vouched: bool = False,
    ) -> list[NewToken]:
        """Return one fresh token for each of `analysts`, all or none of them stored."""
        if label.startswith(VOUCHED) is not vouched:
            raise InvalidInput(f"A label that begins with '{VOUCHED}' is the server's own.")
        kept = label if vouched else label[:LONGEST_LABEL]
        for analyst in analysts:
            if (role is Role.ANALYST) != (analyst is not None):
                raise InvalidInput("An analyst's token names its analyst; no other token does.")
        if expires_days is not None and not 0 < expires_days <= 36500:
            raise InvalidInput("A token expires after more than 0 and at most 36,500 days.")
        now = time.time()
        expires = None if expires_days is None else now + expires_days * 86400
        made, rows = [], []
        for analyst in analysts:
            text = PREFIX + base64.urlsafe_b64encode(secrets.token_bytes(32)).decode().rstrip("=")
            token = Token(_id(text), role, analyst, kept, now, expires, None)
            made.append(NewToken(token, text))
            facts = (token.id, _hash(text), role.value, analyst, token.label, now, expires, None)
            rows.append((*facts, *scram_keys(text, self.salt)))
        self.audit.record_all(by, AuditAction.TOKEN_MADE, [_facts(item.token) for item in made])
        with self._db.writing() as connection:
            connection.executemany("INSERT INTO tokens VALUES (?,?,?,?,?,?,?,?,?,?)", rows)
        return made

    def find(self, text: str) -> Token | None:
        """Return the valid token that `text` is, if it is one."""
        if len(text) > MAX_LENGTH or not text.isascii():
            return None
        rows = self._db.rows(f"SELECT {_FIELDS}, hash FROM tokens WHERE id = ?", _id(text))
        kept = rows[0][-1] if rows else bytes(32)
        if not hmac.compare_digest(kept, _hash(text)):
            return None
        return self._usable(_token(rows[0]))

    def by_id(self, token_id: str) -> Token | None:
        """Return the valid token with this id, if there is one."""
        rows = self._db.rows(f"SELECT {_FIELDS} FROM tokens WHERE id = ?", token_id)
        return self._usable(_token(rows[0])) if rows else None

    def verifiers(self, user: str) -> list[Verifier]:
        """Return what SCRAM needs of the valid tokens of `user`: an analyst, a role or a token id."""
        rows = self._db.rows(
            f"SELECT {_FIELDS}, stored_key, server_key FROM tokens "
            "WHERE (analyst = ?1 OR (analyst IS NULL AND role = ?1) OR id = ?1) AND revoked IS NULL "
            "AND (expires IS NULL OR expires > ?2) AND substr(label, 1, ?3) <> ?4 "
            "ORDER BY created DESC LIMIT 100",
            user,
            time.time(),
            len(VOUCHED),
            VOUCHED,  # nobody knows the text of such a token, so that it is nobody's password
        )
        found = [Verifier(_token(row), row[-2], row[-1]) for row in rows]
        return [item for item in found if self._usable(item.token) is not None]

    def _usable(self, token: Token) -> Token | None:
        stands = token.valid(time.time()) and all(ask(token) for ask in self._asked)
        # Last: what is over is refused as such, also while nobody can say who is listed.
        known = stands and (token.analyst is None or self._listed(token.analyst))
        return token if known else None

    def also_ask(self, stands: Callable[[Token], bool]) -> None:
        """Let a token open something only if `stands` says so as well."""
        self._asked.append(stands)

    def ended_with_session(self, token_id: str, *, by: Actor) -> None:
        """Revoke a token that stands for one session, whose end it is; others live on."""
        found = self.by_id(token_id)
        if found is not None and found.label.startswith(VOUCHED):
            self.revoke(token_id, by=by)

    def all(self) -> list[Token]:
        """Return every token ever made, oldest first."""
        rows = self._db.rows(f"SELECT {_FIELDS} FROM tokens ORDER BY created, id")
        return [_token(row) for row in rows]

    def revoke(self, token_id: str, *, by: Actor = COMMAND_LINE) -> Token:
        """Return the token after it was made useless, in every process and session, at once."""
        if not self._db.rows("SELECT 1 FROM tokens WHERE id = ?", token_id):
            raise UnknownName("There is no token with this id.", hint="See: discreet token list.")
        self.revoke_many([token_id], by=by)
        return _token(self._db.rows(f"SELECT {_FIELDS} FROM tokens WHERE id = ?", token_id)[0])

    def revoke_many(self, token_ids: Sequence[str], *, by: Actor = COMMAND_LINE) -> None:
        """Make tokens useless together: all of them or, if this fails, none."""
        self.audit.record_all(by, AuditAction.TOKEN_REVOKED, [{"id": each} for each in token_ids])
        with self._db.writing() as connection:
            connection.executemany(
                "UPDATE tokens SET revoked = ? WHERE id = ? AND revoked IS NULL",
                [(time.time(), each) for each in token_ids],
            )
            connection.executemany(
                "DELETE FROM sessions WHERE token = ?", [(each,) for each in token_ids]
            )


_FIELDS = "id, role, analyst, label, created, expires, revoked"


def _token(row: tuple[Any, ...]) -> Token:
    return Token(row[0], Role(row[1]), *row[2:7])


def _facts(token: Token) -> dict[str, str]:
    """Return what the audit log says of a new token."""
    facts = {"id": token.id, "role": token.role.value}
    if token.analyst is not None:
        facts["analyst"] = token.analyst
    if token.expires is not None:
        facts["until"] = dt.datetime.fromtimestamp(token.expires, dt.UTC).date().isoformat()
    return facts | ({"label": token.label} if token.label else {})


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def _id(text: str) -> str:
    return _hash(text).hex()[:16]


def scram_keys(text: str, salt: bytes) -> tuple[bytes, bytes]:
    """Return StoredKey and ServerKey of RFC 5802 for a token as password."""
    salted = hashlib.pbkdf2_hmac("sha256", text.encode(), salt, ROUNDS)
    client_key = hmac.digest(salted, b"Client Key", "sha256")
    return hashlib.sha256(client_key).digest(), hmac.digest(salted, b"Server Key", "sha256")


FILE = "access.db"

_TABLES = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS tokens (
    id TEXT PRIMARY KEY, hash BLOB NOT NULL, role TEXT NOT NULL, analyst TEXT, label TEXT NOT NULL,
    created REAL NOT NULL, expires REAL, revoked REAL,
    stored_key BLOB NOT NULL, server_key BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS sessions (
    hash BLOB PRIMARY KEY, token TEXT NOT NULL REFERENCES tokens (id), csrf TEXT NOT NULL,
    expires REAL NOT NULL);
"""


class AccessDb:
    """One connection, lent to one thread at a time.

    Reads go to the file on every call: a revocation by another process holds at once. `audit` is the
    log beside it of who did what.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.audit = AuditLog(folder)
        path = folder / FILE
        # Created by us first, so that nobody else can read it even for a moment.
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        self._lock = threading.Lock()
        try:
            self._connection = sqlite3.connect(
                path, timeout=10.0, isolation_level=None, check_same_thread=False
            )
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.execute("BEGIN IMMEDIATE")
            for statement in _TABLES.split(";"):
                self._connection.execute(statement)
            self._connection.execute(
                "INSERT OR IGNORE INTO facts VALUES ('salt', ?)", [os.urandom(16)]
            )
            self._connection.execute("COMMIT")
        except sqlite3.DatabaseError:
            raise CatalogError(
                f"'{path}' is not a list of tokens.", hint="Move it away; a new one will be made."
            ) from None

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return all rows of a SELECT."""
        with self._lock:
            return self._connection.execute(sql, values).fetchall()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Lend the connection inside one transaction, durable when this ends."""
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._connection.close()


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
                (_cookie_hash(cookie), token.id, secrets.token_urlsafe(24), now + self._seconds),
            )
        return cookie

    def find(self, cookie: str) -> BrowserSession | None:
        """Return the session of this cookie, if it and its token still hold."""
        rows = self._db.rows(
            "SELECT token, csrf FROM sessions WHERE hash = ? AND expires > ?",
            _cookie_hash(cookie),
            time.time(),
        )
        token = self._tokens.by_id(rows[0][0]) if rows else None
        return None if token is None else BrowserSession(token, rows[0][1])

    def end(self, cookie: str) -> None:
        """Forget a session."""
        with self._db.writing() as connection:
            connection.execute("DELETE FROM sessions WHERE hash = ?", (_cookie_hash(cookie),))


def _cookie_hash(cookie: str) -> bytes:
    return hashlib.sha256(cookie.encode("utf-8", "surrogateescape")).digest()


CLASS_LABEL = "class "
"""How the labels of a class's tokens begin; the rest is the class's name."""
_CLASS_NAME = re.compile(r"[^\W_][\w.-]{0,39}")


@dataclass(frozen=True, slots=True)
class ClassOfTokens:
    """All tokens of one class, those of students who were sent away too."""

    name: str
    tokens: tuple[Token, ...]

    def to_json(self) -> dict[str, Any]:
        """Return plain values: how many there are, how many still open something, and until when."""
        stand = [each for each in self.tokens if each.to_json()["valid"]]
        return {
            "name": self.name,
            "students": len(self.tokens),
            "valid": len(stand),
            "created": min(each.created for each in self.tokens),
            "expires": max((each.expires for each in stand if each.expires), default=None),
        }


def class_label(name: str) -> str:
    """Return the label of a class's tokens, if `name` can be one."""
    if not _CLASS_NAME.fullmatch(name):
        raise InvalidInput(
            "A class's name is a letter or digit, then at most 39 letters, digits, _, . or -.",
            hint="Its students get numbers behind it: autumn001, autumn002 ...",
        )
    return f"{CLASS_LABEL}{name}"


def student_names(name: str, size: int) -> list[str]:
    """Return the names of a class's analysts: NAME001, NAME002 ..."""
    width = max(3, len(str(size)))
    return [f"{name}{number:0{width}}" for number in range(1, size + 1)]


def tell_shares(
    audit: AuditLog,
    names: Sequence[str],
    epsilon: str,
    datasets: Sequence[str],
    *,
    by: Actor = COMMAND_LINE,
) -> None:
    """Write down in the audit log that these analysts were given a share."""
    where = {"dataset": ", ".join(datasets) or "every data set", "epsilon_after": epsilon}
    audit.record_all(by, AuditAction.SHARE_CHANGED, [where | {"analyst": name} for name in names])


def all_classes(tokens: Tokens) -> list[ClassOfTokens]:
    """Return the classes there are and were, the latest first."""
    found: dict[str, list[Token]] = {}
    for token in tokens.all():
        if token.label.startswith(CLASS_LABEL):
            found.setdefault(token.label.removeprefix(CLASS_LABEL), []).append(token)
    return [ClassOfTokens(name, tuple(each)) for name, each in reversed(found.items())]


def end_class(tokens: Tokens, name: str, *, by: Actor = COMMAND_LINE) -> int:
    """Return how many tokens of the class were made useless, all together and for good.

    What the students have spent stays spent, and their names stay in discreet.toml: the history
    speaks of them.
    """
    found = [each for each in all_classes(tokens) if each.name == name]
    if not found:
        raise UnknownName(
            f"There is no class '{name[:40]}'.",
            hint="See: discreet token list; the labels of a class begin with 'class'.",
        )
    still = [each.id for each in found[0].tokens if each.revoked is None]
    if still:
        tokens.revoke_many(still, by=by)
    return len(still)
