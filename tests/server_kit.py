"""A real server on a free port of this machine, with a small data set that has canaries in it."""

from __future__ import annotations

import io
import json
import logging
import random
import re
import ssl
import threading
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import httpx
import pyarrow as pa
import pyarrow.parquet as pq

from discreet.server.access.tokens import Role
from discreet.server.logs import JsonLines
from discreet.server.settings import Settings
from discreet.server.start import make_server
from patience import LONG, eventually
from ports import free_port
from quick_jobs import quick_jobs

CANARY = "CANARY-7f3a"
ROWS = 4321
"""How many rows there are: an exact count that must be seen nowhere."""

TOML = """
[engine]
url = "duckdb:"
[ledger]
url = "{ledger}"

[datasets.census]
epsilon = {epsilon}
{limits}
[datasets.census.tables.people]
source = "people.parquet"
unit = "row"
[datasets.census.tables.people.columns]
age = {{ type = "integer", lower = 0, upper = 120 }}
sex = {{ type = "category", values = ["Female", "Male"] }}
income = {{ type = "integer", lower = 0, upper = 500000 }}
note = {{ type = "text", hidden = true }}

[datasets.other]
epsilon = 1
[datasets.other.tables.things]
source = "things.parquet"
unit = "row"
[datasets.other.tables.things.columns]
size = {{ type = "integer", lower = 0, upper = 10 }}
"""
ANALYSTS = """
[analysts.alice]
datasets = { census = { epsilon = 0.5 } }
[analysts.bob]
datasets = { census = { epsilon = 100000 } }
"""
COUNT = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"


def write_world(
    folder: Path,
    *,
    rows: int = ROWS,
    epsilon: str = "1000000",
    analysts: str = ANALYSTS,
    without: int | None = None,
    limits: str = "",
    ledger: str = "sqlite:ledger.db",
) -> Path:
    """Return the discreet.toml of a small world; `without` leaves out one person."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(5)
    people = [
        {
            "age": rng.randint(0, 100),
            "sex": rng.choice(["Female", "Male"]),
            "income": rng.randint(0, 200000),
            "note": f"{CANARY}-{i}",
        }
        for i in range(rows)
    ]
    if without is not None:
        del people[without]
    pq.write_table(pa.Table.from_pylist(people), folder / "people.parquet")
    pq.write_table(pa.table({"size": [1, 2, 3]}), folder / "things.parquet")
    path = folder / "discreet.toml"
    text = TOML.format(epsilon=epsilon, limits=limits, ledger=ledger)
    path.write_text(text + analysts)
    return path


def sign_in(client: httpx.Client, token: str, **sent) -> httpx.Response:
    """Return what the form answers: the page is fetched for its nonce first, as a browser does."""
    page = client.get("/?again") if "nonce" not in sent else None
    found = page and re.search(r'name="nonce" value="([^"]+)"', page.text)
    headers = sent.pop("headers", {})
    data = {"token": token, "nonce": found[1] if found else "", **sent}
    return client.post("/sign-in", data=data, headers=headers)


DRAWN = {"time", "id", "ms", "token"}
"""Fields of a line of the log that the clock and the dice fill."""


def logged(log: str) -> str:
    """Return what a log says; ids, times, the process and its port may be any number by chance."""
    lines = [json.loads(line) for line in log.splitlines()]
    said = [{name: told for name, told in line.items() if name not in DRAWN} for line in lines]
    return re.sub(r"process \[\d+\]|127\.0\.0\.1:\d+", "", json.dumps(said))


def once_it_waits(server: Running, then) -> threading.Thread:
    """Call `then`, beside the test, once a question waits for four that run; return its thread.

    All four must run: one of them that no worker has picked up yet waits in the queue as well.
    """

    def wait() -> None:
        eventually(lambda: server.context.runner.load == (1, 4), "nothing waits")
        then()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


NO_AUTHORITIES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def plain_client(**settings) -> httpx.Client:
    """Return a client that trusts nobody's certificate: to read those of the world takes it 40 ms."""
    usual = {"timeout": LONG, "trust_env": False, "verify": NO_AUTHORITIES}
    return httpx.Client(**usual | settings)


@dataclass
class Running:
    """A server that listens, with what tests need of it."""

    url: str
    app: object
    log: io.StringIO

    @property
    def context(self):
        return self.app.state.context

    def token(self, role: str = "owner", analyst: str | None = None, **more) -> str:
        return self.context.tokens.new(Role.of(role), analyst=analyst, **more).text

    def client(self, token: str | None = None, **more) -> httpx.Client:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return plain_client(base_url=self.url, headers=headers, **more)


@contextmanager
def running(config: Path, *, quick: bool = True, **settings):
    """Serve `config` in a thread of this process until the block ends.

    Processes of its jobs are `quick`, or started as everywhere else.
    """
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    handler.setFormatter(JsonLines())
    loggers = [logging.getLogger(name) for name in ("discreet.server", "uvicorn")]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel("INFO")
    port = free_port()
    options = {"rate": 1e6, "burst": 10**6, "address_rate": 1e6, "address_burst": 10**6}
    options["spare_child"] = False  # it would take a second of every server's start
    server = make_server(Settings(config=config, port=port, **(options | settings)))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        eventually(lambda: server.started or not thread.is_alive(), "the server starts")
        assert thread.is_alive(), log.getvalue()
        with quick_jobs() if quick else nullcontext():
            yield Running(f"http://127.0.0.1:{port}", server.config.app, log)
    finally:
        server.should_exit = True
        thread.join(LONG)
        for logger in loggers:
            logger.removeHandler(handler)
        assert not thread.is_alive()
