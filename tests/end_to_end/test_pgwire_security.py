"""What must not work: probes, junk, stolen sessions, and telling D from D'."""

from __future__ import annotations

import random
import re
import socket
import ssl
import struct
import threading

import psycopg
import pytest

from discreet.server.access.tokens import Role
from discreet.server.pgwire.catalog.locked import LockedDb
from discreet.server.pgwire.messages import MAX_MESSAGE
from patience import LONG, eventually
from pgwire_kit import Endpoint, Wire, endpoint, write_town
from probes import PROBES

AVERAGE_BAR = re.compile(rb"(Ma: \xc2\xb1 )[\d.]+")


@pytest.fixture(scope="module")
def pg(tmp_path_factory):
    with endpoint(tmp_path_factory.mktemp("pg")) as found:
        yield found


@pytest.fixture(scope="module")
def alice(pg):
    with psycopg.connect(pg.url(), autocommit=True) as found:
        found.execute("SET discreet.epsilon = 1")
        yield found


@pytest.mark.parametrize("sql", PROBES)
def test_probes_are_refused_for_free(pg, alice, sql):
    before = pg.spent()
    with pytest.raises(psycopg.Error) as caught:
        alice.execute(sql)
    said = f"{caught.value.diag.message_primary} {caught.value.diag.message_hint}"
    assert caught.value.sqlstate != "XX000", said
    assert "SECRET" not in said
    assert pg.spent() == before
    assert alice.execute("SELECT 1").fetchone() == (1,)


def test_a_heavy_catalog_query_is_stopped(alice, monkeypatch):
    monkeypatch.setitem(LockedDb.run.__kwdefaults__, "seconds", 1.0)
    crossed = ", ".join(f"pg_type t{i}" for i in range(8))
    joined = " || ".join(f"t{i}.typname" for i in range(8))
    with pytest.raises(psycopg.errors.QueryCanceled):
        alice.execute(f"SELECT COUNT(*) FROM {crossed} WHERE length({joined}) = 7")
    assert alice.execute("SELECT 1").fetchone() == (1,)


def test_values_never_become_syntax(pg, alice):
    evil = "x' OR 1=1; SELECT * FROM people --"
    before = pg.spent("alice")
    [(count,)] = alice.execute(
        "SELECT /* discreet.epsilon=20 */ COUNT(*) FROM people WHERE sex = %s", [evil]
    ).fetchall()
    assert count == 0
    assert pg.spent("alice") == before, "no declared value is the text, so nothing is read or paid"


def test_junk_on_the_port_only_closes_its_own_connection(pg):
    dice = random.Random(5)
    packets = [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"\0\0\0\0",
        b"\xff" * 64,
        struct.pack("!ii", 2**31 - 1, 196608),
        struct.pack("!ii", 8, 131072),
        struct.pack("!ii", 9, 196608) + b"x",
        *(dice.randbytes(dice.randint(1, 200)) for _ in range(20)),
    ]
    for packet in packets:
        wire = Wire(pg.port)
        wire.socket.sendall(packet)
        wire.socket.shutdown(socket.SHUT_WR)
        tag, _ = wire.receive()
        assert tag in (b"", b"E", b"R"), packet
        wire.close()
    with psycopg.connect(pg.url()) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_junk_after_signing_in(pg):
    dice = random.Random(6)
    for _ in range(20):
        wire = Wire(pg.port)
        assert wire.sign_in("alice", pg.alice)[-1][0] == b"Z"
        tag = bytes([dice.choice(b"QPBDECFdcfpZ\x00\xff")])
        wire.send(tag, dice.randbytes(dice.randint(0, 60)))
        wire.socket.shutdown(socket.SHUT_WR)
        wire.until(b"")
        wire.close()
    wire = Wire(pg.port)
    wire.sign_in("alice", pg.alice)
    wire.socket.sendall(b"Q" + struct.pack("!i", MAX_MESSAGE + 100))
    assert wire.until(b"")[-1] == (b"", b"")
    wire.close()
    with psycopg.connect(pg.url()) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_bytes_before_tls_are_never_read_after_it(pg):
    found = socket.create_connection(("127.0.0.1", pg.port), timeout=LONG)
    hidden = struct.pack("!ii", 17, 196608) + b"user\0x\0\0"
    found.sendall(struct.pack("!ii", 8, 80877103) + hidden)
    assert found.recv(1) == b"S"
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    wrapped = context.wrap_socket(found, do_handshake_on_connect=False)
    with pytest.raises(OSError):
        wrapped.do_handshake()
    wrapped.close()


def test_unknown_users_see_the_same_dialogue_as_known_ones(pg):
    said = {}
    for user in ("alice", "nobody"):
        wire = Wire(pg.port)
        found = wire.sign_in(user, "dsc_wrong")
        said[user] = found[-1]
        wire.close()
    assert said["alice"] == said["nobody"]
    assert b"28P01" in said["alice"][1]


def test_a_revoked_token_ends_its_sessions(pg):
    made = pg.tokens.new(Role.REVIEWER)
    with psycopg.connect(pg.url("reviewer", made.text), autocommit=True) as connection:
        connection.execute("SELECT 1")
        pg.tokens.revoke(made.token.id)
        with pytest.raises(psycopg.OperationalError, match="revoked"):
            connection.execute("SELECT 1")
    with pytest.raises(psycopg.OperationalError, match="Signing in failed"):
        psycopg.connect(pg.url("reviewer", made.text))


def test_portals_describe_and_cancel(pg):
    wire = Wire(pg.port)
    greeting = wire.sign_in("alice", pg.alice, options="-c discreet.epsilon=0.5")
    [key] = [body for tag, body in greeting if tag == b"K"]
    before = pg.spent("alice")
    wire.send(b"P", b"s\0SELECT COUNT(*) AS n FROM people WHERE age > $1\0" + struct.pack("!h", 0))
    wire.send(b"D", b"Ss\0")
    wire.send(b"S")
    described = dict(wire.until(b"Z"))
    assert struct.unpack("!hI", described[b"t"]) == (1, 23)
    assert described[b"T"][2:4] == b"n\0"
    assert pg.spent("alice") == before, "describing never charges"
    wire.send(b"P", b"\0SELECT age FROM preview.people LIMIT 5\0" + struct.pack("!h", 0))
    wire.send(b"B", b"p\0\0" + struct.pack("!hhh", 0, 0, 0))
    wire.send(b"E", b"p\0" + struct.pack("!i", 2))
    wire.send(b"E", b"p\0" + struct.pack("!i", 2))
    wire.send(b"E", b"p\0" + struct.pack("!i", 0))
    wire.send(b"S")
    tags = [tag for tag, _ in wire.until(b"Z")]
    assert tags == [b"1", b"2", b"D", b"D", b"s", b"D", b"D", b"s", b"D", b"C", b"Z"]
    wire.send(b"P", b"\0SELECT nonsense FROM people\0" + struct.pack("!h", 0))
    wire.send(b"B", b"\0\0" + struct.pack("!hhh", 0, 0, 0))
    wire.send(b"E", b"\0" + struct.pack("!i", 0))
    wire.send(b"S")
    assert [tag for tag, _ in wire.until(b"Z")] == [b"E", b"Z"], "skips to the Sync"
    canceller = Wire(pg.port)
    canceller.send(b"", struct.pack("!i", 80877102) + key)
    assert canceller.receive() == (b"", b"")
    canceller.close()
    assert wire.query("SELECT 1")[-1] == (b"Z", b"I"), "nothing runs, so nothing is cancelled"
    wire.close()


def test_neighbours_look_the_same_outside_the_noisy_fields(tmp_path):
    seen = []
    statements = [
        "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex",
        "SELECT COUNT(*) AS n, AVG(age) AS a FROM people WHERE age > 50",
        "SELECT note FROM people",
        "SELECT COUNT(*) FROM people WHERE 1 / age > 0",
        "SELECT reltuples, relpages FROM pg_class",
        "SELECT * FROM preview.people",
        "EXPLAIN SELECT COUNT(*) FROM people",
        "SHOW discreet.budget",
        "SELECT pg_total_relation_size('people')",
    ]
    for rows in (300, 299):
        toml = write_town(tmp_path / str(rows), rows=rows)
        found = Endpoint(toml)
        try:
            wire = Wire(found.port)
            wire.sign_in("alice", found.alice, options="-c discreet.epsilon=0.5")
            replies = []
            for number, sql in enumerate(statements):
                messages = wire.query(sql)
                noisy = number in (0, 1, 3)
                # The bar of an average is computed from its noisy count: it is as random as that.
                shown = [(t, re.sub(AVERAGE_BAR, rb"\1", body)) for t, body in messages]
                replies.append([(t, b"" if noisy and t == b"D" else body) for t, body in shown])
                replies.append(len(messages))
            seen.append(replies)
            wire.close()
        finally:
            found.close()
    assert seen[0] == seen[1]


def test_cancelling_a_waiting_question_costs_nothing(pg):
    release = threading.Event()
    busy = [pg.runner.submit("analyst alice", lambda _job: release.wait(LONG)) for _ in range(4)]
    before = pg.spent("alice")
    caught: list[BaseException] = []

    def ask(connection):
        try:
            connection.execute("SELECT /* discreet.epsilon=1 */ COUNT(*) FROM people WHERE age > 3")
        except psycopg.Error as error:
            caught.append(error)

    try:
        with psycopg.connect(pg.url(), autocommit=True) as connection:
            asking = threading.Thread(target=ask, args=(connection,))
            asking.start()
            # All four must run: one that no worker has taken yet waits in the queue as well.
            eventually(lambda: pg.runner.load == (1, 4), "the question stands in the queue")
            connection.cancel_safe(timeout=LONG)
            asking.join(LONG)
            assert connection.execute("SHOW discreet.epsilon").fetchone() == ("",)
    finally:
        release.set()
        for job in busy:
            job.future.result(LONG)
    assert isinstance(caught[0], psycopg.errors.QueryCanceled)
    assert "Nothing was charged" in str(caught[0])
    assert pg.spent("alice") == before


def test_signing_in_leaves_a_line_and_no_secret(tmp_path):
    with endpoint(tmp_path / "pg") as found:
        psycopg.connect(found.url()).close()
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(found.url(token="dsc_" + "x" * 43))
        audit = found.access.audit
        lines = audit.last(2)
        assert [(line.who, line.what) for line in lines] == [
            ("somebody", "sign-in failed"),
            ("alice", "signed in"),
        ]
        assert all(line.facts["way"] == "postgres" for line in lines)
        assert audit.verify() >= 2
        text = "".join(path.read_text() for path in found.settings.state_folder.glob("audit*"))
        assert found.alice not in text
        assert "dsc_x" not in text


def said_about(wire, sql):
    """Return what Describe, the question and EXPLAIN say, with the dataset's name taken out."""
    found = []
    wire.send(b"P", b"\0" + sql.encode() + b"\0" + struct.pack("!h", 0))
    wire.send(b"D", b"S\0")
    wire.send(b"S")
    found.append(wire.until(b"Z"))
    asked = f"/* discreet.epsilon=0.01 */ {sql}"
    found += [wire.query(asked), wire.query(f"EXPLAIN {asked}")]
    return [[(tag, body) for tag, body in messages if tag in b"TE"] for messages in found]


HIDDEN = [
    "SELECT {column}, COUNT(*) AS n FROM {name} GROUP BY {column}",
    # A WITH clause of that name, elsewhere, does not make it a table of the caller's.
    (
        "SELECT {column}, COUNT(*) AS n FROM {bare} GROUP BY {column} HAVING COUNT(*) > "
        "(WITH {bare} AS (SELECT COUNT(*) AS c FROM people) SELECT c FROM {bare})"
    ),
]


@pytest.mark.parametrize("column", ["age", "shoe"])
@pytest.mark.parametrize("sql", HIDDEN)
def test_a_dataset_without_a_share_does_not_exist(pg, sql, column):
    """Its columns, and whether it is there, are its own: one error for it and for made-up names."""
    wire = Wire(pg.port)
    wire.sign_in("alice", pg.alice)
    there, nowhere = (
        said_about(wire, sql.format(column=column, name=f"secret.{bare}", bare=bare))
        for bare in ("agents", "egants")
    )
    wire.close()
    assert [messages[-1][0] for messages in there] == [b"E"] * 3
    same = [[(t, body.replace(b"egants", b"agents")) for t, body in said] for said in nowhere]
    assert there == same


def test_the_owner_sees_every_dataset(pg):
    owner = Wire(pg.port)
    owner.sign_in("owner", pg.owner)
    shown = said_about(owner, "SELECT age, COUNT(*) AS n FROM secret.agents GROUP BY age")
    owner.close()
    assert [tag for tag, _ in shown[0]] == [b"T"]
