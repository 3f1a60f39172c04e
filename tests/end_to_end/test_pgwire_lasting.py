"""A PostgreSQL session lasts no longer than its token, and no longer than its analyst."""

from __future__ import annotations

import time

import psycopg
import pytest

from discreet.server import workspace
from discreet.server.access.tokens import Role
from patience import SLACK
from pgwire_kit import TOML, Wire, endpoint


@pytest.fixture(scope="module")
def pg(tmp_path_factory):
    with endpoint(tmp_path_factory.mktemp("pg")) as found:
        yield found


def test_an_idle_session_ends_when_its_token_is_revoked(pg):
    made, other = pg.tokens.new(Role.REVIEWER), Wire(pg.port)
    wire = Wire(pg.port)
    assert wire.sign_in("reviewer", made.text)[-1][0] == b"Z"
    assert other.sign_in("reviewer", pg.reviewer)[-1][0] == b"Z"
    pg.tokens.revoke(made.token.id)
    began = time.monotonic()
    said = wire.until(b"E")  # it asks nothing more
    assert b"57P01" in said[-1][1]
    assert wire.receive() == (b"", b"")
    assert time.monotonic() - began < 3 * SLACK
    assert other.query("SELECT 1")[-1][0] == b"Z"
    wire.close(), other.close()


def test_a_removed_analyst_is_refused_and_their_session_ends(pg):
    wire = Wire(pg.port)
    assert wire.sign_in("bob", pg.bob)[-1][0] == b"Z"
    place = pg.workspace.config
    try:
        place.write_text(TOML[: TOML.index("[analysts.bob]")])
        assert b"57P01" in wire.until(b"E")[-1][1]
        with pytest.raises(psycopg.OperationalError, match="Signing in failed"):
            psycopg.connect(pg.url("bob"))
        with psycopg.connect(pg.url("alice"), autocommit=True) as alice:
            assert alice.execute("SELECT 1").fetchone() == (1,)
    finally:
        place.write_text(TOML)
        wire.close()


def test_who_was_added_since_somebody_looked_signs_in(pg, monkeypatch):
    place, text = (
        pg.workspace.config,
        TOML + "[analysts.zoe]\ndatasets = { census = { epsilon = 0.5 } }\n",
    )
    with pg.workspace.curator():
        monkeypatch.setattr(workspace, "LOOK_AGAIN", 3600.0)  # nobody else looks meanwhile
    try:
        place.write_text(text)
        made = pg.tokens.new(Role.ANALYST, analyst="zoe")
        with psycopg.connect(pg.url("zoe", made.text), autocommit=True) as zoe:
            assert zoe.execute("SELECT 1").fetchone() == (1,)
    finally:
        place.write_text(TOML)
