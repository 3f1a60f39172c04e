"""A server of the town in a process of its own, for benchmarks."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.curator import open as open_curator
from discreet.lab.town import town
from discreet.server.access.tokens import AccessDb, Role, Tokens
from discreet.server.settings import Settings


@contextmanager
def serving_town(
    folder: str, *, people: int = 20_000, callers: int = 20
) -> Iterator[tuple[str, list[str], Callable[[], tuple[int, float]]]]:
    """Yield address, owner tokens and a function that gives the ledger's charges and epsilon."""
    made = town(people=people, folder=Path(folder) / "town", tables=("people",))
    # Without delta the currency is pure epsilon: the ledger's total is the sum of the prices.
    text = re.sub(r"(?m)^delta = .*\n", "", made.toml.read_text())
    text = re.sub(r"(?m)^epsilon = 1\.0$", "epsilon = 1000000", text)
    made.toml.write_text(text)
    access = AccessDb(Settings(config=made.toml).state_folder)
    tokens = [Tokens(access).new(Role.OWNER).text for _ in range(callers)]
    access.close()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    start = "from discreet.cli import main; main()"
    options = ["serve", "--port", str(port), "--config", str(made.toml), "--quiet"]
    process = subprocess.Popen(
        [sys.executable, "-c", start, *options], stdout=subprocess.PIPE, text=True
    )
    try:
        for line in process.stdout or ():
            if "listens on" in line:
                break

        def ledger() -> tuple[int, float]:
            with open_curator(made.toml) as curator:
                found = curator.ledger.spent("town")
            return found.charges, float(found.epsilon)

        yield f"http://127.0.0.1:{port}", tokens, ledger
    finally:
        process.terminate()
        process.wait(30)
