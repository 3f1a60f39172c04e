import base64
import hashlib
import hmac
import sqlite3
import time

import pytest

from discreet.errors import CatalogError, InvalidInput, UnknownName
from discreet.server.access.audit_log import COMMAND_LINE
from discreet.server.access.tokens import (
    FILE,
    PREFIX,
    ROUNDS,
    VOUCHED,
    AccessDb,
    BrowserSessions,
    Role,
    Tokens,
)


@pytest.fixture
def db(tmp_path):
    found = AccessDb(tmp_path / "state")
    yield found
    found.close()


@pytest.fixture
def tokens(db):
    return Tokens(db)


def test_a_token_is_256_random_bits_and_never_stored(tmp_path, tokens):
    made = [tokens.new(Role.OWNER) for _ in range(20)]
    assert len({item.text for item in made}) == 20
    for item in made:
        assert item.text.startswith(PREFIX)
        assert len(base64.urlsafe_b64decode(item.text[len(PREFIX) :] + "=")) == 32
    files = b"".join(path.read_bytes() for path in (tmp_path / "state").iterdir())
    assert made[0].token.id.encode() in files
    for item in made:
        assert item.text.encode() not in files
        assert item.text[len(PREFIX) :].encode() not in files


def test_only_its_owner_can_read_the_file(tmp_path, tokens):
    assert (tmp_path / "state" / FILE).stat().st_mode & 0o777 == 0o600


def test_find_knows_the_right_token_only(tokens):
    made = tokens.new(Role.ANALYST, analyst="alice", label="x")
    assert tokens.find(made.text) == made.token
    other = "A" if made.text[-1] != "A" else "B"
    for wrong in ("", made.text[:-1], made.text[:-2] + other * 2, made.text + "x", "é", "x" * 999):
        assert tokens.find(wrong) is None


def test_expired_and_revoked_tokens_open_nothing(db, tokens):
    short = tokens.new(Role.OWNER, expires_days=1e-9)
    time.sleep(0.001)
    assert tokens.find(short.text) is None
    made = tokens.new(Role.OWNER, expires_days=1)
    assert tokens.find(made.text) is not None
    sessions = BrowserSessions(db, tokens, hours=1)
    cookie = sessions.new(made.token)
    assert sessions.find(cookie).token.id == made.token.id
    assert tokens.revoke(made.token.id).revoked is not None
    assert tokens.find(made.text) is None
    assert sessions.find(cookie) is None
    assert not tokens.verifiers(made.token.id)


def test_another_process_sees_a_revocation_at_once(tmp_path, tokens):
    made = tokens.new(Role.OWNER)
    other = AccessDb(tmp_path / "state")
    assert Tokens(other).find(made.text) is not None
    tokens.revoke(made.token.id)
    assert Tokens(other).find(made.text) is None
    other.close()


def test_sessions_end_and_expire(db, tokens):
    token = tokens.new(Role.OWNER).token
    sessions = BrowserSessions(db, tokens, hours=1)
    first, second = sessions.new(token), sessions.new(token)
    assert first != second
    assert sessions.find(first).csrf != sessions.find(second).csrf
    sessions.end(first)
    assert sessions.find(first) is None
    assert sessions.find(second) is not None
    assert sessions.find("nonsense\udcff") is None
    over = BrowserSessions(db, tokens, hours=-1).new(token)
    assert sessions.find(over) is None


def test_scram_keys_let_a_client_prove_the_token(tokens):
    """RFC 5802 by hand: the client's proof opens the stored key, a wrong token's does not."""
    made = tokens.new(Role.ANALYST, analyst="alice")
    [kept] = tokens.verifiers("alice")
    message = b"n=,r=abc,r=abcdef,s=,i=4096,c=biws,r=abcdef"

    def proves(text):
        salted = hashlib.pbkdf2_hmac("sha256", text.encode(), tokens.salt, ROUNDS)
        client_key = hmac.digest(salted, b"Client Key", "sha256")
        signature = hmac.digest(hashlib.sha256(client_key).digest(), message, "sha256")
        proof = bytes(a ^ b for a, b in zip(client_key, signature, strict=True))
        mine = hmac.digest(kept.stored_key, message, "sha256")
        opened = bytes(a ^ b for a, b in zip(proof, mine, strict=True))
        return hashlib.sha256(opened).digest() == kept.stored_key

    assert proves(made.text)
    assert not proves(made.text[:-1] + "~")


def test_verifiers_by_analyst_role_or_id(tokens):
    owner, reviewer = tokens.new(Role.OWNER), tokens.new(Role.REVIEWER)
    alice = tokens.new(Role.ANALYST, analyst="alice")
    trick = tokens.new(Role.ANALYST, analyst="owner")
    assert {v.token.id for v in tokens.verifiers("owner")} == {owner.token.id, trick.token.id}
    assert [v.token.id for v in tokens.verifiers("reviewer")] == [reviewer.token.id]
    assert [v.token.id for v in tokens.verifiers(alice.token.id)] == [alice.token.id]
    assert tokens.verifiers("nobody") == []


@pytest.mark.parametrize(
    ("role", "more"),
    [
        (Role.ANALYST, {}),
        (Role.OWNER, {"analyst": "alice"}),
        (Role.OWNER, {"expires_days": 0}),
        (Role.OWNER, {"expires_days": float("nan")}),
    ],
)
def test_nonsense_is_refused(tokens, role, more):
    with pytest.raises(InvalidInput):
        tokens.new(role, **more)
    assert tokens.all() == []


def test_a_class_is_made_whole(tokens):
    made = tokens.new_many(Role.ANALYST, [f"s{i}" for i in range(30)])
    assert [token.analyst for token in sorted(tokens.all(), key=lambda t: int(t.analyst[1:]))] == [
        f"s{i}" for i in range(30)
    ]
    assert len({item.token.id for item in made}) == 30


def test_unknown_roles_ids_and_files(tmp_path, tokens):
    with pytest.raises(InvalidInput, match="no role"):
        Role.of("king")
    with pytest.raises(UnknownName):
        tokens.revoke("none")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / FILE).write_bytes(b"not a database, but long enough" * 100)
    with pytest.raises(CatalogError, match="not a list of tokens"):
        AccessDb(tmp_path / "other")


def test_a_failed_write_leaves_nothing(db, tokens):
    twice = [(b"0", "a", "b", 1)] * 2
    with pytest.raises(sqlite3.IntegrityError), db.writing() as connection:
        connection.executemany("INSERT INTO sessions VALUES (?, ?, ?, ?)", twice)
    assert db.rows("SELECT * FROM sessions") == []


def test_expired_tokens_and_sign_ins_take_no_password_away(tokens):
    """A hundred of them once stood before the token that a PostgreSQL client signs in with."""
    mine = tokens.new(Role.ANALYST, analyst="alice")
    for place in range(101):
        made = tokens.new(Role.ANALYST, analyst="alice", expires_days=1, label=str(place))
        with tokens._db.writing() as connection:
            connection.execute("UPDATE tokens SET expires = 1 WHERE id = ?", (made.token.id,))
    for _ in range(2):
        tokens.new(Role.ANALYST, analyst="alice", label=f"{VOUCHED}: ann", vouched=True)
    assert [each.token.id for each in tokens.verifiers("alice")] == [mine.token.id]


def test_a_label_of_the_server_is_nobody_elses(tokens):
    with pytest.raises(InvalidInput, match="server's own"):
        tokens.new(Role.OWNER, label=f"{VOUCHED}: ann")
    with pytest.raises(InvalidInput):
        tokens.new(Role.OWNER, label="x", vouched=True)
    plain = tokens.new(Role.OWNER, label="x")
    tokens.ended_with_session(plain.token.id, by=COMMAND_LINE)
    assert tokens.by_id(plain.token.id) is not None, "an ordinary token outlives its sessions"


def test_a_token_must_stand_with_everybody_who_is_asked(tokens):
    made = tokens.new(Role.OWNER)
    tokens.also_ask(lambda token: token.id != made.token.id)
    assert tokens.find(made.text) is None
    assert tokens.by_id(made.token.id) is None
