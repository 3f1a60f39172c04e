"""How many reports a second the survey's collector takes over HTTP: python -m benchmarks.collector

A server in a process of its own, reports in batches from two threads of this process; every batch is on
disk (an SQLite transaction with synchronous=FULL) before it is answered.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from benchmarks.figures import figure

from discreet.survey.device import Donation, encoded
from discreet.survey.store import SurveyStore

TOML = """
title = "Smoking at our school"
epsilon = 3.0
most_reports = 1000000000
most_mb = 100000
[questions.smokes]
kind = "yes-no"
[questions.grade]
kind = "choice"
options = ["9", "10", "11", "12"]
[questions.hours]
kind = "number"
lower = 0
upper = 12
"""
SENDERS = 2


def batches_of(store: SurveyStore, reports: int, size: int) -> list[bytes]:
    """Return batches of possible reports with fresh one-use ids."""
    cells = [choice.randomizer.shape.cells for choice in store.plan.choices]
    made = [
        Donation(
            store.plan.id, secrets.token_bytes(16), tuple(secrets.randbelow(n) for n in cells)
        ).to_cbor()
        for _ in range(reports)
    ]
    return [encoded(list(made[at : at + size])) for at in range(0, reports, size)]


def send(port: int, path: str, batches: list[bytes], taken: list[int]) -> None:
    """Send batches one after the other over one connection."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    for batch in batches:
        connection.request("POST", path, batch, {"Content-Type": "application/cbor"})
        taken.append(json.loads(connection.getresponse().read())["accepted"])
    connection.close()


def served(folder: Path) -> tuple[subprocess.Popen[str], int]:
    """Return a server of an empty folder, and its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = ["serve", "--port", str(port), "--config", str(folder / "discreet.toml"), "--quiet"]
    options += ["--survey-rate", "1000000", "--survey-mb", "100000"]
    options += ["--survey-reports", "1000000000"]
    start = "from discreet.cli import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", start, *options], stdout=subprocess.PIPE, text=True
    )
    for line in process.stdout or ():
        if "listens on" in line:
            break
    return process, port


def processor_seconds(process: subprocess.Popen[str]) -> float:
    """Return the processor time that a process has used (Linux)."""
    fields = (
        Path(f"/proc/{process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    )
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=int, default=200_000)
    parser.add_argument("--batch", type=int, default=2_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "smoking.toml").write_text(TOML, encoding="utf-8")
        store = SurveyStore.create(folder / "smoking.toml", folder)
        batches = batches_of(store, asked.reports, asked.batch)
        process, port = served(folder)
        try:
            taken: list[int] = []
            path = "/api/v1/surveys/smoking/reports/batch"
            parts = [batches[i::SENDERS] for i in range(SENDERS)]
            senders = [threading.Thread(target=send, args=(port, path, p, taken)) for p in parts]
            used, began = processor_seconds(process), time.perf_counter()
            for sender in senders:
                sender.start()
            for sender in senders:
                sender.join()
            seconds, used = time.perf_counter() - began, processor_seconds(process) - used
        finally:
            process.terminate()
            process.wait()
        size = sum(len(batch) for batch in batches) / asked.reports
        assert sum(taken) == store.reports() == asked.reports
        figure("reports taken over HTTP, each on disk", asked.reports / seconds, "a second")
        figure("the same for a second of processor time", asked.reports / used, "a second")
        print(
            f"collector: {asked.reports:,} reports of {size:.0f} bytes in batches of {asked.batch:,}: "
            f"{asked.reports / seconds:,.0f} reports/s by the clock, "
            f"{asked.reports / used:,.0f} a second of the server's processor time"
        )


if __name__ == "__main__":
    main()
