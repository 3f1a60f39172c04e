"""A PostgreSQL endpoint in a thread, over a small town, with tokens for everybody."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import random
import socket
import struct
import threading
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from discreet.server.access.tokens import Role, scram_keys
from discreet.server.pgwire.server import serve_pg
from discreet.server.settings import Settings
from discreet.server.workspace import Context
from patience import LONG

TOML = """
[engine]
url = "duckdb:"
[ledger]
url = "sqlite:ledger.db"

[datasets.census]
epsilon = 1000
delta = 1e-6
[datasets.census.tables.people]
source = "people.csv"
unit = "row"
[datasets.census.tables.people.columns]
age = { type = "integer", lower = 0, upper = 120 }
sex = { type = "category", values = ["Female", "Male"] }
income = { type = "number", lower = 0, upper = 500000, step = 0.5 }
born = { type = "date", lower = 1930-01-01, upper = 2020-12-31 }
married = { type = "boolean" }
note = { type = "text", hidden = true }

[datasets.secret]
epsilon = 1
[datasets.secret.tables.agents]
source = "agents.csv"
unit = "row"
[datasets.secret.tables.agents.columns]
age = { type = "integer", lower = 0, upper = 120 }

[analysts.alice]
datasets = { census = { epsilon = 900, delta = 1e-6 } }
[analysts.bob]
datasets = { census = { epsilon = 0.5 } }
"""


def write_town(folder: Path, rows: int = 400, seed: int = 7) -> Path:
    """Write the town; rows beyond `rows` would be the same, so two sizes are neighbours."""
    dice = random.Random(seed)
    lines = ["age,sex,income,born,married,note"]
    for i in range(rows):
        sex = dice.choice(["Female", "Male"])
        born = f"{dice.randint(1935, 2010)}-0{dice.randint(1, 9)}-1{dice.randint(0, 9)}"
        lines.append(
            f"{dice.randint(0, 99)},{sex},{dice.randint(0, 90000)},{born},"
            f"{dice.choice(['true', 'false'])},SECRET-{i}"
        )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "people.csv").write_text("\n".join(lines) + "\n")
    (folder / "agents.csv").write_text("age\n33\n")
    toml = folder / "discreet.toml"
    toml.write_text(TOML)
    return toml


QUICK = {"workers": 4, "waiting_each": 50, "spare_child": False}
QUICK |= {"rate": 1000.0, "burst": 100_000, "address_rate": 1000.0, "address_burst": 100_000}


class Endpoint:
    """A running endpoint and the tokens to it."""

    def __init__(self, toml: Path, **settings) -> None:
        self.context = Context.open(Settings(config=toml, pg_port=0, **(QUICK | settings)))
        self.settings, self.workspace = self.context.settings, self.context.workspace
        self.access, self.tokens = self.context.access, self.context.tokens
        self.runner = self.context.runner
        self.alice = self.tokens.new(Role.ANALYST, analyst="alice").text
        self.bob = self.tokens.new(Role.ANALYST, analyst="bob").text
        self.owner = self.tokens.new(Role.OWNER).text
        self.reviewer = self.tokens.new(Role.REVIEWER).text
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server = self._wait(self._serve())
        self.port = self._server.sockets[0].getsockname()[1]

    async def _serve(self):
        return await serve_pg(self.context)

    def _wait(self, work):
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(LONG)

    def spent(self, analyst: str | None = None) -> float:
        with self.workspace.curator() as curator:
            report = curator.share_report(analyst)
        return sum(facts["epsilon"]["spent"] for facts in report["datasets"].values())

    def url(self, user: str = "alice", token: str | None = None, **options: str) -> str:
        secret = token or getattr(self, user)
        extra = "".join(f"&{name}={quote(value)}" for name, value in options.items())
        return f"postgresql://{user}:{secret}@127.0.0.1:{self.port}/discreet?sslmode=require{extra}"

    def close(self) -> None:
        self._wait(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(LONG)
        self._loop.close()
        self.context.close()

    async def _stop(self) -> None:
        self._server.close()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        await asyncio.gather(*others, return_exceptions=True)


@contextmanager
def endpoint(folder: Path, **settings):
    """Lend a running endpoint over the town in `folder`."""
    found = Endpoint(write_town(folder), **settings)
    try:
        yield found
    finally:
        found.close()


class Wire:
    """A client that speaks the bytes itself, to say what well-behaved clients never would."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=LONG)
        self._buffer = b""

    def send(self, tag: bytes, body: bytes = b"") -> None:
        self.socket.sendall(tag + struct.pack("!i", len(body) + 4) + body)

    def startup(self, **parameters: str) -> None:
        pairs = b"".join(f"{k}\0{v}\0".encode() for k, v in parameters.items())
        self.send(b"", struct.pack("!i", 196608) + pairs + b"\0")

    def receive(self) -> tuple[bytes, bytes]:
        """Return the next message; an empty tag when the server has hung up."""
        head = self._take(5)
        if len(head) < 5:
            return b"", b""
        return head[:1], self._take(struct.unpack("!i", head[1:])[0] - 4)

    def _take(self, count: int) -> bytes:
        while len(self._buffer) < count:
            try:
                data = self.socket.recv(65536)
            except (ConnectionResetError, BrokenPipeError):
                data = b""
            if not data:
                return b""
            self._buffer += data
        found, self._buffer = self._buffer[:count], self._buffer[count:]
        return found

    def until(self, *tags: bytes) -> list[tuple[bytes, bytes]]:
        """Return all messages up to and including the first with one of these tags."""
        found = [self.receive()]
        while found[-1][0] not in (*tags, b""):
            found.append(self.receive())
        return found

    def sign_in(self, user: str, token: str, **parameters: str) -> list[tuple[bytes, bytes]]:
        self.startup(user=user, database="discreet", **parameters)
        self.until(b"R")
        bare = "n=,r=0123456789abcdef"
        first = f"n,,{bare}".encode()
        self.send(b"p", b"SCRAM-SHA-256\0" + struct.pack("!i", len(first)) + first)
        [*_, (_, body)] = self.until(b"R", b"E")
        said = body[4:].decode()
        fields = dict(part.split("=", 1) for part in said.split(","))
        stored, _ = scram_keys(token, base64.b64decode(fields["s"]))
        salted = hashlib.pbkdf2_hmac("sha256", token.encode(), base64.b64decode(fields["s"]), 4096)
        client_key = hmac.digest(salted, b"Client Key", "sha256")
        without = f"c=biws,r={fields['r']}"
        signature = hmac.digest(stored, f"{bare},{said},{without}".encode(), "sha256")
        proof = bytes(a ^ b for a, b in zip(client_key, signature, strict=True))
        self.send(b"p", f"{without},p={base64.b64encode(proof).decode()}".encode())
        return self.until(b"Z", b"E")

    def query(self, sql: str) -> list[tuple[bytes, bytes]]:
        self.send(b"Q", sql.encode() + b"\0")
        return self.until(b"Z")

    def close(self) -> None:
        self.socket.close()
