"""Two servers as processes with folders of their own, one PostgreSQL ledger, a proxy in front, and load."""

from __future__ import annotations

import contextlib
import http.client
import itertools
import json
import os
import signal
import socket
import socketserver
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from discreet.server.access.tokens import AccessDb, Role, Tokens
from patience import LONG, eventually
from ports import free_port
from server_kit import COUNT, write_world
from server_process import ServerProcess

PRICE = "0.1"


class Server:
    """One server as a process; it may be killed and started again."""

    def __init__(self, config: Path, state: Path) -> None:
        self.config, self.state, self.port = config, state, free_port()
        self.process: ServerProcess | None = None

    def start(self) -> None:
        self.process = ServerProcess(self.config, self.state, self.port)

    def ready(self) -> None:
        assert self.process.ready(), "a server starts"

    def pause(self) -> None:
        """Stop it wherever it is: what reaches it from now on is unanswered when it is killed."""
        os.kill(self.process.pid, signal.SIGSTOP)

    def kill(self) -> None:
        self.process.kill()


class Proxy(socketserver.ThreadingTCPServer):
    """Passes each connection on to the next server that listens; what breaks, breaks for the client."""

    daemon_threads = allow_reuse_address = True

    def __init__(self, ports: list[int]) -> None:
        self.turn, self.ports = itertools.count(), ports
        self.open: dict[Passing, int] = {}
        """Connections that are not over yet, and the port that each of them leads to."""
        super().__init__(("127.0.0.1", 0), Passing)

    def handle_error(self, request, client_address) -> None:
        """A connection that breaks is the client's to notice."""

    def reaches(self, port: int) -> bool:
        """Return whether somebody is connected to this port."""
        return port in list(self.open.values())

    def connected(self) -> socket.socket:
        start = next(self.turn)
        for place in range(len(self.ports)):
            with contextlib.suppress(OSError):
                port = self.ports[(start + place) % len(self.ports)]
                return socket.create_connection(("127.0.0.1", port), timeout=LONG)
        raise ConnectionRefusedError


class Passing(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        with self.server.connected() as behind:
            self.server.open[self] = behind.getpeername()[1]
            try:
                back = threading.Thread(target=_pump, args=(behind, self.request))
                back.start()
                _pump(self.request, behind)
                back.join(LONG)
            finally:
                del self.server.open[self]


def _pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_RDWR)


@dataclass
class Seen:
    """What clients were told: answers by request id, ids that are lost for good, how many were refused."""

    answers: dict[str, list] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)
    refused: int = 0
    resent: int = 0
    leave: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    @property
    def ended(self) -> int:
        return len(self.answers) + len(self.lost) + self.refused


def ask(port: int, token: str, method: str, path: str, body: dict | None = None):
    """Return status and body; a connection that breaks is None."""
    headers = {
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/json",
        "Connection": "close",
    }
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/api/v1{path}", data, headers, method=method
    )
    try:
        with urllib.request.urlopen(request, timeout=LONG) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read() or b"{}")
    except (OSError, ValueError, http.client.HTTPException):  # reset, refused, or half an answer
        return None, {}


def client(port: int, token: str, name: str, seen: Seen, asks: int) -> None:
    """Ask, and send the same request again until it ends for good, as a client should."""
    for number in range(asks):
        seen.leave.acquire()
        request_id = f"{name}-{number}"
        body = {"sql": COUNT, "epsilon": PRICE, "fresh": True, "request_id": request_id}
        end = time.monotonic() + LONG
        for turn in itertools.count():
            status, found = ask(port, token, "POST", "/query", body)
            seen.resent += turn > 0
            if status == 200:
                seen.answers[request_id] = found["rows"]
            elif status == 410:
                seen.lost.add(request_id)
            elif status == 402:
                seen.refused += 1
            elif status in (None, 409, 503):  # gone, still running, or the ledger is busy: again
                assert time.monotonic() < end, f"{request_id} never ends"
                threading.Event().wait(0.02)
                continue
            else:
                raise AssertionError((status, found))
            break


def wrong(seen: Seen, charges: list[str], stored: dict[str, list], allowed: int) -> list[str]:
    """Return what is not as it must be, in words."""
    found = [f"{request} was charged twice" for request in charges if charges.count(request) > 1]
    if len(charges) > allowed:
        found.append(f"{len(charges)} charges where {allowed} are allowed")
    paid = set(charges)
    found += [f"{request} was answered and not charged" for request in seen.answers.keys() - paid]
    found += [
        f"{request} was charged and never ended"
        for request in paid - seen.answers.keys() - seen.lost
    ]
    for request, rows in seen.answers.items():
        if stored.get(request) != rows:
            found.append(f"the answer to {request} is not the one that was told")
    return found


def rounds(
    folder: Path, ledger: str, *, kills: int, allowed: int, clients: int = 4
) -> tuple[Seen, list[str], int]:
    """Return what clients saw, what is wrong, and how many kills hit a running server."""
    state = folder / "state"
    cap = f"\n[analysts.carol]\ndatasets = {{ census = {{ epsilon = {allowed / 10} }} }}\n"
    servers = [
        Server(write_world(folder / name, rows=100, analysts=cap, ledger=ledger), state)
        for name in ("a", "b")
    ]
    access = AccessDb(state)
    token = Tokens(access).new(Role.ANALYST, analyst="carol").text
    access.close()
    seen, done = Seen(), 0
    for server in servers:
        server.start()
        server.ready()  # one after the other: the first begins the ledger
    proxy = Proxy([server.port for server in servers])
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    each = allowed // clients + 2  # more than fits: the rest must be refused
    try:
        with ThreadPoolExecutor(clients) as pool:
            port = proxy.server_address[1]
            jobs = [pool.submit(client, port, token, f"c{n}", seen, each) for n in range(clients)]
            portion, given = allowed // (kills + 1), 0
            for number in range(kills):
                # Clients may ask so much more; soon after the first answer a server stops, wherever
                # it is. Of two more requests, which take turns, one waits for it; then it dies.
                seen.leave.release(portion - 2)
                eventually(lambda g=given: seen.ended > g, "clients are answered")
                given += portion
                victim = servers[number % 2]
                victim.pause()
                seen.leave.release(2)
                reached = partial(proxy.reaches, victim.port)
                eventually(reached, "a request reaches it")
                done += seen.ended < given
                victim.kill()
                victim.start()
                victim.ready()
            seen.leave.release(clients * each - given)
            for job in jobs:
                job.result(LONG)
        told = {}
        for (
            request
        ) in seen.answers:  # of each server in turn: also of the one that did not answer it
            for server in servers:
                status, found = ask(server.port, token, "GET", f"/answers/{request}")
                told[request] = found.get("rows") if status == 200 else [status]
                if told[request] != seen.answers[request]:
                    break
        _, history = ask(servers[0].port, token, "GET", "/history?last=10000")
        charges = [entry["request_id"] for entry in history["entries"] if entry["kind"] == "charge"]
        return seen, wrong(seen, charges, told, allowed), done
    finally:
        proxy.shutdown()
        proxy.server_close()
        for server in servers:
            with contextlib.suppress(ProcessLookupError):
                server.kill()
