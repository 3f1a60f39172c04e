"""Security tests 12 and 25: every probe through HTTP is closed; no file keeps what nobody may see."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import psycopg
import pyarrow.parquet as pq
import pytest

from discreet.server.access.tokens import Role
from ports import free_port
from probes import PROBES
from server_kit import CANARY, COUNT, running, write_world

SOURCES = {"people.parquet", "things.parquet"}
PRICE = "0.0001"
QUESTIONS = (
    COUNT,
    "SELECT SUM(income) AS s FROM people",
    "SELECT MEDIAN(age) AS m, AVG(income) AS a FROM people",
    "SELECT COUNT(*) AS n FROM people WHERE CAST(note AS INTEGER) > 5",
    "SELECT note FROM people",
    "SELECT COUNT(*) AS n FROM people WHERE 1 / (income - 5) > 0",
)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running(write_world(tmp_path_factory.mktemp("world"))) as found:
        yield found


@pytest.fixture(scope="module")
def client(server):
    with server.client(server.token("analyst", "bob")) as found:
        yield found


def charges(server):
    with server.context.workspace.curator() as curator:
        return curator.ledger.spent("census", "bob").charges


@pytest.mark.parametrize("sql", PROBES)
def test_probes_through_http_are_refused_for_free(server, client, sql, record_property):
    before = charges(server)
    for route in ("explain", "query"):
        reply = client.post(f"/api/v1/{route}", json={"sql": sql, "epsilon": 1})
        assert 400 <= reply.status_code < 500, reply.text
        assert reply.json()["kind"] in {"QueryRefused", "UnknownName", "NotAllowed", "InvalidInput"}
        assert CANARY not in reply.text
    assert charges(server) == before
    record_property("lockdown probes through HTTP, 0 open", 1)


def test_a_harmless_question_passes_the_same_way(server, client):
    """The other side: a door that refuses everything would pass the test above."""
    before = charges(server)
    assert client.post("/api/v1/query", json={"sql": COUNT, "epsilon": 1}).status_code == 200
    assert charges(server) == before + 1


def holding(folder: Path, *secrets: bytes) -> list[str]:
    """Return the files below `folder`, other than the data itself, that hold one of these."""
    return [
        path.name
        for path in folder.rglob("*")
        if path.is_file()
        and path.name not in SOURCES
        and any(secret in content_of(path) for secret in secrets)
    ]


def content_of(path: Path) -> bytes:
    """Return the bytes of a file; nothing of one that has just been removed."""
    with contextlib.suppress(FileNotFoundError):
        return path.read_bytes()
    return b""


def test_no_file_keeps_a_cell_or_an_exact_sum(tmp_path, monkeypatch):
    """Ledger, tokens, logs of deeds, spill and temporary files, after answers, failures and a kill.

    At this price the noise has a scale of 5e9: it hits the exact sum with a chance of 1e-10.
    """
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr("tempfile.tempdir", None)
    world = tmp_path / "world"
    config = write_world(world)
    exact = str(sum(pq.read_table(world / "people.parquet")["income"].to_pylist())).encode()
    port = free_port()
    with running(config, pg_port=port) as server:
        with server.client(server.token("analyst", "bob")) as client:
            for sql in QUESTIONS:
                client.post("/api/v1/query", json={"sql": sql, "epsilon": PRICE})
        token = server.context.tokens.new(Role.ANALYST, analyst="bob").text
        url = f"postgresql://bob:{token}@127.0.0.1:{port}/discreet?sslmode=require"
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"SET discreet.epsilon = {PRICE}")
            for sql in QUESTIONS:
                try:
                    connection.execute(sql)
                except psycopg.Error as error:
                    assert CANARY not in str(error)  # noqa: PT017  # some are refused, all are asked
        with server.context.workspace.curator() as curator:
            assert cores_of(curator.engine) == {"0"}
            with pytest.raises(Exception, match="database could not"):
                curator.engine.owner_reader().run(
                    "SELECT SUM(r.range) FROM range(10000000000) AS r", seconds=0.2
                )
        log = server.log.getvalue()
        assert holding(tmp_path, CANARY.encode(), exact) == [], "while it runs"
    assert CANARY not in log
    assert exact.decode() not in log
    assert (world / "ledger.db").stat().st_size > 0
    assert holding(tmp_path, CANARY.encode(), exact) == [], "and afterwards"
    (temporary / "dump").write_bytes(b"..." + exact)
    assert holding(tmp_path, CANARY.encode(), exact) == ["dump"], "this search finds what is there"


def cores_of(engine) -> set[str]:
    """Return how large a dump of each of the engine's processes may be."""
    limits = [
        Path(f"/proc/{child._process.pid}/limits").read_text()
        for pool in (engine._canon, engine._raw)
        for child in [*pool._idle, *pool._busy]
    ]
    lines = [line for text in limits for line in text.splitlines() if "core file size" in line]
    return {line.split()[4] for line in lines}


def test_the_search_looks_everywhere(tmp_path):
    (tmp_path / "a" / ".hidden").mkdir(parents=True)
    (tmp_path / "a" / ".hidden" / "x.log").write_text(f"cell {CANARY}-12")
    (tmp_path / "people.parquet").write_text(CANARY)
    assert holding(tmp_path, CANARY.encode()) == ["x.log"]
    assert os.sep not in holding(tmp_path, CANARY.encode())[0]
